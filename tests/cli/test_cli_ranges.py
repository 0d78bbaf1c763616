"""Numbers beyond all use are refused at once, with the option named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from called import Cli, Files

HUGE = "99999999999999"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("evaluate {} -m AG@99999999999999999999", "AG@99999999999999999999: a cutoff is at most 10,000,000"),
        ("evaluate {} -m P_99999999999999999999", "a cutoff is at most 10,000,000"),
        (f"evaluate {{}} -m AG@{'9' * 5000}", "a cutoff is at most 10,000,000"),
        ("rank {} -m nDCG(ideal=scale)@1000000000", "a cutoff is at most 10,000,000; without one, whole lists count"),
        ("evaluate {} -m nDCG(ideal=scale)@1000000000", "a cutoff is at most 10,000,000"),
        (
            "evaluate {} --scale 0..100000000",
            "at most 10,000 levels above 0, got 0..100000000: 0.0..100000000.0 is",
        ),
        ("rank {} --scale 0..99999999999999999999", "a scale has at most 10,000 levels above 0"),
        (f"compare {{}} --test permutation --resamples {HUGE}", "--resamples"),
        (f"rank {{}} --samples {HUGE}", "--samples"),
        (f"simulate {{}} --repeats {HUGE}", "--repeats is at most 2,147,483,647, got 99999999999999"),
        (f"features {{}} -k {HUGE}", "--depth is at most 2,147,483,647"),
        (f"next {{}} -n {HUGE}", "--count is at most 2,147,483,647"),
        (f"curves {{}} -k {HUGE}", "--cutoff is at most 2,147,483,647"),
        ("plan {} --seconds-per-judgment inf", "--seconds-per-judgment is a finite number, got inf"),
        ("plan {} --cost inf", "--cost is a finite number, got inf"),
        ("rank {} --margin inf", "--margin is a finite number, got inf"),
        ("compare {} --alpha nan", "--alpha is a finite number, got nan"),
        ("diagnose {} --share 0.5 --share inf", "--share is a finite number, got inf"),
        ("crowd aggregate answers.csv --prior inf", "--prior is a finite number, got inf"),
        ("crowd aggregate answers.csv --prior nan", "--prior is a finite number, got nan"),
        ("crowd clips a.wav --seconds inf -o out", "--seconds is a finite number, got inf"),
        (f"crowd agree answers.csv --resamples {HUGE}", "--resamples"),
        (f"preferences precision runs.tsv --preferences p.csv -k {HUGE}", "--depth is at most 2,147,483,647"),
    ],
)
def test_numbers_beyond_all_use(cli: Cli, files: Files, command: str, said: str) -> None:
    told = cli(*command.format(f"{files.runs} -j {files.judgments}").split())
    assert (told.code, told.out, told.err.count("\n")) == (2, "", 1)
    assert said in told.err


@pytest.mark.parametrize(
    "command",
    [
        "rank {} -m AG@2 --seed 99999999999999999999999",
        "evaluate {} -m accuracy@2 --collection-size 5000000000",
        "evaluate {} -m nDCG(ideal=scale)@10000000",
        "rank {} -m AG@0000000000000000000000002",
        "evaluate {} --scale 0..10000",
    ],
)
def test_large_numbers_that_have_a_use(cli: Cli, files: Files, command: str) -> None:
    assert cli(*command.format(f"{files.runs} -j {files.judgments}").split()).code == 0


@pytest.mark.parametrize("use", ["[1, 0, 2]", "[NaN, 1]", "[-1, 1]", "[Infinity]", f"[{'9' * 400}]", '["x"]', "3"])
def test_a_prior_with_shares_that_are_none(cli: Cli, files: Files, tmp_path: Path, use: str) -> None:
    prior = tmp_path / "prior.json"
    assert cli("fit", files.runs, "-j", files.judgments, "--predictor", "hierarchical", "-o", prior).code == 0
    told = json.loads(prior.read_text())
    told["level_use"] = "USE"
    prior.write_text(json.dumps(told).replace('"USE"', use))
    said = cli("rank", files.runs, "-j", files.judgments, "--model", prior)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert f"{prior}: expected name, coefficients and variances" in said.err


@pytest.mark.parametrize("predictor", ["hierarchical", "ordinal"])
@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, "[" * 100_000 + "]" * 100_000])
def test_models_nested_too_deeply(cli: Cli, files: Files, tmp_path: Path, predictor: str, text: str) -> None:
    model = tmp_path / "model.json"
    model.write_text(text)
    said = cli("rank", files.runs, "-j", files.judgments, "--predictor", predictor, "--model", model)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert f"{model}: expected a" in said.err
    assert "brackets nested too deeply" in said.err
