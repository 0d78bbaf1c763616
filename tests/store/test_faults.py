"""Disks that are full, files that cannot be written, servers that go away, clocks that jump.

Each fault gives a message of one line that says what to do; nothing that was acknowledged is lost, and once the fault
is over, work goes on. A full disk and a read-only medium are real, small file systems (tmpfs) where the user may mount
them, as root may; elsewhere a limit on the size of files, and the rights of a file, stand in for them.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
import sqlalchemy as sa
from log_checks import check_store

from earmark.errors import EarmarkError, InputError, ParameterError, StoreError
from earmark.store.database import Database
from earmark.store.desk import Desk
from earmark.store.migrate import migrate
from earmark.store.rules import DAY, MINUTE, Rules
from earmark.store.schema import VERSION_TABLE, assignments
from earmark.store.store import Store
from servers import PostgreSQL

UID = "f" * 32
RULES = Rules(trap_every=0)
YEARS = 70 * 365 * DAY


def desk_on(database: Database, questions: int = 2000, *, rules: Rules = RULES, **options) -> Desk:
    migrate(database)
    desk = Desk(Store.create(database, uid=UID, name="study", settings="{}", **options), rules)
    desk.add_questions(
        pl.DataFrame({"query": ["q"] * questions, "document": [f"d{number}" for number in range(questions)]})
    )
    return desk


def answer(desk: Desk, assessor: str, key: str) -> str:
    question = desk.take(assessor).questions[0]
    return desk.answer(assessor, question.id, key=key, gain=1.0).status


def answer_until_it_fails(desk: Desk) -> tuple[list[str], StoreError]:
    """Return the keys of the answers that were acknowledged, and the first error."""
    saved: list[str] = []
    while True:
        try:
            answer(desk, "ann", str(len(saved)))
        except StoreError as error:
            return saved, error
        saved.append(str(len(saved)))


def check_message(error: EarmarkError, *words: str) -> None:
    said = str(error)
    assert "\n" not in said
    for word in words:
        assert word in said, said


@pytest.fixture
def opened() -> Iterator[Callable[..., Database]]:
    """Return a function that opens a database, which is closed after the test."""
    made: list[Database] = []

    def open_one(url: str | Path, **options) -> Database:
        made.append(Database(f"sqlite:///{url}" if isinstance(url, Path) else url, **options))
        return made[-1]

    yield open_one
    for database in made:
        database.close()


class SmallDisk:
    """A file system of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder))

    def _run(self, *command: str) -> None:
        subprocess.run(command, check=True, capture_output=True)

    def remount(self, options: str) -> None:
        self._run("mount", "-o", f"remount,{options}", str(self.folder))

    def close(self) -> None:
        subprocess.run(["umount", "-l", str(self.folder)], capture_output=True, check=False)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    folder = tmp_path / "small"
    folder.mkdir()
    try:
        disk = SmallDisk(folder)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("mounting a small file system needs root and CAP_SYS_ADMIN")
    yield disk
    disk.close()


# ---- disks -----------------------------------------------------------------------------------------------------------


def test_a_full_disk(small_disk: SmallDisk, opened) -> None:
    desk = desk_on(opened(small_disk.folder / "campaign.db"), 1000)
    saved, error = answer_until_it_fails(desk)
    check_message(error, "the disk is full", "nothing of this change was saved", "campaign.db")
    assert len(saved) > 5
    # Reading is possible all the time, and nothing is half there.
    assert set(check_store(desk.store, RULES).keys) == set(saved)
    with pytest.raises(StoreError, match="disk is full"):
        answer(desk, "bob", "again")
    small_disk.remount("size=20m")
    assert answer(desk, "bob", "again") == "saved"
    assert set(check_store(desk.store, RULES).keys) == {*saved, "again"}


_LIMITED = """
import resource, signal, sys
from pathlib import Path
sys.path[:0] = [sys.argv[2], str(Path(sys.argv[2]).parent)]
from test_faults import RULES, answer_until_it_fails, desk_on
from earmark.store.database import Database
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
database = Database(f"sqlite:///{sys.argv[1]}")
desk = desk_on(database, 300)
size = Path(sys.argv[1]).stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 300_000, resource.RLIM_INFINITY))
saved, error = answer_until_it_fails(desk)
print(len(saved))
print(error)
"""


def test_a_file_that_may_not_grow(tmp_path: Path, opened) -> None:
    """A limit on the size of files makes writing fail as a full disk or a quota does, without any rights."""
    path = tmp_path / "campaign.db"
    here = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(path), here], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(done) == 2, "the message has one line"
    count, said = int(done[0]), done[1]
    assert "nothing of this change was saved" in said
    desk = Desk(Store.find(opened(path), UID), RULES)
    assert set(check_store(desk.store, RULES).keys) == {str(number) for number in range(count)}
    assert answer(desk, "ann", "again") == "saved"


