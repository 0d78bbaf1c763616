"""The story of the demonstration: real systems, a campaign that ends, and somebody who judges at the terminal."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from earmark.campaign.loop import play
from earmark.campaign.policies import Proposal
from earmark.data.readers import read_judgments
from earmark.data.scales import BROAD
from earmark.demo.asking import Enough, Person
from earmark.demo.collection import DEPTH, DemoCollection, DemoFiles, make_collection
from earmark.demo.listening import answers_page, questions_page
from earmark.demo.story import pauses, tell, told_frame, typical_answers
from earmark.demo.systems import WHAT_THEY_HEAR
from earmark.evaluation import evaluate


def test_systems_answer_every_query_and_never_with_its_artist(made: DemoCollection) -> None:
    runs = made.runs
    assert set(runs.systems) == set(WHAT_THEY_HEAR)
    assert len(runs) == len(WHAT_THEY_HEAR) * 15 * DEPTH
    artist = {song.name: song.artist for song in made.songs}
    results = runs.to_polars()
    assert all(artist[query] != artist[document] for query, document in results.select("query", "document").iter_rows())
    asked = {(query, document) for query, document in results.select("query", "document").iter_rows()}
    judged = {(query, document) for query, document in made.judgments.frame.select("query", "document").iter_rows()}
    assert judged == asked


def test_systems_that_listen_are_better_than_one_that_does_not(made: DemoCollection) -> None:
    means = evaluate(made.runs, made.judgments, ["AG@5"]).table()
    by_system = dict(zip(means["system"], means["AG@5"], strict=True))
    assert min(by_system[name] for name in ("timbre", "all-three")) > by_system["random"] + 0.1
    assert min(by_system, key=lambda name: by_system[name]) == "random"


def test_the_same_seed_makes_the_same_collection() -> None:
    one, again, other = (make_collection(seed, artists=1, songs=2, queries=5) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.content.values, again.content.values)
    assert one.runs.to_polars().equals(again.runs.to_polars())
    assert one.judgments.frame.equals(again.judgments.frame)
    assert not one.runs.to_polars().equals(other.runs.to_polars())


def test_the_campaign_is_told_from_nothing_to_the_stop(made: DemoCollection) -> None:
    story = tell(made)
    assert [one.look.judged for one in story.chapters[:3]] == [0, 10, 20]
    assert story.chapters[-1].look.decision.stop
    told = told_frame(story)
    assert told["truth"].is_sorted(descending=True)
    last = pauses(story.chapters)[-1].look
    truth = evaluate(made.runs, made.judgments, ["AG@5"]).table()
    by_system = dict(zip(truth["system"], truth["AG@5"], strict=True))
    for system, estimate, half, true in told.select(
        "system", f"estimate_{last.judged}", f"half_{last.judged}", "truth"
    ).iter_rows():
        assert true == pytest.approx(by_system[system])
        assert abs(estimate - true) < 3 * half
    assert story.end.judged == last.judged
    assert story.end.judgments is not None
    kept = story.end.judgments.frame.join(made.judgments.frame, on=["query", "document"], suffix="_true")
    assert kept.height == last.judged
    assert kept["gain"].to_list() == kept["gain_true"].to_list()


def typed(*words: str) -> Callable[[str], str]:
    left = iter(words)

    def hear(prompt: str) -> str:
        word = next(left, None)
        if word is None:
            raise EOFError
        return word

    return hear


def make_person(made: DemoCollection, folder: Path, hear: Callable[[str], str]) -> tuple[Person, list[str]]:
    said: list[str] = []
    return Person.at_terminal(made, DemoFiles(folder), seed=0, say=said.append, hear=hear), said


def proposal(*items: int) -> Proposal:
    return Proposal(np.array(items), np.ones(len(items)), np.zeros(len(items), dtype=bool))


def test_a_person_judges_stops_and_goes_on(made: DemoCollection, tmp_path: Path) -> None:
    person, said = make_person(made, tmp_path, typed("2\n", "7", "1", " 0 ", "Q"))
    with pytest.raises(Enough):
        person(person.campaign, proposal(5, 3, 1, 9))
    assert "Expected 0, 1, 2 or q, got '7'." in said
    assert person.campaign.judged == 3
    kept = pl.read_csv(tmp_path / "my-judgments.csv")
    assert kept.select("query", "document").rows() == person.campaign.problem.items[[1, 3, 5]].rows()
    assert kept["gain"].to_list() == [2, 1, 0]
    assert set(kept["assessor"]) == {"me"}
    again, _ = make_person(made, tmp_path, typed("2"))
    assert again.campaign.judged == 3
    np.testing.assert_array_equal(again.campaign.gains, person.campaign.gains)
    assert again.campaign.gains[[1, 3, 5]].tolist() == [2, 1, 0]
    # Whoever goes on from the file is asked what would have been asked without the break.
    np.testing.assert_array_equal(again.campaign.propose(7).items, person.campaign.propose(7).items)
    given = again(again.campaign, proposal(9))
    assert (given.items.tolist(), given.gains.tolist()) == ([9], [2])
    with pytest.raises(Enough):
        again(again.campaign, proposal(11))
    assert pl.read_csv(tmp_path / "my-judgments.csv").height == 4


def test_every_grade_goes_to_its_own_item(made: DemoCollection, tmp_path: Path) -> None:
    """Questions are sorted by query, and proposals are not: what was typed has to reach the item that was heard."""

    def grade(document: str) -> int:
        return sum(map(ord, document)) % 3

    asked: list[str] = []

    def hear(prompt: str) -> str:
        if not asked:
            page = (tmp_path / "my-questions.html").read_text()
            # Every section has a query and then the documents to grade, in the order of the questions.
            for section in page.split("<section")[1:]:
                asked.extend(re.findall(r'src="clips/([^"]*)\.flac"', section)[1:])
        return str(grade(asked.pop(0)))

    person, _ = make_person(made, tmp_path, hear)
    documents = person.campaign.problem.items["document"].to_list()
    expected = np.array([grade(name) for name in documents])
    assert set(expected) == {0, 1, 2}
    unsorted = 0
    for campaign in islice(play(person.campaign, person, batch=10), 4):
        judged = np.flatnonzero(campaign.gains >= 0)
        np.testing.assert_array_equal(campaign.gains[judged], expected[judged])
        np.testing.assert_array_equal(campaign.gains, person.campaign.gains)
        unsorted += bool((np.diff(campaign.propose(10).items) < 0).any())
    assert campaign.judged == 30
    assert unsorted
    written = read_judgments(tmp_path / "my-judgments.csv", scale=BROAD).frame
    assert written["gain"].to_list() == [grade(name) for name in written["document"]]


def test_the_page_plays_the_questions_and_tells_nothing_else(made: DemoCollection, tmp_path: Path) -> None:
    person, said = make_person(made, tmp_path, typed("0", "1", "2"))
    person(person.campaign, proposal(0, 1, 40))
    page = (tmp_path / "my-questions.html").read_text()
    items = person.campaign.problem.items[[0, 1, 40]]
    for name in (*items["query"], *items["document"]):
        assert f'src="clips/{name}.flac"' in page
    assert page.count("<section") == items["query"].n_unique()
    assert not any(song.artist in page or song.genre in page for song in made.songs)
    assert any((tmp_path / "my-questions.html").as_uri() in line for line in said)


def test_pages_name_what_is_to_be_heard(made: DemoCollection, tmp_path: Path) -> None:
    examples = typical_answers(made, queries=2)
    assert len(examples.answers) == 2
    assert [one.system for one in examples.answers[0][1]] == list(made.runs.systems)
    page = answers_page(examples, DemoFiles(tmp_path).addresses(made.songs))
    assert page.count("<audio") == 2 * (1 + len(WHAT_THEY_HEAR))
    assert "http" not in page
    assert f"These are 2 of {len(made.runs.queries)} queries" in page
    assert questions_page([], {}, ["<good>"]).count("&lt;good&gt;") == 1


def test_the_queries_to_listen_to_are_those_nearest_to_the_means(made: DemoCollection) -> None:
    gains = {
        (query, document): gain
        for query, document, gain in made.judgments.frame.select("query", "document", "gain").iter_rows()
    }
    first = made.runs.to_polars().filter(pl.col("rank") == 1).select("system", "query", "document").iter_rows()
    of = {(query, system): gains[query, document] for system, query, document in first}
    table = np.array([[of[query, system] for system in made.runs.systems] for query in made.runs.queries])
    examples = typical_answers(made, queries=3)
    assert dict(examples.means) == pytest.approx(dict(zip(made.runs.systems, table.mean(axis=0), strict=True)))
    assert examples.among == len(table)
    distance = dict(zip(made.runs.queries, ((table - table.mean(axis=0)) ** 2).sum(axis=1), strict=True))
    assert [query for query, _ in examples.answers] == sorted(distance, key=distance.__getitem__)[:3]
    for query, answers in examples.answers:
        assert [answer.similar for answer in answers] == [round(of[query, system]) for system in made.runs.systems]
