"""How much it helps to know what documents sound like, and what it costs where that is noise.

``python -m benchmarks.content [--seeds 20] [--jobs N]`` plays campaigns with and without content, by the predictor
hierarchical and the policy variance, on collections of three kinds:

- *informative embeddings*: made-up listeners hear documents as points in a space. Gains rest on how near two points
  are, some directions counting more than others, on a direction that is in demand for the query, and a little on
  genres. Embeddings are the points, turned and stretched into more dimensions, through noise. There are no metadata:
  what a prior expects of artists and genres was learnt on real collections, and would be wrong here;
- *embeddings of noise*: the same collections, the embeddings being random numbers;
- *MIREX 2011 with embeddings of noise* (where the data are): 8 of its systems and 30 of the queries that no shipped
  prior has seen;
- *the demonstration's music* (with the extra audio): its six systems and its listener, other songs for every seed,
  content being what librosa hears; once with artists and genres known and once without.

Printed are the judgments until the mean confidence is .95 and the accuracy then; the accuracy (the share of pairs in
the right order) after 20, 50, 100 and 200 judgments; how far beliefs about unjudged items are off after 100; and the
coverage of 95% intervals of pairs and of systems over all looks up to 200. Changes are those between the two campaigns
on the same collection. Judgments are few or many as systems happen to differ, so the ratio of the two campaigns is the
better summary of them.

:func:`study` plays the same campaigns on any other collections. Nothing here is asserted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.mirex import draw_some, load_mirex
from earmark.campaign.problem import Problem
from earmark.data.arrays import Floats, Ints
from earmark.data.content import Content
from earmark.data.judgments import Judgments
from earmark.data.metadata import Metadata
from earmark.data.runs import Runs, build_runs
from earmark.errors import InputError, MissingLibraryError
from earmark.simulation.campaigns import Outcome, Study

LOOKS = (20, 50, 100, 200)
TARGET = 0.95
_BATCH = 10
_HIDDEN, _DIMS, _DEPTH = 6, 32, 5
_NOT_THE_DEMO = 2_000

World = tuple[Runs, Judgments, Metadata | None, Content]
"""What a campaign is played on: lists, judgments of all that is in them, and what is known of the documents."""
MakeWorld = Callable[[int], World]


@dataclass(frozen=True)
class Row:
    """One campaign: how soon it was sure, how right it was on the way, and how honest."""

    seed: int
    content: bool
    judgments: int
    accuracy: float
    accuracy_20: float
    accuracy_50: float
    accuracy_100: float
    accuracy_200: float
    rmse_100: float
    coverage_pairs: float
    coverage_systems: float


def study(
    make_collection: MakeWorld, seeds: Sequence[int], *, measure: str = "AG@5", helpers: Helpers | None = None
) -> pl.DataFrame:
    """Play campaigns with and without content.

    Parameters
    ----------
    make_collection : callable
        Given a seed, returns runs, judgments of all their items, metadata or None, and content.
    seeds : sequence of int
        One collection each.
    measure : str
        What systems are compared by.
    helpers : Helpers, optional
        Who computes; by default this process.

    Returns
    -------
    polars.DataFrame
        The fields of :class:`Row`, two rows per seed.
    """
    tasks = [(measure, seed) for seed in seeds]
    parts = (helpers or Helpers()).each(_with_and_without, make_collection, tasks)
    return pl.DataFrame([asdict(row) for part in parts for row in part])


def _with_and_without(make_collection: MakeWorld, measure: str, seed: int) -> list[Row]:
    world = make_collection(seed)
    return [campaign(world, seed, measure=measure, content=content) for content in (False, True)]


def campaign(world: World, seed: int, *, content: bool, measure: str = "AG@5") -> Row:
    """Play one campaign until it is sure, and at least to the last look."""
    runs, judgments, metadata, known = world
    problem = Problem.build(
        runs,
        judgments=judgments,
        measure=measure,
        stop="none",
        metadata=metadata,
        content=known if content else None,
        seed=seed,
    )
    played = Study(problem, judgments, batch=_BATCH)
    looks: list[Outcome] = []
    for outcome in played.repeat(0):
        looks.append(outcome)
        if is_sure(outcome) and outcome.judged >= LOOKS[-1]:
            break
    sure = next((look for look in looks if is_sure(look)), looks[-1])
    at = [next((look for look in looks if look.judged >= judged), looks[-1]) for judged in LOOKS]
    on_the_way = [look for look in looks if look.judged <= LOOKS[-1]]
    return Row(
        seed=seed,
        content=content,
        judgments=sure.judged,
        accuracy=_mean([sure.accuracy]),
        accuracy_20=_mean([at[0].accuracy]),
        accuracy_50=_mean([at[1].accuracy]),
        accuracy_100=_mean([at[2].accuracy]),
        accuracy_200=_mean([at[3].accuracy]),
        rmse_100=at[2].rmse,
        coverage_pairs=_mean([look.coverage_pairs_95 for look in on_the_way]),
        coverage_systems=_mean([look.coverage_systems_95 for look in on_the_way]),
    )


def is_sure(outcome: Outcome) -> bool:
    """Tell whether a campaign would have stopped here."""
    return (outcome.mean_confidence or 0.0) >= TARGET


def _mean(values: Sequence[float | None]) -> float:
    return float(np.mean([value for value in values if value is not None]))


def table(frame: pl.DataFrame) -> pl.DataFrame:
    """Average over collections, and say what content changed, with the standard error of that."""
    fields = [name for name in frame.columns if name not in ("seed", "content")]
    without, with_content = (frame.filter(pl.col("content") == known).sort("seed") for known in (False, True))
    change = with_content.select(fields) - without.select(fields)
    rows = {
        "without": without.select(pl.col(fields).mean()),
        "with content": with_content.select(pl.col(fields).mean()),
        "change": change.select(pl.col(fields).mean()),
        "± standard error": change.select(pl.col(fields).std() / pl.len().sqrt()),
    }
    return pl.concat([one.select(pl.lit(name).alias("campaigns"), pl.all()) for name, one in rows.items()])


def show(name: str, frame: pl.DataFrame) -> None:
    """Print the table of a study."""
    print(f"{name}: {frame['seed'].n_unique()} collections, a look every {_BATCH} judgments")
    named = table(frame)
    named.columns = [column.replace("coverage_", "covers_").replace("accuracy", "right") for column in named.columns]
    with pl.Config(tbl_rows=-1, tbl_cols=-1, float_precision=3, tbl_hide_dataframe_shape=True, tbl_width_chars=170):
        print(named)
    needed = [frame.filter(pl.col("content") == known).sort("seed")["judgments"].to_numpy() for known in (True, False)]
    ratio = np.log(needed[0] / needed[1])
    low, middle, high = np.exp(ratio.mean() + ratio.std(ddof=1) / np.sqrt(ratio.size) * np.array([-2, 0, 2]))
    print(
        f"judgments needed with content: {middle:.2f} of those without (two standard errors: {low:.2f} to {high:.2f})"
    )


def made_up(
    seed: int, *, noise: float | None = 0.5, systems: int = 8, queries: int = 40, documents: int = 800
) -> World:
    """Make a collection up in which gains rest on hidden points that embeddings show through noise.

    Parameters
    ----------
    seed : int
    noise : float or None
        The standard deviation of the embeddings' noise as a multiple of their own; None for nothing but noise.
    systems, queries, documents : int
        How many of each.
    """
    rng = np.random.default_rng([77, seed])
    n_artists = documents // 6
    artist = rng.integers(0, n_artists, documents)
    genre = rng.integers(0, 8, n_artists)[artist]
    points = (
        rng.normal(0, 0.8, (8, _HIDDEN))[genre]
        + rng.normal(0, 0.5, (n_artists, _HIDDEN))[artist]
        + rng.normal(0, 0.7, (documents, _HIDDEN))
    )
    asked = rng.choice(documents, queries, replace=False)
    matters = rng.dirichlet(np.ones(_HIDDEN))
    distance = np.sqrt((points[asked, None, :] - points) ** 2 @ matters)
    in_demand = rng.normal(0, 0.25, (queries, _HIDDEN)) @ points.T
    of_query = rng.normal(0, 0.4, (queries, 1))
    liking = 1.0 - 1.5 * distance + in_demand + 0.3 * (genre[asked, None] == genre) + of_query
    gain = np.round(100 / (1 + np.exp(-(liking + rng.normal(0, 0.5, liking.shape)))))
    standard = (liking - liking.mean(axis=1, keepdims=True)) / liking.std(axis=1, keepdims=True)
    misheard = rng.normal(0, 1, liking.shape)
    ranked = np.empty((systems, queries, _DEPTH), dtype=np.int64)
    for number, skill in enumerate(rng.uniform(0.15, 0.75, systems)):
        score = skill * standard + (1 - skill) * (0.8 * misheard + rng.normal(0, 1, liking.shape))
        score[np.arange(queries), asked] = -np.inf
        ranked[number] = np.argsort(-score, axis=1)[:, :_DEPTH]
    shown = points @ rng.normal(0, 1, (_HIDDEN, _DIMS))
    rough = rng.normal(0, 1, shown.shape)
    names = tuple(f"track{number:04d}" for number in range(documents))
    content = Content(names, rough if noise is None else shown + noise * shown.std(axis=0) * rough)
    return *_lists_and_judgments(ranked, gain, asked, names), None, content


def _lists_and_judgments(ranked: Ints, gain: Floats, asked: Ints, names: tuple[str, ...]) -> tuple[Runs, Judgments]:
    name = pl.Series(names)
    system, query, _ = (index.reshape(-1) for index in np.indices(ranked.shape))
    runs = build_runs(
        system=pl.Series([f"system-{number}" for number in range(len(ranked))]).gather(system),
        query=name.gather(asked[query]),
        document=name.gather(ranked.reshape(-1)),
    )
    of_query, document = np.divmod(np.unique(query * len(names) + ranked.reshape(-1)), len(names))
    judged = pl.DataFrame(
        {"query": name.gather(asked[of_query]), "document": name.gather(document), "gain": gain[of_query, document]}
    )
    return runs, Judgments.from_frame(judged, scale=earmark.FINE)


def mirex_with_noise(seed: int) -> World:
    """Draw 8 systems and 30 reporting queries of MIREX 2011, and numbers that say nothing about its documents."""
    mirex, rng = load_mirex(), np.random.default_rng([78, seed])
    runs = mirex.runs.select(systems=draw_some(rng, mirex.runs.systems, 8), queries=draw_some(rng, mirex.reporting, 30))
    ids = tuple(sorted({*runs.documents, *runs.queries}))
    return runs, mirex.judgments, mirex.metadata, Content(ids, rng.normal(0, 1, (len(ids), _DIMS)))


def demo_music(seed: int, *, metadata: bool = True) -> World:
    """Make a collection of the demonstration, of songs that no one listened to before."""
    from earmark.demo.collection import make_collection

    made = make_collection(_NOT_THE_DEMO + seed)
    return made.runs, made.judgments, made.metadata if metadata else None, made.content


WORLDS: dict[str, MakeWorld] = {
    "informative embeddings": made_up,
    "embeddings of noise": partial(made_up, noise=None),
    "MIREX 2011 with embeddings of noise": mirex_with_noise,
    "the demonstration's music": demo_music,
    "the demonstration's music, artists and genres unknown": partial(demo_music, metadata=False),
}


def main() -> None:
    """Run the studies and print their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    Helpers.options(parser)
    parser.add_argument("--only", metavar="NAME", help="collections whose name contains this")
    told = parser.parse_args()
    for name, make_collection in WORLDS.items():
        if told.only and told.only not in name:
            continue
        try:
            show(name, study(make_collection, range(told.seeds), helpers=Helpers.given(told)))
        except (InputError, MissingLibraryError) as error:
            print(f"left out: {name} ({error})", file=sys.stderr)


if __name__ == "__main__":
    main()
