"""Policies and selectors of plug-ins: a slip in one is a line that names it, and no budget is passed by it."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from core.state.journal import Journal
from core.state.node import Node
from runs.parts.policies import policy_of
from utils.config import load_config
from utils.errors import ConfigError

HEAD = """
from core.contracts import ParentSelector, Proposal, SearchPolicy
from utils.strategies import Options, PolicyOptions, PolicySpec, SelectorSpec

class Mine(PolicyOptions):
    "Mine."
"""
BUILT = "POLICY = PolicySpec(Mine, lambda options, deps: P(), ('generate', 'mutate'))\n"


def policy(tmp_path: Path, text: str, *words: str):
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "mine.py").write_text(HEAD + text)
    keys = ["search.policy=mine", f"plugins={tmp_path}", *words]
    return policy_of(load_config(None, keys, env={}, check_presets=False))


def asked(tmp_path: Path, body: str):
    found = policy(tmp_path, f"class P:\n    def tell(self, journal, node): {{}}['x']\n    def ask({body}\n{BUILT}")
    return found.ask(Journal(), random.Random(0), 2)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("self, journal, rng, k): pass", "ask gives None, not a list of core.contracts.Proposal"),
        ("self, journal, rng, k): return ['generate']", "ask gives ['generate'], not a list of"),
        ("self, journal, rng, k): return 1 / 0", "ask raises ZeroDivisionError: division by zero (line 9 of "),
        ("self, journal): return []", "ask raises TypeError: P.ask() takes 2 positional arguments but 4 were given"),
        ("self, journal, rng, k): return [Proposal(operator='generate')] * 9", "gives 9 proposals; allowed: 1 to 2"),
        (
            "self, journal, rng, k): return [Proposal(operator='generate', parents=('abc',))]",
            "the parent 'abc'; no node",
        ),
        ("self, journal, rng, k): return [Proposal(operator='mutate')]", "mutate with 0 parents; it needs 1"),
    ],
)
def test_what_ask_does_wrong_is_one_line(tmp_path, body, told):
    """Nine proposals for two steps ran nine; the others were tracebacks of ours."""
    with pytest.raises(ConfigError) as refused:
        asked(tmp_path, body)
    assert str(refused.value).startswith("search.policy=mine: ") and told in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("class P(SearchPolicy):\n    def tell(self, journal, node): pass\n" + BUILT, "no `ask`; needed: ask, tell"),
        ("POLICY = PolicySpec(Mine, lambda options, deps: None, ('draft',))", "build gives None, which has no `ask`"),
        ("POLICY = PolicySpec(Mine, lambda options: 1, ('draft',))", "build raises TypeError: "),
        ("POLICY = PolicySpec(dict, lambda options, deps: 1, ('draft',))", "options=<class 'dict'>: a class of Policy"),
        ("POLICY = PolicySpec(Mine, 5, ('draft',))", "build=5: a function is needed"),
        ("POLICY = PolicySpec(Mine, lambda options, deps: 1, ('draft'))", "operators='draft': a tuple of names"),
    ],
)
def test_a_policy_that_cannot_be_used_is_refused_before_anything_runs(tmp_path, text, told):
    with pytest.raises(ConfigError) as refused:
        policy(tmp_path, text)
    assert "search.policy=mine: " in str(refused.value) and told in str(refused.value)


def test_a_policy_need_not_inherit_ours(tmp_path):
    text = "class P:\n    def ask(self, journal, rng, k): return []\n    def tell(self, journal, node): {}['x']\n"
    found = policy(tmp_path, text + BUILT, "search.control=0.5")
    assert found.ask(Journal(), random.Random(0), 1) == [] and found.drain_events() == []
    assert found.finished_generations is None
    journal = Journal()
    with pytest.raises(ConfigError, match=r"search\.policy=mine: tell raises KeyError: 'x' \(line 9 of "):
        found.tell(journal, journal.append(Node(code="x = 1")))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return None", "select gives None, not a list of nodes of the pool"),
        ("return list(pool)", "gives 3 nodes; allowed: up to 2, each once"),
        ("return [pool[0], pool[0]]", "each once"),
        ("return pool[9]", "select raises IndexError"),
    ],
)
def test_what_a_selector_does_wrong_is_one_line(tmp_path, body, told):
    (tmp_path / "selectors").mkdir()
    text = (
        f"class S(ParentSelector):\n    def __init__(self, options): pass\n    def select(self, pool, k, rng): {body}\n"
    )
    (tmp_path / "selectors" / "mine.py").write_text(f"{HEAD}{text}SELECTOR = SelectorSpec(Mine, S)\n")
    keys = ["search.policy=islands", "search.islands.selection=mine", f"plugins={tmp_path}"]
    selector = policy_of(load_config(None, keys, env={}, check_presets=False)).islands[0].selector
    with pytest.raises(ConfigError) as refused:
        selector.select([Node(code=f"x = {n}", metric_value=1.0) for n in range(3)], 2, random.Random(0))
    assert str(refused.value).startswith("search.islands.selection=mine: ") and told in str(refused.value)
