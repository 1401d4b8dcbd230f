"""The control channel: what the user says to a running search. The search writes the events."""

from __future__ import annotations

import json
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from core.events import Event, NodeMarked, NodeStopped, NoteAdded, RoundOpened
from core.state.journal import Journal
from core.storage.packing import json_of
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from core.storage.ticket_store import DROPPED, WITHDRAWN
from utils.clean_text import whole
from utils.errors import StoreError
from utils.logger_system import log_msg
from utils.regular_files import open_regular

CONTROL = "control.jsonl"
OFFSET = "control_offset"
"""Fact: bytes of the file whose lines were obeyed."""
MAX_NOTE = 2000
"""Characters of a note that reach the prompt."""

_MARKS = {"pin": "pinned", "ban": "banned", "free": "none"}


class ControlFile:
    """Reads new lines of `logs/<run>/control.jsonl` between rounds; each is obeyed once, also across kill -9.

    A line is `{"kind": "note", "text": …}`, `{"kind": "pin" | "ban" | "free", "node_id": …}` or `{"kind": "stop"}`;
    a `stop` with a `node_id` is the StopWatch's. How far the file was read is stored in the transaction of the events
    that the lines became. A stop is for the process that is there when it is said: what an earlier one left unread
    does not end this one.

    Args:
        begun: bytes of the file when this process began.
    """

    def __init__(self, run_dir: Path, store: RunStore, interrupted: threading.Event, begun: int) -> None:
        self._path = run_dir / CONTROL
        self._store = store
        self._interrupted = interrupted
        self._read = int(store.get_fact(OFFSET) or 0)
        self._begun = begun
        self._unused = unused_notes(run_dir)

    def poll(self, journal: Journal) -> list[str]:
        """Apply new lines: events are stored, marks are set; returns the notes that no round has had yet."""
        notes, self._unused = self._unused, []
        earlier, read = whole_lines(self._path, self._read, self._begun)
        lines, read = whole_lines(self._path, read)
        if any(line.get("kind") == "stop" and "node_id" not in line for line in lines):
            self._interrupted.set()
        events = [event for line in (*earlier, *lines) if (event := _applied(line, journal)) is not None]
        if read > self._read:
            self._store.put_fact(OFFSET, read, events)
            self._read = read
        return notes + [event.text for event in events if isinstance(event, NoteAdded)]


class MarkedAgain:
    """In a replay: each mark that the user set is set again before the round that was chosen after it.

    Args:
        marks: (round, mark) in their order, as `marks_of_rounds` has them.
        rounds: → the number of the round that is asked for next.
    """

    def __init__(self, marks: Sequence[tuple[int, NodeMarked]], rounds: Callable[[], int]) -> None:
        self._left = deque(marks)
        self._rounds = rounds

    def poll(self, journal: Journal) -> list[str]:
        """As ControlFile's; what was noted stands in the facts of its rounds."""
        while self._left and self._left[0][0] <= self._rounds():
            _, event = self._left.popleft()
            mark(journal, event.node_id, event.mark)
        return []


class StopWatch:
    """Obeys `{"kind": "stop", "node_id": …}` at once, while programs run: a round may take hours.

    Args:
        stop: kills what runs for a node; False if nothing does, and then nothing happened.
    """

    SECONDS = 0.25
    """Between two looks at the file."""

    def __init__(self, run_dir: Path, store: RunStore, stop: Callable[[str], bool]) -> None:
        self._path = run_dir / CONTROL
        self._store, self._stop = store, stop
        self._read = said_so_far(run_dir)
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="stop-watch")
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._closed.wait(self.SECONDS):
            try:
                self._look()
            except (OSError, StoreError) as error:
                log_msg("WARNING", f"a word of the control file was not obeyed: {error}")

    def _look(self) -> None:
        lines, self._read = whole_lines(self._path, self._read)
        for line in lines:
            node_id = line.get("node_id")
            if line.get("kind") == "stop" and isinstance(node_id, str) and node_id and self._stop(node_id):
                self._store.append([NodeStopped(node_id=node_id)])


def said_so_far(run_dir: Path) -> int:
    """Bytes of the control file: what is said from now on lies behind them."""
    return _size(run_dir / CONTROL)


