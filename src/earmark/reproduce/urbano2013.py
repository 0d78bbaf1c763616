"""MTC (Urbano2013): minimal test collections for audio music similarity, on the collection of 2011.

The paper predicts gains by two ordinal models, L_output from what systems retrieved and L_judge from the judgments so
far, and judges until the mean confidence in the order of two systems is .95. It fits every year's models on the other
years, and prints one set of coefficients only, fitted on all of them (Table 7). Ours are computed with these: 2011 is
in their sample, the paper's numbers for 2011 are not, so values differ where coefficients matter.

Two things come out that the tables of the paper do not show. L_judge's errors are so small because its features contain
the judgment of the item itself; without it they are twice as large, and its variance is four times too small. And
intervals are too narrow: with no judgments, those that should hold 95% of the differences hold 58%.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import numpy as np
from scipy.special import logit

from earmark.beliefs.beliefs import LevelProbabilities
from earmark.campaign.campaign import Campaign, Look, oracle
from earmark.campaign.loop import play
from earmark.campaign.policies import make_policy
from earmark.campaign.problem import Problem
from earmark.campaign.stopping import parse_stop
from earmark.data.arrays import Floats
from earmark.diagnose.calibration import sign_agreement
from earmark.inference.confidence import Ranking
from earmark.predictors.base import Maker
from earmark.predictors.mtc import MtcJudge, MtcOutput, Uniform
from earmark.predictors.ordinal_models import published_model
from earmark.reproduce.comparison import (
    Comparison,
    Row,
    beside,
    check_seeds,
    compare_all,
    not_reproduced,
)
from earmark.reproduce.mirex2011 import AG5, Mirex, Verdict, confidence_bins, derived_broad, judge, load
from earmark.reproduce.urbano2013_errors import (
    COEFFICIENTS,
    DERIVED,
    PAPER,
    PRINTED,
    derived_note,
    own_label,
    row,
    scale_of,
    table_2,
)
from earmark.wording import counted

SEEDS = 20
PAPER_BUDGET = 120
FINE_BUDGETS = (PAPER_BUDGET, 200, 1000)
BROAD_BUDGETS = (PAPER_BUDGET, 200)
# Both divide all budgets; the paper updates its predictions every 20 judgments.
_BATCH, _UNIFORM_BATCH = 20, 100
_TARGET = 0.95
_SIGNIFICANT = "accuracy among significant pairs"

_POOLED = "The paper pools the 352 pairs of four years; ours are the 153 pairs of 2011."


def tables(folder: Path, *, seeds: int = SEEDS) -> list[Comparison]:
    """Return the paper's tables, as far as 2011 goes, with ours beside them.

    Parameters
    ----------
    folder : Path
        Where ``runs.txt``, ``judgments.txt`` and ``metadata.txt`` of the MIREX 2011 collection lie.
    seeds : int
        How many campaigns to play where items are drawn; ours is then the median, with the lowest and the highest.
    """
    check_seeds(seeds)
    fine = load(folder)
    broad = derived_broad(fine)
    fine_play, broad_play = played(fine, FINE_BUDGETS, seeds), played(broad, BROAD_BUDGETS, seeds)
    return [
        worked_example(),
        table_1(fine),
        table_2(fine),
        table_2(broad),
        own_label(fine),
        table_3(fine, fine_play, seeds),
        table_3(broad, broad_play, seeds),
        table_4(fine, broad, fine_play, broad_play),
        table_5(fine),
        table_5(broad),
        table_6(fine, broad),
        not_reproduced(PAPER, PRINTED["not_reproduced"]),
    ]


def worked_example() -> Comparison:
    """Recompute the example of the appendix: one document's gain by L_output on the Broad scale."""
    model = published_model("mtc-output-broad")
    known = PRINTED["example_features"]
    features = [np.prod([known[part] for part in name.split(":")]) for name in model.features]
    gain = LevelProbabilities(np.array(model.levels), model.probabilities([features]))
    chance = gain.probabilities[0]
    at_least = (chance[2], chance[1] + chance[2])
    ours = (*logit(at_least), *at_least, *chance[::-1], gain.mean[0], gain.variance[0])
    notes = (
        "The inverse logit is printed as e^x / (1 − e^x); its values are those of e^x / (1 + e^x). The variance is "
        "computed there from rounded numbers.",
        "Eq. 6 prints P(Δ ≤ 0) = Φ(E/√Var), which should be Φ(−E/√Var); the confidence, a maximum over both signs, is "
        "unaffected.",
    )
    return Comparison(f"{PAPER}, appendix: the worked example", compare_all(PRINTED["example"], ours), notes)


