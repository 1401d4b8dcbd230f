"""Every option of a search policy can be set in the configuration, by its older name too, and reaches the policy."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.new_things import SELECTOR

import core.search
from core.state.journal import Journal
from core.state.node import Node
from runs.parts.policies import policy_of
from utils.config import check_config, load_config
from utils.errors import ConfigError
from utils.key_docs import meanings
from utils.older_keys import HOMES
from utils.strategies import POLICIES, SELECTORS, option_keys

PRESETS = Path(__file__).resolve().parents[4] / "config" / "problem"
OTHER: dict[str, Any] = {
    "num_drafts": 7, "debug_prob": 0.7, "max_debug_depth": 6, "merge_prob": 0.3, "exploration": 2.5, "questions": 4,
    "repairs": 5, "num_islands": 6, "per_island": 9, "population_size": 11, "selection": "rank", "tournament_size": 4,
    "temperature": 0.7, "migration": "ring", "migration_interval": 8, "reset_evaluations": 99,
    "stagnation_restart": 12, "crossover_prob": 0.05, "generate_prob": 0.45, "refine_interval": 3, "tune_interval": 13,
    "grid": {"length": {"low": 0, "high": 9, "bins": 3}},
}  # fmt: skip
"""A value of each older key that is not its default."""


def at(plain: Any, home: str) -> Any:
    for name in home.split("."):
        plain = plain[name] if isinstance(plain, dict) else getattr(plain, name)
    return plain


def plain_of(value: Any) -> Any:
    return {k: v.model_dump() for k, v in value.items()} if isinstance(value, dict) else value


@pytest.mark.parametrize("policy", POLICIES.names())
def test_every_policy_and_its_options_stand_at_the_door(policy: str):
    options = POLICIES.get(policy).options
    name = options.__name__.removesuffix("Options")
    assert getattr(core.search, f"{name}Options") is options and getattr(core.search, f"{name}Policy")


@pytest.mark.parametrize("policy", POLICIES.names())
def test_the_policy_is_built_with_its_options(policy):
    config = check_config({"search": {"policy": policy}})
    assert policy_of(config).options is config.search.options


@pytest.mark.parametrize("key", HOMES)
def test_an_older_key_sets_the_option_everywhere(key, tmp_path):
    value = OTHER[key]
    text = yaml.safe_dump(value, default_flow_style=True).splitlines()[0]
    (tmp_path / "c.yaml").write_text(yaml.safe_dump({"search": {key: value}}))
    for words in (
        {"overrides": [f"search.{key}={text}"]},
        {"env": {f"SWARM_EVO__SEARCH__{key.upper()}": text}},
        {"file": tmp_path / "c.yaml"},
    ):
        noted: list[str] = []
        config = load_config(**{"env": {}, "check_presets": False, **words}, note=noted.append)
        for home in HOMES[key]:
            assert plain_of(at(config.search, home)) == value, home
        assert len(noted) == 1 and f"search.{key} → search.{HOMES[key][0]}" in noted[0] and "\n" not in noted[0]


def test_every_older_key_leads_to_an_option_that_there_is():
    assert {f"search.{home}" for homes in HOMES.values() for home in homes} <= set(option_keys())
    assert set(OTHER) == set(HOMES)


def test_every_policy_hears_an_older_key_for_an_option_that_it_has():
    """`search.num_drafts=8` did nothing where the policy was `portfolio`, which has that option too."""
    for key in option_keys():
        _, policy, option = key.split(".", 2)
        assert option not in HOMES or f"{policy}.{option}" in HOMES[option], key


def test_an_older_key_of_a_stronger_layer_wins(tmp_path):
    """The preset says `three_phase.num_drafts: 4`; the same layer's newer name wins over the older."""
    (tmp_path / "c.yaml").write_text("presets: {problem: competition}\n")
    config = load_config(tmp_path / "c.yaml", ["search.num_drafts=2"], env={})
    assert config.search.options.num_drafts == 2 and config.search.mcts.num_drafts == 2
    config = load_config(tmp_path / "c.yaml", ["search.num_drafts=2", "search.three_phase.num_drafts=3"], env={})
    assert config.search.options.num_drafts == 3 and config.search.mcts.num_drafts == 2