def _size(path: Path) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0


def whole_lines(path: Path, after: int, before: int | None = None) -> tuple[list[dict[str, object]], int]:
    """The whole lines from byte `after` on, up to `before`, that are JSON objects, and where they end."""
    end = _size(path) if before is None else before
    if end <= after:
        return [], after
    with open_regular(path) as file:
        file.seek(after)
        raw = file.read(end - after)
    raw = raw[: raw.rfind(b"\n") + 1]
    return [line for text in raw.splitlines() if (line := _object(text))], after + len(raw)


def mark(journal: Journal, node_id: str, value: str) -> NodeMarked:
    """Set a mark in the journal's index."""
    if value == "none":
        journal.marks.pop(node_id, None)
    else:
        journal.marks[node_id] = value
    return NodeMarked.model_validate({"node_id": node_id, "mark": value})


def unused_notes(run_dir: Path) -> list[str]:
    """Notes of an earlier process that was killed before it opened the round that was to have them."""
    with RunReader(run_dir) as reader:
        opened = reader.newest_seq("round.opened")
        events = reader.events(after=opened, types=["note.added"])
    return [event.text for event in events if isinstance(event, NoteAdded)]


def restore_marks(run_dir: Path, journal: Journal) -> None:
    """What the user pinned and banned in earlier processes of the run."""
    with RunReader(run_dir) as reader:
        for event in reader.events(types=["node.marked"]):
            if isinstance(event, NodeMarked) and event.node_id in journal:
                mark(journal, event.node_id, event.mark)


def marks_of_rounds(reader: RunReader) -> list[tuple[int, NodeMarked]]:
    """(the round that was opened next, mark) of all that the user set, in their order."""
    marks, number = [], 0
    for event in reader.events(types=["round.opened", "node.marked"]):
        if isinstance(event, RoundOpened):
            number = event.round + 1
        elif isinstance(event, NodeMarked):
            marks.append((number, event))
    return marks


def heard_marks(run_dir: Path, journal: Journal) -> None:
    """`restore_marks`, and what the next process will hear of them in the control file. Stores nothing."""
    restore_marks(run_dir, journal)
    with RunReader(run_dir) as reader:
        read = int(reader.fact(OFFSET) or 0)
    for line in whole_lines(run_dir / CONTROL, read)[0]:
        _marked(line, journal)


def _applied(line: dict[str, object], journal: Journal) -> Event | None:
    """What a line becomes; None for a stop and for what cannot be understood."""
    if line.get("kind") == "note" and isinstance(line.get("text"), str):
        return NoteAdded(text=whole(str(line["text"])[:MAX_NOTE]))
    return _marked(line, journal)


def _marked(line: dict[str, object], journal: Journal) -> NodeMarked | None:
    """Set the mark that a line of the control file is; None where it is none."""
    value, node_id = _MARKS.get(str(line.get("kind"))), str(line.get("node_id"))
    return mark(journal, node_id, value) if value is not None and node_id in journal else None


def stopped_nodes(run_dir: Path) -> list[str]:
    """Nodes whose programs the user stopped while they ran."""
    with RunReader(run_dir) as reader:
        events = reader.events(types=["node.stopped"])
        return [event.node_id for event in events if isinstance(event, NodeStopped)]


def withdrawn_nodes(run_dir: Path) -> list[str]:
    """Proposals that nobody wrote: their ticket expired or was given up, or nobody had asked for one."""
    with RunReader(run_dir) as reader:
        return [node_id for (node_id,) in reader.db.select(WITHDRAWN)]


def dropped_nodes(reader: RunReader) -> dict[int, list[str]]:
    """Round → those of the withdrawn that nobody had begun, by the first round that was asked for after that."""
    closed = reader.db.select(
        f"SELECT seq, node_id FROM events WHERE type = 'ticket.closed' AND node_id IN ({DROPPED})"
    )
    found: dict[int, list[str]] = {}
    for seq, node_id in closed:
        later = "SELECT body FROM events WHERE type = 'round.opened' AND seq > ? ORDER BY seq LIMIT 1"
        for (body,) in reader.db.select(later, (seq,)):
            found.setdefault(json_of(body)["round"], []).append(node_id)
    return found


def _object(text: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