def test_a_database_that_may_not_grow(tmp_path: Path, opened) -> None:
    database = opened(tmp_path / "campaign.db")
    desk = desk_on(database, 200)
    # Connections keep the limit for as long as they are open; one is enough here.
    pages = database.read(lambda connection: connection.exec_driver_sql("PRAGMA page_count").scalar())
    database.read(lambda connection: connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 5}").scalar())
    saved, error = answer_until_it_fails(desk)
    check_message(error, "the disk is full")
    assert set(check_store(desk.store, RULES).keys) == set(saved)
    database.close()
    assert answer(desk, "bob", "again") == "saved"


# ---- files that cannot be written ------------------------------------------------------------------------------------


def test_a_read_only_medium(small_disk: SmallDisk, opened) -> None:
    path = small_disk.folder / "campaign.db"
    desk = desk_on(opened(path), 20)
    answer(desk, "ann", "1")
    desk.store.database.close()
    small_disk.remount("ro")
    with pytest.raises(StoreError) as caught:
        Desk(Store.find(opened(path), UID), RULES).take("ann")
    check_message(caught.value, "check", "permissions")
    reader = opened(path, read_only=True)
    assert Store.find(reader, UID).log().position == 1
    reader.close()
    small_disk.remount("rw")
    assert answer(desk, "ann", "2") == "saved"


def test_a_store_that_is_opened_for_reading(empty_url: str, opened) -> None:
    desk = desk_on(opened(empty_url), 20)
    answer(desk, "ann", "1")
    reader = Desk(Store.find(opened(empty_url, read_only=True), UID), RULES)
    with pytest.raises(StoreError, match="reading only"):
        reader.take("ann")
    # The database refuses too, whatever the program does.
    with pytest.raises(StoreError) as caught:
        reader.store.database._with_patience(
            lambda: reader.store.database._transaction(
                lambda connection: connection.execute(sa.update(assignments).values(state="out")), writes=False
            )
        )
    check_message(caught.value, "cannot be written")
    assert reader.store.log().position == 1
    assert answer(desk, "ann", "2") == "saved"


_UNPRIVILEGED = """
import os, sys
from earmark.errors import StoreError
from earmark.store.database import Database
from earmark.store.desk import Desk
from earmark.store.rules import Rules
from earmark.store.store import Store
# Another user may not be able to read the libraries, so they are loaded before.
database = Database(f"sqlite:///{sys.argv[1]}")
store = Store.find(database, "f" * 32)
store.database.write(lambda connection: None)
database.close()
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
try:
    Desk(store, Rules()).take("ann")
except StoreError as error:
    print(error)
"""


def test_a_file_without_the_right_to_write(opened) -> None:
    import shutil
    import tempfile

    # Outside of pytest's folders, which are closed to other users.
    folder = Path(tempfile.mkdtemp(prefix="earmark-"))
    try:
        path = folder / "campaign.db"
        desk = desk_on(opened(path), 20)
        answer(desk, "ann", "1")
        # The files of the open store are there: the process below can read, and cannot write.
        for file in folder.iterdir():
            file.chmod(0o444)
        folder.chmod(0o555)
        ran = subprocess.run(
            [sys.executable, "-c", _UNPRIVILEGED, str(path)], capture_output=True, text=True, check=True
        )
        said = ran.stdout.splitlines()
        assert len(said) == 1
        assert "check the permissions" in said[0] or "check the path and its permissions" in said[0]
        folder.chmod(0o755)
        for file in folder.iterdir():
            file.chmod(0o644)
        assert answer(desk, "ann", "2") == "saved"
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.parametrize("content", [b"hello", b"query,document\n" * 1000])
def test_a_file_that_is_no_database(tmp_path: Path, opened, content: bytes) -> None:
    path = tmp_path / "campaign.db"
    path.write_bytes(content)
    with pytest.raises(StoreError) as caught:
        migrate(opened(path))
    check_message(caught.value, "no SQLite database", str(path))
    assert path.read_bytes() == content


def test_a_damaged_file(tmp_path: Path, opened) -> None:
    path = tmp_path / "campaign.db"
    desk_on(opened(path), 500).store.database.close()
    damaged = bytearray(path.read_bytes())
    damaged[8192:] = bytes(byte ^ 0x5A for byte in damaged[8192:])
    path.write_bytes(damaged)
    with pytest.raises(StoreError) as caught:
        Store.find(opened(path), UID)
    check_message(caught.value, "damaged", "earmark restore")


def test_a_database_without_tables(empty_url: str, opened) -> None:
    with pytest.raises(StoreError) as caught:
        Store.find(opened(empty_url), UID)
    check_message(caught.value, "not complete")


