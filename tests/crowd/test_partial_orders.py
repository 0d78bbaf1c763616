"""Ordered groups: by hand, by the definition of the rules, by scipy's tests, and as published for 11 melodies."""

from __future__ import annotations

import csv
from itertools import pairwise
from pathlib import Path
from typing import get_args

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom, binomtest, mannwhitneyu, wilcoxon

from earmark.crowd.group_agreement import compare_groups
from earmark.crowd.partial_orders import (
    GroupStart,
    RankTest,
    cut_into_groups,
    groups_from_rankings,
    groups_from_ranks,
    least_experts,
    rank_differences,
)
from earmark.crowd.preference_groups import (
    groups_by_pivots,
    groups_from_preferences,
    preferred_by_lead,
    preferred_by_sign_test,
)
from earmark.data.arrays import Floats
from earmark.data.conversion import runs_from_dict
from earmark.data.ground_truth import OrderedGroups
from earmark.data.preferences import Preferences
from earmark.data.readers import read_groups
from earmark.data.writers import write_groups
from earmark.errors import InputError, ParameterError


def answers(*questions: str) -> Preferences:
    """Make preferences of lines of query, a, b and the letters of the choices."""
    rows = [
        (query, a, b, f"w{number}", {"s": "same"}.get(letter, letter))
        for query, a, b, choices in map(str.split, questions)
        for number, letter in enumerate(choices)
    ]
    return Preferences.from_frame(pl.DataFrame(rows, schema=["query", "a", "b", "assessor", "choice"], orient="row"))


def shown(groups: OrderedGroups, query: str = "q") -> list[str]:
    frame = groups.frame.filter(pl.col("query") == query)
    return ["".join(part["document"].sort()) for _, part in frame.group_by("group", maintain_order=True)]


def as_groups(text: str, query: str = "q") -> OrderedGroups:
    rows = [(query, letter, number) for number, group in enumerate(text.split(), 1) for letter in group]
    return OrderedGroups(pl.DataFrame(rows, schema=["query", "document", "group"], orient="row"))


# Filling groups


@st.composite
def relations(draw: st.DrawFn) -> NDArray[np.bool_]:
    size = draw(st.integers(1, 7))
    upper = np.triu(np.array(draw(st.lists(st.booleans(), min_size=size**2, max_size=size**2))).reshape(size, size), 1)
    return upper | upper.T


@given(relations(), st.sampled_from(["all", "any", "previous"]))
def test_groups_by_the_definition(differs: NDArray[np.bool_], start: GroupStart) -> None:
    group = cut_into_groups(differs, start=start)
    assert group[0] == 1
    for place in range(1, group.size):
        members = [other for other in range(place) if group[other] == group[place - 1]]
        said = [bool(differs[place, other]) for other in members]
        new = {"all": all(said), "any": any(said), "previous": said[-1]}[start]
        assert group[place] == group[place - 1] + new


@given(relations())
def test_any_starts_at_least_as_many_groups_and_keeps_differences_apart(differs: NDArray[np.bool_]) -> None:
    of_any = cut_into_groups(differs, start="any")
    assert of_any[-1] >= cut_into_groups(differs, start="all")[-1]
    together = of_any[:, None] == of_any
    assert not np.any(differs & together)


def test_a_rule_there_is_not() -> None:
    with pytest.raises(ParameterError, match="a new group starts at a difference from all, any, previous, not 'none'"):
        cut_into_groups(np.zeros((2, 2), dtype=bool), start="none")  # type: ignore[arg-type]


# Rankings


def test_tests_on_ranks_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    ranks = np.argsort(rng.normal(size=(12, 5)) + np.arange(5), axis=1).argsort(axis=1) + 1.0
    ranks[0, :2] = 1.5
    by_sum, by_signs = (rank_differences(ranks, test=test) for test in ("rank-sum", "signed-rank"))
    for a, b in pairwise(range(5)):
        assert by_sum[a, b] == by_sum[b, a] == pytest.approx(mannwhitneyu(ranks[:, a], ranks[:, b]).pvalue)
        apart = ranks[:, a] - ranks[:, b]
        if np.unique(np.abs(apart)).size == apart.size:
            # Four boundaries between five documents.
            assert by_signs[a, b] == pytest.approx(min(4 * wilcoxon(apart).pvalue, 1.0))
    np.testing.assert_array_equal(np.diag(by_sum), 1.0)


