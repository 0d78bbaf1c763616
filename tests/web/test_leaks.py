"""Nothing that an assessor receives names a system or a document, shows what others said, or tells a trap."""

from __future__ import annotations

import base64
import json
import posixpath
import re
import secrets
import shutil
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from recorded import ARTIST, FORBIDDEN, PEOPLE, QUERY, REMARK, SYSTEMS, TITLE, Asked, Recorder, Response, Zoo, known_of
from served import Assessor, open_client
from starlette.testclient import TestClient

from earmark.store.folder import CampaignFolder
from earmark.store.links import invite, invite_openly, new_organiser_link
from earmark.web.limits import RateLimiter

KINDS = ("grade", "prefer", "order", "lists")
SMALL, LARGE = {"queries": 3, "pool": 6, "depth": 3}, {"queries": 24, "pool": 4, "depth": 2}


class Campaigns:
    """Campaigns of a zoo, each made once and copied."""

    def __init__(self, zoo: Zoo, *more: str, trap_rate: str, judgments: int) -> None:
        self.zoo, self.more = zoo, more
        self.how: dict[str, Any] = {"trap_rate": trap_rate, "judgments": judgments}
        self.made: dict[str, Path] = {}

    def copy(self, kind: str, target: Path, **settings: Any) -> CampaignFolder:
        if not self.made:
            self.zoo.write()
            # It has the sounds that all kinds need.
            self.made["grade"] = self.zoo.make("grade", *self.more, **self.how)
        if kind not in self.made:
            self.made[kind] = self.zoo.make(kind, *self.more, **self.how)
        shutil.copytree(self.made[kind], target)
        folder = CampaignFolder.open(target)
        return folder.rewrite_settings({name.replace("__", "."): value for name, value in settings.items()})


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Campaigns:
    """Campaigns with everything that comes before the questions, small enough to be played to their end."""
    zoo = Zoo(tmp_path_factory.mktemp("small"), **SMALL)
    files = ["--consent", str(zoo.folder / "consent.md"), "--questionnaire", str(zoo.folder / "about.toml")]
    return Campaigns(zoo, *files, trap_rate="1/3", judgments=2)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Campaigns:
    """Campaigns with as many traps as questions."""
    return Campaigns(Zoo(tmp_path_factory.mktemp("large"), **LARGE), trap_rate="1/2", judgments=4)


@contextmanager
def client_of(folder: CampaignFolder) -> Iterator[TestClient]:
    with open_client(folder) as client:
        unlimited = {"per_second": 1e6, "burst": 1e6, "failures_per_second": 1e6, "failures": 1e6}
        client.app.state.limiter = RateLimiter(**unlimited)  # type: ignore[attr-defined]
        yield client
    folder.close()


def invited(client: TestClient, names: tuple[str, ...], kept: list[Response]) -> list[Recorder]:
    made = invite(client.app.state.campaign.store, list(names))  # type: ignore[attr-defined]
    return [Recorder(client, one.token, one.name, kept) for one in made]


def act(who: Recorder, rng: np.random.Generator, *, fetch: bool = True) -> bool:
    """Answer one question in a manner of one's own: undoing, skipping, leaving, sending twice; False without one."""
    found = who.take(fetch=fetch)
    if not found:
        return False
    question, key, chance = found[0], secrets.token_hex(8), rng.random()
    if chance < 0.03:
        who.post("skip", {"id": question["id"], "key": key, "text": f"{REMARK} {who.name}"})
        return True
    if chance < 0.05:
        who.post("leave", {})
        return True
    # Answers that several people share become traps for others.
    said = {"gain": 1} if question["kind"] == "grade" else Assessor.some_answer(question)
    who.answer(question, key, **said)
    if chance < 0.10:
        who.answer(question, key, **said)
        who.post("undo", {"id": question["id"], "key": secrets.token_hex(8)})
        who.answer(question, secrets.token_hex(8), **said)
    if chance > 0.97:
        who.post("comments", {"id": question["id"], "key": secrets.token_hex(8), "text": f"{REMARK} {who.name}"})
    return True


