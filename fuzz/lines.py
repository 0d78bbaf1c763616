"""Command lines: which options are given, and with which values.

Values are mostly such as the option takes, so that commands get to work, and sometimes others. Options that say how
long a study goes on get small values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from fuzz import samples
from fuzz.commands import Command, Parameter
from fuzz.mutations import CELLS, mutate
from fuzz.templates import Templates

SMALL = {"repeats": 1, "samples": 20, "resamples": 100, "jobs": 1, "seeds": 1, "augment": 1, "open_seats": 2}
"""Options that say how long a command works: they are always given, with at most these values."""
MEASURES = (
    *(
        "AG@5",
        "P@3",
        "nDCG@5",
        "AP",
        "RR",
        "bpref",
        "bpref*",
        "infAP",
        "RBP(p=0.8)@5",
        "ERR@5",
        "Q@3",
        "ADR",
        "Judged@3",
    ),
    *("accuracy@3", "DCG@2", "CG@5", "F(beta=2)", "hmean", "mean(a=P@3,b=RR,w=0.2)", "nDCG(ideal=pool)@5", "Compat"),
    *("nRBP", "RBPres", "GMAP", "MR1", "ROCarea", "PRarea", "liftarea", "num_rel", "Rprec", "AP(rel=2)", "map", "P_5"),
    *("P@0", "P@-1", "AG", "nDCG@", "XX@5", "RBP(p=2)", "P(rel=nan)", "AP(over=x)", "(", "P@99999999999999999999", ""),
    *("nDCG(ideal=scale)@5", "AG@1000000000", "RBP(p=1e-300)", "P(rel=1e400)@2", "ERR(max=0)", "DCG(base=1)", "DR@2"),
)
TEXTS: dict[str, tuple[str, ...]] = {
    "measure": MEASURES,
    "name": MEASURES,
    "scale": (
        "binary",
        "broad",
        "fine",
        "0..3",
        "0,1,2",
        "0..1000000",
        "0,nan",
        "3..0",
        "",
        "0..",
        "broad ",
        "0,1e308",
    ),
    "also": ("fine", "broad", "run.tsv,judgments.tsv", "run.tsv", ",", "a,b,c,d"),
    "predictor": (
        "hierarchical",
        "ordinal",
        "uniform",
        "mtc-output",
        "mtc-judge",
        "external:scores.csv",
        "external:",
        "x",
    ),
    "policy": (
        "variance",
        "mtc",
        "mtc-undecided",
        "random",
        "proportional",
        "balanced",
        "absolute",
        "variance:top",
        "x",
    ),
    "stop": (
        "mean:0.95",
        "min:0.9",
        "decided:0.9",
        "top:1",
        "width:0.05",
        "budget:5",
        "none",
        "mean:2",
        "mean:nan",
        "x:1",
    ),
    "encoding": ("utf-8", "latin-1", "utf-16", "ascii", "cp1252", "none", "", "rot13", "base64", "utf-8-sig", "idna"),
    "baseline": (*samples.SYSTEMS, "nobody", ""),
    "system": (*samples.SYSTEMS, "nobody", ""),
    "query": (*samples.QUERIES, "nothing", ""),
    "document": (*samples.DOCUMENTS, "nothing", ""),
    "assessor": (*samples.ASSESSORS, "nobody", ""),
    "names": (*samples.ASSESSORS, "dan", "", "=x"),
    "attribute": ("artist", "genre", "document", "nothing", ""),
    "artist_column": ("artist", "genre", "nothing", ""),
    "genre_column": ("artist", "genre", "nothing", ""),
    "exclude_same": ("artist", "genre", "document", "nothing"),
    "feature": ("aSYS", "OV", "fART", "x", ""),
    "agreement": ("6/6,5/6,4/6", "3/3", "2/3", "1/3,3/3", "0/0", "4/3", "x", "1/1e9", ""),
    "phase": ("main", "other", ""),
    "column": ("choice=Answer.choice", "query=Input.query", "x=y", "choice", "=", "a=WorkerId"),
    "choice": ("a=a", "same=b", "x=y", "a"),
    "mapping": ("mturk", "x", ""),
    "ending": (".wav", ".flac", ".mp3", "", ".x", "wav", "/"),
    "store": ("sqlite:///other.db", "sqlite://", "x", "mysql://a/b", "sqlite:////nowhere/x.db", ""),
    "address": ("https://example.org", "x", "http://[", ""),
    "trap_rate": ("0.1", "10%", "1/20", "2", "nan", "x", ""),
    "settings": (
        "margin=0.1",
        "stop=none",
        "name=x",
        "x=y",
        "level=2",
        "judging.stop=min:0.9",
        "=",
        "seed=3",
        "a.b.c=1",
    ),
    "media_url": ("https://example.org/{}.mp3", "x", ""),
    "query_url": ("https://example.org/{}.png", "x", ""),
    "reason": ("because", "", "x" * 5000),
}
"""Values of options that take text, by name."""
NUMBERS = ("0", "1", "2", "3", "5", "10", "0.5", "0.05", "0.95", "-1", "-0.5", "1e-12", "1e9", "2147483647", "1e308")
ODD_NUMBERS = (
    "",
    "x",
    "nan",
    "inf",
    "1e400",
    "-inf",
    "99999999999999999999999",
    "1.5",
    "0x1",
    "١",
    "1_0",
    "-0",
    "1e-320",
)
OUTPUTS = ("out.csv", "out.tsv", "out.jsonl", "out.parquet", "out.json", "out.html", "out.npy", "out.txt.gz", "out.zip")


@dataclass
class Input:
    """One input of a command.

    Parameters
    ----------
    line : list of str
        What follows ``earmark``.
    files : dict of str to bytes
        The files of the folder in which the command runs.
    written : set of str
        What of the folder it may change: its outputs and campaigns.
    check : callable, optional
        Says what is wrong with its exit code and with what it printed.
    """

    line: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    check: Callable[[int, str], list[str]] | None = None


def draw_input(command: Command, templates: Templates, rng: Random) -> Input:
    """Draw the options of a command and make the files that they name."""
    drawn = Input()
    arguments: list[str] = []
    options: list[str] = []
    often = rng.choice((0.05, 0.15, 0.3))
    for one in command.parameters:
        wanted = one.required or one.name in SMALL or rng.random() < (0.5 if one.name == "judgments" else often)
        if not wanted or (one.required and rng.random() < 0.005):
            continue
        for _ in range(rng.choice((1, 1, 1, 2, 3)) if one.many else 1):
            value = _value(command, one, drawn, templates, rng)
            if not one.flag:
                arguments.append(value)
            elif one.kind is bool:
                options.append(one.flag)
            else:
                options += rng.choice(([one.flag, value], [one.flag, value], [f"{one.flag}={value}"]))
    if rng.random() < 0.01:
        options.insert(rng.randrange(len(options) + 1), rng.choice(("--nothing", "-", "--", "extra", "--help", "-x")))
    drawn.line = [*command.name.split(), *arguments, *options]
    return drawn


def _value(command: Command, one: Parameter, drawn: Input, templates: Templates, rng: Random) -> str:
    if one.role is not None:
        return _path(command, one, drawn, templates, rng)
    if one.kind is Path:
        return _input_file(command, one, drawn, templates, rng)
    if one.choices:
        return rng.choice(one.choices) if rng.random() < 0.97 else rng.choice(("", "x", one.choices[0].upper()))
    if one.kind in (int, float):
        return _number(one, rng)
    value = rng.choice(TEXTS.get(one.name, CELLS)) if rng.random() < 0.95 else rng.choice(CELLS)
    if value.startswith("external:") and len(value) > len("external:"):
        return f"external:{_file('predictions', drawn, templates, rng)}"
    return value


def _number(one: Parameter, rng: Random) -> str:
    if rng.random() < 0.05:
        return rng.choice(ODD_NUMBERS)
    if one.name in SMALL:
        return str(max(SMALL[one.name], int(one.least or 0)))
    if one.kind is int:
        least = int(one.least or 0)
        return str(rng.choice((least, least + 1, least + 2, 5, 10, 10, 1000, 2147483647, least - 1)))
    return rng.choice(NUMBERS)


def _path(command: Command, one: Parameter, drawn: Input, templates: Templates, rng: Random) -> str:
    if one.role == "campaign":
        if command.name in ("init", "restore"):
            drawn.written.add("new")
            return "new"
        return _campaign(drawn, templates, rng) if rng.random() < 0.97 else "nowhere"
    if one.role == "input":
        return _input_file(command, one, drawn, templates, rng)
    if one.role == "output" and drawn.files and rng.random() < 0.03:
        # No command may write over what it reads.
        return rng.choice(list(drawn.files))
    if one.role == "output folder":
        name = f"folder-{one.name}"
    elif one.name == "append" and rng.random() < 0.5:
        name = _file("history", drawn, templates, rng)
    else:
        name = f"{one.name}-{rng.choice(OUTPUTS)}"
    if rng.random() < 0.02:
        return f"nowhere/{name}"
    drawn.written.add(name)
    return name


def _input_file(command: Command, one: Parameter, drawn: Input, templates: Templates, rng: Random) -> str:
    chance = rng.random()
    if chance < 0.01:
        return rng.choice(("nowhere.csv", ".", "", "/dev/null", "a\x00b" if chance < 0.001 else "*"))
    kinds = samples.TAKES.get(f"{command.name}: {one.name}") or samples.TAKES.get(one.name) or templates.kinds
    kind = rng.choice(kinds) if chance < 0.96 else rng.choice(templates.kinds)
    return _campaign(drawn, templates, rng) if kind == "campaign" else _file(kind, drawn, templates, rng)


def _campaign(drawn: Input, templates: Templates, rng: Random) -> str:
    drawn.written.add("study")
    if "study/campaign.toml" not in drawn.files:
        _file("campaign", drawn, templates, rng)
    return "study"


def _file(kind: str, drawn: Input, templates: Templates, rng: Random) -> str:
    """Add a file of a kind, or those of a folder, perhaps mutated, and return its name or that of the folder."""
    made = templates.make(kind, rng)
    broken = rng.choice((None, None, 0, 0, rng.randrange(len(made))))
    name = made[0][0]
    for place, (path, data) in enumerate(made):
        if place == broken and path != "study/campaign.db":
            data = mutate(path, data, rng)
        at = Path(path)
        if path in drawn.files and "/" not in path and path not in ("songs.csv", "content.ids.txt"):
            # A second file of the same kind.
            path = str(at.with_name(f"{len(drawn.files)}-{at.name}"))
            name = path if place == 0 else name
        drawn.files[path] = data
    return name.partition("/")[0]
