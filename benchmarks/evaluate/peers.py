"""The programs compared: each loads itself, then takes run files and a qrels file to mean scores.

All are asked for nDCG@10, P@5, AP, bpref, RBP(p=0.8) and RR, as their documentation shows it. Conventions
that matter when their means are compared:

- trec_eval's code (pytrec_eval, and ir_measures which calls it) compares scores as float32 and puts tied
  documents in descending order of their ids. The collections here have scores that float32 tells apart.
- ranx leaves the order of tied documents to an unstable sort, and computes bpref as 0/0 for a query with no
  relevant or no judged non-relevant document, which makes the mean of bpref NaN.
- nDCG has linear gains everywhere (``ndcg`` in ranx, not ``ndcg_burges``).
- RBP is not in pytrec_eval; ir_measures hands it to cwl_eval, an extra of its own, and has none without it.
  ranx adds up raw gains where earmark divides them by the top gain of the scale, so ranx's mean is divided by
  it here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.evaluate.specs import TOP_GAIN

Means = dict[str, dict[str, float]]
"""Measure, then system, to the mean over queries."""

Evaluate = Callable[[list[Path], Path], Means]
MEASURES = ("nDCG@10", "P@5", "AP", "bpref", "RBP(p=0.8)", "RR")


@dataclass(frozen=True)
class Program:
    """How a program is loaded, the distribution it comes in, and whether it compiles on first use."""

    load: Callable[[], Evaluate]
    distribution: str
    compiles: bool = False


def load_earmark() -> Evaluate:
    from earmark import evaluate_files, read_judgments

    def means(runs: list[Path], qrels: Path) -> Means:
        scores = evaluate_files(runs, read_judgments(qrels), list(MEASURES))
        found: Means = {measure: {} for measure in MEASURES}
        for system, measure, value in scores.means().select("system", "measure", "value").iter_rows():
            found[measure][system] = value
        return found

    return means


def load_pytrec_eval() -> Evaluate:
    import pytrec_eval

    asked = {"nDCG@10": "ndcg_cut_10", "P@5": "P_5", "AP": "map", "bpref": "bpref", "RR": "recip_rank"}

    def means(runs: list[Path], qrels: Path) -> Means:
        with qrels.open() as file:
            evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(file), set(asked.values()))
        found: Means = {measure: {} for measure in asked}
        for path in runs:
            with path.open() as file:
                by_query = evaluator.evaluate(pytrec_eval.parse_run(file)).values()
            for measure, name in asked.items():
                found[measure][path.stem] = fmean(scores[name] for scores in by_query)
        return found

    return means


def load_ir_measures() -> Evaluate:
    import ir_measures
    import pytrec_eval  # noqa: F401  # ir_measures would import it while the clock runs

    asked: dict[str, Any] = {
        "nDCG@10": ir_measures.nDCG @ 10,
        "P@5": ir_measures.P @ 5,
        "AP": ir_measures.AP,
        "bpref": ir_measures.Bpref,
        "RR": ir_measures.RR,
    }

    def means(runs: list[Path], qrels: Path) -> Means:
        # One evaluator for all runs: the module's calc_aggregate would take in the judgments for every run.
        evaluator = ir_measures.evaluator(
            asked.values(),
            ir_measures.read_trec_qrels(str(qrels)),  # type: ignore[no-untyped-call]
        )
        found: Means = {measure: {} for measure in asked}
        for path in runs:
            run = ir_measures.read_trec_run(str(path))  # type: ignore[no-untyped-call]
            aggregated = evaluator.calc_aggregate(run)
            for measure, name in asked.items():
                found[measure][path.stem] = aggregated[name]
        return found

    return means


def load_ranx() -> Evaluate:
    from ranx import Qrels, Run, evaluate

    names = ("ndcg@10", "precision@5", "map", "bpref", "rbp.80", "mrr")
    asked = dict(zip(MEASURES, names, strict=True))
    unit = {"RBP(p=0.8)": TOP_GAIN}

    def means(runs: list[Path], qrels: Path) -> Means:
        judged = Qrels.from_file(str(qrels), kind="trec")
        found: Means = {measure: {} for measure in asked}
        for path in runs:
            run = Run.from_file(str(path), kind="trec")
            aggregated = evaluate(judged, run, list(names), save_results_in_run=False)
            for measure, name in asked.items():
                found[measure][path.stem] = float(aggregated[name]) / unit.get(measure, 1)
        return found

    return means


PROGRAMS = {
    "earmark": Program(load_earmark, "earmark"),
    "pytrec_eval": Program(load_pytrec_eval, "pytrec-eval-terrier"),
    "ir_measures": Program(load_ir_measures, "ir-measures"),
    "ranx": Program(load_ranx, "ranx", compiles=True),
}
