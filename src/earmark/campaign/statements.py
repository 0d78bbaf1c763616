"""A campaign in words: which system is better, how sure that is, what is open, and what a reader has to know.

The command line, the report and the demonstration all take their sentences from here, so that they never contradict
each other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
import polars as pl

from earmark.campaign.campaign import Campaign
from earmark.campaign.forecast import EVEN, Forecast, PairForecast
from earmark.campaign.verdict import Inference
from earmark.inference.confidence import Ranking
from earmark.inference.headline import headline, how_decided, may_be_best
from earmark.inference.monte_carlo_error import say_confidence_error
from earmark.wording import counted, percent, sure

Kind = Literal["decided", "open", "equal"]
# Up to a number of judgments, what it is rounded up to a multiple of.
_ROUND = ((50, 5), (200, 10), (1000, 50))
_ROUND_MANY = 100
_NAMES_RANGE = re.compile(r"\d (to [\d,]+ more|or more further) ")
_NOT_YET = "cannot be told apart yet"


@dataclass(frozen=True)
class Sentence:
    """One comparison in words, and whether it is decided, open, or about two that cannot differ."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class Said:
    """A verdict in words.

    Attributes
    ----------
    headline : str
        The answer, in one sentence.
    summary : str
        How many pairs are decided.
    neighbours : tuple of Sentence
        About every two systems that follow one another in the ranking.
    ahead : str
        What it would take to decide more; empty where nothing is open, or nobody looked ahead.
    range_note : str
        What a range of judgments means; empty where none is named.
    premises : tuple of str
        Which premises of the verdict failed, one sentence each; they stand under the headline.
    """

    headline: str
    summary: str
    neighbours: tuple[Sentence, ...]
    ahead: str = ""
    range_note: str = ""
    premises: tuple[str, ...] = ()


RANGE_NOTE = (
    "A range of judgments counts all that the campaign asks for, in the order of its policy. It starts where a "
    "decision is as likely as not and ends where its probability is nine in ten; 'or more' where no number of "
    "judgments makes it that likely. Judging for one pair alone decides it sooner: earmark next --for A B."
)
"""What the numbers of :func:`say_forecast` mean; said once wherever they are shown."""


def notes(campaign: Campaign) -> list[str]:
    """Say what a reader of a campaign's results has to know: the inputs, the predictions, and what is not decided."""
    beliefs, ranking = campaign.beliefs, campaign.ranking
    told = [*campaign.problem.notes, *campaign.notes, *beliefs.notes, *_nothing_learnt(campaign)]
    if campaign.problem.inference.distribution == "t" and ranking.estimates.scores.df is not None:
        told.append("--distribution t changes nothing: these estimates have degrees of freedom of their own")
    return list(dict.fromkeys([*told, *say_confidence_error(ranking), *ranking.notes()[1:]]))


def basis(campaign: Campaign) -> str:
    """Say what verdicts are about and what they rest on: ``about these queries; by the model``."""
    inference = campaign.problem.inference
    anytime = "; at any time" if inference.anytime else ""
    return f"about {inference.about}; {campaign.verdict.basis}{anytime}"


def _nothing_learnt(campaign: Campaign) -> list[str]:
    """Say so where nothing is judged and every item has the same expected gain."""
    ranking = campaign.ranking
    if campaign.judged or np.ptp(campaign.beliefs.mean) > 0:
        return []
    if np.any(ranking.estimates.differences.mean[ranking.compared] != 0):
        return ["no judgments: every item counts as equally good, so only the lengths of lists tell systems apart"]
    return ["no judgments: every order is as likely as any other"]


def ordered_pairs(ranking: Ranking) -> pl.DataFrame:
    """Return all pairs, the better system first, in the order of the ranking.

    Returns
    -------
    polars.DataFrame
        ``row``, ``column``, ``probability`` that the first is better (null where the two cannot differ), ``decided``.
    """
    estimates = ranking.estimates
    place = np.empty(len(estimates.systems), dtype=np.int64)
    place[np.argsort(ranking.rank, kind="stable")] = np.arange(place.size)
    ahead = place[estimates.a] < place[estimates.b]
    row, column = np.where(ahead, estimates.a, estimates.b), np.where(ahead, estimates.b, estimates.a)
    order = np.lexsort((place[column], place[row]))
    names = pl.Series(estimates.systems, dtype=pl.String)
    chance = np.where(ahead, ranking.better, 1.0 - ranking.better)
    known = pl.Series(ranking.compared[order])
    return pl.DataFrame(
        {
            "row": names.gather(row[order]),
            "column": names.gather(column[order]),
            "probability": chance[order],
            "decided": ranking.decided(ranking.level)[order],
        }
    ).with_columns(pl.when(known).then(pl.col("probability")).alias("probability"))


