"""What is wrong is said before anything runs."""

from __future__ import annotations

import pytest

from runs.beginning.preflight import preflight
from runs.beginning.run_plan import planned
from utils.config import load_config
from utils.errors import ConfigError


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["initial=nowhere.py"], "initial=nowhere.py: no such file"),
        (["prompts.dir=nowhere"], "prompts.dir=nowhere: no such folder"),
        (["search.policy=generations", "search.schedule=async"], "search.schedule=async"),
        (["llm.code.provider=openai", "llm.code.model=m"], "OPENAI_API_KEY"),
        (
            ["llm.code.provider=openai", "llm.code.model=m", "llm.code.api_key=${env:NO_KEY}"],
            "(${env:NO_KEY} is not set)",
        ),
    ],
)
def test_the_first_fault_is_one_line(toy_config, words, said):
    with pytest.raises(ConfigError) as caught:
        preflight(toy_config(3, *words))
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_where_no_model_is_asked_no_key_is_needed(toy_config):
    preflight(toy_config(3, "llm.code.provider=openai", "llm.code.model=m"), calls_models=False)
    preflight(toy_config(3))


def test_a_plan_says_that_a_models_server_is_not_there():
    """The quote was for a search that could not have begun."""
    model = ["llm.code.provider=openai", "llm.code.base_url=http://127.0.0.1:9/v1", "llm.code.model=m"]
    plan = planned(load_config(overrides=model, presets={"problem": "bin_packing"}))
    assert "nothing answers at http://127.0.0.1:9/v1 yet: start that server" in plan["warnings"]


@pytest.mark.parametrize(("problem", "few"), [("bin_packing", True), ("connect_four", False)])
def test_an_arena_counts_generations_and_is_not_told_to_take_more_proposals(problem, few):
    plan = planned(load_config(overrides=["search.max_steps=4"], presets={"problem": problem}))
    assert plan["proposals"] == 4 and any("too few to search" in warning for warning in plan["warnings"]) == few
