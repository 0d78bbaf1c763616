"""Policies that judge a sample: what they propose is a prefix of the order, and a share is a share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array

from earmark.campaign.policies import MTC, POLICIES, PolicyState, Random, make_policy
from earmark.campaign.policies.proportional import Audited, Proportional
from earmark.data.collection import Collection
from earmark.errors import ParameterError
from earmark.inference.sampling_design import JudgingOrder, QueryOrder, SampleOrder, sizes


def collection_of(matrix: np.ndarray) -> Collection:
    """One query, and a document for every column; a system retrieved what it has a weight for."""
    n_systems, n_items = matrix.shape
    system, item = np.nonzero(matrix)
    return Collection(
        systems=tuple(f"s{number}" for number in range(n_systems)),
        queries=("q",),
        documents=tuple(f"d{number}" for number in range(n_items)),
        item_query=np.zeros(n_items, dtype=np.int64),
        item_document=np.arange(n_items),
        result_system=system,
        result_item=item,
        result_rank=np.ones(item.size, dtype=np.int64),
    )


def state_of(matrix: np.ndarray, judged: np.ndarray, order: JudgingOrder | None) -> PolicyState:
    return PolicyState(collection_of(matrix), csr_array(matrix), judged, np.ones(judged.size), sample_order=order)


def drawn_state(seed: int, n_items: int = 60, share_judged: float = 0.0) -> PolicyState:
    rng = np.random.default_rng(seed)
    matrix = (rng.random((4, n_items)) < 0.4).astype(float)
    order = SampleOrder(rng.random(n_items), sizes(csr_array(matrix)))
    return state_of(matrix, rng.random(n_items) < share_judged, order)


@st.composite
def states(draw):
    matrix = draw(arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 15)), elements=st.sampled_from([0.0, 1.0])))
    n_items = matrix.shape[1]
    number = draw(arrays(float, n_items, elements=st.floats(0.01, 0.99), unique=True))
    return state_of(matrix, draw(arrays(bool, n_items)), SampleOrder(number, sizes(csr_array(matrix))))


@given(states(), st.integers(0, 20))
def test_proportional_proposes_the_first_unjudged_items_of_the_order(state, n):
    proposal = Proportional().propose(state, n, np.random.default_rng(0))
    order = state.sample_order.order
    assert proposal.items.tolist() == [item for item in order if not state.judged[item]][:n]
    assert proposal.sampled.all()
    assert np.all(np.diff(proposal.priority) <= 0)


@given(states(), st.lists(st.integers(1, 6), min_size=1, max_size=8))
def test_batches_of_any_size_judge_the_same_sample(state, batches):
    judged = state.judged.copy()
    for n in batches:
        items = (
            Proportional()
            .propose(state_of(state.weights.toarray(), judged, state.sample_order), n, np.random.default_rng())
            .items
        )
        judged[items] = True
    at_once = Proportional().propose(state, sum(batches), np.random.default_rng()).items
    assert np.array_equal(judged, state.judged | np.isin(np.arange(judged.size), at_once))


def test_proportional_judging_makes_a_prefix():
    state = drawn_state(1)
    order = state.sample_order
    judged = np.zeros(60, dtype=bool)
    judged[Proportional().propose(state, 25, np.random.default_rng(0)).items] = True
    assert order.prefix(judged) == 25


def test_whole_queries_come_one_after_the_other():
    order = QueryOrder(np.array([0.9, 0.1, 0.5]), np.array([0, 0, 1, 1, 2]))
    state = state_of(np.ones((2, 5)), np.array([False, False, True, False, False]), order)
    proposal = Proportional().propose(state, 3, np.random.default_rng(0))
    assert proposal.items.tolist() == [3, 4, 0]
    assert proposal.priority.tolist() == pytest.approx([10.0, 2.0, 1 / 0.9])


def test_proportional_is_known_by_its_name():
    assert make_policy("proportional") == Proportional()
    assert "proportional" in POLICIES
    with pytest.raises(ParameterError, match="proportional takes no argument, got 'proportional:3'"):
        make_policy("proportional:3")


# ---- audits ----------------------------------------------------------------------------------------------------------


@given(
    share=st.sampled_from([0.1, 0.2, 1 / 3, 0.5, 0.77, 1.0]),
    batches=st.lists(st.integers(1, 13), min_size=1, max_size=12),
    before=st.integers(0, 30),
)
def test_an_audit_takes_its_share_over_the_whole_campaign(share, batches, before):
    state = drawn_state(2, n_items=120)
    judged = np.zeros(120, dtype=bool)
    judged[:before] = True
    rng = np.random.default_rng(0)
    proposed = sampled = 0
    for n in batches:
        proposal = Audited(MTC(), share).propose(state_of(state.weights.toarray(), judged, state.sample_order), n, rng)
        n_left = int(np.count_nonzero(~judged))
        assert len(proposal) == min(n, n_left)
        assert np.unique(proposal.items).size == len(proposal)
        assert not judged[proposal.items].any()
        assert np.all(np.diff(proposal.priority) < 0)
        # Whatever part of a batch is judged, the share is kept to within one judgment.
        running = np.cumsum(proposal.sampled)
        assert np.all(np.abs(running - share * np.arange(1, len(proposal) + 1)) <= 1)
        judged[proposal.items] = True
        proposed, sampled = proposed + len(proposal), sampled + int(proposal.sampled.sum())
    assert abs(sampled - share * proposed) <= 1


def test_sampled_items_of_an_audit_are_the_next_of_the_order_and_the_others_the_policys():
    state = drawn_state(3)
    proposal = Audited(MTC(), 0.25).propose(state, 8, np.random.default_rng(5))
    order = state.sample_order.order
    assert proposal.sampled.tolist() == [False, False, False, True] * 2
    assert proposal.items[proposal.sampled].tolist() == order[:2].tolist()
    taken = state.judged.copy()
    taken[order[:2]] = True
    others = MTC().propose(state_of(state.weights.toarray(), taken, state.sample_order), 6, np.random.default_rng(5))
    assert proposal.items[~proposal.sampled].tolist() == others.items.tolist()


def test_one_judgment_at_a_time_every_fifth_is_sampled():
    state = drawn_state(4)
    judged = np.zeros(60, dtype=bool)
    marks = []
    for _ in range(20):
        proposal = Audited(Random()).propose(
            state_of(state.weights.toarray(), judged, state.sample_order), 1, np.random.default_rng(len(marks))
        )
        judged[proposal.items] = True
        marks.extend(proposal.sampled.tolist())
    assert marks == [False, False, False, False, True] * 4
    # What the other policy judged on the way is skipped: the prefix is at least as long as what was sampled.
    assert state.sample_order.prefix(judged) >= 4


def test_a_share_that_is_no_binary_fraction_is_paid_in_full():
    # .29 times 100 is 28.999999999999996.
    proposal = Audited(Random(), 0.29).propose(drawn_state(8, n_items=120), 100, np.random.default_rng(0))
    assert proposal.sampled.sum() == 29
    assert proposal.sampled[-1]


def test_an_audit_ends_with_everything_judged():
    state = drawn_state(5, n_items=17, share_judged=0.5)
    proposal = Audited(MTC()).propose(state, 100, np.random.default_rng(0))
    assert sorted(proposal.items.tolist()) == np.flatnonzero(~state.judged).tolist()
    assert len(Audited(MTC()).propose(state, 0, np.random.default_rng(0))) == 0


def test_an_audit_says_what_it_is():
    assert str(Audited(MTC(), 0.2)) == "mtc with an audit of 0.2"


@pytest.mark.parametrize("share", [0.0, -0.1, 1.5, np.nan])
def test_a_share_is_a_share(share):
    with pytest.raises(ParameterError, match=r"share of sampled judgments in an audit is above 0 and up to 1, got"):
        Audited(MTC(), share)


@pytest.mark.parametrize("policy", [Proportional(), Audited(MTC())], ids=str)
def test_what_cannot_be_sampled_is_refused(policy):
    state = drawn_state(6)
    without = state_of(state.weights.toarray(), state.judged, None)
    with pytest.raises(ParameterError, match="needs the order in which it is judged, there is none"):
        policy.propose(without, 3, np.random.default_rng(0))
    with pytest.raises(ParameterError, match="0 or more, got -1"):
        policy.propose(state, -1, np.random.default_rng(0))


def test_an_order_of_other_items_is_refused():
    state = drawn_state(7)
    other = SampleOrder(np.array([0.5]), np.array([1.0]))
    with pytest.raises(ParameterError, match="expected a sample order of all 60 items, got one of 1"):
        state_of(state.weights.toarray(), state.judged, other)
