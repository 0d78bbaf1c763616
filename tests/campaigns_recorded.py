"""The files that the goldens of ``campaigns.json`` were recorded on, and how.

``campaigns.json`` holds numbers that ``rank``, ``next``, ``plan``, ``diagnose`` and ``describe`` printed before
campaigns were built from one problem and one log, on the collection that :func:`write_files` writes. Of ``next``,
priorities and marks are kept: ties are broken by draws. Those of the predictor ``hierarchical``, of the policy
``variance`` and by design were recorded again when the model, the rule or the least sample changed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from earmark.campaign.campaign import Campaign
from earmark.campaign.verdict import Inference
from earmark.data.scales import FINE
from earmark.simulation import SyntheticCollection, synthetic_collection

SAMPLE_SEED = 3


def made_up() -> SyntheticCollection:
    return synthetic_collection(np.random.default_rng(0), systems=5, queries=14, documents=120)


def recorded() -> list[dict[str, Any]]:
    return json.loads((Path(__file__).parent / "goldens" / "campaigns.json").read_text())


def write_files(folder: Path) -> None:
    made = made_up()
    lists = made.runs.to_polars().select("system", "query", "document")
    lists.write_csv(folder / "runs.tsv", separator="\t", include_header=False)
    made.metadata.frame.write_csv(folder / "metadata.csv")
    truth = made.judgments.frame.select("query", "document", "gain")
    truth.write_csv(folder / "truth.csv")
    order = np.random.default_rng(1).permutation(truth.height)
    for n in (40, 100):
        truth[np.sort(order[:n])].write_csv(folder / f"judged{n}.csv")
    binary = truth.with_columns((pl.col("gain") >= 50).cast(pl.Int64).alias("gain"))
    binary[np.sort(order[:40])].write_csv(folder / "binary40.csv")
    twice = truth[np.sort(order[:30])]
    second = twice.with_columns((pl.col("gain") * 0.9).round().alias("gain"), assessor=pl.lit("y"))
    alone = truth[np.sort(order[30:50])]
    named = [twice.with_columns(assessor=pl.lit("x")), second, alone.with_columns(assessor=pl.lit("x"))]
    pl.concat(named).write_csv(folder / "several.csv")
    for name, n, whole in (("sampled80.csv", 80, False), ("sampled110.csv", 110, False), ("whole90.csv", 90, True)):
        how = Inference(whole_queries=whole)
        campaign = Campaign.build(
            made.runs,
            measure="AG@5",
            scale=FINE,
            metadata=made.metadata,
            policy="proportional",
            inference=how,
            seed=SAMPLE_SEED,
        )
        sample = campaign.proposal_frame(campaign.propose(n)).select("query", "document", "sampled")
        judged = sample.join(truth, on=["query", "document"], how="left", maintain_order="left")
        judged.select("query", "document", "gain", "sampled").write_csv(folder / name)