# ---- a scan ----------------------------------------------------------------------------------------------------------


def load_files(who: Recorder) -> set[str]:
    """Fetch all files that the page of an assessor loads, and those that these load."""
    waiting, loaded = set(re.findall(r"/static/[\w./-]+", who.call("GET", f"/judge/{who.token}").text)), set()
    while waiting:
        path = waiting.pop()
        loaded.add(path)
        named = re.findall(r"(?:from|import)\s*\(?[\"'](\.[\w./-]+)", who.call("GET", path).text)
        waiting |= {posixpath.normpath(posixpath.join(posixpath.dirname(path), one)) for one in named} - loaded
    return loaded


def ask_for_ranges(who: Recorder) -> None:
    """Fetch pieces of a sound, as Safari does, and such as nobody can have."""
    path = f"/media/{next(iter(who.asked.values())).parts[0].ticket}"
    for wanted in ("bytes=0-1", "bytes=100-", "bytes=-50", "bytes=0-9,20-29", "bytes=99999999-", "bytes=x"):
        who.call("GET", path, headers={"Range": wanted})
    who.call("HEAD", path)
    who.call("GET", path, headers={"If-None-Match": '"x"', "If-Range": '"x"', "Range": "bytes=0-1"})


def provoke_errors(who: Recorder, folder: Path) -> None:
    """Ask for everything that is refused."""
    question = next(iter(who.asked.values())).question
    for path in ("/nothing", "/judge/unknown", "/media/unknown", "/media/..%2f.key", "/static/nothing.js"):
        who.call("GET", path)
    for path in ("/organise", "/api/organise/state", "/metrics", "/health", "/", "/robots.txt", "/api/openapi.json"):
        who.call("GET", path)
    for body in ({}, {"id": "x", "key": "k" * 16, "gain": 1}, {"id": question["id"], "key": "k" * 16, "gain": 77}):
        who.post("answers", body)
    who.post("undo", {"id": question["id"] + "x", "key": "k" * 16})
    who.post("unplayable", {"id": question["id"], "key": "k" * 16, "part": "candidate 99"})
    who.call("PUT", "/api/judge/answers", json={})
    who.call("GET", "/api/judge/session", headers={"Authorization": "Bearer nobody"})
    manifest = folder / "media" / "manifest.json"
    text = manifest.read_text()
    # Somebody is in the middle of preparing media anew: the message of that error names a file and what is in it.
    manifest.write_text('{"format": 7, "media": "TRACKLEMUR"}')
    assert who.post("questions", {}).status == 503
    manifest.write_text(text)


def come_from_prolific(client: TestClient, kept: list[Response]) -> Recorder:
    """Come from a recruiting platform, after some detours."""
    passer = Recorder(client, "nobody", "passer-by", kept)
    address = "/recruit/prolific?PROLIFIC_PID=p1&STUDY_ID=st&SESSION_ID=s1"
    for path in (address, "/recruit/prolific", "/recruit/prolific?PROLIFIC_PID={{%PROLIFIC_PID%}}", "/recruit/mturk"):
        passer.call("GET", path)
    start = {"platform": "prolific", "worker": "p1", "assignment": "s1", "study": "st"}
    own = {"X-Earmark": "recruit"}
    passer.call("POST", "/api/recruit/start", json=start | {"worker": "<b>"}, headers=own)
    made = passer.json("POST", "/api/recruit/start", json=start, headers=own)
    return Recorder(client, made["token"], "worker", kept)


def join_by_open_link(client: TestClient, kept: list[Response]) -> Recorder:
    link = invite_openly(client.app.state.campaign.store, 1)  # type: ignore[attr-defined]
    passer = Recorder(client, link.token, "passer-by", kept)
    passer.call("GET", f"/judge/{link.token}")
    passer.call("GET", "/api/judge/session")
    passer.post("questions", {})
    made = passer.json("POST", "/api/judge/join", json={"key": "k" * 16})
    passer.post("join", {"key": "l" * 16})
    return Recorder(client, made["token"], "joined", kept)


