"""Two channels: `system.log` for people, `metrics.json` and `metrics.csv` for programs. Secrets reach neither.

configure(run_dir, secrets=[…])      once a process; links logs/system.log and logs/metrics.json to the newest run's
log_msg("INFO", "text")              one line with the time in UTC
log_json({...})                      one object more in the JSON array, in O(1); the file is valid JSON at every moment
ensure(condition, "text")            AssertionError, told to the log first
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from utils.clean_text import whole
from utils.metrics_file import (
    ARRAY_END,
    CsvTable,
    JsonArray,
    array_end,
    drop_last_line,
    records_in,
    replace_ends,
    table_end,
    write_array,
)
from utils.secrets import MASK

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
SHORTEST_SECRET = 6
"""Characters below which a configured value is not masked: masking `1` would blacken every figure."""

_KEY_SHAPES = re.compile(
    r"\b(?:sk-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}|gh[pousr]_[A-Za-z0-9]{30,}|AKIA[A-Z0-9]{16})|"
    r"(?<=Bearer )[A-Za-z0-9._~+/=-]{16,}"
)
"""What looks like a key of a known provider is masked although nobody said it is one."""

_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class RunLog:
    """The open log files of one run. Thread-safe.

    Args:
        run_dir: `logs/<run>`; files are appended to, a tail torn by a killed process is repaired.
        secrets: values that are masked wherever they appear.
        level: what is below it is not written.
    """

    def __init__(self, run_dir: Path, secrets: Iterable[str] = (), level: str = "INFO") -> None:
        run_dir.mkdir(parents=True, exist_ok=True)
        self.run_dir = run_dir
        self._secrets = sorted({s for s in secrets if len(s) >= SHORTEST_SECRET}, key=len, reverse=True)
        self._threshold = LEVELS.index(level)
        self._lock = threading.Lock()
        self._text = (run_dir / "system.log").open("a", encoding="utf-8", errors="backslashreplace")
        self.metrics: MetricsLog | None = None
        self._listener: Callable[[str], None] | None = None
        self._untold: deque[str] = deque(maxlen=100)

    def listen(self, listener: Callable[[str], None] | None) -> None:
        """`listener` is told the text of each warning, masked, and of those that came before it; None ends that."""
        with self._lock:
            self._listener, untold = listener, list(self._untold)
            self._untold.clear()
        if listener is not None:
            for line in untold:
                listener(line)

    def message(self, level: str, text: str) -> None:
        """Write one entry; a warning is told to the listener first."""
        if level == "WARNING":
            self._tell(self.mask(whole(_one_entry(text))))
        self.write(level, text)

    def write(self, level: str, text: str) -> None:
        """Write one entry if its level is wanted, and tell nobody. A line that the disk has no room for ends nothing:
        what cannot be stored ends a run, and says so here while the disk is full."""
        if LEVELS.index(level) < self._threshold:
            return
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        with self._lock:
            if not self._text.closed:
                with suppress(OSError):
                    self._text.write(f"{now} {level:<7} {self.mask(_one_entry(text))}\n")
                    self._text.flush()

    def _tell(self, line: str) -> None:
        with self._lock:
            listener = self._listener
            if listener is None:
                self._untold.append(line)
        if listener is not None:
            listener(line)

    def open_metrics(self) -> MetricsLog:
        """The run's metrics files, opened at the first need."""
        with self._lock:
            return self.metrics or MetricsLog(self.run_dir)

    def mask(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        return _KEY_SHAPES.sub(MASK, text)

    def close(self) -> None:
        with self._lock:
            with suppress(OSError):  # what is left of a line
                self._text.close()
            if self.metrics is not None:
                self.metrics.close()


class MetricsLog:
    """`metrics.json` and `metrics.csv` of a run, an object and a row a record. `log_json` writes here."""

    def __init__(self, run_dir: Path) -> None:
        run_dir.mkdir(parents=True, exist_ok=True)
        self.run_dir = run_dir
        self._lock = threading.Lock()
        self._open()
        log = _STATE.get().log
        if log is not None and log.run_dir == run_dir:
            if log.metrics is not None:  # two open files would write over each other
                log.metrics.close()
            log.metrics = self

    def append(self, record: Mapping[str, Any]) -> None:
        masked = _masked(record)
        with self._lock:
            try:
                self._array.append(masked)
            finally:  # each keeps what a full disk refused, and writes it with the next
                self._table.append(masked)

    @property
    def last(self) -> dict[str, Any] | None:
        """The last object, None before the first."""
        return self._array.last

    @property
    def is_even(self) -> bool:
        """True if both files hold as many records: a kill may come between the two."""
        with self._lock:
            return records_in(self._array.path) == records_in(self._table.path)

    def drop_last(self) -> None:
        """Forget the last record, in both files."""
        with self._closed():
            drop_last_line(self.run_dir / "metrics.json", ARRAY_END)
            drop_last_line(self.run_dir / "metrics.csv")

    def replace_ends(self, fields: Mapping[str, Any]) -> bool:
        """Give all records other values of the fields that they end with.

        False where these are not the same in all records: then the files are only good for a `restart`.
        """
        new = _masked(fields)
        old = {name: value for name, value in (self._array.last or {}).items() if name in new}
        if old == new or not old:
            return bool(old)
        with self._closed():
            array, table = self.run_dir / "metrics.json", self.run_dir / "metrics.csv"
            return replace_ends(array, array_end(old), array_end(new)) and replace_ends(
                table, table_end(old), table_end(new)
            )

    def restart(self, records: Iterable[Mapping[str, Any]]) -> None:
        """Begin anew with these records, as they follow from the store when a run is taken up again."""
        masked = [_masked(record) for record in records]
        with self._closed():
            write_array(self.run_dir / "metrics.json", masked)
            (self.run_dir / "metrics.csv").unlink(missing_ok=True)
            table = CsvTable(self.run_dir / "metrics.csv")
            for record in masked:
                table.append(record)
            table.close()

    def close(self) -> None:
        with self._lock:
            self._close()

    @contextmanager
    def _closed(self) -> Iterator[None]:
        """Inside, both files are closed: they are replaced. Opened again whatever becomes of that."""
        with self._lock:
            self._close()
            try:
                yield
            finally:
                self._open()

    def _open(self) -> None:
        self._array = JsonArray(self.run_dir / "metrics.json")
        self._table = CsvTable(self.run_dir / "metrics.csv")

    def _close(self) -> None:
        try:
            self._array.close()
        finally:
            self._table.close()


class _Holder:
    """What the ContextVar holds: shared by all threads, since a new thread begins with an empty context."""

    log: RunLog | None = None


_STATE: ContextVar[_Holder] = ContextVar("swarm_evo_log", default=_Holder())  # noqa: B039  (shared on purpose)


def configure(run_dir: Path, secrets: Iterable[str] = (), level: str = "INFO", *, link: bool = True) -> RunLog:
    """Open the run's log files for this process; those of an earlier call are closed.

    Args:
        link: False leaves `logs/system.log` and `logs/metrics.json` alone, for a run that will be removed again.
    """
    holder = _STATE.get()
    if holder.log is not None:
        holder.log.close()
    holder.log = RunLog(run_dir, secrets, level)
    if link:
        for name in ("system.log", "metrics.json"):
            _link(run_dir, name)
    return holder.log


def close(log: RunLog | None = None) -> None:
    """Close the log files; what is logged afterwards goes to stderr if it is a warning or worse.

    Args:
        log: closed if it is still the one that is written to; None for whichever is.
    """
    holder = _STATE.get()
    if holder.log is not None and log in (None, holder.log):
        holder.log.close()
        holder.log = None


def log_msg(level: str, text: str) -> None:
    """Write one entry. Without a run, warnings and errors go to stderr. Never raises for what the text holds, nor for a
    full disk."""
    level = level.upper()
    if level not in LEVELS:
        raise ValueError(f"log level '{level}'; allowed: {', '.join(LEVELS)}")
    log = _STATE.get().log
    if log is not None:
        log.message(level, str(text))
    elif LEVELS.index(level) >= LEVELS.index("WARNING"):
        print(f"{level}: {_KEY_SHAPES.sub(MASK, _one_entry(str(text)))}", file=sys.stderr)


def log_json(record: Mapping[str, Any]) -> None:
    """Append one object to `metrics.json` and one row to `metrics.csv` of the run.

    Raises:
        RuntimeError: no run has been named by `configure`.
    """
    log = _STATE.get().log
    if log is None:
        raise RuntimeError(
            "log_json: no run yet; call utils.logger_system.configure(Path('logs/my-run')) first, "
            "and metrics.json lies in that folder"
        )
    log.open_metrics().append(record)


def ensure(condition: object, message: str) -> None:
    """Raise AssertionError with `message` unless `condition` holds; also under `python -O`."""
    if not condition:
        log_msg("ERROR", message)
        raise AssertionError(message)


def mask(text: str) -> str:
    """`text` without the run's secrets and without what looks like a key."""
    log = _STATE.get().log
    return log.mask(text) if log is not None else _KEY_SHAPES.sub(MASK, text)


def _masked(value: Any) -> Any:
    """Plain JSON with every text masked, keys too."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {mask(str(key)): _masked(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_masked(item) for item in value]
    return value


def _one_entry(text: str) -> str:
    """Continuation lines are indented, so that no text can pass for an entry of its own; no terminal controls."""
    return _UNPRINTABLE.sub("", text.replace("\t", "    ")).replace("\n", "\n    ")


def _link(run_dir: Path, name: str) -> None:
    """`logs/<name>` → `<run>/<name>`, unless it leads to a run that started later or is a file of the user's."""
    link = run_dir.parent / name
    if link.is_symlink():
        other = link.parent / os.readlink(link)
        if other.exists() and _started(other.parent) > _started(run_dir):
            return
    elif link.exists():
        return
    temporary = run_dir / f".{name}.link"
    try:
        temporary.unlink(missing_ok=True)
        temporary.symlink_to(Path(run_dir.name) / name)
        os.replace(temporary, link)
    except OSError:  # a file system without links: the files themselves are there
        temporary.unlink(missing_ok=True)


def _started(run_dir: Path) -> str:
    """Its place in the order of the runs' beginnings: the last word of its mark."""
    marker = run_dir / "started"
    return (marker.read_text(encoding="utf-8").split() or [""])[-1] if marker.is_file() else ""
