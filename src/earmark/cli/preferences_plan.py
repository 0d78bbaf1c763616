"""``earmark preferences plan``, and ``earmark plan`` for campaigns of kind prefer: how many answers will be needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from earmark.cli import folder, folder_views
from earmark.cli.campaign_options import Stopping
from earmark.cli.options import Helping, Inputs, Seed
from earmark.cli.output import Output
from earmark.cli.plan import Simulating, Work, print_plan
from earmark.cli.preferences_next import Candidates, PairPolicyName, load_campaign
from earmark.wording import counted

if TYPE_CHECKING:
    from earmark.campaign.pairs.campaign import PairCampaign


def plan(
    inputs: Inputs,
    which: Candidates,
    stopping: Stopping,
    work: Work,
    simulating: Simulating,
    helping: Helping,
    out: Output,
    policy: PairPolicyName = "adaptive",
    seed: Seed = 0,
) -> None:
    """Estimate how many answers about pairs of documents a campaign will take, before anybody answers.

    What people prefer is drawn from the model several times, and the campaign is simulated on each draw until the stop
    rule is reached. Before the first answer nobody knows how much people agree with systems and with each other; this
    is drawn too, so ranges are wide. With answers so far, the plan counts those still to be given. A judgment is one
    person's answer; stop rules count questions with all their answers.

    Parameters
    ----------
    batch
        How many questions are asked at a time. When omitted, 20, or a thirtieth of the open questions where that is
        more.

    Examples
    --------
    earmark preferences plan runs.tsv --candidates pairs.csv --answers 6 --stop mean:0.95
    earmark preferences plan runs.tsv --preferences answers.csv --stop top:1 --seconds-per-judgment 40 --cost 0.1
    """
    if folder.folder_of(inputs.runs) is not None:
        plan_stored(out, inputs.runs, stopping, work, simulating, helping, policy=policy, seed=seed)
        return
    stop = stopping.rule
    campaign = load_campaign(out, inputs, which, policy=policy, seed=seed, stop=stop)
    _plan(out, inputs.runs, campaign, work, simulating, helping)


def plan_stored(
    out: Output,
    runs: list[Path],
    stopping: Stopping,
    work: Work,
    simulating: Simulating,
    helping: Helping,
    *,
    policy: str | None,
    seed: int,
) -> None:
    """Plan a stored campaign of kind prefer: ``earmark plan``."""
    path = folder.folder_of(runs)
    assert path is not None
    wanted = {f"estimates.{name}": value for name, value in stopping.settings().items()} | {"estimates.seed": seed}
    wanted |= {} if policy is None else {"estimates.policy": policy}
    _plan(out, runs, folder_views.load_stored_pairs(out, path, wanted), work, simulating, helping)


def _plan(
    out: Output, runs: list[Path], campaign: PairCampaign, work: Work, simulating: Simulating, helping: Helping
) -> None:
    import numpy as np

    from earmark.campaign.pairs.plan import plan_pairs

    problem = campaign.problem
    left = int(np.maximum(problem.needed - campaign.answers.total, 0)[problem.design.matters].sum())
    with out.progress(simulating.repeats * left, "simulating") as advance:
        found = plan_pairs(
            campaign,
            repeats=simulating.repeats,
            batch=simulating.batch,
            progress=advance,
            jobs=helping.jobs,
            cluster=helping.cluster,
        )
    for note in found.notes():
        out.note(note)
    answers = counted(problem.needed, "answer")
    title = f"preference precision, policy {problem.policy}, stop {problem.stop}, {answers} a question"
    print_plan(out, found, runs, work, title=title)