def test_a_file_that_is_not_there(tmp_path: Path, opened) -> None:
    with pytest.raises(InputError, match="nothing there"):
        opened(tmp_path / "campaign.db", read_only=True)
    with pytest.raises(StoreError) as caught:
        migrate(opened(tmp_path / "no folder" / "campaign.db"))
    check_message(caught.value, "check the path")


def test_a_store_of_a_newer_version(database: Database) -> None:
    database.write(lambda connection: connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'")))
    with pytest.raises(StoreError) as caught:
        migrate(database)
    check_message(caught.value, "9999", "install a newer earmark")


# ---- a database that others keep busy --------------------------------------------------------------------------------

_LOCK = """
import sys, sqlite3
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
"""


def test_a_file_that_another_process_keeps_locked(tmp_path: Path, opened) -> None:
    path = tmp_path / "campaign.db"
    desk = desk_on(opened(path, busy_seconds=0.3), 20)
    patient = Desk(Store.find(opened(path), UID), RULES)
    with subprocess.Popen(
        [sys.executable, "-c", _LOCK, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "locked\n"
        begun = time.monotonic()
        with pytest.raises(StoreError) as caught:
            desk.take("ann")
        check_message(caught.value, "another program has kept it busy for 0.3 s", "try again")
        assert 0.2 < time.monotonic() - begun < 5
        assert len(desk.store.log()) == 0, "reading does not wait"
        taken: list[str] = []
        waiting = threading.Thread(target=lambda: taken.append(answer(patient, "ann", "1")))
        waiting.start()
        other.communicate("go on\n")
        waiting.join()
    assert taken == ["saved"]
    assert answer(desk, "ann", "2") == "saved"


def test_a_row_that_another_client_keeps_locked(new_postgresql_database, opened) -> None:
    url = new_postgresql_database()
    desk = desk_on(opened(url, busy_seconds=0.5), 20)
    other = sa.create_engine(desk.store.database.url, poolclass=sa.NullPool)
    with other.connect() as connection:
        connection.execute(sa.text("SELECT * FROM earmark_campaigns FOR UPDATE"))
        with pytest.raises(StoreError) as caught:
            desk.take("ann")
        check_message(caught.value, "another program has kept it busy for 0.5 s", "try again")
        assert len(desk.store.log()) == 0
    assert answer(desk, "ann", "1") == "saved"


def test_a_client_that_sleeps_in_a_transaction_is_cut_off(new_postgresql_database, opened) -> None:
    url = new_postgresql_database()
    desk = desk_on(opened(url), 20)
    sleepy = Store.find(opened(url, busy_seconds=0.3), UID)
    naps: list[float] = [1.0]

    def sleep(change) -> int:
        change.connection.execute(sa.text("SELECT 1"))
        if naps:
            time.sleep(naps.pop())
        return change.append("commented", assessor="ann", text="hm")

    # It is cut off, and its transaction is run again.
    assert sleepy.write(sleep) == 1
    assert len(desk.store.log()) == 1


# ---- a server that goes away -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgreSQL]:
    server = PostgreSQL()
    yield server
    server.close()


@pytest.fixture
def server_url(own_server: PostgreSQL) -> Iterator[str]:
    """Return the address of an empty database on a server that the test may stop."""
    url = sa.make_url(own_server.url).set(drivername="postgresql+psycopg")
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.execute(sa.text("DROP DATABASE IF EXISTS study WITH (FORCE)"))
        connection.execute(sa.text("CREATE DATABASE study"))
    return url.set(drivername="postgresql", database="study").render_as_string(hide_password=False)


@pytest.mark.parametrize("how", ["stop", "crash"])
def test_a_server_that_goes_away(own_server: PostgreSQL, server_url: str, opened, how: str) -> None:
    desk = desk_on(opened(server_url, patience=60), 200)
    impatient = Desk(Store.find(opened(server_url, patience=0), UID), RULES)
    saved: list[str] = []
    going, gone = threading.Event(), threading.Event()

    def work() -> None:
        while not gone.is_set():
            assert answer(desk, "ann", str(len(saved))) in ("saved", "known")
            saved.append(str(len(saved)))
            if len(saved) == 5:
                going.set()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert going.wait(20)
        getattr(own_server, how)()
        with pytest.raises(StoreError) as caught:
            impatient.take("bob")
        check_message(caught.value, "cannot be reached", "start it and try again")
        before = len(saved)
    finally:
        own_server.start()
    deadline = time.monotonic() + 30
    while len(saved) < before + 5:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    gone.set()
    thread.join()
    assert answer(impatient, "bob", "b") == "saved"
    assert set(check_store(desk.store, RULES).keys) == {*saved, "b"}


def test_an_answer_whose_acknowledgement_was_lost(own_server: PostgreSQL, server_url: str, opened) -> None:
    """The connection breaks after the commit: the answer is sent again by itself, and is there once."""
    database = opened(server_url, patience=30)
    desk = desk_on(database, 20)
    question = desk.take("ann").questions[0]
    breaks = [True]

    @sa.event.listens_for(database.engine, "commit")
    def _on_commit(connection: sa.Connection) -> None:
        if breaks:
            breaks.pop()
            connection.exec_driver_sql("COMMIT")
            connection.connection.driver_connection.close()

    assert desk.answer("ann", question.id, key="1", gain=1.0).status == "known"
    assert not breaks
    assert dict(check_store(desk.store, RULES).keys) == {"1": 1}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"database": "nothing"}, 'database "nothing" does not exist'),
        ({"username": "nobody"}, 'role "nobody" does not exist'),
    ],
)
def test_a_wrong_address_is_not_tried_again(postgresql: str, opened, change: dict[str, str], said: str) -> None:
    url = sa.make_url(postgresql).set(**change).render_as_string(hide_password=False)
    begun = time.monotonic()
    with pytest.raises(StoreError) as caught:
        migrate(opened(url))
    check_message(caught.value, "the address of the store is wrong", said)
    assert time.monotonic() - begun < 5


