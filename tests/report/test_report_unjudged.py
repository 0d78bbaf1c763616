"""A report says how much nobody judged, with the numbers of an evaluation."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import earmark
from earmark.report.unjudged_note import unjudged_note


def test_the_note_has_the_bounds_of_an_evaluation() -> None:
    made = earmark.synthetic_collection(np.random.default_rng(4), systems=3, queries=8, documents=60)
    some = replace(made.judgments, frame=made.judgments.frame[::2])
    frame = earmark.evaluate(made.runs, some, ["AG@5"]).means_with_bounds()
    widest = frame.row(int(frame["unjudged"].arg_max() or 0), named=True)
    (note,) = unjudged_note(earmark.Campaign.build(made.runs, some, measure="AG@5"))
    assert f"to {100 * widest['unjudged']:.0f}% of a system's results" in note
    assert f"'{widest['system']}', of which most is open, scores " in note
    bounds = [float(number) for number in re.findall(r"0\.\d+", note)]
    assert bounds == pytest.approx([widest["value_low"], widest["value_high"]], abs=1e-4)
    (other,) = unjudged_note(earmark.Campaign.build(made.runs, some, measure="nDCG@5"))
    assert "whatever these are worth" not in other
    assert unjudged_note(earmark.Campaign.build(made.runs, made.judgments, measure="AG@5")) == []
