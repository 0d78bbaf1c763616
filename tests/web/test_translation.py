"""Sentences of estimates in other languages: every English one is recognised, whatever the systems are called."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from organised import running
from starlette.testclient import TestClient

from earmark.beliefs.estimates import all_pairs
from earmark.campaign.forecast import Forecast, PairForecast
from earmark.campaign.list_campaign import ANSWERS, ListCampaign, ListProblem
from earmark.campaign.order_campaign import RANKINGS, OrderCampaign, OrderProblem
from earmark.campaign.premises import chosen_for_gain, claimed_by, rare_relevance, too_early
from earmark.campaign.statements import say_verdict
from earmark.campaign.stopping import parse_stop
from earmark.campaign.stopping.base import NOTHING_TO_COMPARE, StopState
from earmark.campaign.stopping.plain import PlainState, check_plain
from earmark.campaign.verdict import Inference
from earmark.inference.audit import Audit
from earmark.inference.chosen_judgments import ChoiceTest
from earmark.inference.premises import FailedPremise
from earmark.predictors.base import PREDICTORS
from earmark.web.catalogue import ENGLISH, LANGUAGES
from earmark.web.translation import Translator, translated_state
from earmark.web.verdict import measure_of, read_ranking

Make = Callable[..., TestClient]
OTHERS = sorted(set(LANGUAGES) - {ENGLISH})
# Names that stand in sentences, and names that are parts of others.
NAMES = ("a", "an", "and", "is better than", "a or b", "{system}", "B: certain.")
# What would betray English: words that no other language of the pages has.
ENGLISH_WORDS = re.compile(r"\b(the|is|are|and|of|that|yet|better|system|systems|judgments?|sure|confidence)\b", re.I)


def ranking_of(names: tuple[str, ...], confidence: list[float], estimates: list[float], *, level: float = 0.95) -> Any:
    """Return a ranking with these confidences of pairs; those of nan cannot differ."""
    first, second = all_pairs(len(names))
    order = np.argsort(np.argsort(-np.array(estimates), kind="stable"), kind="stable")
    systems = [
        {"system": name, "estimate": value, "low": value - 0.1, "high": value + 0.1, "rank": 1 + int(place)}
        for name, value, place in zip(names, estimates, order, strict=True)
    ]
    pairs = [
        {"a": names[a], "b": names[b], "difference": estimates[a] - estimates[b], "confidence": chance}
        for a, b, chance in zip(first, second, confidence, strict=True)
        if not np.isnan(chance)
    ]
    return read_ranking({"systems": systems, "pairs": pairs}, measure_of("grade", "AG@5"), level=level)


def forecast_of(ranking: Any, rng: np.random.Generator) -> Forecast:
    """Return a forecast of all pairs in which anything may be the case."""
    names = ranking.estimates.systems

    def pair(a: str, b: str) -> PairForecast:
        left = int(rng.choice([0, 100, 30_000]))
        even, likely = np.sort(rng.integers(1, max(left, 3), size=2))
        chance = rng.choice([0.2, 0.6, 0.95], size=2)
        path = np.array([0, even, max(likely, even + 1)])
        reached = np.array([0.0, *np.sort(chance)])
        exact = bool(rng.random() < 0.7)
        return PairForecast(a, b, 0.6, left, path, reached, float(rng.choice([0.1, 1.0])), exact)

    target = "population" if rng.random() < 0.5 else "sample"
    inference = Inference("design" if rng.random() < 0.5 else "model", target=target)
    return Forecast(tuple(pair(a, b) for a, b in itertools.combinations(names, 2)), inference)


def verdicts() -> list[tuple[tuple[str, ...], str]]:
    """Return names of systems and sentences about them, in all cases that say_verdict has."""
    rng = np.random.default_rng(0)
    found: list[tuple[tuple[str, ...], str]] = []
    for size in (1, 2, 3, 4, 7):
        names = NAMES[:size]
        for _ in range(60):
            pairs = size * (size - 1) // 2
            choices = [0.5, 0.6, 0.96, 0.9999, 1.0, np.nan]
            weights = rng.dirichlet(np.full(len(choices), 0.3))
            confidence = rng.choice(choices, size=pairs, p=weights).tolist()
            estimates = rng.choice([0.5, 0.6, 0.7], size=size).tolist()
            ranking = ranking_of(names, confidence, estimates)
            plain, ahead = say_verdict(ranking), say_verdict(ranking, forecast_of(ranking, rng))
            texts = (
                plain.headline,
                plain.summary,
                ahead.headline,
                ahead.ahead,
                *(one.text for one in plain.neighbours),
                *withheld_texts(ranking),
            )
            found += [(names, text) for text in texts if text]
    return found


def failed_premises() -> list[FailedPremise]:
    """Return every premise as it fails, with all that its sentences may name."""
    failures = [("withhold", too_early(share)) for share in (-0.2, 0.0, 0.37)] + [
        ("withhold", chosen_for_gain(ChoiceTest(1200, 0.7, 0.4, 3.0)))
    ]
    failures += [
        ("claim", claimed_by(predictor)) for predictor in PREDICTORS.values() if predictor.errors != "correlated"
    ]
    failures.append(("note", rare_relevance(1200, 0.03)))
    return [FailedPremise("one", severity, failure.clause, failure.note) for severity, failure in failures]


def withheld_texts(ranking: Any) -> list[str]:
    """Return what is said where a premise failed."""
    found = []
    for premise in failed_premises():
        verdict = say_verdict(replace(ranking, failed=(premise,)))
        found += [verdict.headline, verdict.summary, *verdict.premises, *(one.text for one in verdict.neighbours)]
    return found


def stop_reasons() -> list[str]:
    """Return what stop rules say about states that are far from their target, and at it."""
    systems, reasons = 3, [NOTHING_TO_COMPARE.reason]
    for confidence, width, identical in itertools.product((0.5, 0.97), (0.5, 0.01), (False, True)):
        state = StopState(
            judged=5,
            items=100,
            rank=np.arange(1, systems + 1),
            width=np.full(systems, width),
            confidence=np.full(3, confidence),
            identical=np.full(3, identical),
            beats_by=lambda margin, confidence=confidence: np.full(3, confidence),
        )
        for rule in (
            "mean:0.95",
            "min:0.95",
            "decided:0.9",
            "top:1",
            "top:2",
            "top:5",
            "width:0.05",
            "budget:5",
            "none",
        ):
            margins = (0.0, 0.01) if rule.startswith(("mean", "min", "decided", "top")) else (0.0,)
            reasons += [
                parse_stop(rule, margin=margin).check(replace(state, withheld=premise)).reason
                for margin in margins
                for premise in (None, *(failed for failed in failed_premises() if failed.severity != "note"))
            ]
    reasons.append(parse_stop("none").check(StopState(3, 3, *_nothing(3))).reason)
    for rule, width in itertools.product(("width:0.2", "budget:4", "none"), (0.1, 0.5)):
        for what in ("the widest interval of a pair", "the interval of the mean agreement"):
            reasons += [
                check_plain(parse_stop(rule), PlainState(answers, judged, 4, width, what)).reason
                for answers, judged in ((3, 2), (8, 4))
            ]
    return reasons


def _nothing(systems: int) -> tuple[Any, ...]:
    pairs = systems * (systems - 1) // 2
    return np.arange(1, systems + 1), np.zeros(systems), np.full(pairs, 0.5), np.zeros(pairs, dtype=bool)


def sentences_of_lists() -> list[str]:
    rows = [(f"q{place}", a, b) for place in range(40) for a, b in itertools.combinations(("a", "an", "and"), 2)]
    found = []
    shares = ((), (1.0, 1.0, 1.0), (1.0, 1.0, 0.5), (0.5, 0.5, 0.5), (1.0, 0.5, 0.5))
    for systems, share, people in itertools.product((1, 2, 3), shares, (1, 3, 20)):
        names = ("a", "an", "and")[:systems]
        asked = pl.DataFrame([row for row in rows if {*row[1:]} <= {*names}], schema=["query", "a", "b"], orient="row")
        if not asked.height:
            asked = pl.DataFrame(schema={"query": pl.String, "a": pl.String, "b": pl.String})
        chance = dict(zip((("a", "an"), ("a", "and"), ("an", "and")), share, strict=False))
        answers = [
            (query, a, b, f"w{int(query[1:]) % people}", "a" if chance[a, b] == 1 else "same")
            for query, a, b in asked.rows()
            if (a, b) in chance
        ]
        given = pl.DataFrame(answers, schema=ANSWERS, orient="row") if answers else pl.DataFrame(schema=ANSWERS)
        estimates = ListCampaign(ListProblem(names, asked), given).look.estimates
        found += [estimates.sentence(), *estimates.notes()]
    return found


def sentences_of_orders() -> list[str]:
    found = []
    documents = ("x", "y", "z")
    for queries, experts, agree in itertools.product((0, 1, 30), (1, 2), (True, False)):
        rows = [
            (f"q{query}", f"w{expert}", list(documents if agree or not expert else documents[::-1]), 3)
            for query in range(queries)
            for expert in range(experts)
        ]
        rankings = pl.DataFrame(rows, schema=RANKINGS, orient="row")
        look = OrderCampaign(OrderProblem({f"q{query}": documents for query in range(max(queries, 1))}), rankings).look
        found += [look.estimates.sentence(), *look.estimates.notes()]
    return found


def everything() -> list[tuple[tuple[str, ...], str]]:
    others = [*stop_reasons(), *sentences_of_lists(), *sentences_of_orders()]
    audits = [
        str(Audit(sampled, p_value, p_value > 0.05, "a", deviation, 0.0))
        for sampled, p_value, deviation in itertools.product((10, 1000), (0.5, 0.00001), (0.2, -0.2))
    ]
    return [*verdicts(), *((("a", "an", "and"), text) for text in [*others, *audits])]


@pytest.fixture(scope="module")
def said() -> list[tuple[tuple[str, ...], str]]:
    return everything()


def test_every_sentence_is_recognised_as_it_is(said: list[tuple[tuple[str, ...], str]]) -> None:
    """The English table holds the sentences of the report, to the letter."""
    wrong = {text for names, text in said if Translator(ENGLISH, names)(text) != text}
    assert wrong == set()


@pytest.mark.parametrize("language", OTHERS)
def test_no_english_is_left(language: str, said: list[tuple[tuple[str, ...], str]]) -> None:
    plain = ("eins", "zwei", "drei", "vier", "fuenf", "sechs", "sieben")
    rest = {}
    for names, text in said:
        told = Translator(language, names)(text)
        assert told is not None, text
        # Names may be English words; without them, nothing may be.
        bare = told
        for name, other in sorted(zip(names, plain, strict=False), key=lambda pair: -len(pair[0])):
            bare = (
                bare.replace(name, other) if len(name) > 3 else re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", other, bare)
            )
        if ENGLISH_WORDS.search(bare):
            rest[text] = told
    assert rest == {}


@pytest.mark.parametrize("kind", ["grade", "prefer", "order", "lists"])
def test_the_dashboard_in_spanish(make_client: Make, kind: str) -> None:
    settings = {"pages__look_early": True, "pages__language": "es", "estimates__stop": "none"}
    organiser = running(make_client(kind, **settings), answers=8)
    english = organiser.state()
    spanish = organiser.get("/api/organise/state?language=es").json()
    assert english["untranslated"] == []
    assert english["verdict"]["headline"]
    assert spanish["verdict"]["headline"] != english["verdict"]["headline"]
    told = [spanish["verdict"]["headline"], spanish["verdict"]["summary"], spanish["progress"]["reason"]]
    told += [one["text"] for one in spanish["verdict"]["neighbours"]]
    for text in told:
        assert text not in spanish["untranslated"]
        assert not ENGLISH_WORDS.search(re.sub(r"system\d", "", text)), text
    # Numbers and names are the same; nothing else of the state differs.
    assert spanish["ranking"] == english["ranking"]
    assert spanish["pairs"] == english["pairs"]


def test_a_sentence_that_is_not_known_stays_and_is_named() -> None:
    state = {"campaign": {"reason": "because"}, "notes": ["everything is judged", "a new note"]}
    shown = translated_state(state, "es", ())
    assert shown["campaign"]["reason"] == "because"
    assert shown["notes"] == ["todo está juzgado", "a new note"]
    assert shown["untranslated"] == ["because", "a new note"]
    assert state["notes"] == ["everything is judged", "a new note"]
