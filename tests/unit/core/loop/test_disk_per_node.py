"""What a node leaves on the disk, by the real loop and store: programs of 4 KB and 300 lines of output."""

from __future__ import annotations

import random

import pytest
from support.loop import open_loop
from support.plugins.toy import ToyEvaluator

from agents.coder_agent import CoderAgent
from core.contracts import Evaluation
from core.storage.database import DB_NAME
from core.storage.store_check import check_store

pytestmark = pytest.mark.long

EARLY, STEPS = 60, 180
KILOBYTES = 6.4
"""Of the store, a node: its tables, indexes, links and idle pages. In longer runs it is 6.0: fewer lie idle."""


class Strangers:
    """Programs that share their shape and no figure: nothing is saved but what each line has in common."""

    def write(self, context, rng: random.Random) -> str:
        lines = ["import numpy as np", "import pandas as pd", "", "", "def features(frame):"]
        lines += [
            f"    frame['f{n}'] = frame['c{rng.randrange(80)}'] * {rng.random():.6f} + {rng.randrange(999)}"
            for n in range(80)
        ]
        return "Another set of features.\n```python\n" + "\n".join(lines) + "\n    return frame\n```\n"


class Children:
    """Programs as models write them: the parent's, with two lines changed."""

    def write(self, context, rng: random.Random) -> str:
        parent = (context.get("parents") or [{}])[0].get("code") or Strangers().write(context, rng).split("```")[1][7:]
        lines = parent.splitlines()
        for _ in range(2):
            lines[5 + rng.randrange(80)] = f"    frame['g{rng.randrange(99)}'] = frame['c1'].rank() ** {rng.random()}"
        return "Ranks.\n```python\n" + "\n".join(lines) + "\n```\n"


class Logs(ToyEvaluator):
    """300 lines of a training's log, figures all different."""

    def evaluate(self, nodes):
        return [self._verdict(random.Random(node.code)) for node in nodes]

    def _verdict(self, rng: random.Random) -> Evaluation:
        lines = (f"fold {n % 5} epoch {n} loss {rng.random():.8f} auc {rng.random():.8f}\n" for n in range(300))
        return Evaluation(metric=rng.random(), source="verified", term_out="".join(lines))


@pytest.mark.parametrize("writer", [Strangers, Children])
def test_a_node_takes_at_most_so_much_of_the_disk(tmp_path, writer):
    sizes = {}
    for steps in (EARLY, STEPS):  # the second goes on where the first ended
        loop = open_loop(tmp_path, steps=steps, writer=writer(), evaluator=Logs())
        loop.orchestrator._stages._agents = {"*": CoderAgent()}
        loop.run()
        sizes[steps] = (tmp_path / DB_NAME).stat().st_size
    assert (sizes[STEPS] - sizes[EARLY]) / (STEPS - EARLY) <= KILOBYTES * 1024
    assert check_store(tmp_path).chain.findings == []
