"""What the hierarchical predictor expects before anything is judged: shipped, or fitted on past collections.

A prior has two parts: coefficients of a logistic prior mean over covariates (:mod:`earmark.predictors.covariates`), and
for every component of effects (:mod:`earmark.predictors.hierarchical_effects`) the logarithm of its variance and
how far from it the variance may be.

Shipped priors are weakly informative: the coefficients come from half of the queries of one collection, and variances
may be several times larger or smaller. There is one for every kind of scale and for what is known of the documents.
They have no variances for the effects of content (:mod:`earmark.predictors.content_kernels`); a prior that is fitted on
collections with content has.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from earmark.beliefs.effects import EffectModel, Observations
from earmark.beliefs.variance_components import VariancePrior, fit_variances
from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.data.content import Content
from earmark.data.files import replacing
from earmark.data.json_text import parse_json
from earmark.data.scales import Scale
from earmark.errors import InputError, NotConverged, ParameterError
from earmark.predictors.covariates import Covariates, covariates
from earmark.predictors.features import FeatureBuilder
from earmark.predictors.hierarchical_effects import GENERAL, effect_model, usual_effects

INTERCEPT = "1"
KIND = "earmark hierarchical prior"
COARSENESS = {"many": 1.0, "few": 2.0, "binary": 2.5}
"""How much more effects vary on scales of fewer levels."""

SPREADS = {"noise": 0.4, "system": 0.8, "system slope": 0.8}
USUAL_SPREAD = 0.7
GROWTH = {"system": 0.4, "system in query": 0.5, "system slope": 0.8}
"""How fast variances of systems' effects grow as there are fewer systems than 8, of which nothing else is known."""
_MANY_SYSTEMS = 8
_RIDGE = 3.0
# For components that a prior does not know: an attribute or content it never met, assessors.
_UNKNOWN_VARIANCE, _UNKNOWN_SPREAD = 0.01, 1.0
# Variances of effects of which a collection has one each.
_OF_COLLECTION = {"base": 0.005, "rare": 0.005, "common": 0.002, "slopes": 0.002}
_FEW_LEVELS = 5
# What a judgment counts for beside what was expected: those of one query say much the same.
_WORTH_OF_A_JUDGMENT = 0.3
_USE_STEPS = 20
# A covariate that varies less is the same for all items of a collection.
_SAME_FOR_ALL = 1e-9


def growth_among_few(component: str, n_systems: int) -> float:
    r"""Return by how much the logarithm of a component's variance is larger among few systems than among many.

    Which documents are good is told by how many systems, and which, retrieved them, and so is which systems are good.
    Among few systems that says little, and more is left to their effects: :math:`g_k \ln(8 / S)` for S systems, with
    :math:`g_k` of :data:`GROWTH`.

    Examples
    --------
    >>> [round(growth_among_few("system", n), 2) for n in (1, 2, 4, 8, 30)]
    [0.55, 0.55, 0.28, 0.0, 0.0]
    """
    return GROWTH.get(component, 0.0) * math.log(_MANY_SYSTEMS / min(max(n_systems, 2), _MANY_SYSTEMS))


