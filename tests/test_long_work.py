"""Long work in pieces gives the same results wherever it is computed, on a real Dask cluster too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest

import earmark
from dask_clusters import PATIENCE, Cluster, Counted, always_killed, blas_threads, free_port, killed_once, size_of
from earmark import workers
from earmark.campaign.campaign import Campaign
from earmark.campaign.plan import plan
from earmark.cli.main import main
from earmark.cluster import compare_versions
from earmark.errors import ClusterError, EarmarkError, MissingLibraryError, ParameterError
from earmark.simulation.campaigns import Study, simulate
from earmark.simulation.diagnosis import diagnose
from earmark.workers import work_through


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    started = Cluster()
    for _ in range(2):
        started.start_worker()
    with client_of(started) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
    yield started
    started.close()


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for clusters that are there as long as a busy machine takes."""
    for name in ("CONNECTING", "JOINING"):
        monkeypatch.setattr(f"earmark.cluster.{name}", PATIENCE)


def client_of(cluster: Cluster):
    from distributed import Client

    return Client(cluster.address, timeout=PATIENCE, set_as_default=False)


def replace_worker(cluster: Cluster, dead: subprocess.Popen[bytes]) -> None:
    dead.wait(timeout=PATIENCE)
    cluster.workers.remove(dead)
    cluster.start_worker()
    with client_of(cluster) as client:
        client.wait_for_workers(2, timeout=PATIENCE)


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    made = earmark.synthetic_collection(np.random.default_rng(5), systems=4, queries=12, documents=60)
    how = {"measure": "AG@5", "metadata": made.metadata, "stop": "budget:60", "seed": 3}
    return Campaign.build(made.runs, made.judgments, **how)


@pytest.fixture(scope="module")
def study(campaign: Campaign) -> Study:
    assert campaign.judgments is not None
    return Study(campaign.problem, campaign.judgments, sample_queries=8)


# The same results


def test_simulations_do_not_depend_on_who_computes_them(study: Study, cluster: Cluster) -> None:
    alone = list(simulate(study, repeats=5))
    assert len({outcome.repeat for outcome in alone}) == 5
    assert list(simulate(study, repeats=5, jobs=2)) == alone
    assert list(simulate(study, repeats=5, cluster=cluster.address)) == alone


def test_plans_and_diagnoses_do_not_depend_on_who_computes_them(campaign: Campaign, cluster: Cluster) -> None:
    unjudged, rng = Campaign(campaign.problem), partial(np.random.default_rng, 1)
    plans, diagnoses = [], []
    for how in ({"jobs": 1}, {"cluster": cluster.address}):
        plans.append(plan(unjudged, repeats=3, **how).judgments.tolist())
        found = diagnose(campaign.problem, campaign.gains, share=0.3, rng=rng(), repeats=3, **how)
        diagnoses.append((found.scores, found.coverage.rows(), found.bins.rows()))
    assert plans[0] == plans[1]
    assert diagnoses[0] == diagnoses[1]


