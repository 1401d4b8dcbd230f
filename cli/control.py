"""The control channel: what the user says to a running search. The search writes the events."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from core.events import Event, NodeMarked, NoteAdded
from core.state.journal import Journal
from core.storage.reader import RunReader
from core.storage.repository import RunStore

CONTROL = "control.jsonl"
MAX_NOTE = 2000
"""Characters of a note that reach the prompt."""

_MARKS = {"pin": "pinned", "ban": "banned", "free": "none"}


class ControlFile:
    """Reads new lines of `logs/<run>/control.jsonl` between rounds.

    A line is `{"kind": "note", "text": …}`, `{"kind": "pin" | "ban" | "free", "node_id": …}` or `{"kind": "stop"}`.
    """

    def __init__(self, run_dir: Path, store: RunStore, interrupted: threading.Event) -> None:
        self._path = run_dir / CONTROL
        self._store = store
        self._interrupted = interrupted

    def poll(self, journal: Journal) -> tuple[list[Event], list[str]]:
        """Apply marks to the journal; return the events to write, and the notes for the next prompts."""
        events: list[Event] = []
        notes: list[str] = []
        for line in self._new_lines():
            event = self._apply(line, journal)
            if event is not None:
                events.append(event)
            if isinstance(event, NoteAdded):
                notes.append(event.text)
        return events, notes

    def _new_lines(self) -> list[dict[str, object]]:
        try:
            size = self._path.stat().st_size
        except FileNotFoundError:
            return []
        start = int(self._store.get_fact("control_offset") or 0)
        if size <= start:
            return []
        with self._path.open("rb") as file:
            file.seek(start)
            raw = file.read()
        whole = raw[: raw.rfind(b"\n") + 1]
        self._store.put_fact("control_offset", start + len(whole))
        return [line for text in whole.splitlines() if (line := _object(text))]

    def _apply(self, line: dict[str, object], journal: Journal) -> Event | None:
        kind = line.get("kind")
        if kind == "stop":
            self._interrupted.set()
        elif kind == "note" and isinstance(line.get("text"), str):
            return NoteAdded(text=str(line["text"])[:MAX_NOTE])
        elif kind in _MARKS and line.get("node_id") in journal:
            return mark(journal, str(line["node_id"]), _MARKS[str(kind)])
        return None


def mark(journal: Journal, node_id: str, value: str) -> NodeMarked:
    """Set a mark in the journal's index."""
    if value == "none":
        journal.marks.pop(node_id, None)
    else:
        journal.marks[node_id] = value
    return NodeMarked.model_validate({"node_id": node_id, "mark": value})


def restore_marks(run_dir: Path, journal: Journal) -> None:
    """What the user pinned and banned in earlier processes of the run."""
    with RunReader(run_dir) as reader:
        for event in reader.events(types=["node.marked"], limit=1_000_000):
            if isinstance(event, NodeMarked) and event.node_id in journal:
                mark(journal, event.node_id, event.mark)


def _object(text: bytes) -> dict[str, object] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
