"""Faults under load, in short: what was acknowledged is in the log, and the server goes on by itself."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.web import faults


def test_a_cut_of_two_seconds_and_a_restart_of_the_database() -> None:
    load = faults.Load(people=5, think=(0.1, 0.3), queries=10, before=1.0, processes=1)
    # Not a folder of pytest: the server of the database may run as another user.
    with tempfile.TemporaryDirectory(prefix="earmark-", ignore_cleanup_errors=True) as name:
        home = Path(name)
        home.chmod(0o755)
        found = list(faults.postgresql_faults(home, ["cut", "restart"], 2.0, load))
    assert [one.fault for one in found] == ["cut", "restart"]
    for one in found:
        assert one.found == len(one.faced.acknowledged) > load.people, "acknowledged before and after"
        assert one.doubled == 0
        assert one.faced.unclear == 0, one.faced.refused
        assert len(one.again) == load.people, "everybody is served again"
    assert found[0].lasted >= 2.0