def say_verdict(ranking: Ranking, forecast: Forecast | None = None) -> Said:
    """Say in words what a ranking says, and, with a forecast, how many more judgments open pairs would take.

    Where a premise failed so that nothing may be called decided, nothing is said of what it takes to decide more.
    """
    if ranking.withheld is not None:
        forecast = None
    data = ordered_pairs(ranking)
    order = ranking.systems_frame()["system"].to_list()
    following = dict(pairwise(order))
    neighbours = tuple(
        _sentence(row, column, chance, decided, forecast)
        if ranking.withheld is None
        else _withheld_sentence(row, column, chance)
        for row, column, chance, decided in data.iter_rows()
        if following.get(row) == column
    )
    said = Said(headline(ranking), how_decided(ranking), neighbours, premises=ranking.premise_notes)
    return said if forecast is None else _with_forecast(said, ranking, forecast)


@dataclass
class Tally:
    """How many systems one is decided to be better and worse than, and how many it is open with."""

    better: int = 0
    open: int = 0
    worse: int = 0


def tallies(ranking: Ranking) -> dict[str, Tally]:
    """Count for every system, the best first, what is decided; pairs that cannot differ do not count."""
    counts = {name: Tally() for name in ranking.systems_frame()["system"]}
    for row, column, chance, decided in ordered_pairs(ranking).iter_rows():
        if chance is None:
            continue
        if not decided:
            counts[row].open += 1
            counts[column].open += 1
        else:
            winner, loser = (row, column) if chance > 0.5 else (column, row)
            counts[winner].better += 1
            counts[loser].worse += 1
    return counts


