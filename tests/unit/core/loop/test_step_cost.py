"""What a step costs, counted instead of timed: statements of the store and parses of the program, at every length."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from support.loop import open_loop
from support.plugins.toy import ToyEvaluator

import utils.syntax
from agents.coder_agent import CoderAgent
from core.contracts import Evaluation

TRANSACTIONS = 3
"""A node's call, its verdict, and half of opening and of committing its round of two."""
ROWS = 18
"""What it writes: a call, a verdict, a task, a node, four events and a half, its texts, and a link a transaction."""


class Programs:
    """Whole programs, all different."""

    def write(self, context, rng: random.Random) -> str:
        body = "\n".join(f"    x{i} = frame['c{rng.randrange(50)}'] * {rng.random()}" for i in range(20))
        return f"Features.\n```python\ndef features(frame):\n{body}\n    return x0\n```\n"


class Scores(ToyEvaluator):
    def evaluate(self, nodes):
        return [Evaluation(metric=random.Random(node.code).random(), source="verified", term_out="x\n" * 300)
                for node in nodes]  # fmt: skip


@pytest.fixture(params=[2, 8])
def spent(request, tmp_path, monkeypatch):
    """Up to each of 80 steps, in rounds of two and of eight: (reads, transactions, other writes, parses)."""
    statements: list[str] = []
    parses: list[str] = []
    told: dict[int, tuple[int, int, int, int]] = {}
    own = utils.syntax.parse
    monkeypatch.setattr(utils.syntax, "parse", lambda source: parses.append(source) or own(source))
    utils.syntax.parse_shared.cache_clear()

    def stop(progress):
        verbs = Counter(statement.split()[0] for statement in statements)
        told[progress.steps] = verbs["SELECT"], verbs["BEGIN"], driver.total_changes, len(parses)
        return "enough" if progress.steps >= 80 else None

    loop = open_loop(tmp_path, steps=80, batch=request.param, writer=Programs(), evaluator=Scores(), stop=stop)
    loop.orchestrator._stages._agents = {"*": CoderAgent()}
    driver = loop.store.db._connection
    driver.set_trace_callback(statements.append)
    loop.run()
    return told


def test_a_program_is_parsed_once(spent):
    assert spent[80][3] == 80


@pytest.mark.parametrize("begin", [24, 56])
def test_a_step_reads_nothing_and_writes_little_at_any_length(spent, begin):
    reads, transactions, rows, _ = (
        after - before for before, after in zip(spent[begin], spent[begin + 24], strict=True)
    )
    assert reads == 0
    assert transactions <= 24 * TRANSACTIONS
    assert rows <= 24 * ROWS
