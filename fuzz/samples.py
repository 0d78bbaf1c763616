"""Valid files of every kind that commands read, small, and about the same collection.

Mutations start from these. A kind is a function of a random number generator that returns the name of a file and its
bytes; :data:`KINDS` lists them, and :data:`TAKES` says which of them an option takes.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import polars as pl

SYSTEMS, QUERIES = ("good", "fair", "poor"), ("q1", "q2", "q3", "q4")
DOCUMENTS = tuple("abcdefghij")
LEVELS = (0, 1, 2)
ASSESSORS = ("ann", "bob", "cat")

Row = tuple[object, ...]
File = tuple[str, bytes]
Maker = Callable[[Random], File]


def lines(rows: Sequence[Row], separator: str = "\t") -> bytes:
    """Write rows, one a line."""
    return "".join(separator.join(map(str, row)) + "\n" for row in rows).encode()


def table(header: str, rows: Sequence[Row], separator: str = ",") -> bytes:
    """Write rows under names."""
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows([header.split(), *rows])
    return text.getvalue().encode()


def parquet(header: str, rows: Sequence[Row]) -> bytes:
    """Write rows under names as Parquet."""
    data = io.BytesIO()
    pl.DataFrame(list(rows), schema=header.split(), orient="row", strict=False).write_parquet(data)
    return data.getvalue()


# ---- runs and ground truth -------------------------------------------------------------------------------------------


def _results(rng: Random, systems: Sequence[str]) -> list[tuple[str, str, str, int, float]]:
    depth = rng.choice((1, 3, 5, 5, 5, 10))
    return [
        (system, query, document, rank, round(10 - rank + rng.choice((0, 0.25)), 2))
        for system in systems[: rng.choice((1, 2, 3, 3, 3))]
        for query in QUERIES
        for rank, document in enumerate(rng.sample(DOCUMENTS, depth), start=1)
    ]


def run(rng: Random) -> File:
    """Return runs in any format."""
    rows = _results(rng, SYSTEMS)
    return _written(rows, rng)


def other_run(rng: Random) -> File:
    """Return the run of a system that no other file has."""
    return _written(_results(rng, (f"new{rng.randrange(1000)}",)), rng)


def _written(rows: Sequence[tuple[str, str, str, int, float]], rng: Random) -> File:
    trec = lines([(q, "Q0", d, rank, score, s) for s, q, d, rank, score in rows], " ")
    named = "system query document rank score"
    usual = (
        ("run.txt", trec),
        ("run.tsv", lines([row[:3] for row in rows])),
        ("run.csv", table(named, rows)),
        ("named.tsv", table(named, rows, "\t")),
        ("semicolons.csv", table(named, rows, ";")),
        ("run.parquet", parquet(named, rows)),
        ("run.txt.gz", gzip.compress(trec, mtime=0)),
    )
    # No format of ours, but one that people try.
    return rng.choice(usual) if rng.random() < 0.97 else ("run.jsonl", json_lines(named, rows))


def json_lines(header: str, rows: Sequence[Row]) -> bytes:
    """Write rows as one JSON object a line."""
    return "".join(json.dumps(dict(zip(header.split(), row, strict=True))) + "\n" for row in rows).encode()


def _judged(rng: Random) -> list[tuple[str, str, int]]:
    items = [(query, document) for query in QUERIES for document in DOCUMENTS]
    # Good documents come first in the alphabet, so that systems differ.
    return [
        (query, document, rng.choice(LEVELS) if rng.random() < 0.5 else 2 - DOCUMENTS.index(document) * 3 // 10)
        for query, document in rng.sample(items, rng.choice((1, 5, 20, 40, 40)))
    ]


def judgments(rng: Random) -> File:
    """Return judgments in any format."""
    rows = _judged(rng)
    qrels = lines([(q, 0, d, gain) for q, d, gain in rows], " ")
    sampled = ("true", "false", "")
    several = [(q, d, g, rng.choice(ASSESSORS), f"2026-01-{day % 28 + 1:02}T10:00:00Z", rng.choice(sampled), n)
               for n, (q, d, g) in enumerate(rows) for day in range(n, n + rng.choice((1, 1, 2)))]  # fmt: skip
    named = "query document gain assessor time sampled sequence"
    usual = (
        ("judgments.qrels", qrels),
        ("judgments.tsv", lines(rows)),
        ("judgments.csv", table("query document gain", rows)),
        ("answers.csv", table(named, several)),
        ("answers.parquet", parquet(named, several)),
        ("judgments.qrels.gz", gzip.compress(qrels, mtime=0)),
    )
    other = ("judgments.jsonl", json_lines("query document gain", rows))
    return rng.choice(usual) if rng.random() < 0.97 else other


def cliques(rng: Random) -> File:
    """Return cliques, whose documents are queries too."""
    rows = [(document, f"w{place % 4}") for place, document in enumerate((*QUERIES, *DOCUMENTS))]
    return rng.choice((("cliques.tsv", lines(rows)), ("cliques.csv", table("document group", rows))))


def groups(rng: Random) -> File:
    """Return ordered groups."""
    rows = [(query, document, place // 3 + 1) for query in QUERIES for place, document in enumerate(DOCUMENTS)]
    tagged = [("tag", *row) for row in rows]
    named = table("query document group", rows)
    return rng.choice((("groups.tsv", lines(rows)), ("groups.qrel", lines(tagged, " ")), ("groups.csv", named)))


# ---- what is known about documents and systems -----------------------------------------------------------------------


def metadata(rng: Random) -> File:
    """Return metadata with and without a header."""
    rows = [(name, f"artist {n % 4}", ("rock", "ska", "")[n % 3]) for n, name in enumerate((*DOCUMENTS, *QUERIES))]
    named = table("document artist genre", rows)
    return rng.choice(
        (
            ("metadata.tsv", lines(rows)),
            ("metadata.csv", named),
            ("metadata.parquet", parquet("document artist genre", rows)),
        )
    )


def teams(rng: Random) -> File:
    """Return teams of systems."""
    return "teams.tsv", lines([(system, f"team {n % 2}") for n, system in enumerate(SYSTEMS)])


def content(rng: Random) -> File:
    """Return numbers about documents, in a table."""
    rows = [(name, *(round(rng.gauss(0, 1), 3) for _ in range(3))) for name in (*DOCUMENTS, *QUERIES)]
    return rng.choice((("content.csv", table("document x y z", rows)), ("content.npy", array(rng, len(rows), 3))))


def array(rng: Random, *shape: int) -> bytes:
    """Return numbers as an array of numpy."""
    data = io.BytesIO()
    np.save(data, np.array([rng.random() for _ in range(int(np.prod(shape)))]).reshape(shape))
    return data.getvalue()


def matrix(rng: Random) -> File:
    """Return distances between documents."""
    size = len(DOCUMENTS)
    values = np.array([rng.random() for _ in range(size * size)]).reshape(size, size)
    values = values + values.T
    np.fill_diagonal(values, 0)
    data = io.BytesIO()
    np.save(data, values)
    text = lines([tuple(f"{value:.3f}" for value in row) for row in values], rng.choice((" ", "\t", ",")))
    return rng.choice((("matrix.npy", data.getvalue()), ("matrix.txt", text), ("matrix.csv", text)))


def ids(rng: Random) -> File:
    """Return the documents of rows, one a line."""
    names = rng.choice((DOCUMENTS, DOCUMENTS, DOCUMENTS, DOCUMENTS, DOCUMENTS, DOCUMENTS[:3], (*DOCUMENTS, *QUERIES)))
    return "ids.txt", lines([(name,) for name in names])


def predictions(rng: Random) -> File:
    """Return what another program predicts, as a score or as one column per level."""
    items = [(query, document) for query in QUERIES for document in DOCUMENTS]
    scores = [(*item, round(rng.random() * 2, 2)) for item in items]
    levels = [(*item, 0.2, 0.3, 0.5) for item in items]
    named = table("query document 0 1 2", levels)
    return rng.choice((("scores.csv", table("query document score", scores)), ("levels.csv", named)))


# ---- preferences and crowds ------------------------------------------------------------------------------------------


def _choices(rng: Random) -> list[Row]:
    every = list(combinations(DOCUMENTS, 2))
    pairs = [(q, *pair) for q in QUERIES for pair in rng.sample(every, rng.choice((1, 3, 5)))]
    return [(*pair, who, rng.choice(("a", "b", "same")), rng.choice((1, 1, 2)), rng.choice(("a", "", "", "")), "main")
            for pair in pairs for who in ASSESSORS]  # fmt: skip


def preferences(rng: Random) -> File:
    """Return answers about pairs of documents."""
    named, rows = "query a b assessor choice strength trap phase", _choices(rng)
    plain = table("query a b assessor choice", [row[:5] for row in rows])
    return rng.choice(
        (
            ("preferences.csv", table(named, rows)),
            ("preferences.csv", plain),
            ("preferences.tsv", table(named, rows, "\t")),
            ("preferences.parquet", parquet(named, rows)),
        )
    )


def lists(rng: Random) -> File:
    """Return answers about two lists."""
    rows = [(q, *rng.sample(SYSTEMS, 2), who, rng.choice(("a", "b", "same"))) for q in QUERIES for who in ASSESSORS]
    return "lists.csv", table("query a b assessor choice", rows)


def rankings(rng: Random) -> File:
    """Return rankings by experts: runs in which every expert is a system."""
    return "experts.tsv", lines([(who, q, d) for who in ASSESSORS for q in QUERIES for d in rng.sample(DOCUMENTS, 4)])


def candidates(rng: Random) -> File:
    """Return pairs that may be asked about."""
    return "candidates.csv", table("query a b", [(q, *rng.sample(DOCUMENTS, 2)) for q in QUERIES for _ in range(3)])


def traps(rng: Random) -> File:
    """Return traps about pairs or about documents."""
    pairs = [(q, *rng.sample(DOCUMENTS, 2), rng.choice(("a", "b"))) for q in QUERIES]
    single = [(q, rng.choice(DOCUMENTS), rng.choice(LEVELS)) for q in QUERIES]
    of_pairs = table("query a b trap", pairs)
    return rng.choice((("traps.csv", of_pairs), ("traps.csv", table("query document gain", single))))


def themes(rng: Random) -> File:
    """Return themes of queries."""
    return "themes.csv", table("query theme", [(q, f"theme {n % 2}") for n, q in enumerate(QUERIES)])


def crowd_results(rng: Random) -> File:
    """Return what a crowdsourcing platform delivers."""
    said = {"a": "left", "b": "right"}
    rows = [
        (f"h{n}", who, "Approved", *row[:3], said.get(str(row[4]), row[4]), 12)
        for n, row in enumerate(_choices(rng))
        for who in row[3:4]
    ]
    named = "HITId WorkerId AssignmentStatus Input.query Input.left Input.right Answer.choice WorkTimeInSeconds"
    return "results.csv", table(named, rows)


def benchmark(rng: Random) -> File:
    """Return the configuration of a benchmark of preferences."""
    text = (
        'queries = ["q1", "q2"]\nassessors = 3\ntrap_every = 5\n[categories]\ngenre = ["Rock", "Ska"]\nmood = ["Sad"]\n'
        '[pairs]\ngenre = ["genre"]\nboth = ["genre", "mood"]\n'
    )
    made_up = "[made_up]\nartists_per_group = 2\nsongs_per_artist = 2\nshared_artists = 1\n"
    return "benchmark.toml", (text + rng.choice((made_up, '[documents]\nfile = "songs.csv"\n'))).encode()


def songs(rng: Random) -> File:
    """Return the documents of a benchmark."""
    return "songs.csv", table("document group", [(f"d{n}", ("Rock", "Ska", "Sad")[n % 3]) for n in range(12)])


def prototypes(rng: Random) -> File:
    """Return prototype answers, to choose measures by."""
    rows = [(f"s{s}", order, " ".join(map(str, sorted(rng.sample(range(1, 9), 3)))), 3, 10)
            for s in range(2) for order in (1, 2, 3)]  # fmt: skip
    return "prototypes.csv", table("set order ranks relevant length", rows)


# ---- campaigns -------------------------------------------------------------------------------------------------------


def text(rng: Random) -> File:
    """Return a text for people."""
    return "consent.md", b"# Consent\n\nI **agree** to take part.\n\n- one\n- two\n"


def questionnaire(rng: Random) -> File:
    """Return questions about people."""
    asked = '[[question]]\nid = "years"\nlabel = "Years"\nkind = "number"\nrequired = true\n'
    choice = '[[question]]\nlabel = "Plays"\nkind = "choice"\noptions = ["piano", "none"]\n'
    return "about.toml", (asked + choice).encode()


def training(rng: Random) -> File:
    """Return questions whose answers are explained."""
    rows = [("q1", "a", 2, "The same song."), ("q2", "b", 0, "")]
    return "training.csv", table("query document gain feedback", rows)


def media_map(rng: Random) -> File:
    """Return which file belongs to which document."""
    return "media.csv", table("id file", [(name, "clips/a.wav") for name in (*QUERIES, *DOCUMENTS)])


def sound(rng: Random) -> File:
    """Return a tone of half a second."""
    rate = 8000
    wave = (np.sin(np.arange(rate // 2) * 0.3) * 8000).astype("<i2").tobytes()
    head = b"RIFF" + (36 + len(wave)).to_bytes(4, "little") + b"WAVEfmt " + (16).to_bytes(4, "little")
    shape = b"".join(value.to_bytes(size, "little") for value, size in
                     ((1, 2), (1, 2), (rate, 4), (rate * 2, 4), (2, 2), (16, 2)))  # fmt: skip
    return "a.wav", head + shape + b"data" + len(wave).to_bytes(4, "little") + wave


KINDS: dict[str, Maker] = {
    one.__name__: one
    for one in (
        *(
            run,
            other_run,
            judgments,
            cliques,
            groups,
            metadata,
            teams,
            content,
            matrix,
            ids,
            predictions,
            preferences,
            lists,
        ),
        *(rankings, candidates, traps, themes, crowd_results, benchmark, songs, prototypes, text, questionnaire),
        *(training, media_map, sound),
    )
}
"""Files that need nothing but themselves; those that commands make are added by :mod:`fuzz.templates`."""

TAKES: dict[str, tuple[str, ...]] = {
    "runs": ("run", "run", "run", "run", "campaign"),
    "judgments": ("judgments",),
    "cliques": ("cliques",),
    "groups": ("groups",),
    "metadata": ("metadata",),
    "teams": ("teams",),
    "content": ("content",),
    "content_ids": ("ids",),
    "model": ("ordinal_model", "hierarchical_model"),
    "candidates": ("candidates",),
    "add: runs": ("other_run",),
    "import: files": ("judgments", "preferences", "lists", "rankings", "package"),
    "import: files of grade": ("judgments", "judgments", "package"),
    "import: files of prefer": ("preferences",),
    "import: files of order": ("rankings",),
    "import: files of lists": ("lists",),
    "preferences lists: files": ("lists",),
    "crowd groups: files": ("preferences", "preferences", "preferences", "rankings"),
    "files": ("preferences", "preferences", "preferences", "judgments", "campaign"),
    "file": ("backup",),
    "results": ("crowd_results",),
    "questions": ("pair_questions",),
    "asked": ("pair_questions", "preferences"),
    "config": ("benchmark",),
    "preferences": ("preferences",),
    "answers": ("prototypes",),
    "against": ("groups",),
    "theme_map": ("themes",),
    "matrix": ("matrix",),
    "ids": ("ids",),
    "queries": ("ids",),
    "recordings": ("sound",),
    "audio": ("clips",),
    "media": ("clips",),
    "media_map": ("media_map",),
    "traps": ("traps",),
    "consent": ("text",),
    "questionnaire": ("questionnaire",),
    "training": ("training",),
    "history": ("history",),
    "append": ("history",),
}
"""The kinds of file that an option takes, by its command and name or by its name; any other takes all of them."""


def beside(name: str, rng: Random) -> list[File]:
    """Return files that are read along with one, though no option names them."""
    also = {
        "content.npy": [("content.ids.txt", lines([(one,) for one in (*DOCUMENTS, *QUERIES)]))],
        "benchmark.toml": [songs(rng)],
        "media.csv": [(f"clips/{sound(rng)[0]}", sound(rng)[1])],
    }
    return also.get(Path(name).name, [])