def rounded(count: int) -> int:
    """Round a number of judgments up to one that claims no more than is known: 57 is 60, 312 is 350."""
    step = next((step for most, step in _ROUND if count <= most), _ROUND_MANY)
    return -(-count // step) * step


def how_many(count: int, left: int) -> str:
    """Say a number of judgments: ``about 60``, or ``nearly all 310`` where it comes to that."""
    near = rounded(count)
    return f"about {near:,}" if near < left else f"nearly all {left:,}"


def say_forecast(pair: PairForecast, inference: Inference) -> str:
    """Say what would decide a pair: ``60 to 90 more judgments``, as a part of a sentence.

    The range goes from an even chance of a decision to nine chances in ten (:data:`RANGE_NOTE`).
    """
    judgments = _kind_of_judgments(inference)
    if not pair.left:
        return "all items in which they differ are judged"
    if pair.even is not None:
        if rounded(pair.even) >= pair.left:
            return f"nearly all of the {pair.left:,} {judgments} that are left"
        return _range(*_ends(pair), judgments)
    if pair.chance_of_all < EVEN and not pair.exact:
        return f"even one more judgment of all {pair.left:,} items in which they differ would probably not be enough"
    if pair.chance_of_all < EVEN:
        instead = ": it takes more queries" if inference.target == "population" else ""
        return f"even all {pair.left:,} {judgments} that are left would probably not be enough{instead}"
    return f"more than {int(pair.judgments[-1]):,} more {judgments}"


def say_alone(campaign: Campaign, a: str, b: str) -> str:
    """Say how many judgments for one pair alone decide it, in a sentence."""
    pair = campaign.forecast_alone(a, b)
    if pair is None:
        return f"{a} and {b} are decided already, or there are too many items to look ahead"
    return f"{a} and {b}, if only such items are judged: {say_forecast(pair, campaign.problem.inference)}"


def _kind_of_judgments(inference: Inference) -> str:
    return "sampled judgments" if inference.mode == "design" else "judgments"


def _ends(pair: PairForecast) -> tuple[int, int | None]:
    """Return the ends of the range of a pair within reach, rounded up; no end where nine in ten is out of reach."""
    even, likely = pair.even or 0, pair.likely
    return rounded(even), None if likely is None else min(rounded(likely), pair.left)


def _range(low: int, high: int | None, judgments: str) -> str:
    if high is None:
        return f"{low:,} or more further {judgments}"
    return f"about {low:,} more {judgments}" if low >= high else f"{low:,} to {high:,} more {judgments}"


def _withheld_sentence(first: str, second: str, chance: float | None) -> Sentence:
    """Say whose estimate is better, without a word of how sure that is."""
    if chance is None or chance == 0.5:
        return _sentence(first, second, chance, False, None)
    likelier, other = (first, second) if chance > 0.5 else (second, first)
    return Sentence("open", f"{likelier} has a better estimate than {other}: not decided.")


def _sentence(first: str, second: str, chance: float | None, decided: bool, forecast: Forecast | None) -> Sentence:
    if chance is None:
        return Sentence(
            "equal", f"{first} and {second} return the same results within the cutoff: no judgment can tell them apart."
        )
    if decided:
        return Sentence("decided", f"{first} is better than {second}: {sure(chance)}.")
    level, likelier = chance == 0.5, first if chance > 0.5 else second
    pair = None if forecast is None else forecast.of(first, second)
    if forecast is None or pair is None:
        if level:
            return Sentence("open", f"{first} and {second} are level: either may be better.")
        told = f"{percent(max(chance, 1 - chance))}% sure that {likelier} is better."
        return Sentence("open", f"{first} and {second} {_NOT_YET}: {told}")
    takes = say_forecast(pair, forecast.inference)
    if not pair.left:
        return Sentence("open", f"{first} and {second} score the same: {takes}.")
    # What is said of the other pairs is said of a level one too, but for who looks better.
    so_far = "" if level else f" So far it is {percent(max(chance, 1 - chance))}% sure that {likelier} is better."
    return Sentence("open", f"{first} and {second} {_NOT_YET}: {takes}.{so_far}")


def _with_forecast(said: Said, ranking: Ranking, forecast: Forecast) -> Said:
    """Add what it would take: to the headline where that is about two systems, in a sentence of its own otherwise."""
    systems = np.array(ranking.estimates.systems, dtype=object)
    rivals = systems[may_be_best(ranking)].tolist()
    order = ranking.systems_frame()["system"].to_list()
    first, told = said.headline, set[frozenset[str]]()
    if len(rivals) == 2 and first.endswith(f"{_NOT_YET}."):
        between = forecast.of(*rivals)
        if between is not None and between.left:
            takes = say_forecast(between, forecast.inference)
            first = f"{first[:-1]}: {takes}." if len(order) == 2 else f"{first[:-1]} ({takes})."
            told.add(frozenset(rivals))
    ahead = ""
    if len(rivals) > 2:
        leader = order[0]
        from_rivals = [found for name in rivals if (found := forecast.of(leader, name)) is not None]
        if from_rivals:
            ahead = f"To tell {leader} from each system that may be better: {_say_range(from_rivals, forecast)}."
    if not ahead:
        pairs = [frozenset(pair) for pair in pairwise(order)]
        following = [one for one in forecast.pairs if frozenset((one.a, one.b)) in pairs]
        others = [one for one in following if frozenset((one.a, one.b)) not in told]
        if others:
            many = f"{'other pair' if told else 'pair'}{'' if len(others) == 1 else 's'}"
            are = "is" if len(others) == 1 else "are"
            ahead = f"{len(others):,} {many} of neighbours {are} open: {_say_range(others, forecast)}."
    note = range_note(first, ahead, *(one.text for one in said.neighbours))
    return replace(said, headline=first, ahead=ahead, range_note=note)


def range_note(*texts: str) -> str:
    """Return what a range of judgments means where a text names one; else nothing."""
    return RANGE_NOTE if any(_NAMES_RANGE.search(text) for text in texts) else ""


def _say_range(pairs: Sequence[PairForecast], forecast: Forecast) -> str:
    """Say how many more judgments several pairs take each."""
    if len(pairs) == 1:
        return say_forecast(pairs[0], forecast.inference)
    judgments = _kind_of_judgments(forecast.inference)
    ends = [_ends(one) for one in pairs if one.even is not None]
    out_of_reach = len(pairs) - len(ends)
    if not ends and not any(one.exact for one in pairs):
        return "even one more judgment of every item would probably not be enough"
    if not ends:
        return f"even all {judgments} that are left would probably not be enough"
    last = [high for _, high in ends if high is not None]
    most = max(last) if len(last) == len(ends) else None
    said = _range(min(low for low, _ in ends), most, judgments) + (" each" if len(ends) > 1 else " for one of them")
    if out_of_reach:
        said += f"; for {counted(out_of_reach, 'pair')} all that are left would probably not be enough"
    return said
