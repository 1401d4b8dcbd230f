"""What a run's calls cost, as its store and the file beside it tell, also of those that were never answered."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core.contracts import CallRecord
from core.storage.holds import FILE
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from reports.bill import bill, unanswered
from reports.conclusion import conclusion_of


def told(run_dir: Path) -> str:
    with RunReader(run_dir) as reader:
        text = bill(reader.cost())
        assert conclusion_of(reader).bill == text
        return text


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    store = RunStore(tmp_path)
    yield store
    store.close()


def answered(store: RunStore, name: str) -> None:
    store.hold_call(name, 9000, 0.09)
    record = CallRecord(
        request_hash="ab" * 32, sample=name, role="code", provider="openai", model="m", node_id="n", reply="x",
        finish_reason="stop", prompt_tokens=1200, completion_tokens=34, cost_usd=0.0032,
    )  # fmt: skip
    store.save_call(record, name)


def test_a_call_that_broke_off_is_told_beside_the_bill_and_not_in_it(store: RunStore):
    answered(store, "first")
    assert told(store.run_dir) == "1 call, 1,234 tokens, $0.0032"
    store.hold_call("broken", 9000, 0.09)
    store.hold_call("killed", 9000, 0.09)
    more = "at most $0.1800 more for 2 calls that were sent and have no answer here: the provider may bill them"
    assert told(store.run_dir) == f"1 call, 1,234 tokens, $0.0032; {more}"
    store.drop_hold("killed")
    assert "at most $0.0900 more for 1 call that was sent and has" in told(store.run_dir)


def test_a_hold_whose_answer_is_stored_is_none_after_a_kill_before_it_was_let_go_of(store: RunStore):
    store.drop_hold = lambda name: None  # type: ignore[method-assign]  # killed between the two
    answered(store, "first")
    assert "first" in (store.run_dir / FILE).read_text()
    assert told(store.run_dir) == "1 call, 1,234 tokens, $0.0032"


def test_a_run_whose_only_call_broke_off_has_a_bill(store: RunStore):
    store.hold_call("broken", 9000, 0.09)
    assert told(store.run_dir).startswith("no call was answered; at most $0.0900 more for 1 call that was sent")


def test_the_rules_have_no_bill(store: RunStore):
    assert told(store.run_dir) == ""


def test_who_only_looks_is_shown_a_run_whose_holds_cannot_be_read(store: RunStore):
    answered(store, "first")
    (store.run_dir / FILE).write_text("5\n")
    with RunReader(store.run_dir) as reader:
        assert unanswered(reader.cost()) == ""