def table_1(mirex: Mirex) -> Comparison:
    """Count the collection."""
    collection = mirex.collection
    results = collection.result_item.size
    overlap = 100 * (1 - collection.n_items / results)
    ours = (len(collection.systems), len(collection.queries), results, collection.n_items, overlap)
    notes = ("The models' feature OV is 1 − overlap: distinct items over results.",)
    return Comparison(f"{PAPER}, Table 1 (2011)", compare_all(PRINTED["table_1"], ours), notes)


# ---- campaigns -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Played:
    """What campaigns came to.

    Attributes
    ----------
    rankings : dict of int to list of Ranking
        By the number of judgments, one ranking per campaign.
    needed : list of float
        At how many judgments each campaign's mean confidence first was .95; NaN where it never was.
    """

    rankings: dict[int, list[Ranking]]
    needed: list[float]


def played(mirex: Mirex, budgets: Iterable[int], seeds: int) -> Played:
    """Play campaigns by Eq. 8 with L_output and L_judge, ties drawn, up to the largest budget."""
    wanted = sorted(budgets)
    rankings: dict[int, list[Ranking]] = {budget: [] for budget in wanted}
    needed: list[float] = []
    for seed in range(seeds):
        reached = np.nan
        for look in looks(mirex, MtcJudge, seed, batch=_BATCH, most=wanted[-1]):
            if np.isnan(reached) and look.ranking.reaches(_TARGET):
                reached = float(look.judged)
            if look.judged in rankings:
                rankings[look.judged].append(look.ranking)
        needed.append(reached)
    return Played(rankings, needed)


def uniform_effort(mirex: Mirex, seeds: int) -> Floats:
    """Return the share of the items judged when the mean confidence first is .95, all levels being equally likely."""
    judged = []
    for seed in range(seeds):
        seen = looks(mirex, Uniform, seed, batch=_UNIFORM_BATCH, most=mirex.collection.n_items)
        judged.append(next(look.judged for look in seen if look.ranking.reaches(_TARGET)))
    return np.array(judged) / mirex.collection.n_items


def looks(mirex: Mirex, predictor: Maker, seed: int, *, batch: int, most: int) -> Iterable[Look]:
    """Play a campaign by Eq. 8 and look after every batch, up to a number of judgments."""
    problem = Problem(
        mirex.setting,
        AG5,
        predictor,
        make_policy("mtc"),
        parse_stop("none"),
        seed=seed,
        update_every=batch,
    )
    played = play(Campaign(problem), oracle(mirex.gain), batch=batch)
    looks = (campaign.look for campaign in played if campaign.look is not None)
    return takewhile(lambda look: look.judged <= most, looks)


def table_3(mirex: Mirex, campaigns: Played, seeds: int) -> Comparison:
    """Play campaigns to fixed budgets, the paper's among them."""
    paper_judgments, paper_accuracy, paper_tau = PRINTED["table_3"][mirex.setting.scale.name]
    rows: list[Row] = []
    deepest = max(campaigns.rankings)
    never = bool(np.isnan(campaigns.needed).any())
    if not never:
        rows += _drawn("judgments to mean confidence .95", paper_judgments, campaigns.needed)
    for budget, rankings in campaigns.rankings.items():
        paper = budget == PAPER_BUDGET
        found = [judge(ranking.estimates, mirex.truth) for ranking in rankings]
        at = f"at {budget:,} judgments"
        rows += _drawn(f"confidence {at}", "0.95" if paper else None, [one.confidence for one in found])
        rows += _drawn(f"accuracy {at}", paper_accuracy if paper else None, [one.accuracy for one in found])
        rows += _drawn(f"τ {at}", paper_tau if paper else None, [one.tau for one in found])
        right = [significant_accuracy(mirex, ranking) for ranking in rankings]
        rows += _drawn(f"{_SIGNIFICANT} {at}", PRINTED["significant"] if paper else None, right)
        rows += _drawn(f"95% intervals of pairs that hold {at}", None, [one.coverage_pairs_95 for one in found])
    notes = [
        f"{counted(seeds, 'campaign')} that judge items by weight (Eq. 8) with L_output and L_judge, updated every "
        f"{_BATCH} judgments. Three quarters of the items are retrieved by one system and tie: they are drawn, so ours "
        "is the median over seeds, with the lowest and the highest.",
        COEFFICIENTS,
        _significance_note(mirex),
    ]
    if never:
        notes.append(f"Not all campaigns reach a mean confidence of .95 by {deepest:,} judgments.")
    elif max(campaigns.needed) == 0:
        notes.append("With these coefficients the mean confidence is past .95 before any judgment is made.")
    if mirex.setting.scale.name == "fine":
        shares = 100 * uniform_effort(mirex, seeds)
        rows += _drawn("uniform beliefs: % of judgments to .95 (Fig. 2)", PRINTED["figure_2_uniform"], shares)
        notes.append("With uniform beliefs the paper needs about 60% of the judgments; ours looks every 100.")
    return Comparison(f"{PAPER}, Table 3 ({scale_of(mirex)})", tuple(rows), (*notes, *derived_note(mirex)))