def test_experts_of_one_mind_and_of_two() -> None:
    agreed = np.tile([1.0, 2.0, 3.0], (20, 1))
    for test in ("rank-sum", "signed-rank", "friedman-tukey"):
        assert groups_from_ranks(agreed, test=test).tolist() == [1, 2, 3]
    # Half of the experts put the second and third document the other way round.
    divided = agreed.copy()
    divided[::2, 1:] = [3.0, 2.0]
    for test in ("rank-sum", "signed-rank", "friedman-tukey"):
        assert groups_from_ranks(divided, test=test).tolist() == [1, 2, 2]
    all_alike = np.full((20, 3), 2.0)
    for test in ("rank-sum", "signed-rank", "friedman-tukey"):
        assert groups_from_ranks(all_alike, test=test).tolist() == [1, 1, 1]


@pytest.mark.parametrize(("documents", "experts"), [(2, 6), (4, 7), (20, 10)])
def test_how_many_experts_it_takes(documents: int, experts: int) -> None:
    assert least_experts(documents) == experts
    ranks = np.arange(1.0, documents + 1)
    assert groups_from_ranks(np.tile(ranks, (experts, 1))).tolist() == ranks.tolist()
    assert groups_from_ranks(np.tile(ranks, (experts - 1, 1))).max() == 1


def experts_ranks(rng: np.random.Generator, experts: int, groups: int, apart: float) -> Floats:
    """Return the ranks that experts give documents in true groups of two, which differ by chance within a group."""
    merit = np.repeat(np.arange(groups), 2) * apart
    return (merit + rng.normal(size=(experts, merit.size))).argsort(axis=1).argsort(axis=1) + 1.0


def share_split(test: RankTest, experts: int, groups: int, queries: int, *, seed: int, apart: float = 3.0) -> float:
    """Return in how many queries documents of one true group came into different groups."""
    rng = np.random.default_rng(seed)
    split = 0
    for _ in range(queries):
        group = groups_from_ranks(experts_ranks(rng, experts, groups, apart), test=test).reshape(-1, 2)
        split += bool(np.any(group[:, 0] != group[:, 1]))
    return split / queries


def test_equal_documents_are_split_in_few_queries_only_by_signed_ranks() -> None:
    queries = 200
    assert share_split("signed-rank", 20, 5, queries, seed=1) <= binom.ppf(0.999, queries, 0.05) / queries
    assert share_split("rank-sum", 20, 5, queries, seed=1) > 0.2


@pytest.mark.slow
@pytest.mark.parametrize("groups", [1, 10])
@pytest.mark.parametrize("experts", [5, 10, 30])
def test_study_of_split_groups(experts: int, groups: int, capsys: pytest.CaptureFixture[str]) -> None:
    queries = 1000
    shares = {test: share_split(test, experts, groups, queries, seed=experts) for test in get_args(RankTest)}
    with capsys.disabled():
        print(f"\n{experts} experts, {2 * groups} documents in true groups of two, split in a share of the queries:")
        for test, share in shares.items():
            print(f"  {test} {share:.3f} ± {(share * (1 - share) / queries) ** 0.5:.3f}")
    assert shares["signed-rank"] <= binom.ppf(0.999, queries, 0.05) / queries


def test_order_is_by_medians_then_means() -> None:
    # Every two documents count as different, so that groups show the order.
    ranks = np.array([[2.0, 1.0, 3.0]] * 2 + [[2.0, 3.0, 1.0]])
    assert groups_from_ranks(ranks, test="rank-sum", alpha=0.999).tolist() == [2, 1, 3]
    tied_medians = np.array([[1.0, 1.0], [2.0, 1.5], [2.0, 2.0], [2.0, 2.0], [3.0, 3.0]])
    assert groups_from_ranks(tied_medians, test="rank-sum", alpha=0.999).tolist() == [2, 1]


def test_a_document_left_out_comes_after_those_ranked() -> None:
    lists = {f"e{n}": {"q": {"x": 2.0, "y": 1.0}, "r": {"z": 1.0, "x": 0.5}} for n in range(10)}
    lists["late"] = {"q": {"x": 3.0, "w": 2.0}}
    made = groups_from_rankings(runs_from_dict(lists), test="signed-rank")
    assert shown(made) == ["x", "y", "w"]
    assert shown(made, "r") == ["z", "x"]


def test_one_expert_alone_is_refused() -> None:
    with pytest.raises(InputError, match="rankings of query 'q' by two experts or more, got one by 'only'"):
        groups_from_rankings(runs_from_dict({"only": {"q": {"x": 2.0, "y": 1.0}}}))


def test_unknown_tests_and_levels() -> None:
    ranks = np.ones((2, 2))
    with pytest.raises(ParameterError, match="ranks are tested by signed-rank, rank-sum, friedman-tukey, not by 't'"):
        rank_differences(ranks, test="t")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="alpha, the largest p-value of a difference, lies between 0 and 1, got 1"):
        groups_from_ranks(ranks, alpha=1.0)


