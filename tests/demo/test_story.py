"""The story of the demonstration: real systems, a campaign that ends, and somebody who judges at the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from earmark.data.scales import BROAD
from earmark.demo.asking import Enough, Person
from earmark.demo.collection import DEPTH, DemoCollection, DemoFiles, make_collection
from earmark.demo.listening import answers_page, questions_page
from earmark.demo.story import Campaign, first_answers, pauses, tell, told_frame
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
    campaign = Campaign(made)
    chapters = list(tell(campaign))
    assert [one.look.judged for one in chapters[:3]] == [0, 10, 20]
    assert chapters[-1].look.decision.stop
    told = told_frame(campaign, chapters)
    assert told["truth"].is_sorted(descending=True)
    last = pauses(chapters)[-1].look
    truth = evaluate(made.runs, made.judgments, ["AG@5"]).table()
    by_system = dict(zip(truth["system"], truth["AG@5"], strict=True))
    for system, estimate, half, true in told.select(
        "system", f"estimate_{last.judged}", f"half_{last.judged}", "truth"
    ).iter_rows():
        assert true == pytest.approx(by_system[system])
        assert abs(estimate - true) < 3 * half
    assert campaign.judgments(last.judged_gain).frame.height == last.judged


def typed(*words: str) -> Iterator[str]:
    yield from words


def make_person(made: DemoCollection, folder: Path, words: Iterator[str]) -> tuple[Person, list[str]]:
    said: list[str] = []

    def hear(prompt: str) -> str:
        word = next(words, None)
        if word is None:
            raise EOFError
        return word

    return Person(Campaign(made, BROAD), DemoFiles(folder), said.append, hear), said


def test_a_person_judges_stops_and_goes_on(made: DemoCollection, tmp_path: Path) -> None:
    person, said = make_person(made, tmp_path, typed("2\n", "7", "1", " 0 ", "Q"))
    with pytest.raises(Enough):
        person(np.array([5, 3, 1, 9]))
    assert "Expected 0, 1, 2 or q, got '7'." in said
    items = person.campaign.setting.collection.item_frame()[[1, 3, 5]]
    kept = (tmp_path / "my-judgments.csv").read_text().splitlines()
    assert kept[1:] == [
        f"{query},{document},{gain},me"
        for (query, document), gain in zip(items.select("query", "document").iter_rows(), (2, 1, 0), strict=True)
    ]
    again, _ = make_person(made, tmp_path, typed("2"))
    assert again.asked == 3
    assert again.gains[[1, 3, 5]].tolist() == [2, 1, 0]
    assert again(np.array([9])).tolist() == [2]
    with pytest.raises(Enough):
        again(np.array([11]))
    assert len((tmp_path / "my-judgments.csv").read_text().splitlines()) == 5


def test_the_page_plays_the_questions_and_tells_nothing_else(made: DemoCollection, tmp_path: Path) -> None:
    person, said = make_person(made, tmp_path, typed("0", "1", "2"))
    person(np.array([0, 1, 40]))
    page = (tmp_path / "my-questions.html").read_text()
    items = person.campaign.setting.collection.item_frame()[[0, 1, 40]]
    for name in (*items["query"], *items["document"]):
        assert f'src="clips/{name}.flac"' in page
    assert page.count("<section>") == items["query"].n_unique()
    assert not any(song.artist in page or song.genre in page for song in made.songs)
    assert any((tmp_path / "my-questions.html").as_uri() in line for line in said)


def test_pages_name_what_is_to_be_heard(made: DemoCollection, tmp_path: Path) -> None:
    heard = first_answers(made, queries=2)
    assert len(heard) == 2
    assert [one.system for one in heard[0][1]] == list(made.runs.systems)
    page = answers_page(heard, DemoFiles(tmp_path).addresses(made.songs))
    assert page.count("<audio") == 2 * (1 + len(WHAT_THEY_HEAR))
    assert "http" not in page
    assert questions_page([], {}, ["<good>"]).count("&lt;good&gt;") == 1
