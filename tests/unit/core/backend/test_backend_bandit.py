"""The choice of a model: frequencies, cost, and the same again on resume."""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import replace

import pytest

from core.backend import MemoryLog, ModelClient
from core.backend.bandit import ModelChooser
from core.backend.settings import ModelSettings, Price
from utils.bandit import Bandit


def role(choice: str, *weights: float) -> ModelSettings:
    arms = tuple(
        ModelSettings(provider="openai", model=f"m{i}", weight=weight, choice=choice)  # type: ignore[arg-type]
        for i, weight in enumerate(weights)
    )
    return ModelSettings(provider="openai", model="m0", models=arms, choice=choice)  # type: ignore[arg-type]


def test_weights_are_frequencies() -> None:
    chooser, settings = ModelChooser(1), role("weighted", 1.0, 3.0)
    drawn = Counter(chooser.choose(settings, str(i), "code").model for i in range(4000))
    assert abs(drawn["m1"] / 4000 - 0.75) < 3 * math.sqrt(0.75 * 0.25 / 4000)


@pytest.mark.parametrize("choice", ["weighted", "bandit"])
def test_a_choice_depends_on_counters_only(choice: str) -> None:
    nodes = [str(i) for i in range(50)]
    settings = role(choice, 1, 1, 1)
    first, second = ModelChooser(7), ModelChooser(7)
    forward = {node: first.choose(settings, node, "code").model for node in nodes}
    backward = {node: second.choose(settings, node, "code").model for node in reversed(nodes)}
    assert forward == backward
    assert len(set(forward.values())) == 3


def test_repairs_go_to_the_same_model() -> None:
    chooser, settings = ModelChooser(1), role("bandit", 1, 1)
    chosen = chooser.choose(settings, "n", "code")
    chooser.reward(settings.models[0].writer, 100.0, 0.1)
    chooser.reward(settings.models[1].writer, 0.0, 0.1)
    assert chooser.choose(settings, "n", "code") is chosen


def test_finds_the_model_that_brings_more_for_the_money() -> None:
    """Equal gains, ten times the price: the cheap one must get the most of the calls; no clock, no threads."""
    bandit, rng, drawn = Bandit(), random.Random(0), Counter()
    names, price = ["dear", "cheap"], {"dear": 0.10, "cheap": 0.01}
    for _ in range(300):
        name = names[bandit.choose(names, rng)]
        drawn[name] += 1
        bandit.tell(name, 1.0 if rng.random() < 0.3 else 0.0, price[name])
    assert drawn["cheap"] > 0.8 * 300
    assert drawn["dear"] > 0


def test_a_free_model_that_never_improves_does_not_win() -> None:
    bandit, rng, drawn = Bandit(), random.Random(0), Counter()
    names = ["free", "paid"]
    for _ in range(2000):
        name = names[bandit.choose(names, rng)]
        drawn[name] += 1
        bandit.tell(name, 1.0 if name == "paid" else 0.0, 0.0 if name == "free" else 0.02)
    assert drawn["paid"] > 1800


def test_the_index_is_the_formula() -> None:
    bandit = Bandit()
    for name, gain, cost in (("a", 2.0, 0.1), ("a", 0.0, 0.1), ("b", 1.0, 0.05)):
        bandit.tell(name, gain, cost)
    scores = bandit._scores([bandit._arms["a"], bandit._arms["b"]])
    # Gains a call: 1 and 1; costs a call: 0.1 and 0.05, so the densities are 10 and 20.
    assert scores[0] == pytest.approx(0.5 + math.sqrt(2 * math.log(3) / 2))
    assert scores[1] == pytest.approx(1.0 + math.sqrt(2 * math.log(3) / 1))


def test_told_again_it_chooses_the_same() -> None:
    settings = role("bandit", 1, 1, 1)
    told = [(f"openai/m{i % 3}", float(i % 5 == 0), 0.01 * (1 + i % 3)) for i in range(30)]
    first, resumed = ModelChooser(3), ModelChooser(3)
    for i, (writer, gain, cost) in enumerate(told):
        first.choose(settings, f"before{i}", "code")
        first.reward(writer, gain, cost)
    for writer, gain, cost in told:
        resumed.reward(writer, gain, cost)
    nodes = [f"after{i}" for i in range(20)]
    assert [first.choose(settings, n, "code") for n in nodes] == [resumed.choose(settings, n, "code") for n in nodes]


def test_worthless_and_odd_gains_are_no_gains() -> None:
    bandit = Bandit()
    for gain in (float("nan"), float("inf"), -3.0):
        bandit.tell("a", gain, None)
    assert bandit._arms["a"].gain == 0.0


def test_a_node_is_priced_by_its_tokens_as_listed() -> None:
    """Not by what was paid: a rerun is answered by the cache for 0 dollars, and must choose the same models."""
    models = tuple(
        ModelSettings(provider="openai", model=name, price=Price(cost, cost)) for name, cost in (("a", 1), ("b", 9))
    )
    client = ModelClient({"code": replace(models[0], models=models, choice="bandit")}, log=MemoryLog())
    for node in range(6):
        tokens = {"prompt_tokens": 1000, "completion_tokens": 500 + node}
        client.reward(str(node), 1.0, writer=f"openai/{'ab'[node % 2]}", **tokens)
    arms = client._chooser._bandit._arms
    assert arms["openai/a"].cost == pytest.approx(1e-6 * (3000 + 1500 + 0 + 2 + 4))
    assert arms["openai/b"].cost == pytest.approx(9e-6 * (3000 + 1500 + 1 + 3 + 5))
    client.reward("x", 0.0, writer="baseline")
    client.reward("y", 0.0, writer="openai/a")
    assert arms["openai/a"].pulls == 4