def test_without_a_number_of_processes_others_help_when_it_takes_long(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shared, tasks = Counted(tmp_path / "log"), [(number,) for number in range(4)]
    assert {pid for *_, pid in work_through(size_of, shared, tasks)} == {os.getpid()}
    monkeypatch.setattr(workers, "BEFORE_HELP", 0.0)
    monkeypatch.setattr(workers, "_cores", lambda: 2)
    found = list(work_through(size_of, shared, tasks))
    assert [number for number, *_ in found] == [0, 1, 2, 3]
    assert os.getpid() not in {pid for *_, pid in found}


@pytest.mark.parametrize("where", ["here", "processes", "cluster"])
def test_blas_has_one_thread(where: str, cluster: Cluster) -> None:
    how = {"here": {"jobs": 1}, "processes": {"jobs": 2}, "cluster": {"cluster": cluster.address}}[where]
    assert set(work_through(blas_threads, None, [(0,), (1,)], **how)) == {1}


# What is shared


@pytest.mark.parametrize("where", ["processes", "cluster"])
def test_what_is_shared_is_sent_once(where: str, cluster: Cluster, tmp_path: Path) -> None:
    how = {"jobs": 2} if where == "processes" else {"cluster": cluster.address}
    shared = Counted(tmp_path / "log")
    found = list(work_through(size_of, shared, [(number,) for number in range(20)], **how))
    assert [(number, size) for number, size, _ in found] == [(number, 2_000_000) for number in range(20)]
    who = {str(pid) for *_, pid in found}
    lines = shared.log.read_text().splitlines()
    assert lines.count(f"packed {os.getpid()}") == 1
    # Whoever computed something has opened it once, and only they have.
    assert sorted(line for line in lines if line.startswith("opened")) == sorted(f"opened {pid}" for pid in who)
    assert len(lines) == 1 + len(who) <= 3


def test_a_cluster_keeps_nothing(cluster: Cluster, tmp_path: Path) -> None:
    list(work_through(size_of, Counted(tmp_path / "log"), [(0,), (1,)], cluster=cluster.address))
    with client_of(cluster) as client:
        assert set(client.run(_kept).values()) == {0}
        until = time.monotonic() + PATIENCE
        while any(client.who_has().values()):
            assert time.monotonic() < until
            time.sleep(0.05)


def _kept() -> int:
    from earmark import workers

    return len(workers._opened)


_kept.__module__ = "__main__"  # sent as it is, for workers cannot import a test


# Who dies


@pytest.mark.parametrize("where", ["processes", "cluster"])
def test_the_work_of_a_worker_that_is_killed_is_done_again(where: str, cluster: Cluster, tmp_path: Path) -> None:
    how = {"jobs": 2} if where == "processes" else {"cluster": cluster.address}
    marker = tmp_path / "killed"
    found = list(work_through(killed_once, marker, [(number,) for number in range(10)], **how))
    assert found == [number**2 for number in range(10)]
    assert marker.exists()
    if where == "cluster":
        dead = next(worker for worker in cluster.workers if worker.poll() is not None)
        replace_worker(cluster, dead)


def test_a_worker_killed_in_the_middle_of_a_study_changes_nothing(study: Study, cluster: Cluster) -> None:
    played = simulate(study, repeats=6, cluster=cluster.address)
    outcomes = [next(played)]
    victim = cluster.workers[0]
    victim.kill()
    outcomes += played
    assert outcomes == list(simulate(study, repeats=6))
    replace_worker(cluster, victim)


def test_when_all_workers_are_killed_others_get_what_is_shared_anew(cluster: Cluster, tmp_path: Path) -> None:
    shared = Counted(tmp_path / "log")
    found = work_through(size_of, shared, [(number,) for number in range(500)], cluster=cluster.address)
    first = next(found)
    for worker in list(cluster.workers):
        cluster.kill_worker(worker)
    for _ in range(2):
        cluster.start_worker()
    assert [number for number, *_ in (first, *found)] == list(range(500))


def test_work_that_kills_every_process_is_given_up() -> None:
    with pytest.raises(EarmarkError, match="workers died 3 times at the same work"):
        list(work_through(always_killed, None, [(0,), (1,)], jobs=2))


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX has them")
def test_an_interrupt_leaves_the_cluster_as_it_was(cluster: Cluster, tmp_path: Path) -> None:
    made = earmark.synthetic_collection(np.random.default_rng(5), systems=6, queries=30, documents=100)
    earmark.write_runs(made.runs, tmp_path / "runs.tsv")
    earmark.write_judgments(made.judgments, tmp_path / "judgments.tsv")
    words = ["simulate", "runs.tsv", "-j", "judgments.tsv", "--stop", "none", "--repeats", "200", "--quiet"]
    call = [sys.executable, "-m", "earmark.cli", *words, "--cluster", cluster.address]
    process = subprocess.Popen(
        call, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with client_of(cluster) as client:
        until = time.monotonic() + PATIENCE
        while not any(client.processing().values()):
            assert time.monotonic() < until
            time.sleep(0.05)
        helping = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (130, "earmark: interrupted\n")
        assert not psutil.wait_procs(helping, timeout=PATIENCE)[1]
        # What nobody waits for is not begun.
        while any(client.processing().values()):
            assert time.monotonic() < until
            time.sleep(0.05)
    assert all(worker.poll() is None for worker in cluster.workers)


# What goes wrong


def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch, study: Study) -> None:
    monkeypatch.setattr("earmark.cluster.CONNECTING", 0.5)
    nowhere = f"tcp://127.0.0.1:{free_port()}"
    with pytest.raises(ClusterError, match=f"cannot reach a Dask cluster at {nowhere}"):
        list(simulate(study, repeats=2, cluster=nowhere))
    for address in ("x://host:1", "tcp://nowhere.invalid:8786", "tcp://127.0.0.1:port"):
        with pytest.raises(ClusterError, match=f"cannot reach a Dask cluster at {address}"):
            list(simulate(study, cluster=address))
    with pytest.raises(ClusterError, match="expected the address of a Dask scheduler, tcp://host:port, got ''"):
        list(simulate(study, cluster=""))


def test_a_cluster_without_workers_or_with_others(
    monkeypatch: pytest.MonkeyPatch, study: Study, tmp_path: Path
) -> None:
    old, broken = tmp_path / "old" / "earmark", tmp_path / "broken" / "earmark"
    for folder, code in ((old, "__version__ = '0.0.1'\n"), (broken, "raise ImportError\n")):
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(code)
    lonely = Cluster()
    try:
        with monkeypatch.context() as short:
            short.setattr("earmark.cluster.JOINING", 0.1)
            with pytest.raises(ClusterError, match="has no workers"):
                list(simulate(study, cluster=lonely.address))
        for folder, said in ((old, "has earmark 0.0.1, here it is"), (broken, "has no earmark: install version")):
            worker = lonely.start_worker(folder.parent)
            with client_of(lonely) as client:
                client.wait_for_workers(1, timeout=PATIENCE)
            with pytest.raises(ClusterError, match=rf"the worker tcp://127\.0\.0\.1:\d+ {said}"):
                list(simulate(study, cluster=lonely.address))
            lonely.kill_worker(worker)
            wait_until_deserted(lonely)
    finally:
        lonely.close()


def wait_until_deserted(cluster: Cluster) -> None:
    """Wait until the scheduler has noticed that its workers are gone; until then it would count them."""
    with client_of(cluster) as client:
        until = time.monotonic() + PATIENCE
        while client.scheduler_info()["workers"]:
            assert time.monotonic() < until
            time.sleep(0.05)


def test_a_cluster_that_is_lost_on_the_way(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lost = Cluster()
    try:
        lost.start_worker()
        tasks = [(number,) for number in range(2_000)]
        found = work_through(size_of, Counted(tmp_path / "log"), tasks, cluster=lost.address)
        assert next(found)[0] == 0
        lost.kill_scheduler()
        monkeypatch.setattr("earmark.cluster.CONNECTING", 0.5)
        with pytest.raises(ClusterError, match=f"cannot reach a Dask cluster at {lost.address}"):
            list(found)
    finally:
        lost.close()


def test_versions_are_compared() -> None:
    compare_versions({"numpy": "2.4"}, {"numpy": "2.4", "other": "1"}, "a worker")
    with pytest.raises(ClusterError, match=r"^a worker has numpy 2\.3, here it is 2\.4: install the same"):
        compare_versions({"numpy": "2.4"}, {"numpy": "2.3"}, "a worker")
    with pytest.raises(ClusterError, match="a worker has no polars"):
        compare_versions({"polars": "2.0"}, {}, "a worker")


def test_what_makes_no_sense(study: Study) -> None:
    with pytest.raises(ParameterError, match="expected 1 process or more, got 0"):
        list(simulate(study, jobs=0))


def test_what_is_missing(monkeypatch: pytest.MonkeyPatch, study: Study) -> None:
    alone = list(simulate(study, repeats=2))
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingLibraryError, match=r"a cluster needs Dask: pip install 'earmark\[cluster\]'"):
        list(simulate(study, repeats=2, cluster="tcp://127.0.0.1:8786"))
    monkeypatch.setitem(sys.modules, "joblib", None)
    with pytest.raises(MissingLibraryError, match=r"several processes need joblib: pip install 'earmark\[cluster\]'"):
        list(simulate(study, repeats=2, jobs=2))
    # Nobody asked for several.
    monkeypatch.setattr(workers, "BEFORE_HELP", 0.0)
    assert list(simulate(study, repeats=2, jobs=None)) == alone


# Commands


@pytest.mark.parametrize(
    "command",
    [
        ["simulate", "--stop", "budget:20", "--repeats", "2"],
        ["diagnose", "--share", "0.2", "--repeats", "2"],
        ["plan", "--stop", "budget:20", "--repeats", "2"],
    ],
    ids=lambda words: words[0],
)
def test_commands_say_the_same(command: list[str], cluster: Cluster, tmp_path: Path, capfd) -> None:
    made = earmark.synthetic_collection(np.random.default_rng(5), systems=3, queries=6, documents=40)
    runs, judgments = tmp_path / "runs.tsv", tmp_path / "judgments.tsv"
    earmark.write_runs(made.runs, runs)
    earmark.write_judgments(made.judgments, judgments)
    files = [str(runs)] if command[0] == "plan" else [str(runs), "-j", str(judgments)]
    said = []
    for how in (["--jobs", "1"], ["--cluster", cluster.address]):
        assert main([command[0], *files, *command[1:], *how]) == 0
        said.append(capfd.readouterr())
    assert said[0] == said[1]
    assert main([command[0], *files, *command[1:], "--jobs", "1", "--cluster", cluster.address]) == 2
    assert capfd.readouterr().err.endswith("--cluster who else computes: give one\n")