@dataclass(frozen=True)
class HierarchicalPrior:
    """What is expected before anything is judged.

    Parameters
    ----------
    name : str
        For people.
    coefficients : mapping of str to float
        Of the logistic prior mean, by covariate; ``1`` is the intercept. A covariate it does not name has none.
    variances : mapping of str to (float, float)
        The logarithm of every component's variance among many systems (:func:`growth_among_few`), and its standard
        deviation.
    level_use : sequence of float
        How often gains are given, from 0 to the top in equal steps; nothing where all are equally likely.
    standardised : bool
        Coefficients count per standard deviation of a covariate over the collection at hand, and the intercept is the
        mean logit of its items: for a prior that serves collections of any kind.
    """

    name: str
    coefficients: Mapping[str, float]
    variances: Mapping[str, tuple[float, float]]
    level_use: tuple[float, ...] = ()
    standardised: bool = False

    def for_collection(self, known: Covariates, n_systems: int) -> HierarchicalPrior:
        """Return the prior for a collection of so many systems, with coefficients in the units of its covariates."""
        grown = {
            name: (centre + growth_among_few(name, n_systems), spread)
            for name, (centre, spread) in self.variances.items()
        }
        return replace(self, variances=grown)._in_units_of(known)

    def _in_units_of(self, known: Covariates) -> HierarchicalPrior:
        if not self.standardised:
            return self
        centre, deviation = known.values.mean(axis=0), known.values.std(axis=0)
        by_name = np.array([self.coefficients.get(name, 0.0) for name in known.names])
        slopes = np.divide(by_name, deviation, out=np.zeros_like(by_name), where=deviation > _SAME_FOR_ALL)
        found = dict(zip(known.names, slopes.tolist(), strict=True))
        found[INTERCEPT] = self.coefficients.get(INTERCEPT, 0.0) - float(centre @ slopes)
        return replace(self, coefficients=found, standardised=False)

    def mean(self, known: Covariates) -> Floats:
        """Return the prior mean of every item as a share of the top gain, shape (items,), 0..1."""
        if self.standardised:
            return self._in_units_of(known).mean(known)
        by_name = np.array([self.coefficients.get(name, 0.0) for name in known.names])
        return np.asarray(special.expit(self.coefficients.get(INTERCEPT, 0.0) + known.values @ by_name))

    def refined(self, known: Covariates, items: Ints, gains: Floats) -> HierarchicalPrior:
        """Return the prior with a mean moved towards judgments, by as much as they outweigh what was expected.

        The doubt about the intercept is that of the component ``base``, about standardised covariates that of
        ``slopes``, both turned into logits: in the middle of the scale, 4 of them are worth the whole of it.

        Parameters
        ----------
        known : Covariates
        items : ndarray of int, shape (n,)
            Which are judged.
        gains : ndarray of float, shape (n,), 0..1
            As shares of the top gain.
        """
        if not items.size:
            return self
        names = (INTERCEPT, *known.names)
        before = np.array([self.coefficients.get(name, 0.0) for name in names])
        deviation = np.concatenate(([1.0], known.values.std(axis=0)))
        base, slopes = np.exp(self.of_components(("base", "slopes")).centre)
        doubt = 4.0 * np.sqrt(np.concatenate(([base], np.full(known.values.shape[1], slopes))))
        # Covariates count from their mean, so that slopes do not move the whole pool.
        apart = np.column_stack((np.ones(items.size), known.values[items] - known.values.mean(axis=0)))
        offset = np.concatenate(([before[0] + known.values.mean(axis=0) @ before[1:]], before[1:]))
        found = penalised_logit(
            apart, gains, centre=offset, penalty=(deviation / doubt) ** 2 + 1e-9, weight=_WORTH_OF_A_JUDGMENT
        )
        found[0] -= known.values.mean(axis=0) @ found[1:]
        return replace(self, coefficients=dict(zip(names, found.tolist(), strict=True)))

    def of_components(self, components: Sequence[str]) -> VariancePrior:
        """Return the prior of the variances of some components."""
        unknown = (float(np.log(_UNKNOWN_VARIANCE)), _UNKNOWN_SPREAD)
        centre, spread = zip(*(self.variances.get(name, unknown) for name in components), strict=True)
        return VariancePrior(np.array(centre), np.array(spread))

    def to_dict(self) -> dict[str, Any]:
        """Return what a file says."""
        return {
            "name": self.name,
            "coefficients": dict(self.coefficients),
            "variances": {name: list(values) for name, values in self.variances.items()},
            "level_use": list(self.level_use),
            # Only where it holds: the digest of other priors, by which campaigns know their predictor, stays the same.
            **({"standardised": True} if self.standardised else {}),
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> HierarchicalPrior:
        """Read what :meth:`to_dict` wrote.

        Raises
        ------
        AttributeError, KeyError, TypeError, ValueError, OverflowError
            If something is missing or no number.
        """
        numbers = [*told["coefficients"].values(), *(one for pair in told["variances"].values() for one in pair)]
        if not np.all(np.isfinite([float(number) for number in numbers])):
            raise ValueError("coefficients and variances are finite")
        if any(float(spread) <= 0 for _, spread in told["variances"].values()):
            raise ValueError("the standard deviation of a log-variance is above 0")
        use = tuple(float(share) for share in told.get("level_use", ()))
        if not all(math.isfinite(share) and share > 0 for share in use):
            raise ValueError("every share of level_use is a finite number above 0")
        return cls(
            str(told["name"]),
            {str(name): float(value) for name, value in told["coefficients"].items()},
            {str(name): (float(mean), float(spread)) for name, (mean, spread) in told["variances"].items()},
            use,
            told.get("standardised", False) is True,
        )

    def save(self, path: Path) -> None:
        """Write the prior to a JSON file."""
        with replacing(path) as temporary:
            text = json.dumps({"kind": KIND, **self.to_dict()}, indent=2, ensure_ascii=False)
            temporary.write_text(text + "\n", encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> HierarchicalPrior:
        """Read a prior from a JSON file.

        Raises
        ------
        InputError
            If it is none.
        """
        hint = "write one with earmark fit --predictor hierarchical"
        try:
            told = parse_json(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InputError(expected="a model", got=error.strerror or str(error), path=path, hint=hint) from None
        except ValueError as error:
            raise InputError(expected="a model in JSON", got=str(error), path=path, hint=hint) from None
        if not isinstance(told, dict) or told.get("kind") != KIND:
            got = told.get("kind", "another JSON object") if isinstance(told, dict) else "no JSON object"
            raise InputError(expected=f"kind '{KIND}'", got=f"{got}", path=path, hint=hint)
        try:
            return cls.from_dict(told)
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
            raise InputError(expected="name, coefficients and variances", got=repr(error), path=path) from None


def shipped_prior(scale: Scale, codes: Sequence[str]) -> HierarchicalPrior:
    """Return the prior for a kind of scale and the attributes that are known of documents.

    Parameters
    ----------
    scale : Scale
        Two levels, a few, or many.
    codes : sequence of str
        ``ART`` and ``GEN`` count; what else is known has no prior of its own.
    """
    attributes = "+".join(code for code in ("ART", "GEN") if code in codes) or "none"
    return _shipped()[f"{scale_kind(scale)} {attributes}"]


def scale_kind(scale: Scale) -> str:
    """Tell whether a scale is ``binary``, has ``few`` levels or ``many``."""
    levels = len(scale.gains)
    if scale.continuous or levels > _FEW_LEVELS:
        return "many"
    return "binary" if levels == 2 else "few"


@cache
def _shipped() -> dict[str, HierarchicalPrior]:
    text = files("earmark.predictors").joinpath("hierarchical_priors.json").read_text(encoding="utf-8")
    return {name: HierarchicalPrior.from_dict(told) for name, told in json.loads(text).items()}


@dataclass(frozen=True, eq=False)
class JudgedCollection:
    """A past collection to learn a prior from.

    Attributes
    ----------
    collection : Collection
    features : FeatureBuilder
        Of its items.
    gains : ndarray of float, shape (items,)
        As shares of the top gain; negative where an item is not judged.
    content : Content, optional
        What its documents are like.
    """

    collection: Collection
    features: FeatureBuilder
    gains: Floats
    content: Content | None = None


def usual_doubt(scale: Scale) -> dict[str, float]:
    """Return variances of effects of a whole collection, for a new one of the same kind as those that were fitted."""
    coarseness = COARSENESS[scale_kind(scale)]
    return {name: value * coarseness for name, value in _OF_COLLECTION.items()}


def fit_prior(
    past: Sequence[JudgedCollection], *, name: str, fixed: Mapping[str, float] | None = None
) -> HierarchicalPrior:
    """Learn a prior from judged collections: coefficients from all of them together, variances from each.

    Parameters
    ----------
    past : sequence of JudgedCollection
        Several, or one with several selections of its systems: variances are averaged over them, those of content over
        the collections that have some.
    name : str
        What to call it.
    fixed : mapping of str to float, optional
        Variances to take as given, where the collections have such effects; those of ``base``, ``rare``, ``common`` and
        ``slopes`` cannot be seen on the collections that the coefficients come from.

    Raises
    ------
    ParameterError
        If nothing is judged, or everything alike, or if `fixed` names an effect that does not exist.
    """
    known = [covariates(one.collection, one.features, one.content) for one in past]
    names = tuple(dict.fromkeys(name for table in known for name in table.names))
    rows = np.concatenate([_columns(table, names)[one.gains >= 0] for table, one in zip(known, past, strict=True)])
    gains = np.concatenate([one.gains[one.gains >= 0] for one in past])
    if not gains.size:
        raise ParameterError("a prior is learnt from judged items, and nothing is judged")
    if np.ptp(gains) == 0:
        raise ParameterError("a prior is learnt from gains that differ, and all judged gains are the same")
    coefficients = fractional_logit(rows, gains, ridge=_RIDGE)
    mean_only = HierarchicalPrior(name, dict(zip((INTERCEPT, *names), coefficients.tolist(), strict=True)), {})
    peaks: dict[str, list[float]] = {}
    for table, one in zip(known, past, strict=True):
        model = effect_model(one.collection, table, mean_only.mean(table), effects=usual_effects(tuple(table.groups)))
        for component, value in zip(model.components, _variances(model, one.gains), strict=True):
            peaks.setdefault(component, []).append(value - growth_among_few(component, len(one.collection.systems)))
    centre = {component: float(np.mean(values)) for component, values in peaks.items()}
    # A general effect that these collections do not have is no mistake: variances are often given for any kind.
    possible = dict.fromkeys((*GENERAL, *centre))
    unknown = sorted(set(fixed or {}) - set(possible))
    if unknown:
        raise ParameterError(f"unknown effect '{unknown[0]}': use one of {', '.join(possible)}")
    centre |= {name: float(np.log(value)) for name, value in (fixed or {}).items() if name in centre}
    spreads = {component: SPREADS.get(component, USUAL_SPREAD) for component in centre}
    return HierarchicalPrior(
        name,
        {key: round(value, 4) for key, value in mean_only.coefficients.items()},
        {component: (round(value, 4), spreads[component]) for component, value in centre.items()},
        _level_use(gains),
    )


def fractional_logit(rows: Floats, share: Floats, *, ridge: float) -> Floats:
    """Fit a logistic mean to shares from 0 to 1 by quasi-likelihood [1]_; the intercept comes first.

    Parameters
    ----------
    rows : ndarray of float, shape (n, c)
    share : ndarray of float, shape (n,), 0..1
    ridge : float
        Pulls all coefficients but the intercept to 0.

    References
    ----------
    .. [1] L. E. Papke, J. M. Wooldridge (1996). Econometric methods for fractional response variables with an
       application to 401(k) plan participation rates. Journal of Applied Econometrics 11(6), 619-632.
    """
    table = np.column_stack((np.ones(len(rows)), rows))
    penalty = np.full(table.shape[1], ridge)
    penalty[0] = 1e-6
    return penalised_logit(table, share, centre=np.zeros(table.shape[1]), penalty=penalty)


def penalised_logit(table: Floats, share: Floats, *, centre: Floats, penalty: Floats, weight: float = 1.0) -> Floats:
    """Fit a logistic mean by quasi-likelihood, pulled to given coefficients.

    Parameters
    ----------
    table : ndarray of float, shape (n, c)
    share : ndarray of float, shape (n,), 0..1
    centre, penalty : ndarray of float, shape (c,)
        Where coefficients are pulled to, and how strongly.
    weight : float
        What every row counts for.

    Raises
    ------
    NotConverged
        If the coefficients do not settle.
    """
    at = centre
    for _ in range(100):
        mean = special.expit(table @ at)
        gradient = weight * (table.T @ (share - mean)) - penalty * (at - centre)
        curvature = weight * ((table * (mean * (1.0 - mean))[:, None]).T @ table) + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        at = at + step * min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-12))
        if np.abs(step).max() < 1e-8:
            return at
    raise NotConverged("the coefficients of the prior mean did not settle: are all judged gains 0, or all at the top?")


def _level_use(gains: Floats) -> tuple[float, ...]:
    """Count how often gains are given; the few levels of a coarse scale say nothing about those of another."""
    if np.unique(gains).size <= _FEW_LEVELS:
        return ()
    counts = np.bincount(np.round(gains * _USE_STEPS).astype(np.int64), minlength=_USE_STEPS + 1)
    return tuple((counts + 1.0).tolist())


def _columns(table: Covariates, names: Sequence[str]) -> Floats:
    place = {name: index for index, name in enumerate(table.names)}
    columns = [table.values[:, place[name]] if name in place else np.zeros(len(table.values)) for name in names]
    return np.column_stack(columns)


def _variances(model: EffectModel, gains: Floats) -> Floats:
    """Return the most probable log-variances on a judged collection, hardly any being ruled out beforehand."""
    items = np.flatnonzero(gains >= 0)
    wide = VariancePrior(np.full(len(model.components), np.log(_UNKNOWN_VARIANCE)), np.full(len(model.components), 3.0))
    return fit_variances(model, Observations.exact(model, items, gains[items]), wide).peak
