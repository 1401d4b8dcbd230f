"""What prompts tell of a program's limits."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.contracts import Limits
from core.executor import devices
from problems.registry import build_problem
from runs.parts.limits import models_of, told_limits
from utils.config import load_config

H100 = "NVIDIA H100 80GB HBM3"


@pytest.mark.parametrize(("gpus", "models", "told"), [
    (0, [], "no GPU, no network"), (1, [], "1 GPU, no network"), (1, [H100], f"1 GPU ({H100}), no network"),
    (2, ["NVIDIA A10", H100], f"2 GPUs (NVIDIA A10 or {H100}), no network"),
    (0.5, [H100], f"a GPU that others use too ({H100}), no network"),
])  # fmt: skip
def test_cards_are_told_by_their_models(gpus, models, told):
    problem = SimpleNamespace(limits=lambda limits: ["no limit of its own"])
    lines = told_limits(problem, Limits(seconds=30), gpus, models).splitlines()
    assert lines[0] == "- no limit of its own" and f"- {told}" in lines


def test_models_are_those_of_the_machine_where_programs_run(tmp_path, monkeypatch):
    (tmp_path / "nvidia0").touch()
    (tmp_path / "information").write_text(f"Model: \t {H100}\nGPU UUID: \t GPU-1\nDevice Minor: \t 0\n")
    monkeypatch.setattr(devices, "_EACH", (f"{tmp_path}/nvidia[0-9]*",))
    monkeypatch.setattr(devices, "_CARDS", f"{tmp_path}/information")
    monkeypatch.setattr(devices, "_NVIDIA", f"{tmp_path}/nvidia")
    assert models_of(load_config(None, ["execution.gpus=1"])) == [H100]
    assert models_of(load_config(None, [])) == []
    assert models_of(load_config(None, ["execution.gpus=1", "execution.runner=ray"])) == []


@pytest.mark.parametrize(("limits", "told"), [({}, 120), ({"cpu_seconds": 45.0}, 45)])
def test_who_writes_scripts_hears_of_the_processor_time_that_ends_them(limits, told):
    """On many cores `n_jobs=-1` passes it long before the wall clock does."""
    problem = build_problem(load_config(None, ["problem.name=digits"]))
    lines = told_limits(problem, Limits(seconds=30, **limits), 0).splitlines()
    assert lines[0] == f"- processor time {told} s of all processes and threads together"