def look_around(who: Recorder) -> None:
    """Ask for all that a page asks for, whatever the state of the campaign."""
    asked = list(who.asked.values())
    who.call("GET", f"/judge/{who.token}")
    for path in ("session", "training", "thanks"):
        who.call("GET", f"/api/judge/{path}")
    who.post("questions", {"ahead": 1})
    who.post("undo", {"id": asked[-1].question["id"], "key": secrets.token_hex(8)})
    who.post("answers", {"id": asked[0].question["id"], "key": secrets.token_hex(8), "gain": 1})
    who.call("GET", f"/media/{asked[0].parts[0].ticket}")
    who.call("GET", f"/media/{asked[0].parts[0].ticket}/peaks")
    who.call("GET", "/recruit/prolific?PROLIFIC_PID=p1&STUDY_ID=st&SESSION_ID=s1")


def play_to_the_end(client: TestClient) -> tuple[list[Recorder], list[Response]]:
    """Let people come in every way, and answer everything that there is."""
    rng, kept = np.random.default_rng(11), []
    everybody = invited(client, PEOPLE[:3], kept)
    everybody += [join_by_open_link(client, kept), come_from_prolific(client, kept)]
    for who in everybody:
        who.arrive()
    for _ in range(500):
        at_work = [who for who in everybody if act(who, rng)]
        if not at_work:
            break
    else:
        raise AssertionError("the campaign does not end")
    for who in everybody:
        who.call("GET", "/api/judge/thanks")
    return everybody, kept


@pytest.mark.parametrize("kind", KINDS)
def test_a_scan_of_a_whole_campaign_finds_no_name_and_no_trap(small: Campaigns, tmp_path: Path, kind: str) -> None:
    recruiting = {"recruiting__platform": "prolific", "recruiting__answers_per_assignment": 3}
    opened = small.copy(kind, tmp_path / kind, **recruiting, recruiting__completion_code="DONE1")
    with client_of(opened) as client:
        campaign = client.app.state.campaign  # type: ignore[attr-defined]
        secret = new_organiser_link(campaign.store)
        everybody, responses = play_to_the_end(client)
        (left,) = campaign.store.read(_questions_left(campaign.store.campaign))
        assert left == 0, "the campaign was played to its end"
        provoke_errors(everybody[0], opened.path)
        ask_for_ranges(everybody[0])
        assert len(load_files(everybody[0])) > 10
        for state in ("paused", "stopped", "closed"):
            campaign.desk.set_state(state, f"{REMARK} of the organiser")
            for who in everybody:
                look_around(who)
        log = campaign.store.log()
    known = {source for source, _ in known_of(opened, small.zoo).values()} if kind == "order" else {""}
    assert known == {""}, "rankings have no traps"
    pseudonyms = set(log.frame["assessor"].drop_nulls().to_list())
    names = log.of_kind("asked")["query"].to_list()
    # The scan would find something: what it looks for is in the log and in the files, and what is served was kept.
    assert all(one.startswith(QUERY) for one in names)
    assert len(pseudonyms) >= 5
    tagged = [file.read_bytes() for file in (small.zoo.folder / "songs").iterdir()]
    assert all(TITLE.encode() in data and ARTIST.encode() in data for data in tagged)
    statuses = Counter(one.status for one in responses)
    assert statuses.keys() >= {200, 206, 400, 401, 404, 405, 409, 410, 416, 422, 503}
    assert 500 not in statuses
    never = (*FORBIDDEN, secret.lower(), str(small.zoo.folder).lower(), str(tmp_path).lower(), "manifest.json")
    for one in responses:
        text = one.text.lower()
        assert not [word for word in never if word in text], (one.method, one.path)
        others = [name for name in PEOPLE if name != one.who and name.lower() in text]
        assert not others, (one.path, others)
        # Words of the organiser's page speak of traps in general.
        if not one.path.startswith(("/media/", "/api/judge/training", "/api/openapi", "/organise")):
            tells = [word for word in ("trap", '"expected"', "sampled", "swapped", "agreed_by") if word in text]
            assert not tells, (one.method, one.path, tells)
        if one.path.startswith("/api/judge"):
            told = [name for name in pseudonyms if name.lower() in text]
            assert len(told) <= 1, (one.path, told, "nobody hears the pseudonyms of others")
        assert "set-cookie" not in one.headers


