"""What happens when the model is wrong? Made-up collections that break it, each in its own way.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.honesty.broken [--resamples 30]`` makes collections of a small latent
model (listeners hear artist, genre and sound; systems hear the same through noise) and breaks them:

====================  ==================================================================================================
``nothing broken``    as made
``heavy tails``       nearly everything is worth next to nothing, one item in twenty everything, unforeseeably
``broken system``     the best system filed its lists under the wrong queries
``wrong genre``       in two genres listeners hear the opposite of what all systems agree on
``assessors``         four assessors, each with queries of their own: some generous, some strict, one answering half of
                      the time without listening; what they say is the truth that is looked for
``duplicates``        the best system entered three more times, once unchanged and twice with another last document
``outlier runs``      one system that finds the best documents, alone; one that answers a quarter of the queries; one
                      that draws documents at random
====================  ==================================================================================================

On each, an adaptive campaign judges 300 items with an audit of .2. Held against the truth are the model's intervals at
its end, those that the audit's own sample of about 60 guarantees, and those of campaigns in guaranteed mode with 300
judgments, four of them. ``flags`` says how often the audit was against the model at the end, and at any look of a
campaign; ``diagnose`` is the model's coverage of pairs that ``earmark diagnose`` finds with a fifth of all judgments
shown. Standard errors are over collections, as intervals on one of them hold or miss together.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import asdict, astuple, dataclass, replace

import numpy as np
import polars as pl

import earmark
from benchmarks.helping import Helpers
from benchmarks.honesty.guaranteed import MEASURE, Held, hold, true_estimates
from earmark.beliefs.beliefs import UNJUDGED
from earmark.beliefs.estimates import Estimates
from earmark.campaign.campaign import Campaign, oracle
from earmark.campaign.loop import play
from earmark.campaign.problem import Problem
from earmark.campaign.stopping import Budget
from earmark.campaign.verdict import Inference, Verdicts
from earmark.data.arrays import Floats, Ints
from earmark.data.collection import Collection
from earmark.data.metadata import Metadata
from earmark.data.runs import build_runs
from earmark.inference.confidence import rank_systems
from earmark.predictors.base import Setting
from earmark.predictors.choose import PredictorChoice
from earmark.simulation.diagnosis import diagnose

SYSTEMS, QUERIES, DOCUMENTS, DEPTH, GENRES, ARTISTS = 8, 40, 600, 5, 8, 100
JUDGED, AUDIT, BATCH, SHOWN, ORDERS = 300, 0.2, 50, 0.2, 4
_HIERARCHICAL = PredictorChoice("hierarchical")


@dataclass(frozen=True, eq=False)
class World:
    """Everything there is to know about a made-up collection.

    Attributes
    ----------
    ranked : ndarray of int, shape (systems, queries, depth)
        Documents; -1 where a list has none.
    gain : ndarray of float, shape (queries, documents), 0..100
        How everything would be judged.
    artist_of, genre_of : ndarray of int, shape (documents,)
    asked : ndarray of int, shape (queries,)
        The documents that are queries.
    """

    ranked: Ints
    gain: Floats
    artist_of: Ints
    genre_of: Ints
    asked: Ints

    def setting(self) -> tuple[Setting, Floats]:
        """Return the collection as predictors see it, and the gains of its items."""
        names = pl.Series([f"d{number:03d}" for number in range(self.artist_of.size)])
        system, query, _ = np.nonzero(self.ranked >= 0)
        runs = build_runs(
            system=pl.Series([f"s{number}" for number in range(len(self.ranked))]).gather(system),
            query=names.gather(self.asked[query]),
            document=names.gather(self.ranked[self.ranked >= 0]),
        )
        known = {"artist": self.artist_of, "genre": self.genre_of}
        metadata = Metadata(pl.DataFrame({"document": names, **{key: of.astype(str) for key, of in known.items()}}))
        collection = Collection.from_runs(runs, depth=DEPTH, metadata=metadata)
        number = np.array([int(name[1:]) for name in collection.documents])[collection.item_document]
        row = {int(document): at for at, document in enumerate(self.asked)}
        of_query = np.array([row[int(name[1:])] for name in collection.queries])[collection.item_query]
        return Setting(collection, earmark.FINE), np.round(self.gain[of_query, number])


def make_world(rng: np.random.Generator) -> World:
    """Make a collection that has nothing wrong with it; the first system is the best."""
    artist_of = rng.integers(0, ARTISTS, DOCUMENTS)
    genre_of = rng.integers(0, GENRES, ARTISTS)[artist_of]
    sound = rng.normal(0, 1.2, (GENRES, 6))[genre_of] + rng.normal(0, 0.8, (ARTISTS, 6))[artist_of]
    sound = sound + rng.normal(0, 0.6, sound.shape)
    asked = np.sort(rng.choice(DOCUMENTS, QUERIES, replace=False))
    distance = np.sqrt(((sound[asked, None] - sound) ** 2).mean(axis=-1))
    liking = 1.1 * (artist_of[asked, None] == artist_of) + 0.7 * (genre_of[asked, None] == genre_of) - 1.2 * distance
    liking = liking + rng.normal(0, 0.4, (QUERIES, 1))
    heard = liking + rng.normal(0, 0.5, liking.shape)
    standard = (liking - liking.mean(axis=1, keepdims=True)) / liking.std(axis=1, keepdims=True)
    noise = rng.normal(0, 1, liking.shape)
    scores = [
        skill * standard + (1 - skill) * (0.8 * noise + rng.normal(0, 1, liking.shape))
        for skill in np.sort(rng.uniform(0.3, 0.65, SYSTEMS))[::-1]
    ]
    score = np.stack(scores)
    score[:, np.arange(QUERIES), asked] = -np.inf
    ranked = np.argsort(-score, axis=2)[:, :, :DEPTH]
    return World(ranked, 100 / (1 + np.exp(-heard)), artist_of, genre_of, asked)


def heavy_tails(rng: np.random.Generator, world: World) -> World:
    """Let nearly everything be worth little, and a few documents all there is."""
    return replace(world, gain=np.where(rng.random(world.gain.shape) < 0.05, 100.0, 0.1 * world.gain))


def broken_system(_rng: np.random.Generator, world: World) -> World:
    """File the lists of the best system under the next query."""
    ranked = world.ranked.copy()
    ranked[0] = np.roll(ranked[0], 1, axis=0)
    return replace(world, ranked=ranked)


def wrong_genre(_rng: np.random.Generator, world: World) -> World:
    """Turn gains upside down for the queries of two genres."""
    of_query = world.genre_of[world.asked]
    common = np.argsort(-np.bincount(of_query, minlength=GENRES), kind="stable")[:2]
    return replace(world, gain=np.where(np.isin(of_query, common)[:, None], 100 - world.gain, world.gain))


def assessors(rng: np.random.Generator, world: World) -> World:
    """Give every quarter of the queries an assessor of its own."""
    who = np.arange(QUERIES) * 4 // QUERIES
    generous = np.array([35.0, -30.0, 0.0, 0.0])[who]
    careless = np.array([0.05, 0.05, 0.05, 0.5])[who]
    said = np.clip(world.gain + generous[:, None], 0, 100)
    without_listening = rng.choice([0.0, 50.0, 100.0], world.gain.shape, p=[0.2, 0.2, 0.6])
    return replace(world, gain=np.where(rng.random(said.shape) < careless[:, None], without_listening, said))


def duplicates(rng: np.random.Generator, world: World) -> World:
    """Enter the best system three more times, in the place of others."""
    ranked = world.ranked.copy()
    ranked[1:4] = ranked[0]
    for copy in (1, 2):
        ranked[copy, :, -1] = _others(rng, world, ranked[0])
    return replace(world, ranked=ranked)


def outlier_runs(rng: np.random.Generator, world: World) -> World:
    """Replace three systems by one that knows the truth, one that rarely answers and one that draws at random."""
    ranked, gain = world.ranked.copy(), world.gain.copy()
    gain[np.arange(QUERIES), world.asked] = -1
    taken = world.ranked.transpose(1, 0, 2).reshape(QUERIES, -1)
    gain[np.arange(QUERIES)[:, None], taken] = -1
    ranked[1] = np.argsort(-gain, axis=1)[:, :DEPTH]
    ranked[3, rng.permutation(QUERIES)[QUERIES // 4 :]] = -1
    for place in range(DEPTH):
        ranked[5, :, place] = -1
        ranked[5, :, place] = _others(rng, world, ranked[5])
    return replace(world, ranked=ranked)


def _others(rng: np.random.Generator, world: World, listed: Ints) -> Ints:
    """Draw a document for every query that is neither the query nor in its list, shape (queries,)."""
    free = rng.random((QUERIES, DOCUMENTS))
    free[np.arange(QUERIES), world.asked] = -1
    query, place = np.nonzero(listed >= 0)
    free[query, listed[query, place]] = -1
    drawn: Ints = np.argmax(free, axis=1)
    return drawn


CASES: dict[str, Callable[[np.random.Generator, World], World]] = {
    "nothing broken": lambda _rng, world: world,
    "heavy tails": heavy_tails,
    "broken system": broken_system,
    "wrong genre": wrong_genre,
    "assessors": assessors,
    "duplicates": duplicates,
    "outlier runs": outlier_runs,
}


@dataclass(frozen=True)
class Row:
    """One made-up collection.

    Attributes
    ----------
    model, guaranteed, audited : Held
        By the model, by a campaign in guaranteed mode, and by what the audit sampled.
    flagged, ever_flagged : bool
        Whether the audit was against the model at the end, or at any look.
    diagnosed : float, 0..1
        Coverage of pairs by diagnosis.
    """

    case: str
    number: int
    items: int
    model: Held
    guaranteed: Held
    audited: Held
    flagged: bool
    ever_flagged: bool
    diagnosed: float


def one_collection(case: str, number: int) -> Row:
    """Make a collection, break it, and judge it adaptively and by samples."""
    rng = np.random.default_rng([5, tuple(CASES).index(case), number])
    setting, truth = CASES[case](rng, make_world(rng)).setting()
    true = true_estimates(setting, truth)
    problem = Problem(setting, MEASURE, stop=Budget(JUDGED), audit=AUDIT, seed=number)
    looks = [campaign.look for campaign in play(Campaign(problem), oracle(truth), batch=BATCH)]
    last = looks[-1]
    assert last is not None
    audits = [look.audit for look in looks if look is not None and look.audit is not None]
    by_audit = Verdicts(setting, MEASURE, problem.model, inference=Inference("design"), seed=number)
    found = diagnose(problem, truth, share=SHOWN, rng=rng)
    return Row(
        case=case,
        number=number,
        items=truth.size,
        model=hold(last.ranking, true),
        guaranteed=_average([by_sample(setting, truth, true, seed=ORDERS * number + order) for order in range(ORDERS)]),
        audited=hold(rank_systems(by_audit.by_design(last.beliefs).estimates), true),
        flagged=not audits[-1].agrees,
        ever_flagged=any(not audit.agrees for audit in audits),
        diagnosed=float(found.coverage.filter(pl.col("level") == 0.95)["pairs"].item()),
    )


def _collection(_: None, case: str, number: int) -> Row:
    return one_collection(case, number)


def by_sample(setting: Setting, truth: Floats, true: Estimates, *, seed: int) -> Held:
    """Judge a sample alone, and hold what it guarantees against the truth."""
    predictor = _HIERARCHICAL(setting)
    verdicts = Verdicts(setting, MEASURE, predictor, inference=Inference("design"), seed=seed)
    sampled = np.where(verdicts.item_order.sampled(JUDGED), truth, UNJUDGED)
    return hold(verdicts.conclude(predictor.predict(sampled)).ranking, true)


def _average(parts: list[Held]) -> Held:
    return Held(*np.mean([astuple(part) for part in parts], axis=0).tolist())


def study(resamples: int, *, cases: tuple[str, ...] = tuple(CASES), helpers: Helpers | None = None) -> pl.DataFrame:
    """Judge all collections; one row each."""
    tasks = [(case, number) for case in cases for number in range(resamples)]
    rows = (helpers or Helpers()).each(_collection, None, tasks)
    return pl.DataFrame([asdict(row) for row in rows])


def table(frame: pl.DataFrame) -> pl.DataFrame:
    """Average over collections: coverage of pairs and systems, and half-widths of pairs."""
    columns = [pl.col("items").mean().cast(pl.Int64)]
    for mode in ("model", "guaranteed", "audited"):
        held = pl.col(mode).struct
        columns += [
            held.field("pairs").mean().alias(f"{mode}: pairs"),
            (held.field("pairs").std() / pl.len().sqrt()).fill_null(np.nan).alias(f"{mode}: se"),
            held.field("systems").mean().alias(f"{mode}: systems"),
            held.field("width_pairs").mean().alias(f"{mode}: ± pairs"),
        ]
    columns += [
        pl.col("flagged").mean().alias("flagged"),
        pl.col("ever_flagged").mean().alias("at any look"),
        pl.col("diagnosed").mean().alias("diagnose"),
    ]
    return frame.group_by("case", maintain_order=True).agg(columns)


def main() -> None:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--resamples", type=int, default=30, help="how many collections of every kind")
    Helpers.options(parser)
    told = parser.parse_args()
    began = time.monotonic()
    made = table(study(told.resamples, helpers=Helpers.given(told)))
    print(f"{told.resamples} collections of every kind, {JUDGED} judgments, audit {AUDIT:g}: coverage of 95% intervals")
    modes = "".join(f"{name:^28}" for name in ("model", "guaranteed", "by the audit's sample"))
    print(f"{'':22}{modes}{'audit flags':^14}{'diagnose':>9}")
    four = f"{'pairs':>7}{'se':>6}{'systems':>8}{'± p':>7}"
    print(f"{'case':15}{'items':>7}{four}{four}{four}{'at end':>7}{'ever':>7}{'pairs':>9}")
    for case, items, *numbers, flagged, ever, diagnosed in made.iter_rows():
        parts = "".join(
            f"{pairs:7.3f}{error:6.3f}{systems:8.3f}{width:7.3f}"
            for pairs, error, systems, width in zip(*[iter(numbers)] * 4, strict=True)
        )
        print(f"{case:15}{items:7d}{parts}{flagged:7.2f}{ever:7.2f}{diagnosed:9.3f}")
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
