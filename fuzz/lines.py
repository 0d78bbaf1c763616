"""Command lines: which options are given, and with which values.

Values are mostly such as the option takes, so that commands get to work, and sometimes others. Options that say how
long a study goes on get small values.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from fuzz import samples
from fuzz.commands import Command, Parameter
from fuzz.mutations import CELLS, mutate
from fuzz.templates import Templates

SMALL = {"repeats": 1, "samples": 20, "resamples": 100, "jobs": 1, "seeds": 1}
"""Options that say how long a command works: they are always given, with these values."""
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
        "Judged@3",
        "DCG@2",
    ),
    *("CG@5", "F(beta=2)", "hmean", "mean(a=P@3,b=RR,w=0.2)", "nDCG(ideal=pool)@5", "Compat", "nRBP", "RBPres", "GMAP"),
    *(
        "MR1",
        "ROCarea",
        "PRarea",
        "liftarea",
        "num_rel",
        "Rprec",
        "AP(rel=2)",
        "map",
        "P_5",
        "nDCG(ideal=scale)@5",
        "hits",
    ),
)
ODD_MEASURES = (
    *("P@0", "P@-1", "AG", "nDCG@", "XX@5", "RBP(p=2)", "P(rel=nan)", "AP(over=x)", "(", "P@99999999999999999999", ""),
    *("AG@1000000000", "RBP(p=1e-300)", "P(rel=1e400)@2", "ERR(max=0)", "DCG(base=1)", "DR@2", "ADR", "accuracy@3"),
)
TEXTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "measure": (MEASURES, ODD_MEASURES),
    "measures: name": (MEASURES, ODD_MEASURES),
    "erase: name": (samples.ASSESSORS[:2], ("nobody", "")),
    "scale": (
        ("broad", "0..2", "0..3", "fine"),
        (
            "binary",
            "0,1,2",
            "0..1000000",
            "0,nan",
            "3..0",
            "",
            "0..",
            "0,1e308",
            "0,1e-320",
            "0,1e9",
            "0,1e-9",
            "0..2000",
        ),
    ),
    "also": (("fine",), ("broad", "run.tsv,judgments.tsv", "run.tsv", ",", "a,b,c,d")),
    "predictor": (
        ("hierarchical", "ordinal", "uniform", "external:predictions"),
        ("mtc-output", "mtc-judge", "external:", "x"),
    ),
    "policy": (
        ("variance", "random", "proportional"),
        ("mtc", "mtc-undecided", "balanced", "absolute", "variance:top", "x"),
    ),
    "stop": (
        ("mean:0.95", "min:0.9", "decided:0.9", "top:1", "width:0.05", "budget:5", "none"),
        ("mean:2", "mean:nan", "x:1"),
    ),
    "encoding": (
        ("utf-8", "utf-8-sig"),
        ("latin-1", "utf-16", "ascii", "cp1252", "none", "", "rot13", "base64", "idna"),
    ),
    "baseline": (samples.SYSTEMS, ("nobody", "")),
    "system": (samples.SYSTEMS, ("nobody", "")),
    "query": (samples.QUERIES, ("nothing", "")),
    "document": (samples.DOCUMENTS, ("nothing", "")),
    "assessor": (samples.ASSESSORS[:2], ("nobody", "")),
    "names": (("cat", "dan", "eve"), ("ann", "", "=x")),
    "attribute": (("artist", "genre"), ("document", "nothing", "")),
    "artist_column": (("artist", "genre"), ("nothing", "")),
    "genre_column": (("artist", "genre"), ("nothing", "")),
    "exclude_same": (("artist", "genre"), ("document", "nothing")),
    "feature": (("aSYS", "OV"), ("fART", "x", "")),
    "agreement": (("3/3,2/3", "3/3", "2/3"), ("6/6,5/6,4/6", "1/3,3/3", "0/0", "4/3", "x", "1/1e9", "")),
    "phase": (("main",), ("other", "")),
    "column": (("choice=Answer.choice", "query=Input.query"), ("x=y", "choice", "=", "a=WorkerId")),
    "choice": (("a=a", "same=b"), ("x=y", "a")),
    "mapping": (("mturk",), ("x", "")),
    "ending": ((".wav", ".flac"), (".mp3", "", ".x", "wav", "/")),
    "store": (("sqlite:///other.db",), ("sqlite://", "x", "mysql://a/b", "sqlite:////nowhere/x.db", "")),
    "address": (("https://example.org",), ("x", "http://[", "")),
    # Refused before anybody is called, since --jobs is always given.
    "cluster": (("tcp://127.0.0.1:1",), ("x", "")),
    "trap_rate": (("0.1", "1/20"), ("10%", "2", "nan", "x", "")),
    "settings": (
        ("estimates.stop=none", "estimates.margin=0.1"),
        ("name=x", "x=y", "level=2", "=", "seed=3", "a.b.c=1"),
    ),
    "media_url": (("https://example.org/{}.mp3",), ("x", "")),
    "query_url": (("https://example.org/{}.png",), ("x", "")),
    "reason": (("because",), ("", "x" * 5000)),
}
"""Values of options that take text, by name: such as they take, and others."""
NUMBERS = ("0.5", "0.05", "0.95", "0.1", "0.5", "0.9", "1", "2")
ODD_NUMBERS = (
    *("0", "-1", "-0.5", "1e-12", "1e9", "2147483647", "1e308", "", "x", "nan", "inf", "1e400", "-inf", "1.5"),
    *("99999999999999999999999", "0x1", "١", "1_0", "-0", "1e-320"),
)
OUTPUTS = ("out.csv", "out.csv", "out.csv", "out.parquet", "out.tsv", "out.jsonl")
ODD_OUTPUTS = ("out.json", "out.html", "out.npy", "out.txt.gz", "out.zip", "out", "out.CSV", ".csv")
OFTEN = {
    "judgments": 0.85,
    "ids": 0.9,
    "config": 0.8,
    "preferences": 0.7,
    "output": 0.5,
    "runs": 0.9,
    "init: scale": 0.9,
    "media: media": 0.8,
    "invite: names": 0.8,
    **{f"{command}: {what}": 0.35 for command in ("withdraw", "reinstate") for what in ("system", "query", "assessor")},
}
"""How often options are given without which a command does little, by command and name or by name; others are rarer."""


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
    odd, broken : float
        How often an option gets a value that it should refuse, and how often a file is mutated.
    """

    line: list[str] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    check: Callable[[int, str], list[str]] | None = None
    odd: float = 0.0
    broken: float = 0.0


