"""A simulated SRBENCH: both of its phases, with everything known that the paper could not know.

In the first phase 30 students answer 665 questions, six of them each; the questions on which all six agree become
traps. In the second, 269 workers, 15 of whom cheat, answer 5,990 questions that cover all 470 songs for all 25 queries,
again six each, with one trap for every five questions. Whoever answers a hundred questions or more and gets less than
65% of the traps right is rejected, and others answer in their place. Two systems, one of them better, rank the songs.

What people are like was set such that levels of agreement and strengths of preference come near to what the paper
prints, and how good the systems are such that their precision does; nothing else was.

References
----------
SRBENCH: A. Stupar, S. Michel (2013). SRbench: a benchmark for soundtrack recommendation systems. CIKM.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from earmark.crowd.configuration import BenchmarkConfig, build_benchmark, example_config
from earmark.crowd.questions import PossiblePairs, draw_questions, mix_traps, possible_pairs
from earmark.crowd.traps import choose_traps
from earmark.crowd.worker_check import RejectionRule, WorkerCheck, check_workers
from earmark.data.display import Display, Summary, facts
from earmark.data.preferences import Preferences
from earmark.data.runs import Runs
from earmark.simulation.crowds import LatentFit, SimulatedCrowd, draw_crowd, draw_fit, draw_runs

FIRST_PHASE, SECOND_PHASE = "1", "2"


@dataclass(frozen=True)
class SrbenchSize:
    """How large a simulated SRBENCH is; the defaults are the paper's.

    Attributes
    ----------
    students, student_questions, workers, cheats, questions, assessors, trap_every, depth : int
        As the names say; ``depth`` is how many songs the systems return.
    skills : tuple of (str, float)
        The systems and how well they hear, the worse first.
    """

    students: int = 30
    student_questions: int = 665
    workers: int = 269
    cheats: int = 15
    questions: int = 5990
    assessors: int = 6
    trap_every: int = 5
    depth: int = 20
    skills: tuple[tuple[str, float], ...] = (("weaker", 0.12), ("stronger", 0.24))


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedSrbench(Display):
    """A simulated SRBENCH.

    Attributes
    ----------
    pairs : PossiblePairs
        What could be asked, with the benchmark itself.
    fit : LatentFit
        How well songs fit queries: the truth.
    student_answers : Preferences
        The first phase.
    traps : polars.DataFrame
        The questions on which all students agreed.
    questions : polars.DataFrame
        The questions of the second phase, traps among them.
    workers : SimulatedCrowd
        Who answered them.
    check : WorkerCheck
        All answers of the second phase, and what the traps say about those who gave them.
    answers : Preferences
        What the benchmark consists of: the second phase without rejected workers and without traps, with the answers of
        those who took over.
    runs : Runs
        The systems' lists, the worse system first.
    """

    pairs: PossiblePairs
    fit: LatentFit
    student_answers: Preferences
    traps: pl.DataFrame
    questions: pl.DataFrame
    workers: SimulatedCrowd
    check: WorkerCheck
    answers: Preferences
    runs: Runs

    def _summary(self) -> Summary:
        """Show what was asked, and what became of those who cheat."""
        counts = facts(
            questions=self.questions.height,
            answers=len(self.answers),
            traps=self.traps.height,
            workers=len(self.workers.names),
            cheats=len(self.cheats),
            cheats_rejected=self.caught,
            others_rejected=self.wronged,
        )
        return Summary(f"{self.pairs.benchmark}; {self.answers}", [counts])

    @property
    def cheats(self) -> tuple[str, ...]:
        """Who cheats among the workers."""
        return tuple(name for name, cheats in zip(self.workers.names, self.workers.cheats, strict=True) if cheats)

    @property
    def caught(self) -> int:
        """How many of those who cheat were rejected."""
        return len({*self.check.rejected} & {*self.cheats})

    @property
    def wronged(self) -> int:
        """How many of those who do not cheat were."""
        return len({*self.check.rejected} - {*self.cheats})


def simulated_srbench(
    rng: np.random.Generator,
    *,
    size: SrbenchSize | None = None,
    config: BenchmarkConfig | None = None,
    rule: RejectionRule | None = None,
    bias: float = 0.0,
) -> SimulatedSrbench:
    """Play SRBENCH through.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where all of the chance comes from.
    size : SrbenchSize, optional
        How large it is; the paper's size by default.
    config : BenchmarkConfig, optional
        Queries, groups and documents; by default the example's: 25 queries, 470 songs.
    rule : RejectionRule, optional
        When a worker is rejected; the paper's by default.
    bias : float
        How much people favour what is shown first.
    """
    size, config = size or SrbenchSize(), config or example_config()
    pairs = possible_pairs(build_benchmark(config), config.pairs)
    fit = draw_fit(rng, pairs.benchmark)
    students = draw_crowd(
        rng, size.students, prefix="student", reliability=1.85, reliability_spread=0.2, activity_spread=0.25, bias=bias
    )
    workers = draw_crowd(rng, size.workers, prefix="worker", reliability=1.33, cheats=size.cheats, bias=bias)
    asked = draw_questions(pairs, size.student_questions, rng=rng, assessors=size.assessors, cover=False)
    student_answers = students.answer(asked, fit, rng=rng, phase=FIRST_PHASE)
    traps = choose_traps(student_answers, min_answers=size.assessors)
    questions = draw_questions(pairs, size.questions, rng=rng, avoid=asked, assessors=size.assessors)
    questions = mix_traps(questions, traps, every=size.trap_every, assessors=size.assessors, rng=rng)
    check = check_workers(workers.answer(questions, fit, rng=rng, phase=SECOND_PHASE), rule=rule)
    return SimulatedSrbench(
        pairs,
        fit,
        student_answers,
        traps,
        questions,
        workers,
        check,
        _taken_over(check, workers, fit, rng),
        draw_runs(rng, fit, dict(size.skills), depth=size.depth),
    )


def _taken_over(check: WorkerCheck, workers: SimulatedCrowd, fit: LatentFit, rng: np.random.Generator) -> Preferences:
    """Let others answer what rejected workers answered."""
    kept = check.kept_answers().without_traps()
    again = check.ask_again()
    if not again.height:
        return kept
    others = workers.without({*check.rejected})
    return Preferences.concat([kept, others.answer(again, fit, rng=rng, phase=SECOND_PHASE, before=kept)])
