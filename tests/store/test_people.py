"""Who assessors are stays apart from what they answered, and can be erased."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from desks import table_rows

from earmark.errors import ParameterError
from earmark.store import links, people, schema
from earmark.store.desk import Desk
from earmark.store.rules import DAY, Rules
from earmark.store.store import Store


@pytest.fixture
def desk(store: Store) -> Desk:
    made = Desk(store, Rules(trap_every=0))
    made.add_questions(pl.DataFrame({"query": ["q"] * 4, "document": list("abcd")}))
    return made


def admit(store: Store, token: str) -> str:
    return store.write(lambda change: links.admit(change, token))


def test_an_invited_person_answers_under_a_pseudonym(desk: Desk) -> None:
    (made,) = links.invite(desk.store, ["Ann Lee"])
    assert made.link("https://judge.example/") == f"https://judge.example/judge/{made.token}"
    assessor = admit(desk.store, made.token)
    assert assessor == made.assessor == people.find_person(desk.store, "Ann Lee")
    question = desk.take(assessor).questions[0]
    desk.answer(assessor, question.id, key="1", gain=1)
    written = desk.store.log().frame.write_csv()
    assert assessor in written
    assert "Ann" not in written


def test_tokens_are_not_stored(desk: Desk) -> None:
    (made,) = links.invite(desk.store, ["Ann"])
    rows = table_rows(desk.store, schema.invitations)
    assert all(made.token not in str(value) for row in rows for value in row.values())


def test_a_new_link_ends_the_old_one_and_the_person_stays(desk: Desk) -> None:
    (first,) = links.invite(desk.store, ["Ann"])
    (second,) = links.invite(desk.store, ["Ann"])
    assert first.assessor == second.assessor
    with pytest.raises(ParameterError, match="not valid"):
        admit(desk.store, first.token)
    assert admit(desk.store, second.token) == first.assessor
    assert first.assessor is not None
    links.revoke(desk.store, first.assessor)
    with pytest.raises(ParameterError, match="not valid"):
        admit(desk.store, second.token)


def test_an_open_link_has_so_many_places(desk: Desk) -> None:
    made = links.invite_openly(desk.store, 2)
    assert len({admit(desk.store, made.token), admit(desk.store, made.token)}) == 2
    with pytest.raises(ParameterError, match="places"):
        admit(desk.store, made.token)


@pytest.mark.parametrize("token", ["", "x", "é" * 400])
def test_an_unknown_link(desk: Desk, token: str) -> None:
    with pytest.raises(ParameterError, match="not valid"):
        admit(desk.store, token)


def test_a_platform_id_that_comes_back_is_the_same_person(store: Store) -> None:
    def come(platform: str, id: str) -> str:
        return store.write(lambda change: people.pseudonym(change, platform=platform, platform_id=id))

    assert come("prolific", "7") == come("prolific", "7")
    assert len({come("prolific", "7"), come("prolific", "8"), come("mturk", "7")}) == 3


def test_an_identity_is_erased_and_the_answers_stay(desk: Desk) -> None:
    (made,) = links.invite(desk.store, ["Ann Lee"])
    assessor = admit(desk.store, made.token)
    question = desk.take(assessor).questions[0]
    desk.answer(assessor, question.id, key="1", gain=2)
    people.erase(desk.store, assessor)
    assert people.known_people(desk.store) == []
    assert desk.store.log().answers.select("assessor", "gain").rows() == [(assessor, 2.0)]
    assert desk.store.log().of_kind("erased")["assessor"].to_list() == [assessor]
    with pytest.raises(ParameterError, match="not valid"):
        admit(desk.store, made.token)
    with pytest.raises(ParameterError, match="nobody"):
        people.find_person(desk.store, "Ann Lee")
    path = desk.store.database.path
    if path is not None:
        files = [path, *path.parent.glob(f"{path.name}-*")]
        assert not any(b"Ann Lee" in file.read_bytes() for file in files if file.is_file())


def test_identities_are_kept_for_a_time_only(desk: Desk, clock) -> None:
    links.invite(desk.store, ["Ann", "Bob"])
    assert people.erase_expired(desk.store, 30) == 0
    clock.now += 40 * DAY
    assert people.erase_expired(desk.store, 30) == 0, "the campaign is not closed"
    desk.set_state("closed")
    clock.now += 29 * DAY
    assert people.erase_expired(desk.store, 30) == 0
    assert people.erase_expired(desk.store, None) == 0
    clock.now += 2 * DAY
    assert people.erase_expired(desk.store, 30) == 2
    assert people.known_people(desk.store) == []


def test_consent_names_the_text_that_was_read(store: Store) -> None:
    first = store.write(lambda change: people.keep_text(change, "I agree."))
    second = store.write(lambda change: people.keep_text(change, "I agree, really."))
    assert first != second
    assert store.write(lambda change: people.keep_text(change, "I agree.")) == first
    store.write(lambda change: people.consent(change, "ann", first))
    told = store.log().of_kind("consented")
    assert told.select("assessor", "text").rows() == [("ann", first)]
    assert told["time"][0] is not None
    texts = {row["version"]: row["text"] for row in table_rows(store, schema.texts)}
    assert texts[first] == "I agree."
    with pytest.raises(ParameterError, match="no consent text"):
        store.write(lambda change: people.consent(change, "ann", "0"))


def test_names_that_are_not_unique(store: Store, tmp_path: Path) -> None:
    for mail in ("a@x", "b@x"):
        store.write(lambda change, mail=mail: people.pseudonym(change, mail=mail))
    assert people.find_person(store, "a@x") != people.find_person(store, "b@x")
    with pytest.raises(ParameterError, match="needs a name"):
        links.invite(store, [" "])
