"""RunIndex: one line a run, made once and kept in `logs/.runs.json` until the run's store changes.

To open a store takes some ten milliseconds; to look at its size and time of change some microseconds. So a list of
thousands of runs is read from one file, and only what changed since is opened. The file is a cache: whoever removes it
loses nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from core.storage.held import WAITING
from core.storage.labels import FILE as LABELS
from core.storage.labels import Labels, labels_of
from utils.errors import StoreError, UnknownRunError
from utils.file_utils import write_atomic

if TYPE_CHECKING:  # these load what nodes and events are made of
    from core.storage.reader import RunReader
    from reports.conclusion import Conclusion

FILE = ".runs.json"
VERSION = 5
"""Of the form of the lines: a file of another version is made anew."""
DB = "run.db"
NO_LABELS = Labels()

Status = Literal["running", "finished", "interrupted", "waiting", "failed", "starting", "unreadable"]


class RunLine(BaseModel):
    """One line of a list of runs."""

    model_config = ConfigDict(extra="forbid")

    run: str
    problem: str = ""
    status: Status = "starting"
    """As the store says it; `line_of` corrects it by the lock."""
    started_at: str | None = None
    steps: int = 0
    best_metric: float | None = None
    """The winner's on validation; before the end that of who leads, a baseline included."""
    final_metric: float | None = None
    """The winner's on the final part."""
    verdict: str = "open"
    lower_is_better: bool = False
    writer: str = ""
    cost_usd: float | None = None
    best_node_id: str | None = None
    best_is: str = ""
    """What the winner, or who leads, is called where the search did not write it: a baseline, `your program`; else ''.
    """
    gain: float | None = None
    """How much better the final score is than that of the hardest reference, in the metric's unit; in Elo in the arena.
    """
    against: str | None = None
    """That reference."""
    unit: str = ""
    policy: str = ""
    seed: int | None = None
    seconds: float | None = None
    """Active seconds, resumes added up."""
    error: str = ""
    """Why the store cannot be read."""


class ListedRun(NamedTuple):
    """A run in a list. The same object as long as nothing changed."""

    line: RunLine
    labels: Labels
    state: tuple[int, ...]
    """See `store_state`."""


class RunIndex:
    """The lines of the runs below one `logs` folder. Thread-safe.

    Args:
        logs: holds one folder a run.
    """

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._lock = Lock()
        self._known: dict[str, ListedRun] | None = None

    def lines(self, folders: Iterable[Path]) -> dict[Path, ListedRun]:
        """Line and labels of each run that has begun, in the order given. A store that cannot be read says why."""
        with self._lock:
            known = self._load() if self._known is None else self._known
            names = {folder.name: folder for folder in folders}
            found = {name: made for name, folder in names.items() if (made := _seen(folder, known.get(name)))}
            # what could not be read may be readable a moment later, so it is not kept
            fresh = {name: made for name, made in found.items() if made.line.status != "unreadable"}
            if len(fresh) != len(known) or any(known.get(name) is not made for name, made in fresh.items()):
                self._save(fresh)
            self._known = fresh
        return {names[name]: made for name, made in found.items()}

    def _load(self) -> dict[str, ListedRun]:
        try:
            stored = json.loads((self._logs / FILE).read_bytes())
            if stored["version"] != VERSION:
                return {}
            return {
                run: ListedRun(RunLine.model_validate(line), _labels(self._logs, run, state), tuple(state))
                for run, (state, line) in stored["runs"].items()
            }
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return {}  # whatever somebody made of it: it is a cache

    def _save(self, runs: dict[str, ListedRun]) -> None:
        """Best effort: a folder that cannot be written is only slower."""
        rows = {run: (listed.state, listed.line.model_dump()) for run, listed in runs.items()}
        with suppress(OSError):
            write_atomic(self._logs / FILE, json.dumps({"version": VERSION, "runs": rows}, separators=(",", ":")))


def _seen(folder: Path, kept: ListedRun | None) -> ListedRun | None:
    """A run in the list: what is kept, where store and labels have not changed since. None where it has not begun."""
    state = store_state(folder)
    if kept is not None and kept.state == state:
        return kept
    line = read_line(folder)
    return None if line is None else ListedRun(line, _labels(folder.parent, folder.name, state), state)


def _labels(logs: Path, run: str, state: Sequence[int]) -> Labels:
    return labels_of(logs / run) if state[-1] else NO_LABELS


def store_state(folder: Path) -> tuple[int, ...]:
    """Changes whenever the run's store or its labels do: time and size of each file, 0 where there is none."""
    found: list[int] = []
    for name in (DB, f"{DB}-wal", LABELS):
        try:
            state = os.stat(f"{folder}/{name}")
            # a log of no bytes is made by whoever reads
            found += [state.st_mtime_ns, state.st_size] if state.st_size else [0, 0]
        except OSError:
            found += [0, 0]
    return tuple(found)


def read_line(folder: Path) -> RunLine | None:
    """A run's line from its store; None where the run has not begun."""
    try:
        return _read(folder)
    except UnknownRunError:
        return None
    except StoreError as error:
        return RunLine(run=folder.name, status="unreadable", error=" ".join(str(error).split()))


def _read(folder: Path) -> RunLine | None:
    # these take longest to load, and a list that did not change needs none of them
    from core.storage.reader import RunReader
    from core.storage.unreadable import unreadable
    from reports.conclusion import conclusion_of

    with unreadable(folder.name), RunReader(folder) as reader:
        facts = reader.facts()
        return line_of(reader, facts, conclusion_of(reader, facts)) if "run" in facts else None


def line_of(reader: RunReader, facts: Mapping[str, Any], conclusion: Conclusion) -> RunLine:
    """A run's line from what was read of it. `facts`: `reader.facts()`."""
    winner, verdict = conclusion.winner, conclusion.verdict
    status = str(facts.get("status") or "")
    return RunLine(
        run=reader.name,
        problem=str(facts.get("problem", "")),
        status=status if status in ("running", "finished", "failed", WAITING) else "interrupted",
        started_at=str(facts.get("started_at") or "") or None,
        steps=reader.steps(),
        best_metric=winner and winner.metric,
        final_metric=winner and winner.final_metric,
        verdict=verdict.kind,
        lower_is_better=bool(facts.get("lower_is_better", False)),
        writer=str(facts.get("writer", "")),
        cost_usd=reader.cost()["cost_usd"],
        best_node_id=winner and winner.node_id,
        best_is=winner.name if winner and winner.role != "candidate" else "",
        gain=verdict.gain,
        against=verdict.against,
        unit=str(facts.get("unit") or ""),
        policy=str(inside(facts, "config", "search", "policy") or ""),
        seed=inside(facts, "config", "project", "seed"),
        seconds=facts.get("active_seconds"),
    )


def line_as_seen(line: RunLine, *, held: bool) -> RunLine:
    """The line with the status that holds now: only a run that a live process holds is running."""
    if held and line.status != "unreadable":
        return line.model_copy(update={"status": "running"})
    return line.model_copy(update={"status": "interrupted"}) if line.status == "running" else line


def inside(value: Any, *keys: str) -> Any:
    """What stands there in nested mappings; None where nothing does, whatever somebody made of them."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
