"""`provider: rules` behind the same query: deterministic, free, fast, and without an opinion."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest
from support.faulty_server import REVIEW_CHOICE, REVIEW_TOOL

from core.backend import MemoryLog, ModelClient, ModelSettings, query
from core.storage.repository import RunStore
from utils.errors import ConfigError, ReplyError


class Writer:
    """A repertoire of one program."""

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        return f"{context['operator']}\n```python\nx = {rng.random()}\n```"


def model_client(run_seed: int = 1, log: Any = None) -> ModelClient:
    return ModelClient({"code": ModelSettings()}, log=log or MemoryLog(), rules=Writer(), run_seed=run_seed)


def test_same_seed_same_reply_and_every_counter_another() -> None:
    def reply(seed: int, node: str, attempt: int) -> str:
        return model_client(seed).bind("code", node)("s", "u", context={"operator": "draft"}, attempt=attempt)

    assert reply(1, "n", 0) == reply(1, "n", 0)
    assert len({reply(1, "n", 0), reply(2, "n", 0), reply(1, "m", 0), reply(1, "n", 1)}) == 4


def test_it_is_recorded_without_tokens_and_dollars() -> None:
    log = MemoryLog()
    used = model_client(log=log)
    used.bind("code", "n")("s", "u", context={"operator": "draft"})
    (record,) = log.records.values()
    assert record.provider == "rules"
    assert (record.prompt_tokens, record.completion_tokens, record.cost_usd) == (None, None, None)
    usage = used.usage_of("n")
    assert (usage.writer, usage.prompt_tokens, usage.cost_usd) == ("rules", None, None)
    assert used.ledger.spent.tokens == 0


@pytest.mark.parametrize(
    ("facts", "is_bug", "has_csv", "said"),
    [
        ({"exit_code": 0, "files": ["submission/submission.csv"]}, False, True, "Ran to its end"),
        ({"exit_code": 1}, True, False, "exit code 1"),
        ({"exc_type": "KeyError", "message": "no column"}, True, False, "Raised KeyError: no column"),
        ({"failure": "timeout"}, True, False, "timeout"),
        ({"failure": None, "exc_type": None, "has_csv_submission": True, "term_out": "score: 0.9"}, False, True, "Ran"),
    ],
)
def test_a_review_says_what_the_run_showed(facts: dict[str, Any], is_bug: bool, has_csv: bool, said: str) -> None:
    text = model_client().bind("feedback", "n")("s", "u", tools=[REVIEW_TOOL], tool_choice=REVIEW_CHOICE, context=facts)
    review = json.loads(text)
    assert (review["is_bug"], review["has_csv_submission"]) == (is_bug, has_csv)
    assert said in review["summary"]
    assert "metric" not in review


def test_other_tools_and_missing_repertoires_are_told() -> None:
    with pytest.raises(ReplyError, match="cannot fill in the tool 'other'"):
        model_client().bind("code", "n")("s", "u", tools=[{"name": "other"}], context={})
    with pytest.raises(ConfigError, match=r"llm\.code\.provider"):
        query("s", "u", "rules", provider="rules")


def test_a_writer_that_fails_is_recorded_as_no_answer_to_that_prompt() -> None:
    """Also where it would not fail again: a replay reads what happened. What the machine lacks is no fault of it."""

    class Faulty(Writer):
        faults: ClassVar[list[Exception]] = [TypeError("'>' not supported"), OSError("no room")]

        def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
            if self.faults:
                raise self.faults.pop(0)
            return super().write(context, rng)

    log = MemoryLog()
    ask = ModelClient({"code": ModelSettings()}, log=log, rules=Faulty(), run_seed=1).bind("code", "n")
    for _ in range(2):
        with pytest.raises(
            ReplyError, match=r"own writer failed: TypeError: '>' not supported \(test_backend_rules.py"
        ):
            ask("s", "u", context={"operator": "draft"})
    with pytest.raises(OSError, match="no room"):
        ask("s", "u", context={"operator": "draft"}, attempt=1)
    assert len(log.records) == 1 and "x = " in ask("s", "u", context={"operator": "draft"}, attempt=1)


def test_half_characters_reach_neither_store_nor_reply(tmp_path: Path) -> None:
    """A program can print them, and a model can write them as \\ud800 in JSON."""

    class Odd(Writer):
        def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
            return "x = '\ud800'"

    store = RunStore(tmp_path / "run")
    used = ModelClient({"code": ModelSettings()}, log=store, rules=Odd())
    text = used.bind("code", "n")("s", "it printed \udfff", context={"parents": ["\ud800"]})
    assert text == "x = '?'"
    (record,) = store.calls()
    store.close()
    assert (record.user, record.reply) == ("it printed ?", "x = '?'")


def test_one_shot() -> None:
    text = query("s", "u", "rules", provider="rules", rules=Writer(), context={"operator": "draft"}, seed=5)
    assert text == query("s", "u", "rules", provider="rules", rules=Writer(), context={"operator": "draft"}, seed=5)


def test_2000_calls_a_second() -> None:
    """End to end with prompts of 10 kB and a parent of 5 kB, the store apart; best of five, in CPU seconds."""
    context = {"operator": "improve", "parents": [{"code": "x = 1\n" * 800}]}
    rates = []
    for _ in range(5):
        used, started = model_client(), time.process_time()
        for node in range(400):
            used.bind("code", str(node))("s" * 2000, "u" * 8000, context=context)
        rates.append(400 / (time.process_time() - started))
    print(f"rules: {statistics.median(rates):.0f} calls a CPU second (median of 5)")
    assert max(rates) >= 2000
