"""Every parameter of a search policy can be set in the configuration, and says in a preset what it is."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

from runs.composition import policy_of
from utils.config_schema import Config, SearchSection

PRESETS = Path(__file__).resolve().parents[3] / "config" / "problem"
OTHER = {
    "num_drafts": 7, "debug_prob": 0.7, "max_debug_depth": 6, "merge_prob": 0.3, "exploration": 2.5, "questions": 4,
    "repairs": 5, "num_islands": 6, "per_island": 9, "population_size": 11, "selection": "rank", "tournament_size": 4,
    "temperature": 0.7, "migration": "ring", "migration_interval": 8, "reset_evaluations": 99,
    "stagnation_restart": 12, "crossover_prob": 0.05, "generate_prob": 0.45, "refine_interval": 3, "tune_interval": 13,
    "grid": {"length": {"low": 0, "high": 9, "bins": 3}},
}  # fmt: skip
"""A value of each that is not its default."""


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        ("three_phase", "ThreePhasePolicy"),
        ("mcts", "MCTSPolicy"),
        ("islands", "IslandsPolicy"),
        ("generations", "GenerationsPolicy"),
    ],
)
def test_what_is_configured_reaches_the_policy(policy, name, monkeypatch):
    module = importlib.import_module(f"core.search.{policy}")
    signature = inspect.signature(getattr(module, name))
    seen: dict = {}

    def spy(*args, **kwargs):
        seen.update(signature.bind(*args, **kwargs).arguments)

    monkeypatch.setattr(module, name, spy)
    wanted = {key: OTHER[key] for key in signature.parameters if key != "seed"}
    assert all(SearchSection.model_fields[key].default != value for key, value in wanted.items())
    policy_of(Config.model_validate({"search": {"policy": policy, **wanted}}))
    assert {key: seen.get(key) for key in wanted} == wanted, "a key is not passed on as it was set"


def test_the_islands_preset_names_every_parameter():
    import yaml

    from core.search.islands import IslandsPolicy

    named = yaml.safe_load((PRESETS / "bin_packing.yaml").read_text())["search"]
    assert set(inspect.signature(IslandsPolicy).parameters) - {"seed"} <= set(named)