def draw_input(command: Command, templates: Templates, rng: Random) -> Input:
    """Draw the options of a command and make the files that they name."""
    # Most inputs have a mistake or none; those with many are all refused for the first.
    drawn = Input(odd=rng.choice((0.0, 0.0, 0.05, 0.05, 0.3)), broken=rng.choice((0.0, 0.2, 0.2, 0.6)))
    arguments: list[str] = []
    options: list[str] = []
    often = rng.choice((0.03, 0.08, 0.2))
    for one in command.parameters:
        share = OFTEN.get(f"{command.name}: {one.name}", OFTEN.get(one.name, often))
        if arguments == ["study"] and command.has("runs") and one.role == "input":
            # A campaign in the place of runs has its own files.
            share *= drawn.odd
        wanted = one.required or one.name in SMALL or rng.random() < share
        if not wanted or (one.required and rng.random() < 0.1 * drawn.odd):
            continue
        for _ in range(rng.choice((1, 1, 1, 1, 1, 1, 2, 3)) if one.many else 1):
            value = _value(command, one, drawn, templates, rng)
            if not one.flag:
                arguments.append(value)
                if value == "study":
                    break
            elif one.kind is bool:
                options.append(one.flag)
            else:
                options += rng.choice(([one.flag, value], [one.flag, value], [f"{one.flag}={value}"]))
    if rng.random() < 0.1 * drawn.odd:
        options.insert(rng.randrange(len(options) + 1), rng.choice(("--nothing", "-", "--", "extra", "--help", "-x")))
    drawn.line = [*command.name.split(), *arguments, *options]
    return drawn


