"""A resume reads no text of a long journal that nobody asks for, and tells and hashes what a whole one does."""

from __future__ import annotations

from collections import Counter

import pytest
from support.loop import open_loop

from core.loop import search_state
from core.state import journal as journal_module
from core.state.journal import Journal

STEPS = 90


@pytest.fixture
def long_run(tmp_path, monkeypatch):
    """A run of 90 steps of which eight nodes are kept whole and every tenth state of the summary is stored."""
    monkeypatch.setattr(journal_module, "WHOLE", 8)
    monkeypatch.setattr(search_state, "SUMMARY_EVERY", 10)
    open_loop(tmp_path / "run", steps=STEPS).run()
    return tmp_path / "run"


def restored(folder):
    """The resumed loop, and how often the texts of each node have been read by then."""
    loop, read = open_loop(folder, steps=STEPS), Counter()
    texts = loop.store.texts

    def counted(node_id):
        read[node_id] += 1
        return texts(node_id)

    loop.store.texts = counted
    loop.orchestrator.restore()
    return loop, read


def test_few_texts_are_read_and_every_answer_is_that_of_a_whole_journal(long_run):
    loop, read = restored(long_run)
    assert len(read) <= 10, "the newest nodes, and those behind the newest state of the summary"
    whole = Journal(loop.store.nodes(), lower_is_better=loop.journal.lower_is_better)
    for tokens in (100, 300, 100_000):
        assert loop.journal.generate_summary(max_tokens=tokens) == whole.generate_summary(max_tokens=tokens)
    assert [n.id for n in loop.journal.told_programs(200)] == [n.id for n in whole.told_programs(200)]
    assert loop.journal.find_duplicate(whole.nodes[3].code) == whole.find_duplicate(whole.nodes[3].code) != None  # noqa: E711
    assert loop.journal.failures == whole.failures and loop.journal.steps == whole.steps == STEPS
    assert list(loop.journal) == list(whole)
    assert loop.journal.sha256 == whole.sha256
    loop.close()


def test_lines_at_the_end_are_told_without_those_before(long_run):
    loop, read = restored(long_run)
    before = len(read)
    loop.journal.generate_summary(max_tokens=100)
    assert len(read) - before < STEPS // 2
    loop.close()


def test_a_state_that_was_told_in_another_form_is_not_taken(long_run):
    loop, _ = restored(long_run)
    state = loop.journal.summary_state()
    assert not loop.journal.restore_summary({**state, "form": 0})
    assert not loop.journal.restore_summary({**state, "nodes": 3})
    assert loop.journal.restore_summary(state)
    loop.close()


def test_the_newest_state_before_what_is_open_is_taken(long_run):
    loop, _ = restored(long_run)
    search = loop.orchestrator._search
    kept = [state["nodes"] for state in loop.store.get_fact(search_state.SUMMARIES)]
    assert kept == [70, 80, 90]
    assert search._summary_of(None)["nodes"] == 90
    assert search._summary_of(85)["nodes"] == 80
    assert search._summary_of(5) is None
    loop.close()