def _questions_left(campaign: int) -> Callable[[Any], Any]:
    import sqlalchemy as sa

    from earmark.store.schema import questions

    table = questions.c
    left = sa.select(sa.func.count()).where(table.campaign == campaign, ~table.removed, table.answers == 0)
    return lambda connection: connection.execute(left).one()


# ---- a classifier ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Told:
    """How well traps are told from as many questions, and how well guessing may look.

    Attributes
    ----------
    n : int
        How many traps and questions.
    reached : float
        The share that the better of two classifiers got right.
    limit : float
        What guessing exceeds once in some thousand times: three and a half standard errors above a half. What belongs
        to the same query is right or wrong together, which makes the error larger.
    """

    n: int
    reached: float
    limit: float

    def __str__(self) -> str:
        return f"{self.reached:.3f} of {self.n} are right, where guessing stays below {self.limit:.3f}"


def tell_apart(rows: np.ndarray[Any, Any], is_trap: np.ndarray[Any, Any], queries: np.ndarray[Any, Any]) -> Told:
    """Let two classifiers tell traps from as many questions, about queries that they have not seen."""
    from sklearn.ensemble import GradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedGroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    few = min(is_trap.sum(), (~is_trap).sum())
    chosen = np.concatenate([rng.permutation(np.flatnonzero(is_trap == kind))[:few] for kind in (True, False)])
    rows, is_trap, queries = rows[chosen], is_trap[chosen], queries[chosen]
    rows = rows[:, rows.std(axis=0) > 0]
    # The same clips come to several people: whoever has learnt them by heart has not told a trap from a question.
    folds = StratifiedGroupKFold(5, shuffle=True, random_state=0)
    best = Told(len(chosen), 0.0, 1.0)
    for model in (
        GradientBoostingClassifier(n_estimators=40, max_depth=2, random_state=0),
        make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2000)),
    ):
        right = cross_val_predict(model, rows, is_trap, groups=queries, cv=folds) == is_trap
        reached, n = float(right.mean()), len(right)
        apart = [np.sum(right[queries == query] - reached) ** 2 for query in np.unique(queries)]
        error = max(0.5 / np.sqrt(n), np.sqrt(np.sum(apart)) / n)
        if reached > best.reached:
            best = Told(n, reached, float(0.5 + 3.5 * error))
    return best


def features(one: Asked, seen: dict[str, Counter[str]], headers: list[str], *, times: bool = False) -> list[float]:
    """Return everything that is served with a question, as numbers."""
    mine = seen.setdefault(one.who, Counter())
    row: list[float] = [one.place, one.ahead, one.place % 2, one.place % 3, len(str(one.question)), len(one.parts)]
    row += list(bytes.fromhex(one.question["id"]))[:8]
    row += [float(one.question["expires"][-8:-6] if one.question["expires"] else 0), len(one.came.body)]
    told = json.loads(one.answered[0].body) if one.answered and one.answered[0].status == 200 else {}
    row += [told.get("progress", {}).get("answers", 0), len(str(told)), ord(told.get("status", "?")[0])]
    responses = [one.came, *(one.answered[:1] or [one.came])]
    for part in one.parts:
        responses += [part.sound, part.outline]
        row += [len(part.sound.body), len(part.outline.body), part.seconds or 0, mine[part.hash]]
        row += list(base64.urlsafe_b64decode(part.ticket))[::6]
    for response in responses:
        row += [_number(response.headers.get(name, "")) for name in headers]
        row += [len(response.headers), sum(len(value) for value in response.headers.values())]
        row += [response.seconds] if times else []
    if one.parts:
        query, *candidates = one.parts
        for part in candidates:
            row += [part.hash == query.hash, part.outline.body == query.outline.body, part.ticket == query.ticket]
            row += [
                abs(len(part.outline.body) - len(query.outline.body)),
                abs(len(part.sound.body) - len(query.sound.body)),
            ]
            row += [part.seconds == query.seconds]
        row += [
            len(candidates[0].sound.body) - len(candidates[-1].sound.body),
            candidates[0].hash == candidates[-1].hash,
        ]
    for part in one.parts:
        mine[part.hash] += 1
    return [float(value) for value in row]


