"""``earmark fit``: learn from judged collections how new ones will be judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from earmark.cli.command import option
from earmark.cli.options import KNOWN, Depth, Described, Inputs, RequiredJudging, Seed
from earmark.cli.output import Output, p_value

if TYPE_CHECKING:
    import polars as pl

    from earmark.data.scales import Scale
    from earmark.predictors.ordinal_training import PastCollection, Training

_FITTING = "How the model is fitted"
Fitted = Literal["ordinal", "hierarchical", "forest", "boosted", "conditional-tree", "conditional-forest"]


def fit(
    inputs: Inputs,
    judging: RequiredJudging,
    described: Described,
    out: Output,
    output: Annotated[Path, option("FILE", "-o")],
    also: Annotated[list[str] | None, option("RUNS,JUDGMENTS[,METADATA]", panel=KNOWN)] = None,
    predictor: Annotated[Fitted, option("NAME", panel=_FITTING)] = "ordinal",
    feature: Annotated[list[str] | None, option("NAME", panel=_FITTING)] = None,
    judged: Annotated[bool, option(panel=_FITTING)] = False,
    eliminate: Annotated[bool, option(panel=_FITTING)] = False,
    augment: Annotated[int, option("N", panel=_FITTING, min=0)] = 0,
    seed: Seed = 0,
    depth: Depth = None,
) -> None:
    """Fit a model on judged collections, for a predictor to use on new ones.

    An ordinal model gives every level of the scale a probability from the features of an item (see 'earmark
    features'). An item's own judgment is never among them. Models of trees do the same; their hyperparameters and
    the power that recalibrates their probabilities come from a cross-validation that holds out whole queries
    (Buckers 2021, section 3.4).

    Parameters
    ----------
    judgments
        The judgments to learn from. Give the option again for more files, or name a folder of files or a quoted
        pattern such as 'answers/*.csv'. Of several answers of one assessor about an item the latest counts: by
        sequence, then by time, then the larger gain. Answers of different assessors are all kept.
    output
        Where to write the model, as JSON.
    also
        Another judged collection to learn from, its files separated by commas. Give the option again for more.
    predictor
        What the model is for: ordinal; forest, a random forest; boosted, an ordinal model boosted with trees (both need
        the extra learn); conditional-tree or conditional-forest, conditional inference trees; or hierarchical, for
        which it is a prior that needs no features named.
    feature
        Predict from this feature, or a product of two such as sGEN:pGEN. Give the option again for more. When omitted,
        pTEAM, aRANK, pART, sGEN, pGEN and sGEN:pGEN, as far as there are metadata for them.
    judged
        Predict also from how its systems, its query and its genre were judged so far: aSYS, aDOC and aGEN. Such a model
        predicts nothing before there are judgments.
    eliminate
        Remove features one by one until all remaining ones have a p-value below 0.0001. For ordinal models.
    augment
        Add N copies of every collection from which systems are dropped at random, so that the model has seen smaller
        collections too.

    Examples
    --------
    earmark fit runs.tsv --judgments judgments.tsv --metadata metadata.tsv -o model.json
    earmark fit new.tsv -j new-judgments.tsv --also old.tsv,old-judgments.tsv --augment 5 -o model.json
    earmark fit runs.tsv -j judgments.tsv --feature pSYS --feature pART --eliminate -o model.json
    earmark fit runs.tsv -j judgments.tsv --metadata metadata.tsv --predictor hierarchical -o prior.json
    earmark fit runs.tsv -j judgments.tsv --metadata metadata.tsv --predictor forest -o forest.json
    """
    import numpy as np

    from earmark.cli.features import say_dropped
    from earmark.predictors.ordinal_training import train

    past = [_load(out, inputs, judging, described, depth)]
    shared = past[0].setting.scale
    for runs, judgments, *metadata in map(_read_also, also or []):
        # Columns are those of metadata, where there are any.
        about = replace(described, metadata=metadata[0], teams=None) if metadata else Described()
        another = replace(judging, judgments=[judgments])
        past.append(_load(out, replace(inputs, runs=[runs]), another, about, depth, scale=shared))
    if predictor == "hierarchical":
        _fit_prior(past, output, out, named=bool(feature or judged or eliminate or augment))
        return
    if not feature:
        say_dropped(past[0].setting.features, out)
    _say_teams(feature or (), described, out)
    if predictor != "ordinal":
        _fit_trees(past, output, out, predictor, feature, seed, judged=judged, eliminate=eliminate, augment=augment)
        return
    trained = train(
        past,
        rng=np.random.default_rng(seed),
        features=feature or None,
        judged=judged,
        copies=augment,
        eliminate=eliminate,
        name=output.name.removesuffix(".json"),
    )
    if trained.incomplete:
        out.note(f"{trained.incomplete:,} judged items lack a feature and were left out")
    for step in trained.eliminated:
        out.note(f"{step.removed} was taken out (p {p_value(step.p_value)})")
    trained.model.save(output)
    out.note(f"wrote {output}: {trained.model.source}")
    if out.for_people:
        _show(trained, out)
    else:
        coefficients, summary = training_frames(trained)
        out.kinds(coefficients, summary)


def _fit_trees(
    past: list[PastCollection],
    output: Path,
    out: Output,
    predictor: str,
    feature: list[str] | None,
    seed: int,
    *,
    judged: bool,
    eliminate: bool,
    augment: int,
) -> None:
    """Fit and write a model of trees, and show how its hyperparameters were chosen."""
    import numpy as np
    import polars as pl

    from earmark.errors import ParameterError
    from earmark.predictors.tree_training import train_trees

    if eliminate:
        raise ParameterError("--eliminate is for --predictor ordinal: trees have no p-values to take features out by")
    trained = train_trees(
        past,
        predictor,
        rng=np.random.default_rng(seed),
        features=feature or None,
        judged=judged,
        copies=augment,
        name=output.name.removesuffix(".json"),
    )
    if trained.incomplete:
        out.note(f"{trained.incomplete:,} judged items lack a feature and were left out")
    trained.model.save(output)
    out.note(f"wrote {output}: {trained.model.source}")
    chosen = trained.choice.learner
    rows = pl.DataFrame(
        [
            {"kind": "candidate", "hyperparameters": str(learner), "rps": score, "chosen": learner == chosen}
            for learner, score in trained.choice.scores
        ]
    )
    summary = {
        "kind": "summary",
        "predictor": predictor,
        "collections": trained.collections,
        "judged": trained.judged,
        "rows": trained.rows,
        "power": trained.model.ensemble.power,
    }
    if out.for_people:
        out.show_frame(
            rows,
            {"hyperparameters": "", "rps": "RPS, queries\nheld out", "chosen": "chosen"},
            formats={"rps": lambda value: f"{value:.4f}", "chosen": lambda value: "yes" if value else ""},
            caption=trained.model.source,
        )
    else:
        out.kinds(rows, pl.DataFrame([summary]))


def _say_teams(features: Sequence[str], described: Described, out: Output) -> None:
    """Say that teams are unknown, where a feature that rests on them was asked for by name."""
    from earmark.errors import ParameterError

    named = {part for name in features for part in name.split(":")}
    if "pTEAM" not in named or described.teams is not None:
        return
    if "pSYS" in named:
        raise ParameterError(
            "the feature 'pTEAM' is the same as 'pSYS', because teams are unknown: name them with --teams, or take one "
            "of the two"
        )
    out.note("teams are unknown, so pTEAM takes every system for a team of its own: name them with --teams")


def _fit_prior(past: list[PastCollection], output: Path, out: Output, *, named: bool) -> None:
    """Fit and write a prior for the predictor hierarchical."""
    import numpy as np
    import polars as pl

    from earmark.errors import ParameterError
    from earmark.predictors.hierarchical_prior import JudgedCollection, fit_prior, usual_doubt

    if named:
        raise ParameterError("--feature, --judged, --eliminate and --augment are not for --predictor hierarchical")
    scale = past[0].setting.scale
    judged = [
        JudgedCollection(
            one.setting.collection,
            one.setting.features,
            np.where(one.judged_gain < 0, -1.0, one.judged_gain / float(scale.top)),
        )
        for one in past
    ]
    prior = fit_prior(judged, name=output.name.removesuffix(".json"), fixed=usual_doubt(scale))
    prior.save(output)
    items = int(sum(np.count_nonzero(one.judged_gain >= 0) for one in past))
    out.note(f"wrote {output}: a prior from {items:,} judged items")
    rows = [("coefficient", name, value) for name, value in prior.coefficients.items()]
    rows += [("variance", name, float(np.exp(centre))) for name, (centre, _) in prior.variances.items()]
    out.print_frame(pl.DataFrame(rows, schema=["kind", "name", "estimate"], orient="row"), keys=2)


def _read_also(text: str) -> list[Path]:
    from earmark.errors import ParameterError

    parts = [part.strip() for part in text.split(",")]
    if len(parts) not in (2, 3) or not all(parts):
        raise ParameterError(f"--also takes runs and judgments and perhaps metadata, with commas between, got '{text}'")
    return [Path(part) for part in parts]


def _load(
    out: Output,
    inputs: Inputs,
    judging: RequiredJudging,
    described: Described,
    depth: int | None,
    *,
    scale: Scale | None = None,
) -> PastCollection:
    """Read a judged collection; all have to be on one scale, the first one's where it had to be guessed."""
    from earmark.beliefs.beliefs import item_gains
    from earmark.campaign.problem import metadata_notes
    from earmark.cli.loading import load_judgments
    from earmark.data.readers import read_judgments
    from earmark.predictors.ordinal_training import PastCollection

    encoding = inputs.encoding
    if scale is None:
        judged = load_judgments(judging.judgments, out, scale=judging.scale, encoding=encoding)
    else:
        judged = read_judgments(judging.judgments, scale=scale, encoding=encoding)
    lists = inputs.load()
    setting = described.files(encoding).setting(lists, judged.scale, depth=depth)
    for note in metadata_notes(setting.collection, lists, described.metadata):
        out.note(note)
    return PastCollection(setting, item_gains(setting.collection, judged, aggregation=judging.aggregate))


def training_frames(trained: Training) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return one row per coefficient and intercept, and one row that sums the fit up."""
    import polars as pl

    found = trained.fit
    reached = [f"P(G >= {level:g})" for level in trained.model.levels[1:]]
    features = trained.model.features
    rows = pl.DataFrame(
        {
            "kind": ["coefficient"] * len(features) + ["intercept"] * len(reached),
            "name": [*features, *reached],
            "estimate": [*found.coefficients.tolist(), *found.intercepts.tolist()],
            "standard_error": [*found.coefficient_errors.tolist(), *found.intercept_errors.tolist()],
            "p_value": pl.Series([*found.p_values.tolist(), *([None] * len(reached))], dtype=pl.Float64),
        }
    )
    summary = {
        "kind": "summary",
        "collections": trained.collections,
        "judged": trained.judged,
        "rows": trained.rows,
        "log_likelihood": found.log_likelihood,
        "aic": found.aic,
        "mcfadden_r2": found.mcfadden_r2,
        "nagelkerke_r2": found.nagelkerke_r2,
    }
    return rows, pl.DataFrame([summary])


def _show(trained: Training, out: Output) -> None:
    rows, summary = training_frames(trained)
    facts = summary.row(0, named=True)
    out.show_frame(
        rows,
        {"name": "", "estimate": "estimate", "standard_error": "standard\nerror", "p_value": "p"},
        formats={"p_value": lambda p: "" if p is None else p_value(p)},
        caption=f"{trained.model.source}: {facts['rows']:,} rows, R² {facts['nagelkerke_r2']:.3f} (Nagelkerke), "
        f"{facts['mcfadden_r2']:.3f} (McFadden)",
    )