def table_4(fine: Mirex, broad: Mirex, fine_play: Played, broad_play: Played) -> Comparison:
    """Put accuracy by confidence at the paper's budget beside the paper's."""
    rankings = fine_play.rankings[PAPER_BUDGET], broad_play.rankings[PAPER_BUDGET]
    rows = _bin_rows("table_4", {fine: rankings[0], broad: rankings[1]})
    notes = (
        f"{_POOLED} Ours are at {PAPER_BUDGET} judgments, where the paper's campaign of 2011 stops, over all seeds.",
        COEFFICIENTS,
        DERIVED,
    )
    return Comparison(f"{PAPER}, Table 4: accuracy by confidence after judging", rows, notes)


# ---- without judgments -----------------------------------------------------------------------------------------------


def unjudged_ranking(mirex: Mirex) -> Ranking:
    """Rank the systems by L_output alone."""
    return mirex.rank(MtcOutput(mirex.setting).predict(mirex.setting.unjudged))


def unjudged_verdict(mirex: Mirex) -> Verdict:
    """Compare the ranking by L_output alone with the true one."""
    return judge(unjudged_ranking(mirex).estimates, mirex.truth)


def table_5(mirex: Mirex) -> Comparison:
    """Rank systems without judgments."""
    found = unjudged_verdict(mirex)
    rows = [
        row(mirex, name, value, own)
        for name, value, own in zip(
            ("confidence", "accuracy", "τ"),
            PRINTED["table_5"][mirex.setting.scale.name],
            (found.confidence, found.accuracy, found.tau),
            strict=True,
        )
    ]
    right = significant_accuracy(mirex, unjudged_ranking(mirex))
    if np.isnan(right):
        rows.append(beside(_SIGNIFICANT, PRINTED["significant"], "no pair"))
    else:
        rows.append(row(mirex, _SIGNIFICANT, PRINTED["significant"], right))
    rows.append(beside("95% intervals of pairs that hold", None, found.coverage_pairs_95))
    rows.append(beside("95% intervals of systems that hold", None, found.coverage_systems_95))
    narrow = "The errors of L_output are not independent, so intervals are far too narrow."
    notes = (COEFFICIENTS, _significance_note(mirex), narrow)
    return Comparison(f"{PAPER}, Table 5 ({scale_of(mirex)})", tuple(rows), (*notes, *derived_note(mirex)))


def significant_accuracy(mirex: Mirex, ranking: Ranking) -> float:
    """Return the share of right signs among pairs whose true difference is significant; NaN where none is."""
    some = mirex.significant
    differences = ranking.estimates.differences.mean[some], mirex.truth.differences.mean[some]
    accuracy = sign_agreement(*differences).accuracy
    return np.nan if accuracy is None else accuracy


def _significance_note(mirex: Mirex) -> str:
    return (
        f"{np.count_nonzero(mirex.significant)} of the {mirex.significant.size} true differences are significant by "
        "MIREX's test (Friedman, Tukey's HSD, .05). The paper says that no estimate between such systems is wrong."
    )


def table_6(fine: Mirex, broad: Mirex) -> Comparison:
    """Put accuracy by confidence without judgments beside the paper's."""
    rows = _bin_rows("table_6", {mirex: [unjudged_ranking(mirex)] for mirex in (fine, broad)})
    notes = (_POOLED, COEFFICIENTS, DERIVED)
    return Comparison(f"{PAPER}, Table 6: accuracy by confidence without judgments", rows, notes)


# ---- rows ------------------------------------------------------------------------------------------------------------


def _drawn(name: str, value: str | None, found: Iterable[float]) -> list[Row]:
    values = np.array(list(found))
    return [
        beside(name, value, float(np.median(values)), column="median"),
        beside(name, None, float(values.min()), column="lowest"),
        beside(name, None, float(values.max()), column="highest"),
    ]


def _bin_rows(table: str, rankings: dict[Mirex, list[Ranking]]) -> tuple[Row, ...]:
    """Put the pairs of all rankings of a collection, by bins of confidence, beside a printed table."""
    rows: list[Row] = []
    for mirex, found in rankings.items():
        scale = mirex.setting.scale.name
        ours, paper = confidence_bins(found, mirex.truth), PRINTED[table][scale]
        shares = 100 * ours.pairs / ours.pairs.sum()
        for place, name in enumerate(PRINTED["bins"]):
            accuracy = float(ours.accuracy[place]) if ours.pairs[place] else "no pair"
            column = scale.capitalize()
            rows.append(beside(name, paper["pairs"][place], float(shares[place]), column=f"{column}: % of pairs"))
            rows.append(beside(name, paper["accuracy"][place], accuracy, column=f"{column}: accuracy"))
    return tuple(rows)