def _number(value: str) -> float:
    """Return the value of a header as a number: itself, or one that is the same for the same text."""
    return float(value) if value.isdigit() else float(crc32(value.encode()) % 997)


def told_apart(
    everybody: list[Recorder], known: dict[str, tuple[str, str]], *sources: str, times: bool = False
) -> Told:
    """Tell the traps of some sources from questions."""
    asked = [one for who in everybody for one in who.asked.values()]
    headers = sorted({name for who in everybody[:1] for response in who.kept for name in response.headers})
    seen: dict[str, Counter[str]] = {}
    rows = np.array([features(one, seen, headers, times=times) for one in asked])
    source = np.array([known[one.question["id"]][0] for one in asked])
    query = np.array([known[one.question["id"]][1] for one in asked])
    assert set(source) >= set(sources)
    wanted = np.isin(source, ["", *sources])
    return tell_apart(rows[wanted], (source != "")[wanted], query[wanted])


@pytest.fixture(scope="module")
def judged(large: Campaigns, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Let many people judge in a campaign of a kind, once or again; returns who they are, and what the log knows."""
    done: dict[tuple[str, int], Any] = {}

    def run(kind: str, again: int = 0) -> Any:
        if (kind, again) not in done:
            rng, kept = np.random.default_rng([11, again]), []
            opened = large.copy(kind, tmp_path_factory.mktemp("judged") / kind)
            with client_of(opened) as client:
                everybody = invited(client, PEOPLE, kept)
                # A list has many clips, which are those of every other list: what tells may be elsewhere alone.
                for _ in range(34 if kind != "lists" else 48):
                    for who in everybody:
                        act(who, rng, fetch=kind != "lists")
                done[kind, again] = everybody, known_of(opened, large.zoo)
        return done[kind, again]

    return run


# Lists have no others than questions on which people agreed; rankings have no traps at all.
SOURCES = {"grade": ("self", "list", "agreed"), "prefer": ("self", "list", "agreed"), "lists": ("agreed",)}


@pytest.mark.parametrize("kind", SOURCES)
def test_a_classifier_can_only_guess_which_questions_are_traps(judged: Callable[..., Any], kind: str) -> None:
    # How many questions people agree on, and so become traps of lists, differs from run to run.
    told = only_guessed(judged, kind, SOURCES[kind])
    assert told.n >= (400 if kind != "lists" else 60)
    for source in SOURCES[kind][:-1]:
        # Among the others, a few that give themselves away would not be noticed.
        assert only_guessed(judged, kind, (source,)).n >= 120


def only_guessed(judged: Callable[..., Any], kind: str, sources: tuple[str, ...]) -> Told:
    """Require that traps are told from questions as well as by guessing, at least in one of two campaigns.

    Guessing looks better than its limit once in some thousand times. What gives traps away does so in every campaign.
    """
    told = []
    for again in range(2):
        everybody, known = judged(kind, again)
        told.append(told_apart(everybody, known, *sources))
        print(f"{kind}, {', '.join(sources)}: {told[-1]}")
        if told[-1].reached < told[-1].limit:
            return told[-1]
    raise AssertionError(f"{kind}, {', '.join(sources)}: {told[0]}; again: {told[1]}")


def test_the_classifier_would_find_a_query_beside_its_own_file(large: Campaigns, tmp_path: Path) -> None:
    opened = large.copy("grade", tmp_path / "grade")
    # A campaign without second recordings, as they were before there were any.
    manifest = opened.path / "media" / "manifest.json"
    told = json.loads(manifest.read_bytes())
    manifest.write_text(json.dumps(told | {"media": [one for one in told["media"] if one["role"] != "twin"]}))
    rng = np.random.default_rng(5)
    with client_of(opened) as client:
        everybody = invited(client, PEOPLE[:3], [])
        for _ in range(30):
            for who in everybody:
                act(who, rng)
        found = told_apart(everybody, known_of(opened, large.zoo), "self")
    assert found.reached > max(0.9, found.limit), str(found)


def test_the_share_that_is_judged_does_not_tell_traps(large: Campaigns, tmp_path: Path) -> None:
    opened = large.copy("grade", tmp_path / "grade", traps__rate=1 / 3)
    with client_of(opened) as client:
        (who,) = invited(client, ("alone",), [])
        moved: list[tuple[str, bool]] = []
        before = 0.0
        for _ in range(60):
            question = who.take(ahead=0, fetch=False)[0]
            who.answer(question, secrets.token_hex(8), gain=1)
            share = who.json("GET", "/api/judge/thanks")["share"]
            moved.append((question["id"], share != before))
            before = share
        known = known_of(opened, large.zoo)
    is_trap = np.array([known[id][0] != "" for id, _ in moved])
    still = np.array([not moves for _, moves in moved])
    assert is_trap.sum() > 12
    # An answer that moves nothing may be either.
    assert 0.15 < is_trap[still].mean() < 0.6
    assert not still.all()


def test_all_queries_have_a_trap_of_their_own(large: Campaigns, tmp_path: Path) -> None:
    with client_of(large.copy("grade", tmp_path / "grade")) as client:
        manifest = client.app.state.campaign.manifest  # type: ignore[attr-defined]
        assert sum(one.role == "twin" for one in manifest.media) == LARGE["queries"]
        sizes = {manifest.path(part.file).stat().st_size for one in manifest.media for part in one.parts}
        assert len(sizes) == 1
        assert SYSTEMS[0] not in manifest.folder.joinpath("media", "manifest.json").read_text()


# ---- time ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["grade", "prefer"])
def test_response_times_do_not_tell_traps(large: Campaigns, tmp_path: Path, kind: str) -> None:
    """Over a real socket, with the server in a process of its own; times go with everything else that is served."""
    import httpx2 as httpx

    with large.copy(kind, tmp_path / kind) as opened:
        made = invite(opened.store, list(PEOPLE))
    rng, kept = np.random.default_rng(11), []
    with served_campaign(tmp_path / kind) as address:
        everybody = [Recorder(httpx.Client(base_url=address, timeout=240), one.token, one.name, kept) for one in made]
        for _ in range(36):
            for who in everybody:
                act(who, rng)
        for who in everybody:
            who.client.close()
    with CampaignFolder.open(tmp_path / kind) as opened:
        known = known_of(opened, large.zoo)
    told = told_apart(everybody, known, *SOURCES[kind], times=True)
    print(f"{kind}, with times: {told}")
    assert told.n >= 400
    assert told.reached < told.limit, str(told)
    # They are quantised: what changes something takes a multiple of a fixed time.
    assert np.median([one.came.seconds for who in everybody for one in who.asked.values()]) >= 0.05


@contextmanager
def served_campaign(folder: Path) -> Iterator[str]:
    """Serve a campaign in a process of its own; yields its address."""
    command = [sys.executable, "-m", "earmark.cli", "serve", str(folder), "--port", "0", "--format", "jsonl"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = str(json.loads(process.stdout.readline())["link"])
        for _ in range(600):
            with suppress(OSError), urllib.request.urlopen(f"{address}/health", timeout=5):
                break
            time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=240)
        process.stdout.close()
