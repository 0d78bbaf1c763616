"""Settings that are fine one by one and do not fit each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from earmark.campaign.pairs.policies import parse_pair_policy
from earmark.campaign.policies import make_policy
from earmark.campaign.policies.proportional import Proportional
from earmark.campaign.stopping import parse_stop
from earmark.campaign.stopping.plain import parse_plain_stop
from earmark.data.scales import parse_scale
from earmark.errors import ParameterError
from earmark.measures import parse
from earmark.predictors.choose import WITH_MODEL
from earmark.store.declared_settings import SettingError
from earmark.store.sections import EXTERNAL
from earmark.store.setting_types import show

if TYPE_CHECKING:
    from earmark.store.settings import Settings


def check_together(settings: Settings) -> None:
    """Refuse settings that do not fit each other."""
    judging, estimates, inputs = settings.judging, settings.estimates, settings.inputs
    if settings.kind == "grade":
        for needed, value, example in (
            ("judging.scale", judging.scale, "broad"),
            ("estimates.measure", estimates.measure, "AG@5"),
        ):
            if value is None:
                what = f'an entry such as {needed.rpartition(".")[2]} = "{example}"'
                raise SettingError(needed, expected=what, got="none", hint="a campaign of kind grade needs it")
    if judging.scale is not None and estimates.measure is not None:
        _refuse(
            "estimates.measure",
            f"a measure for the scale {judging.scale}",
            estimates.measure,
            lambda: parse(str(estimates.measure)).check(parse_scale(str(judging.scale))),
        )
    if judging.also is not None and judging.also == judging.scale:
        raise SettingError("judging.also", expected="another scale than judging.scale", got=show(judging.also))
    _check_labels("pages.labels", settings.pages.labels, judging.scale)
    _check_labels("pages.also_labels", settings.pages.also_labels, judging.also)
    if (name := estimates.policy) is not None:
        if settings.kind == "prefer":
            _refuse("estimates.policy", 'a policy such as "adaptive"', name, lambda: parse_pair_policy(name))
        else:
            policy = _refuse("estimates.policy", 'a policy such as "variance"', name, lambda: make_policy(name))
            if estimates.inference == "design" and not estimates.audit and not isinstance(policy, Proportional):
                expected, hint = '"proportional", as inference is "design"', "or an audit beside it: audit = 0.2"
                raise SettingError("estimates.policy", expected=expected, got=show(name), hint=hint)
    if settings.kind in ("order", "lists"):
        _refuse(
            "estimates.stop",
            'a stop rule such as "width:0.2", "budget:200" or "none"',
            estimates.stop,
            lambda: parse_plain_stop(estimates.stop, kind=settings.kind),
        )
    _refuse(
        "estimates.margin",
        f"a margin that the stop rule {estimates.stop} can use",
        estimates.margin,
        lambda: parse_stop(estimates.stop, margin=estimates.margin),
    )
    for wanted, file, reason in (
        (estimates.predictor == EXTERNAL, "predictions", f'the predictor is "{EXTERNAL}"'),
        ("list" in settings.traps.sources, "traps", 'the sources of traps name "list"'),
        (inputs.content_ids is not None, "content", "content_ids names its rows"),
    ):
        if wanted and getattr(inputs, file) is None:
            raise SettingError(f"inputs.{file}", expected=f"a file, as {reason}", got="none")
    if inputs.model is not None and estimates.predictor not in WITH_MODEL:
        known = f"no file, or the predictor {', '.join(WITH_MODEL[:-1])} or {WITH_MODEL[-1]}"
        raise SettingError("inputs.model", expected=known, got=show(estimates.predictor))
    if inputs.metadata is None:
        for column in ("artist", "genre", "attributes"):
            if getattr(inputs, column):
                why = "it names a column of the metadata"
                raise SettingError(f"inputs.{column}", expected="a file as inputs.metadata too", got="none", hint=why)


def _check_labels(name: str, labels: tuple[str, ...], scale: str | None) -> None:
    """Refuse labels that are not as many as there are levels, or as a slider has ends."""
    if not labels or scale is None:
        return
    parsed = parse_scale(scale)
    if parsed.has_few_levels:
        levels = len(parsed.gains)
        if len(labels) != levels:
            raise SettingError(name, expected=f"{levels} labels, one for every level", got=str(len(labels)))
    elif len(labels) != 2:
        raise SettingError(name, expected="2 labels, of the two ends of the slider", got=str(len(labels)))


def _refuse(setting: str, expected: str, value: Any, check: Callable[[], Any]) -> Any:
    """Return what a check returns, and say which setting is wrong where it refuses."""
    try:
        return check()
    except ParameterError as error:
        raise SettingError(setting, expected=expected, got=show(value), hint=str(error)) from None