def test_an_older_key_may_be_quoted(tmp_path):
    (tmp_path / "c.yaml").write_text("search: {questions: 3, batch: '${search.questions}'}\n")
    config = load_config(tmp_path / "c.yaml", env={}, check_presets=False)
    assert config.search.batch == 3


def test_the_newer_names_need_no_remark():
    noted: list[str] = []
    for problem in PRESETS.glob("*.yaml"):
        load_config(None, presets={"problem": problem.stem}, env={}, note=noted.append)
    assert noted == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["search.policy=iland"], ["search.policy=iland", "'islands'", "three_phase"]),
        (["search.islands.per_islnd=3"], ["unknown key 'search.islands.per_islnd'", "'search.islands.per_island'"]),
        (["search.ilands.per_island=3"], ["unknown key 'search.ilands'", "'search.islands'"]),
        (["search.islands.per_island=0"], ["search.islands.per_island=0", "allowed: whole number >= 1"]),
        (["search.mcts.num_drafts=x"], ["search.mcts.num_drafts='x'", "allowed: whole number >= 1"]),
        (["search.islands=5"], ["search.islands=5", "dictionary"]),
        (["search.islands.migration=star"], ["search.islands.migration='star'", "allowed: global | ring | all"]),
        (["search.islands.grid={x: {low: 2, high: 1, bins: 1}}"], ["search.islands.grid.x", "low must be below high"]),
        (["search.selectors.softmax.temperature=0"], ["search.selectors.softmax.temperature=0", "allowed: number > 0"]),
        (["search.selectors.softmx.temperature=1"], ["unknown key 'search.selectors.softmx'", "softmax"]),
    ],
)
def test_a_wrong_option_is_one_line(words, told):
    with pytest.raises(ConfigError) as refused:
        load_config(None, words, env={}, check_presets=False)
    assert "\n" not in str(refused.value)
    assert all(part in str(refused.value) for part in told), str(refused.value)


def test_an_unknown_selector_is_one_line():
    config = check_config({"search": {"policy": "islands", "islands": {"selection": "rnk"}}})
    with pytest.raises(ConfigError, match=r"search\.islands\.selection=rnk: unknown \(did you mean 'rank'\?\)"):
        policy_of(config)


def test_the_islands_preset_names_every_option():
    search = yaml.safe_load((PRESETS / "bin_packing.yaml").read_text())["search"]
    assert set(search["islands"]) == set(POLICIES.get("islands").options.model_fields)


def test_every_option_says_what_it_means():
    for spec in (*POLICIES.all().values(), *SELECTORS.all().values()):
        assert spec.options.__doc__, spec
        for name in spec.options.model_fields:
            assert meanings(spec.options).get(name), f"{spec.options.__name__}.{name}"


def test_a_selector_of_a_plug_in_folder(tmp_path):
    (tmp_path / "selectors").mkdir()
    (tmp_path / "selectors" / "newest.py").write_text(SELECTOR)
    keys = ["search.policy=islands", "search.islands.selection=newest", "search.selectors.newest.among=2"]
    config = load_config(None, [*keys, f"plugins={tmp_path}"], env={}, check_presets=False)
    journal = Journal(lower_is_better=True)
    pool = [journal.append(Node(code=f"x = {number}", metric_value=1.0, is_buggy=False)) for number in range(9)]
    chosen = policy_of(config).islands[0].selector.select(pool, 2, random.Random(0))
    assert {node.id for node in chosen} == {node.id for node in pool[-2:]} and config.search.selectors[
        "newest"
    ].among == 2
    with pytest.raises(ConfigError, match=r"search\.selectors\.newest\.amng"):
        load_config(None, [*keys, "search.selectors.newest.amng=2", f"plugins={tmp_path}"], env={}, check_presets=False)
