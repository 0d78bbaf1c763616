"""Links: who may judge, try the campaign out, or organise it."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from desks import answer_from_file, make_desk

from earmark.errors import ParameterError
from earmark.store import links, people, schema
from earmark.store.store import Store


def found(store: Store, token: str) -> links.Link | None:
    return store.read(lambda connection: links.find_link(connection, store.campaign, token))


def test_following_a_link_changes_nothing(store: Store) -> None:
    make_desk(store, 2)
    (made,) = links.invite(store, ["Ann"])
    before = store.last_sequence
    assert found(store, made.token) == links.Link("assessor", made.assessor, "Ann", 1)
    assert found(store, f"{made.token}x") is None
    assert store.last_sequence == before


def test_the_store_holds_no_token(store: Store) -> None:
    (made,) = links.invite(store, ["Ann"])
    secret = links.new_organiser_link(store)
    rows = store.read(lambda connection: connection.execute(sa.select(schema.invitations)).fetchall())
    assert len(rows) == 2
    assert made.token not in str(rows)
    assert secret not in str(rows)


def test_whoever_joins_gets_a_link_of_their_own(store: Store) -> None:
    make_desk(store, 2)
    shared = links.invite_openly(store, 2)
    mine, yours = links.join(store, shared.token), links.join(store, shared.token)
    assert mine.assessor != yours.assessor
    with pytest.raises(ParameterError, match="all places"):
        links.join(store, shared.token)
    assert found(store, mine.token) == links.Link("assessor", mine.assessor, "", 1)
    # The shared link ends; who has joined goes on.
    assert links.revoke_open_links(store) == 1
    assert found(store, shared.token) is None
    assert found(store, mine.token) is not None
    with pytest.raises(ParameterError, match="not valid"):
        links.join(store, mine.token)


def test_a_person_may_try_it_out_first_and_judge_later(store: Store) -> None:
    make_desk(store, 2)
    (trial,) = links.invite(store, ["Ann"], pilot=True)
    (real,) = links.invite(store, ["Ann"])
    assert trial.assessor != real.assessor
    assert found(store, trial.token).role == "pilot"
    assert found(store, real.token).role == "assessor"
    shared = links.invite_openly(store, 1, pilot=True)
    joined = links.join(store, shared.token)
    assert found(store, joined.token).role == "pilot"
    assert store.log().rejected == {trial.assessor, joined.assessor}


def test_who_was_asked_something_cannot_become_a_pilot(store: Store) -> None:
    from earmark.store.organising import join_pilot

    desk = make_desk(store, 2)
    desk.take("ann")
    with pytest.raises(ParameterError, match="asked nothing yet"):
        store.write(lambda change: join_pilot(change, "ann"))
    # Nor who has answers from a file: they count already.
    answer_from_file(desk, "bob", "d0", gain=1.0)
    with pytest.raises(ParameterError, match="no answers"):
        store.write(lambda change: join_pilot(change, "bob"))


def test_there_is_one_organiser_link_at_a_time(store: Store) -> None:
    assert not links.has_organiser_link(store)
    first = links.new_organiser_link(store)
    second = links.new_organiser_link(store)

    def is_organiser(secret: str) -> bool:
        return store.read(lambda connection: links.is_organiser(connection, store.campaign, secret))

    assert links.has_organiser_link(store)
    assert [is_organiser(one) for one in (first, second, "")] == [False, True, False]
    (made,) = links.invite(store, ["Ann"])
    assert not is_organiser(made.token)
    with pytest.raises(ParameterError, match="not valid"):
        links.join(store, second)


def test_erasing_a_person_erases_what_they_said_about_themselves(store: Store) -> None:
    (made,) = links.invite(store, ["Ann"])
    store.write(lambda change: people.keep_questionnaire(change, made.assessor, {"age": 44}))
    store.write(lambda change: people.note_prepared(change, made.assessor, "sound"))
    sitting = {"campaign": store.campaign, "platform": "mturk", "assignment": "A1", "assessor": made.assessor}
    row = sa.insert(schema.sittings).values(**sitting, number=1, began=1, answers_before=0)
    store.write(lambda change: change.connection.execute(row))
    people.erase(store, made.assessor)
    left = store.read(lambda connection: people.person_of(connection, store.campaign, made.assessor))
    assert (left["name"], left["questionnaire"]) == (None, None)
    assert not store.read(lambda connection: connection.execute(sa.select(schema.sittings)).fetchall())
    assert found(store, made.token) is None


@pytest.mark.parametrize("state", ["rejected", "pilot"])
def test_only_who_is_active_can_be_paused(store: Store, state: str) -> None:
    desk = make_desk(store, 2)
    (made,) = links.invite(store, ["Ann"], pilot=state == "pilot")
    if state == "rejected":
        desk.reject(made.assessor, "did not listen")
    with pytest.raises(ParameterError, match=f"is {state} cannot be paused"):
        desk.pause_assessor(made.assessor)
