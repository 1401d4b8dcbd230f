"""What the user says to a running search: read once, line by line, also across processes."""

from __future__ import annotations

import json
import threading

import pytest

from cli.control import CONTROL, ControlFile, restore_marks
from core.state.journal import Journal
from core.state.node import Node
from core.storage.repository import RunStore


@pytest.fixture
def said(tmp_path):
    store, journal = RunStore(tmp_path), Journal()
    journal.append(Node(id="a", code="x"))
    stopped = threading.Event()

    class Said:
        def __init__(self):
            self.store, self.journal, self.stopped = store, journal, stopped
            self.file = ControlFile(tmp_path, store, stopped)

        def say(self, *lines, end="\n"):
            with (tmp_path / CONTROL).open("a") as file:
                file.write("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + end)

        def poll(self):
            return self.file.poll(journal)

    yield Said()
    store.close()


def test_nothing_said(said):
    assert said.poll() == ([], [])


def test_notes_marks_and_stop_are_taken_once(said):
    said.say({"kind": "note", "text": "try trees"}, {"kind": "pin", "node_id": "a"}, {"kind": "stop"})
    events, notes = said.poll()
    assert notes == ["try trees"] and [e.type for e in events] == ["note.added", "node.marked"]
    assert said.journal.marks == {"a": "pinned"} and said.stopped.is_set()
    assert said.poll() == ([], [])
    said.file = ControlFile(said.store.run_dir, said.store, said.stopped)
    assert said.poll() == ([], []), "nor by the next process"


def test_a_line_that_is_being_written_waits(said):
    said.say('{"kind": "note", "te', end="")
    assert said.poll() == ([], [])
    said.say('xt": "now"}')
    assert said.poll()[1] == ["now"]


@pytest.mark.parametrize(
    "line",
    ["", "not json", "[1]", '{"kind": "pin", "node_id": "unknown"}', '{"kind": "note", "text": 5}', '{"kind": 1}'],
)
def test_what_cannot_be_understood_is_left_out(said, line):
    said.say(line, {"kind": "note", "text": "x" * 5000})
    events, notes = said.poll()
    assert len(events) == 1 and len(notes[0]) == 2000


def test_marks_outlive_the_process(said):
    said.say({"kind": "ban", "node_id": "a"})
    events, _ = said.poll()
    said.store.append(events)
    again = Journal(nodes=[Node(id="a", code="x")])
    restore_marks(said.store.run_dir, again)
    assert again.marks == {"a": "banned"}
    said.say({"kind": "free", "node_id": "a"})
    said.store.append(said.poll()[0])
    freed = Journal(nodes=[Node(id="a", code="x")])
    restore_marks(said.store.run_dir, freed)
    assert freed.marks == {}