# ---- clocks that jump ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jump", [-60 * MINUTE, -YEARS, 60 * MINUTE, YEARS])
def test_a_clock_that_jumps(store: Store, clock, jump: int) -> None:
    desk = Desk(store, Rules(judgments_per_item=1, trap_every=0))
    desk.add_questions(pl.DataFrame({"query": ["q"] * 3, "document": ["d1", "d2", "d3"]}))
    first, ahead = desk.take("ann").questions
    assert {first.document, ahead.document} == {"d1", "d2"}
    clock.now += jump
    # Whatever the clock says, ann's questions do not stay out for ever: bob gets them.
    bobs = desk.take("bob", ahead=2).questions
    assert {question.document for question in bobs} == {"d1", "d2", "d3"}
    mine = {question.document: question for question in bobs}
    assert desk.answer("bob", mine["d1"].id, key="b1", gain=1.0).status == "saved"
    assert desk.answer("ann", first.id, key="a1", gain=2.0).status == "late"
    # The lease of bob counts from the new time on; it ends too, however the clock jumps next.
    clock.now -= 2 * jump
    assert {question.document for question in desk.take("eve", ahead=2).questions} == {"d2", "d3"}
    assert desk.answer("bob", mine["d2"].id, key="b2", gain=1.0).status == "late"
    for question in desk.take("eve", ahead=2).questions:
        assert desk.answer("eve", question.id, key=question.document, gain=0.0).status == "saved"
    assert desk.take("ann").reason == "done"
    log = store.log()
    assert log.frame["sequence"].to_list() == list(range(1, len(log) + 1))
    assert log.answers.select("document", "assessor", "gain").rows() == [
        ("d1", "bob", 1.0),
        ("d2", "eve", 0.0),
        ("d3", "eve", 0.0),
    ]
    assert log.frame.filter(pl.col("kind") == "answered")["key"].to_list() == ["b1", "d2", "d3"]


def test_a_clock_that_is_a_little_behind(store: Store, clock) -> None:
    """Two machines share a PostgreSQL server and differ by seconds: that ends no lease."""
    desk = Desk(store, RULES)
    desk.add_questions(pl.DataFrame({"query": ["q", "q"], "document": ["d1", "d2"]}))
    desk.take("ann")
    clock.pass_minutes(-0.5)
    assert desk.take("bob").reason == "wait"


# ---- keys and order --------------------------------------------------------------------------------------------------


def test_a_key_of_something_else_is_refused_and_not_taken_for_a_repetition(store: Store) -> None:
    desk = Desk(store, RULES)
    desk.add_questions(pl.DataFrame({"query": ["q"] * 4, "document": ["d1", "d2", "d3", "d4"]}))
    mine, next_one = desk.take("ann").questions
    theirs = desk.take("bob").questions[0]
    assert desk.answer("ann", mine.id, key="1", gain=1.0).status == "saved"
    for assessor, id, key in (("bob", theirs.id, "1"), ("ann", next_one.id, "1"), ("ann", next_one.id, next_one.id)):
        with pytest.raises(ParameterError, match="something else"):
            desk.answer(assessor, id, key=key, gain=2.0)
    assert desk.answer("ann", mine.id, key="1", gain=1.0).status == "known"
    assert store.events().filter(pl.col("kind") == "answered").height == 1


def test_asking_again_keeps_the_order(store: Store) -> None:
    desk = Desk(store, RULES)
    desk.add_questions(pl.DataFrame({"query": ["q"] * 8, "document": [f"d{number}" for number in range(8)]}))
    first = desk.take("ann", ahead=7).questions
    assert desk.take("ann", ahead=7).questions == first
