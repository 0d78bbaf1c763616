"""``earmark fit``: learn from judged collections how new ones will be judged."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from earmark.cli import options
from earmark.cli.output import Column, Output, number, p_value

if TYPE_CHECKING:
    import polars as pl

    from earmark.cli.setting import Files
    from earmark.data.judgments import Aggregation
    from earmark.data.scales import Scale
    from earmark.predictors.training import PastCollection, Training

EXAMPLES = options.examples(
    "earmark fit runs.tsv --judgments judgments.tsv --metadata metadata.tsv -o model.json",
    "earmark fit new.tsv -j new-judgments.tsv --also old.tsv,old-judgments.tsv --augment 5 -o model.json",
    "earmark fit runs.tsv -j judgments.tsv --feature pTEAM --feature pART --eliminate -o model.json",
    "earmark fit runs.tsv -j judgments.tsv --metadata metadata.tsv --predictor hierarchical -o prior.json",
)
_FITTING = "How the model is fitted"
Fitted = Literal["ordinal", "hierarchical"]


def fit(
    runs: options.RunPaths,
    judgments: Annotated[
        Path,
        typer.Option(
            "--judgments",
            "-j",
            metavar="FILE",
            help="The judgments to learn from.",
            rich_help_panel="What is known about the documents",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write the model, as JSON.", show_default=False),
    ],
    scale: options.ScaleName = None,
    aggregate: options.AggregationName = "mean",
    metadata: options.MetadataFile = None,
    artist_column: options.ArtistColumn = None,
    genre_column: options.GenreColumn = None,
    attribute: options.AttributeColumns = None,
    teams: options.TeamsFile = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also",
            metavar="RUNS,JUDGMENTS[,METADATA]",
            help="Another judged collection to learn from, its files separated by commas. Give the option again for "
            "more.",
            rich_help_panel="What is known about the documents",
        ),
    ] = None,
    predictor: Annotated[
        Fitted,
        typer.Option(
            "--predictor",
            metavar="NAME",
            help="What the model is for: ordinal, or a prior for the predictor hierarchical, which needs no features "
            "named.",
            rich_help_panel=_FITTING,
        ),
    ] = "ordinal",
    feature: Annotated[
        list[str] | None,
        typer.Option(
            "--feature",
            metavar="NAME",
            help="Predict from this feature, or a product of two such as sGEN:pGEN. Give the option again for more. "
            "When omitted, pTEAM, aRANK, pART, sGEN, pGEN and sGEN:pGEN, as far as there are metadata for them.",
            rich_help_panel=_FITTING,
        ),
    ] = None,
    judged: Annotated[
        bool,
        typer.Option(
            "--judged",
            metavar="",
            help="Predict also from how its systems, its query and its genre were judged so far: aSYS, aDOC and aGEN. "
            "Such a model says nothing before there are judgments.",
            rich_help_panel=_FITTING,
        ),
    ] = False,
    eliminate: Annotated[
        bool,
        typer.Option(
            "--eliminate",
            metavar="",
            help="Take features out one by one until all that are left have a p-value below 0.0001.",
            rich_help_panel=_FITTING,
        ),
    ] = False,
    augment: Annotated[
        int,
        typer.Option(
            "--augment",
            metavar="N",
            min=0,
            help="Add N copies of every collection from which systems are dropped at random, so that the model has "
            "seen smaller collections too.",
            rich_help_panel=_FITTING,
        ),
    ] = 0,
    seed: options.Seed = 0,
    depth: options.Depth = None,
    order: options.OrderRule = "score",
    encoding: options.Encoding = "utf-8",
    format: options.FormatName = None,
    quiet: options.Quiet = False,
) -> None:
    """Fit a model on judged collections, for the predictor ordinal or hierarchical to use on new ones.

    An ordinal model gives every level of the scale a probability from the features of an item (see 'earmark
    features'). An item's own judgment is never among them.
    """
    import numpy as np

    from earmark.cli.features import say_dropped
    from earmark.cli.setting import Files
    from earmark.predictors.training import train

    out = Output.choose(format, quiet=quiet)

    def load(paths: list[Path], gains: Path, files: Files, known: Scale | None) -> PastCollection:
        return _load(out, paths, gains, files, scale=scale, known=known, aggregate=aggregate, depth=depth, order=order)

    past = [load(runs, judgments, Files(metadata, teams, artist_column, genre_column, attribute, encoding), None)]
    shared = past[0].setting.scale
    for paths in map(_read_also, also or []):
        known = paths[2] if len(paths) > 2 else None
        columns = (artist_column, genre_column, attribute) if known else (None, None, None)
        past.append(load([paths[0]], paths[1], Files(known, None, *columns, encoding), shared))
    if predictor == "hierarchical":
        _fit_prior(past, output, out, named=bool(feature or judged or eliminate or augment))
        return
    if not feature:
        say_dropped(past[0].setting.features, out)
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


def _fit_prior(past: list[PastCollection], output: Path, out: Output, *, named: bool) -> None:
    """Fit and write a prior for the predictor hierarchical."""
    import numpy as np
    import polars as pl

    from earmark.errors import ParameterError
    from earmark.predictors.hierarchical_prior import JudgedCollection, fit_prior, usual_doubt

    if named:
        raise ParameterError("--feature, --judged, --eliminate and --augment are for --predictor ordinal")
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
    frame = pl.DataFrame(rows, schema=["kind", "name", "estimate"], orient="row")
    if not out.for_people:
        out.rows(frame)
        return
    out.show_columns(
        [Column(name, frame[name].to_list(), numeric=False) for name in ("kind", "name")],
        [Column("estimate", [number(value) for value in frame["estimate"]])],
    )


def _read_also(text: str) -> list[Path]:
    from earmark.errors import ParameterError

    parts = [part.strip() for part in text.split(",")]
    if len(parts) not in (2, 3) or not all(parts):
        raise ParameterError(f"--also takes runs and judgments and perhaps metadata, with commas between, got '{text}'")
    return [Path(part) for part in parts]


def _load(
    out: Output,
    runs: list[Path],
    judgments: Path,
    files: Files,
    *,
    scale: str | None,
    known: Scale | None,
    aggregate: Aggregation,
    depth: int | None,
    order: options.Order,
) -> PastCollection:
    """Read a judged collection; all have to be on one scale, the first one's where it had to be guessed."""
    from earmark.beliefs.beliefs import item_gains
    from earmark.cli.loading import load_judgments, load_runs
    from earmark.cli.setting import load_documents, say_metadata
    from earmark.data.readers import read_judgments
    from earmark.predictors.training import PastCollection

    if known is None:
        judged = load_judgments(judgments, out, scale=scale, encoding=files.encoding)
    else:
        judged = read_judgments(judgments, scale=known, encoding=files.encoding)
    lists = load_runs(runs, order=order, encoding=files.encoding)
    setting = load_documents(files).setting(lists, judged.scale, depth=depth)
    say_metadata(setting.collection, lists, files.metadata, out)
    return PastCollection(setting, item_gains(setting.collection, judged, aggregation=aggregate))


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
    out.show_columns(
        [Column("", rows["name"].to_list(), numeric=False)],
        [
            Column("estimate", [number(value) for value in rows["estimate"]]),
            Column("standard\nerror", [number(value) for value in rows["standard_error"]]),
            Column("p", ["" if value is None else p_value(value) for value in rows["p_value"]]),
        ],
        caption=f"{trained.model.source}: {facts['rows']:,} rows, R² {facts['nagelkerke_r2']:.3f} (Nagelkerke), "
        f"{facts['mcfadden_r2']:.3f} (McFadden)",
    )
