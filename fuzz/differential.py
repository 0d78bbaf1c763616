"""The same evaluation twice: ``earmark evaluate`` on files, and :mod:`fuzz.reference` on what is in them.

Collections have everything on which programs differ: ties, scores that are equal in 32 bits alone, unanswered queries,
unjudged documents, queries that nobody judged, items judged by several people, or twice, or not (a negative gain), and
lists with a document twice, which are refused.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from fuzz import reference, samples
from fuzz.lines import Input

NAMES = ("a", "b", "B", "aa", "z10", "z9", "Z", "é", "ê", "日本", "x-1", "x_1", "1", "10", "2", "0", "#h", "a.b")
MEASURES = (
    *("P@1", "P@3", "P@5", "P@20", "P", "R@2", "R@5", "R", "F@3", "F", "AP", "AP@3", "RR", "RR@2", "nDCG", "nDCG@3"),
    *("nDCG@20", "DCG@3", "DCG", "bpref", "RBP(p=0.8)@5", "RBP(p=0.8)", "AG@1", "AG@5", "AG@20", "hits@3", "hits"),
    *("CG@3", "ERR@5", "Success@3", "Rprec"),
)
CLOSE = 1e-9


@dataclass(frozen=True)
class Case:
    """A collection: what every system retrieved, best first, and what every assessor said."""

    rankings: dict[tuple[str, str], list[str]]
    truth: dict[str, reference.Truth]
    top: int
    measures: tuple[str, ...]
    missing: str
    refused: str | None

    @property
    def systems(self) -> list[str]:
        """All of them."""
        return sorted({system for system, _ in self.rankings})

    def expected(self) -> dict[tuple[str, str, str], float]:
        """Return scores by system, query (or ``all``) and measure."""
        values: dict[tuple[str, str, str], float] = {}
        for system in self.systems:
            queries = [q for q in self.truth if self.missing == "zero" or (system, q) in self.rankings]
            for measure in self.measures:
                scores = [
                    reference.score(measure, self.rankings.get((system, query), []), self.truth[query], top=self.top)
                    for query in queries
                ]
                values |= {(system, q, measure): value for q, value in zip(queries, scores, strict=True)}
                values[system, "all", measure] = sum(scores) / len(scores) if scores else float("nan")
        return values

    def compare(self, code: int, out: str) -> list[str]:
        """Say what differs between the output of the command and what it should be."""
        if self.refused is not None:
            return [] if code == 2 else [f"exit code {code} for a collection with {self.refused}"]
        if code != 0:
            return [f"exit code {code} for a collection without mistakes"]
        rows = [json.loads(line) for line in out.splitlines()]
        found = {(row["system"], row["query"], row["measure"]): row["value"] for row in rows}
        expected = self.expected()
        if len(found) != len(rows) or set(found) != set(expected):
            return [f"rows differ: {sorted(set(found) ^ set(expected))[:4]}"]
        wrong = [key for key, value in expected.items() if not abs(found[key] - value) <= CLOSE * max(1, abs(value))]
        return [f"{key}: {found[key]} instead of {expected[key]}" for key in wrong[:4]]


def draw_case(rng: Random) -> Input:
    """Draw a collection, write it in any format, and return the command line with the comparison."""
    drawn = Input(line=["evaluate"])
    documents = rng.sample(NAMES, rng.randint(1, len(NAMES)))
    queries = [f"q{n}" for n in range(rng.randint(1, 5))]
    lists = _draw_lists([f"s{n}" for n in range(rng.randint(1, 3))], queries, documents, rng)
    by_rank = rng.random() < 0.3
    rankings = {
        key: [d for d, _ in results] if by_rank else reference.order_by_score(results) for key, results in lists.items()
    }
    repeated = rng.random() < 0.04
    if repeated:
        results = rng.choice(list(lists.values()))
        results.append((results[0][0], -99.0))
    _write_runs(lists, rankings, drawn, by_rank, rng)
    top = rng.choice((1, 2, 3, 3, 10, 100, 1000))
    said = _draw_answers(queries, documents, top, rng)
    rule = rng.choice(("mean", "median", "majority"))
    truth = _write_judgments(said, drawn, rule, rng)
    if rule != "mean":
        drawn.line += ["--aggregate", rule]
    measures = tuple(rng.sample(MEASURES, min(rng.randint(1, 6), len(MEASURES))))
    missing = rng.choice(("zero", "zero", "drop"))
    scale = "binary" if top == 1 else f"0..{top}"
    drawn.line += ["--scale", scale, "--missing", missing, "--per-query", "--format", "jsonl"]
    drawn.line += [part for measure in measures for part in ("-m", measure)]
    case = Case(rankings, truth, top, measures, missing, None)
    refused = "a document twice in a list" if repeated else _refusal(case)
    drawn.check = Case(rankings, truth, top, measures, missing, refused).compare
    return drawn


def _refusal(case: Case) -> str | None:
    """Return why the rules of evaluation refuse a collection, if they do."""
    if not any(set(ranking) & set(case.truth.get(query, {})) for (_, query), ranking in case.rankings.items()):
        return "no judgment of any document that was retrieved"
    answered = {system for system, query in case.rankings if query in case.truth}
    return "a system without any judged query" if case.missing == "drop" and answered != set(case.systems) else None


def _draw_lists(
    systems: list[str], queries: list[str], documents: list[str], rng: Random
) -> dict[tuple[str, str], list[reference.Scored]]:
    pools: tuple[Callable[[], float], ...] = (
        lambda: float(rng.randint(0, 3)),
        lambda: rng.uniform(-1, 1),
        lambda: rng.choice((16777216.0, 16777217.0, 0.1, 0.10000000001, 1e-42, 0.0, -0.0, 1e30)),
    )
    lists = {}
    for system in systems:
        for place, query in enumerate([*queries, "unjudged"]):
            # Every system answers something.
            if place == 0 or rng.random() < 0.8:
                score = rng.choice(pools)
                chosen = rng.sample(documents, rng.randint(1, len(documents)))
                lists[system, query] = [(document, score()) for document in chosen]
    return lists


def _write_runs(
    lists: dict[tuple[str, str], list[reference.Scored]],
    rankings: dict[tuple[str, str], list[str]],
    drawn: Input,
    by_rank: bool,
    rng: Random,
) -> None:
    form = rng.choice(("tsv", "csv") if by_rank and rng.random() < 0.5 else ("trec", "csv", "parquet"))
    separate = form != "tsv" and rng.random() < 0.4
    parts: dict[str, list[tuple[str, str, str, int, float]]] = defaultdict(list)
    for (system, query), results in lists.items():
        order = [*rankings[system, query], *(d for d, score in results if score == -99.0)]
        score_of = dict(results[::-1])
        for rank, document in enumerate(order, start=1):
            parts[system if separate else "run"].append((system, query, document, rank, score_of[document]))
    for name, rows in parts.items():
        if form != "tsv":
            rng.shuffle(rows)
        drawn.line.append(_write_run(name, rows, form, drawn, rng))
    if by_rank and form != "tsv":
        drawn.line += ["--order", "rank"]


def _write_run(name: str, rows: list[tuple[str, str, str, int, float]], form: str, drawn: Input, rng: Random) -> str:
    header = "system query document rank score"
    if form == "tsv":
        path, data = f"{name}.tsv", samples.lines([row[:3] for row in rows])
    elif form == "csv":
        path, data = f"{name}.csv", samples.table(header, rows, rng.choice((",", ";", "\t")))
    elif form == "parquet":
        path, data = f"{name}.parquet", samples.parquet(header, rows)
    else:
        separator = rng.choice((" ", "\t", "  "))
        path = f"{name}.run"
        data = samples.lines([(q, "Q0", d, rank, repr(score), s) for s, q, d, rank, score in rows], separator)
    if form != "parquet" and rng.random() < 0.2:
        path, data = f"{path}.gz", gzip.compress(data, mtime=0)
    drawn.files[path] = data
    return path


Said = list[tuple[str, str, int, str]]


def _draw_answers(queries: list[str], documents: list[str], top: int, rng: Random) -> Said:
    share = rng.choice((0.2, 0.6, 1.0))
    judged = [q for q in queries if rng.random() < 0.9] or queries[:1]
    unanswered = ["asked-by-nobody"] if rng.random() < 0.3 else []
    said = [
        (query, document, rng.choice((0, top, rng.randint(0, top))), who)
        for query in [*judged, *unanswered]
        for document in documents
        for who in ("ann", "bob", "cat")[: rng.choice((1, 1, 2, 3))]
        if rng.random() < share
    ]
    said = said or [(queries[0], documents[0], 1, "ann")]
    rng.shuffle(said)
    return said


def _write_judgments(said: Said, drawn: Input, rule: str, rng: Random) -> dict[str, reference.Truth]:
    """Write the answers, and return one gain for each item by the documented rules."""
    form = rng.choice(("qrels", "tsv", "csv", "assessors", "parquet"))
    if form == "qrels":
        said = [(q, d, -1 if rng.random() < 0.1 else gain, who) for q, d, gain, who in said]
    # Whoever answers twice has the latest answer count; without any times, the larger gain.
    answers: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for query, document, gain, who in said:
        of = answers[query, document]
        key = who if form in ("assessors", "parquet") else "anybody"
        of[key] = max(of.get(key, gain), gain)
    truth: dict[str, reference.Truth] = defaultdict(dict)
    for (query, document), by_assessor in answers.items():
        truth[query][document] = reference.one_gain(list(by_assessor.values()), rule)
    rows = [(query, document, gain) for query, document, gain, _ in said]
    name = f"judgments.{'csv' if form == 'assessors' else form}"
    if form == "qrels":
        data = samples.lines([(q, 0, d, gain) for q, d, gain in rows], " ")
    elif form == "tsv":
        data = samples.lines(rows)
    elif form == "csv":
        data = samples.table("query document gain", rows)
    elif form == "assessors":
        data = samples.table("query document gain assessor", said)
    else:
        data = samples.parquet("query document gain assessor", said)
    drawn.files[name] = data
    drawn.line += ["--judgments", name]
    return dict(truth)
