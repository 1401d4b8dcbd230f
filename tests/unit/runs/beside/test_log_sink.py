"""`system.log` tells the run: steps, verdicts, calls, waits, failures, the best and the end."""

from __future__ import annotations

import re
import threading
import time
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.chat_server import ChatServer
from support.command_line import toy_words

from core.events import Event, GameMove, GameStarted, IslandMigrated, RunStarted, Warned
from core.storage.repository import RunStore
from runs.beside.log_sink import LINES, LogSink
from utils.logger_system import close, configure, log_msg

UNTOLD = {RunStarted, GameStarted, GameMove}
"""The first is told before the sink is there; single moves would drown the rest."""


@pytest.fixture
def log(tmp_path):
    """(RunLog, lines so far) of a run with a store."""
    run_log = configure(tmp_path / "run", secrets=["s3cret-value"], level="DEBUG", link=False)
    store = RunStore(tmp_path / "run")
    sink = LogSink(run_log, store)
    store.sinks = [sink]
    run_log.listen(sink.warned)
    yield store, lambda: (tmp_path / "run" / "system.log").read_text().splitlines()
    store.close()
    close()


def test_every_kind_of_event_has_its_line():
    union, _ = get_args(Event)
    assert set(get_args(union)) - set(LINES) == UNTOLD


def test_a_warning_is_logged_once_and_stored_once_wherever_it_begins(log):
    store, lines = log
    log_msg("WARNING", "the model waits")
    store.append([Warned(text="claim and score disagree", node_id="n1")])
    assert [line.split(" ", 1)[1] for line in lines()] == [
        "WARNING the model waits",
        "WARNING n1: claim and score disagree",
    ]
    log_msg("WARNING", "the model waits")
    assert len(lines()) == 3, "the same again is another"


def test_one_node_that_migrates_is_told_as_one(log):
    store, lines = log
    store.append([IslandMigrated(generation=3, moves=[("n1", 0, 1)])])
    store.append([IslandMigrated(generation=4, moves=[("n1", 0, 1), ("n2", 1, 0)])])
    told = [line.partition(": ")[2] for line in lines()]
    assert told == ["1 node migrated between islands", "2 nodes migrated between islands"]


def test_what_is_written_is_masked_and_one_entry(log):
    store, lines = log
    store.append([Warned(text="key s3cret-value\n2026-01-01T00:00:00.000Z ERROR   forged")])
    assert len([line for line in lines() if re.match(r"\d{4}-", line)]) == 1
    assert "s3cret-value" not in "".join(lines())


@pytest.mark.parametrize(
    "level", ["INFO", *(pytest.param(level, marks=pytest.mark.long) for level in ("DEBUG", "WARNING"))]
)
def test_the_log_tells_a_run_and_the_level_matters(cli, level):
    script = ["x = 5", "nothing", "nothing", "x = 3", "x = 3"]  # what crashes is asked for once more in its step
    with ChatServer(lambda request, number: f"```python\n{script[number % 5]}\n```") as server:
        words = [*toy_words(4, "search.batch=1", f"logging.level={level}"), *server.words(), "agent.review=never"]
        ended = cli.here(*words)
        assert ended.code == 0, ended.err
    told = (cli.run_dir / "system.log").read_text()
    shown = cli.show()
    assert ("proposed" in told) == (level == "DEBUG")
    if level == "WARNING":
        assert told == ""
        return
    for node in shown["nodes"]:
        assert f"{node['node_id']} {node['operator']}" in told
    assert "failed: runtime: x is not a number" in told and "not scored: same program as" in told
    assert len(re.findall(r"INFO    call \d+: code openai/", told)) == 5
    assert "the best candidate so far" in told and "baseline zero: 2" in told
    last = [line for line in told.splitlines() if " INFO " in line][-1]
    assert f"finished: max_steps: 4 of 4 steps; 4 steps, best 1 of {shown['best_node_id']}" in last


@pytest.mark.parametrize("kind", LINES, ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_event_of_the_table_has_its_line(kind, data):
    """The table is not typed: a field that was renamed would end a run."""
    kind.model_rebuild()  # what is built when it is told is not known to `builds` before
    line = LINES[kind][1](data.draw(st.builds(kind)))
    assert isinstance(line, str)


def test_a_warning_that_a_sink_logs_is_logged_once(log):
    """What a sink stores is told after what it was told itself: by then the log's own warning was forgotten."""
    store, lines = log

    class Wary:
        def emit(self, event):
            if isinstance(event, Warned) and event.text == "claim and score disagree":
                log_msg("WARNING", "this disk is nearly full")

    store.sinks.append(Wary())
    store.append([Warned(text="claim and score disagree")])
    assert [line.split(" ", 1)[1] for line in lines()] == [
        "WARNING claim and score disagree",
        "WARNING this disk is nearly full",
    ]


def test_two_threads_that_warn_of_the_same_are_logged_twice(log):
    store, lines = log
    with store.db.lock:
        threads = [threading.Thread(target=log_msg, args=("WARNING", "the model waits")) for _ in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.1)  # all have come to the store
    for thread in threads:
        thread.join(60)
    assert len(lines()) == 8