def _value(command: Command, one: Parameter, drawn: Input, templates: Templates, rng: Random) -> str:
    odd = rng.random() < drawn.odd
    if one.role is not None:
        return _path(command, one, drawn, templates, rng)
    if one.kind is Path:
        return _input_file(command, one, drawn, templates, rng)
    if one.choices:
        return rng.choice(("", "x", one.choices[0].upper()) if odd else one.choices)
    if one.kind in (int, float):
        return _number(one, odd, rng)
    good, other = TEXTS.get(f"{command.name}: {one.name}") or TEXTS.get(one.name) or (("x", "a"), CELLS)
    # A shell cannot pass a zero byte.
    value = rng.choice((*other, rng.choice(CELLS).replace("\0", "")) if odd else good)
    return f"external:{_file('predictions', drawn, templates, rng)}" if value == "external:predictions" else value


def _number(one: Parameter, odd: bool, rng: Random) -> str:
    if one.name in SMALL:
        return (
            rng.choice(("", "x", "0", "-1", "1.5", "9" * 30)) if odd else str(max(SMALL[one.name], int(one.least or 0)))
        )
    if one.kind is int:
        least = int(one.least or 0)
        return rng.choice(
            (*ODD_NUMBERS, str(least - 1)) if odd else (str(least), str(least + 1), str(least + 2), "5", "10")
        )
    return rng.choice(ODD_NUMBERS if odd else NUMBERS)


def _path(command: Command, one: Parameter, drawn: Input, templates: Templates, rng: Random) -> str:
    if one.role == "campaign":
        if command.name in ("init", "restore"):
            drawn.written.add("new")
            return "new"
        return "nowhere" if rng.random() < 0.2 * drawn.odd else _campaign(drawn, templates, rng)
    if one.role == "input":
        return _input_file(command, one, drawn, templates, rng)
    if one.role == "output" and drawn.files and rng.random() < 0.2 * drawn.odd:
        # No command may write over what it reads.
        return rng.choice(list(drawn.files))
    if one.role == "output folder":
        name = f"folder-{one.name}"
        if rng.random() < 0.7:
            drawn.files[f"{name}/other.txt"] = b"was there before\n"
    elif one.name == "append" and rng.random() < 0.5:
        name = _file("history", drawn, templates, rng)
    else:
        name = f"{one.name}-{rng.choice(ODD_OUTPUTS if rng.random() < drawn.odd else OUTPUTS)}"
        if command.name == "report":
            name = "report.html"
    if rng.random() < 0.2 * drawn.odd:
        return f"nowhere/{name}"
    drawn.written.add(name)
    return name


def _input_file(command: Command, one: Parameter, drawn: Input, templates: Templates, rng: Random) -> str:
    if rng.random() < 0.1 * drawn.odd:
        return rng.choice(("nowhere.csv", ".", "", "/dev/null", "*"))
    of = _kind_of_campaign(drawn)
    kinds = (
        samples.TAKES.get(f"{command.name}: {one.name}{of}")
        or samples.TAKES.get(f"{command.name}: {one.name}")
        or samples.TAKES.get(one.name)
        or templates.kinds
    )
    if one.name == "runs" and drawn.files:
        kinds = ("other_run",)
    kind = rng.choice(templates.kinds if rng.random() < 0.2 * drawn.odd else kinds)
    return _campaign(drawn, templates, rng) if kind == "campaign" else _file(kind, drawn, templates, rng)


def _kind_of_campaign(drawn: Input) -> str:
    """Return what the campaign of an input asks, as it stands after the name of an option that depends on it."""
    found = re.search(rb'(?m)^kind *= *"(\w+)"', drawn.files.get("study/campaign.toml", b""))
    return f" of {found[1].decode()}" if found else ""


def _campaign(drawn: Input, templates: Templates, rng: Random) -> str:
    drawn.written.add("study")
    if "study/campaign.toml" not in drawn.files:
        _file("campaign", drawn, templates, rng)
    return "study"


def _file(kind: str, drawn: Input, templates: Templates, rng: Random) -> str:
    """Add a file of a kind, or those of a folder, perhaps mutated, and return its name or that of the folder."""
    made = templates.make(kind, rng)
    broken = rng.choice((0, rng.randrange(len(made)))) if rng.random() < drawn.broken else None
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