# Preferences


def test_a_lead_and_the_sign_test() -> None:
    pairs = answers("q x y aaaaab", "q x z abss", "q y z bbbbbbbb", "q v w ssss").pairs()
    by = {(pairs.documents[a], pairs.documents[b]): n for n, (a, b) in enumerate(
        zip(pairs.first_index, pairs.second_index, strict=True)
    )}  # fmt: skip
    lead, tested = preferred_by_lead(pairs, 4), preferred_by_sign_test(pairs, 0.05)
    assert [lead[by[one]] for one in (("x", "y"), ("x", "z"), ("y", "z"), ("v", "w"))] == [1, 0, -1, 0]
    assert [tested[by[one]] for one in (("x", "y"), ("x", "z"), ("y", "z"), ("v", "w"))] == [0, 0, -1, 0]
    with pytest.raises(ParameterError, match="a lead is 1 answer or more, got 0"):
        preferred_by_lead(pairs, 0)


@given(st.integers(0, 12), st.integers(0, 12), st.sampled_from([0.01, 0.05, 0.25, 0.5]))
def test_sign_test_is_that_of_scipy(first: int, second: int, alpha: float) -> None:
    if first + second == 0:
        return
    pairs = answers(f"q x y {'a' * first}{'b' * second}s").pairs()
    p_value = binomtest(first, first + second).pvalue
    assert bool(preferred_by_sign_test(pairs, alpha)[0]) == (p_value <= alpha * (1 + 1e-9) and first != second)


def test_sorting_with_pivots_by_hand() -> None:
    # Pivot c: a and b before it, d with it, e after; then a before b, and d has no other to be compared with but c.
    questions = ("q a c aaa", "q b c aaa", "q d c abs", "q e c bbb", "q a b aab")
    assert shown(groups_from_preferences(answers(*questions), method="pivots", lead=1)) == ["a", "b", "cd", "e"]
    # One answer more is a lead of one, with which a and b stay together if two are needed.
    assert shown(groups_from_preferences(answers(*questions), method="pivots", lead=2)) == ["ab", "cd", "e"]


def test_where_preferences_are_not_transitive_the_document_shown_second_is_the_pivot() -> None:
    first = answers("q a b ss", "q a c ss", "q c b bb")
    second = answers("q a b ss", "q a c ss", "q b c aa")
    # Both say that b is preferred to c, while a equals both. Of b and c the one shown second is the next pivot.
    assert shown(groups_from_preferences(first, method="pivots", lead=1)) == ["ab", "c"]
    assert shown(groups_from_preferences(second, method="pivots", lead=1)) == ["b", "ac"]


def test_questions_that_no_sorting_asked() -> None:
    with pytest.raises(InputError, match=r"compared with all others there, got none .*scores take"):
        groups_from_preferences(answers("q a b aa", "q c d aa"), method="pivots", lead=1)


def test_scores_take_any_questions() -> None:
    clear = [f"q a b {'a' * 30}", f"q b c {'a' * 30}", f"q c d {'abs' * 10}"]
    assert shown(groups_from_preferences(answers(*clear))) == ["a", "b", "cd"]
    # Of e next to nothing is known: it differs from none of b, c and d, and no group can start after it.
    assert shown(groups_from_preferences(answers(*clear, "q e d s"))) == ["a", "bcde"]
    nothing = answers("q a b ab", "q c d ab")
    assert shown(groups_from_preferences(nothing)) == ["abcd"]


@st.composite
def tournaments(draw: st.DrawFn) -> Preferences:
    names = "abcde"[: draw(st.integers(2, 5))]
    rounds = [f"q {one} {two} {draw(st.text('abs', min_size=1, max_size=4))}"
              for place, one in enumerate(names) for two in names[place + 1 :]]  # fmt: skip
    return answers(*rounds)


@given(tournaments(), st.integers(1, 3))
def test_pivots_order_every_document_once_and_relabelling_changes_nothing(played: Preferences, lead: int) -> None:
    made = groups_from_preferences(played, method="pivots", lead=lead)
    assert sorted("".join(shown(made))) == sorted(played.documents)
    assert made.frame["group"].unique().sort().to_list() == list(range(1, int(made.frame["group"].max()) + 1))
    renamed = played.frame.with_columns(pl.col("a", "b").replace_strict({name: f"{name}x" for name in "abcde"}))
    again = groups_from_preferences(Preferences.from_frame(renamed), method="pivots", lead=lead)
    assert shown(again) == ["".join(f"{letter}x" for letter in group) for group in shown(made)]


