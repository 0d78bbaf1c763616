"""What only earmark itself can make: fitted models, stored campaigns, backups, histories, questions.

They are made once at the start of a session, by the commands that make them, and copied for every input.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from random import Random

from fuzz import samples
from fuzz.calling import call

CAMPAIGN_KINDS = ("grade", "prefer", "order", "lists")
FOLDERS = ("campaign", "clips")
"""The kinds that are folders."""


@dataclass(frozen=True)
class Templates:
    """Where they are.

    Parameters
    ----------
    folder : Path
        Holds a file or a folder for each of them.
    files : dict of str to Path
        The files, by kind.
    campaigns : tuple of Path
        Folders of campaigns.
    """

    folder: Path
    files: dict[str, Path]
    campaigns: tuple[Path, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """All kinds of files and folders there are."""
        return (*samples.KINDS, *self.files, *FOLDERS)

    def make(self, kind: str, rng: Random) -> list[samples.File]:
        """Return a file of a kind, or the files of a folder, the one to name first."""
        if kind == "campaign":
            chosen = rng.choice(self.campaigns)
            found = [(f"study/{one.relative_to(chosen)}", one.read_bytes())
                     for one in sorted(chosen.rglob("*")) if one.is_file()]  # fmt: skip
            return sorted(found, key=lambda file: file[0] != "study/campaign.toml")
        if kind == "clips":
            return [(f"clips/{name}.wav", samples.sound(rng)[1]) for name in (*samples.QUERIES, *samples.DOCUMENTS)]
        if kind in self.files:
            return [(self.files[kind].name, self.files[kind].read_bytes())]
        name, data = samples.KINDS[kind](rng)
        return [(name, data), *samples.beside(name, rng)]


def make_templates(folder: Path) -> Templates:
    """Make all of them in a new folder."""
    folder.mkdir(parents=True)
    runs, judged, chosen = folder / "runs.tsv", folder / "judgments.tsv", folder / "preferences.csv"
    rng = Random(0)
    items = [(q, d) for q in samples.QUERIES for d in samples.DOCUMENTS]
    runs.write_bytes(
        samples.lines([(s, q, d) for s in samples.SYSTEMS for q in samples.QUERIES
                       for d in rng.sample(samples.DOCUMENTS, 5)])
    )  # fmt: skip
    judged.write_bytes(samples.lines([(q, d, rng.choice(samples.LEVELS)) for q, d in items]))
    pairs = [(q, a, b) for q in samples.QUERIES for a, b in (("a", "b"), ("c", "d"), ("e", "f"))]
    chosen.write_bytes(samples.table("query a b assessor choice", [(*one, "ann", "a") for one in pairs]))
    files = {
        kind: folder / name
        for kind, name in (
            ("ordinal_model", "ordinal.json"),
            ("hierarchical_model", "hierarchical.json"),
            ("history", "history.jsonl"),
            ("pair_questions", "questions.csv"),
            ("package", "package.csv"),
            ("log", "log.jsonl"),
            ("backup", "backup.zip"),
        )
    }
    _run("fit", runs, "-j", judged, "-o", files["ordinal_model"])
    _run("fit", runs, "-j", judged, "--predictor", "hierarchical", "-o", files["hierarchical_model"])
    for _ in range(2):
        _run("evaluate", runs, "-j", judged, "--append", files["history"])
        _run("rank", runs, "-j", judged, "--append", files["history"])
    _run("crowd", "questions", "--example", "-n", 12, "-o", files["pair_questions"])
    campaigns = tuple(folder / kind for kind in CAMPAIGN_KINDS)
    for campaign in campaigns:
        scale = ("--scale", "broad") if campaign.name == "grade" else ()
        _run("init", campaign, runs, "--kind", campaign.name, *scale)
    _run("invite", campaigns[0], "ann", "bob")
    few = folder / "few.tsv"
    few.write_bytes(b"".join(judged.read_bytes().splitlines(keepends=True)[:8]))
    _run("import", campaigns[0], few, "--assessor", "ann")
    _run("next", campaigns[0], "-o", files["package"], "--assessor", "bob")
    _run("import", campaigns[1], chosen)
    closed = folder / "closed"
    shutil.copytree(campaigns[0], closed)
    _run("close", closed)
    _run("export", campaigns[0], "--what", "log", "-o", files["log"])
    _run("backup", campaigns[0], "-o", files["backup"])
    return Templates(folder, files, (*campaigns, closed))


def _run(*arguments: object) -> None:
    """Run a command that has to succeed."""
    line = [str(one) for one in arguments]
    called = call(line, Path.cwd(), seconds=60)
    if called.code != 0:
        raise RuntimeError(
            f"the fuzzer cannot make its samples: earmark {' '.join(line)}: {called.err}{called.escaped}"
        )
