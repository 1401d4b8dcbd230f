"""What the user says to a running search: read once, line by line, also across processes."""

from __future__ import annotations

import json
import resource
import threading
import time

import pytest

from core.events import RoundOpened
from core.state.journal import Journal
from core.state.node import Node
from core.state.task import Task
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from dashboard.server.control import send_line
from runs.control import CONTROL, OFFSET, ControlFile, StopWatch, restore_marks, said_so_far, whole_lines
from utils.errors import StoreError

TASK = Task(node_id="b", operator="draft", round=0, slot=0, seed=1)


@pytest.fixture
def said(tmp_path):
    store, journal = RunStore(tmp_path), Journal()
    journal.append(Node(id="a", code="x"))
    stopped = threading.Event()

    class Said:
        def __init__(self):
            self.store, self.journal, self.stopped = store, journal, stopped
            self.again()

        def say(self, *lines, end="\n"):
            with (tmp_path / CONTROL).open("a") as file:
                file.write("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + end)

        def poll(self):
            return self.file.poll(journal)

        def again(self):
            """The next process of the run."""
            self.file = ControlFile(tmp_path, store, stopped, said_so_far(tmp_path))

        def events(self):
            with RunReader(tmp_path) as reader:
                return [event.type for event in reader.events(types=["note.added", "node.marked"])]

    yield Said()
    store.close()


def test_nothing_said(said):
    assert said.poll() == []


def test_notes_marks_and_stop_are_taken_once(said):
    said.say({"kind": "note", "text": "try trees"}, {"kind": "pin", "node_id": "a"}, {"kind": "stop"})
    assert said.poll() == ["try trees"] and said.events() == ["note.added", "node.marked"]
    assert said.journal.marks == {"a": "pinned"} and said.stopped.is_set()
    assert said.poll() == []
    said.store.open_round([TASK], [{}], [RoundOpened(round=0, node_ids=["b"])])
    said.again()
    assert said.poll() == [] and len(said.events()) == 2, "nor by the next process"


def test_a_note_that_no_round_has_had_goes_to_the_next_process(said):
    """kill -9 between the reading and the opening of the round."""
    said.say({"kind": "note", "text": "try trees"})
    assert said.poll() == ["try trees"]
    said.again()
    said.say({"kind": "note", "text": "try forests"})
    assert said.poll() == ["try trees", "try forests"]
    assert said.poll() == [] and said.events() == ["note.added", "note.added"]


def test_what_could_not_be_stored_was_not_read(said, monkeypatch):
    """Position and events are one transaction: the line is obeyed by whoever comes next."""
    said.say({"kind": "note", "text": "try trees"})
    with monkeypatch.context() as broken:
        broken.setattr(said.store, "_number", lambda event: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            said.poll()
    assert said.events() == [] and said.store.get_fact(OFFSET) is None
    said.again()
    assert said.poll() == ["try trees"]


def test_a_stop_that_nobody_had_read_is_not_for_the_next_process(said):
    said.say({"kind": "note", "text": "try trees"}, {"kind": "stop"}, '{"kind": "st', end="")
    said.again()
    assert said.poll() == ["try trees"] and not said.stopped.is_set()
    said.say('op"}')
    said.poll()
    assert said.stopped.is_set(), "said in full while this one ran"


def test_a_line_that_is_being_written_waits(said):
    said.say('{"kind": "note", "te', end="")
    assert said.poll() == []
    said.say('xt": "now"}')
    assert said.poll() == ["now"]


@pytest.mark.parametrize(
    "line",
    [
        "", "not json", "[1]", '{"kind": "pin", "node_id": "unknown"}', '{"kind": "note", "text": 5}', '{"kind": 1}',
        '{"kind": []}', '{"kind": "pin", "node_id": {}}', "[" * 100_000,
    ],
    ids=lambda line: line[:40],
)  # fmt: skip
def test_what_cannot_be_understood_is_left_out(said, line):
    said.say(line, {"kind": "note", "text": "x" * 5000})
    (note,) = said.poll()
    assert len(note) == 2000 and said.events() == ["note.added"]


def test_a_note_with_half_a_character_does_not_end_the_run(said):
    """What could not be stored was not read either, so that each resume ended at it."""
    said.say('{"kind": "note", "text": "try \\ud83d trees"}')
    assert said.poll() == ["try ? trees"] and said.events() == ["note.added"]


def test_marks_outlive_the_process(said):
    said.say({"kind": "ban", "node_id": "a"})
    said.poll()
    again = Journal(nodes=[Node(id="a", code="x")])
    restore_marks(said.store.run_dir, again)
    assert again.marks == {"a": "banned"}
    said.say({"kind": "free", "node_id": "a"})
    said.poll()
    freed = Journal(nodes=[Node(id="a", code="x")])
    restore_marks(said.store.run_dir, freed)
    assert freed.marks == {}


def test_only_a_named_node_is_stopped(said, monkeypatch):
    """Jobs of the run itself have no label: a stop that names nobody must not reach them."""
    monkeypatch.setattr(StopWatch, "SECONDS", 0.01)
    asked: list[str] = []
    watch = StopWatch(said.store.run_dir, said.store, lambda node_id: bool(asked.append(node_id)))
    try:
        said.say({"kind": "stop", "node_id": ""}, {"kind": "stop", "node_id": "a"})
        end = time.monotonic() + 60
        while not asked and time.monotonic() < end:
            time.sleep(0.01)
    finally:
        watch.close()
    assert asked == ["a"]


def test_a_line_that_a_full_disk_cut_off_is_told_and_takes_no_other_with_it(tmp_path):
    """The page said that the note goes into the next prompt; it never came, and neither did the one behind it."""
    send_line(tmp_path, {"kind": "note", "text": "first"})
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / CONTROL).stat().st_size + 9, before[1]))
    try:
        with pytest.raises(StoreError, match="No space left"):
            send_line(tmp_path, {"kind": "note", "text": "second"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    send_line(tmp_path, {"kind": "note", "text": "third"})
    lines, _ = whole_lines(tmp_path / CONTROL, 0)
    assert [line["text"] for line in lines] == ["first", "third"]