@given(st.permutations("abcdef"), st.integers(0, 2**15 - 1))
def test_a_total_order_comes_back(order: list[str], flips: int) -> None:
    place = {name: number for number, name in enumerate(order)}
    questions = []
    for one in "abcdef":
        for two in "abcdef"[ord(one) - ord("a") + 1 :]:
            flips, shown_first = flips >> 1, flips & 1
            a, b = (one, two) if shown_first else (two, one)
            questions.append(f"q {a} {b} {'a' if place[a] < place[b] else 'b'}")
    assert shown(groups_from_preferences(answers(*questions), method="pivots", lead=1)) == order


def test_methods_there_are_not() -> None:
    some = answers("q a b a")
    with pytest.raises(ParameterError, match="groups are made by pivots or scores, not by 'votes'"):
        groups_from_preferences(some, method="votes")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="a lead is for groups by pivots"):
        groups_from_preferences(some, lead=2)


# Agreement, and files


def test_agreement_by_hand() -> None:
    found = compare_groups(as_groups("ab c d"), as_groups("a bc d"))
    assert (found.pairs, found.agreeing, found.ordered_by_both, found.opposite) == (6, 4, 4, 0)
    assert (found.queries, found.equal_queries) == (1, 0)
    assert found.share == pytest.approx(4 / 6)
    assert found.ordered_share == 1.0
    reverse = compare_groups(as_groups("a b"), as_groups("b a"))
    assert (reverse.opposite, reverse.ordered_share, reverse.share) == (1, 0.0, 0.0)
    alone = compare_groups(as_groups("a"), as_groups("a"))
    assert (alone.share, alone.ordered_share, alone.equal_queries) == (None, None, 1)


def test_numbers_of_groups_do_not_matter_and_other_documents_do() -> None:
    gaps = OrderedGroups(as_groups("ab c").frame.with_columns(pl.col("group") * 7))
    assert compare_groups(as_groups("ab c"), gaps).equal_queries == 1
    assert compare_groups(as_groups("ab c"), as_groups("ab cd")).equal_queries == 0


@pytest.mark.parametrize("name", ["groups.txt", "groups.tsv", "groups.csv", "groups.parquet", "groups.txt.gz"])
def test_groups_come_back_from_files(tmp_path: Path, name: str) -> None:
    made = as_groups("ab c", "query with blanks")
    if name.endswith(("txt", "gz")):
        made = as_groups("ab c")
    write_groups(made, tmp_path / name)
    assert read_groups(tmp_path / name).frame.equals(made.frame)


def test_ids_that_would_be_cut_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="query ids that this format can hold"):
        write_groups(as_groups("ab c", "a\tb"), tmp_path / "groups.txt")


# The published groups


@pytest.fixture(scope="module")
def melodies(melody: Path) -> Preferences:
    with (melody / "judgments.csv").open(encoding="latin-1", newline="") as file:
        rows = [
            (row["Input.query"], row["Input.docA"], row["Input.docB"], row["WorkerId"], row["Answer.radio"])
            for row in csv.DictReader(file)
        ]
    frame = pl.DataFrame(rows, schema=["query", "a", "b", "assessor", "choice"], orient="row")
    return Preferences.from_frame(frame.with_columns(pl.col("choice").replace({"s": "same"})))


@pytest.fixture(scope="module")
def published(melody: Path) -> OrderedGroups:
    return read_groups(melody / "MTurk.qrel")


def test_a_lead_of_two_gives_the_published_groups(melodies: Preferences, published: OrderedGroups) -> None:
    found = compare_groups(groups_from_preferences(melodies, method="pivots", lead=2), published)
    assert (found.queries, found.equal_queries) == (11, 11)
    assert (found.pairs, found.agreeing, found.opposite) == (717, 717, 0)


@pytest.mark.parametrize("lead", [1, 3])
def test_no_other_lead_explains_which_questions_were_asked(melodies: Preferences, lead: int) -> None:
    with pytest.raises(InputError, match="compared with all others"):
        groups_from_preferences(melodies, method="pivots", lead=lead)


def test_the_published_groups_rest_on_leads_that_no_test_would_trust(
    melodies: Preferences, published: OrderedGroups
) -> None:
    pairs = melodies.pairs()
    leading, tested = preferred_by_lead(pairs, 2), preferred_by_sign_test(pairs, 0.05)
    assert (np.count_nonzero(leading), np.count_nonzero(tested)) == (171, 43)
    with pytest.raises(InputError, match="compared with all others"):
        groups_by_pivots(pairs, tested)
    # Scores at .05 say less than the published groups, and next to nothing else.
    found = compare_groups(groups_from_preferences(melodies, alpha=0.05), published)
    assert found.opposite == 0
    assert found.ordered_by_both < 0.2 * found.pairs
