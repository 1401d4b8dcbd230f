"""Files that grow by one record at a time in O(1) and survive `kill -9`: a JSON array, and a table beside it."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from utils.file_utils import write_atomic

STEP_COLUMNS = (
    "run", "step", "node_id", "parent_id", "operator", "metric", "metric_source", "lower_is_better", "is_buggy",
    "failure", "exec_time", "best_metric", "best_node_id", "writer", "prompt_tokens", "completion_tokens", "cost_usd",
    "elapsed", "winner_node_id", "winner_metric", "final_metric",
)  # fmt: skip
GENERATION_COLUMNS = (
    "run", "generation", "best_score", "avg_score", "top_k_avg_score", "num_candidates", "num_valid",
    "failure_counts", "timestamp", "best_metric", "best_node_id", "lower_is_better", "writer", "prompt_tokens",
    "completion_tokens", "cost_usd", "elapsed", "winner_node_id", "winner_metric", "final_metric",
)  # fmt: skip

_BLOCK = 1 << 16
_LARGE_BLOCK = 1 << 20
ARRAY_END = b"\n]\n"
"""How an array ends behind its last record."""


class JsonArray:
    """A JSON array on disk, one object a line: valid JSON at every moment.

    A record is written over the closing bracket, with a new bracket behind it, in one system call. A kill in the
    middle of that call can tear the last record; opening the file again drops what is torn. A record that a full disk
    refused is written before the next.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._end, self.last = self._recover()
        """`last`: the last record, or None."""
        self._unwritten = b""
        """What `append` was given and the disk had no room for."""

    def append(self, record: Mapping[str, Any]) -> None:
        """Add one object. NaN and infinity become null, which JSON has a word for."""
        line = _line(record).encode(errors="replace")
        self._unwritten += (b",\n" if self.last is not None else b"\n") + line
        self.last = dict(record)
        try:
            self._write(self._unwritten + ARRAY_END, self._end)
        except OSError:
            with suppress(OSError):  # the bracket stood there before: it needs no room
                self._write(ARRAY_END, self._end)
                os.ftruncate(self._file, self._end + len(ARRAY_END))
            raise
        self._end += len(self._unwritten)
        self._unwritten = b""

    def close(self) -> None:
        file, self._file = self._file, -1  # first: whom a stop interrupts here closes nothing twice
        if file >= 0:
            os.close(file)

    def _write(self, data: bytes, at: int) -> None:
        while data:  # a full disk writes short, then raises
            done = os.pwrite(self._file, data, at)
            data, at = data[done:], at + done

    def _recover(self) -> tuple[int, dict[str, Any] | None]:
        """Find the end of the last whole record, and close the array behind it if it is not closed."""
        size = os.fstat(self._file).st_size
        end, last = self._last_record(size)
        if last is None:
            end = 1
            self._write(b"[" + ARRAY_END, 0)
        elif os.pread(self._file, size - end, end) != ARRAY_END:
            self._write(ARRAY_END, end)
        os.ftruncate(self._file, end + len(ARRAY_END))
        return end, last

    def _last_record(self, size: int) -> tuple[int, dict[str, Any] | None]:
        """(offset behind the last line that is a whole object, the object), read back from the end as far as needed."""
        start, tail = size, b""
        while start > 0:
            step = min(_BLOCK, start)
            start -= step
            tail = os.pread(self._file, step, start) + tail
            lines = tail.split(b"\n")
            # the first piece may be the end of a longer line, unless the file begins here
            for number in range(len(lines) - 1, 0 if start else -1, -1):
                record = _object(lines[number])
                if record is not None:
                    behind = sum(len(line) + 1 for line in lines[:number])
                    return start + behind + len(lines[number].rstrip().rstrip(b",")), record
        return 0, None


class CsvTable:
    """A table with a fixed header, chosen by the first record: steps or generations. Other keys are left out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("a+b")
        self._drop_torn_line()
        self._file.seek(0)
        header = self._file.readline().decode(errors="replace").strip()
        self._columns = tuple(header.split(",")) if header else ()
        self._file.seek(0, os.SEEK_END)

    def append(self, record: Mapping[str, Any]) -> None:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if not self._columns:
            self._columns = STEP_COLUMNS if "step" in record else GENERATION_COLUMNS
            writer.writerow(self._columns)
        writer.writerow([_cell(record.get(name)) for name in self._columns])
        self._file.write(text.getvalue().encode(errors="replace"))
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def _drop_torn_line(self) -> None:
        size = self._file.seek(0, os.SEEK_END)
        self._file.seek(max(0, size - _BLOCK))
        tail = self._file.read()
        if tail and not tail.endswith(b"\n"):
            self._file.truncate(size - len(tail) + tail.rfind(b"\n") + 1)


def write_array(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    """Write a whole array in place of what is there, in one step for whoever reads it."""
    lines = [_line(r) for r in records]
    body = ",\n".join(lines).encode(errors="replace")
    write_atomic(path, b"[" + (b"\n" + body if lines else b"") + ARRAY_END)


def array_end(fields: Mapping[str, Any]) -> bytes:
    """How an object of the array ends whose last fields are these."""
    return _line(fields)[1:].encode(errors="replace")


def table_end(fields: Mapping[str, Any]) -> bytes:
    """How a row of the table ends whose last columns are these."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(["", *map(_cell, fields.values())])
    return text.getvalue().encode(errors="replace")


def replace_ends(path: Path, old: bytes, new: bytes) -> bool:
    """Let every record of a file end otherwise, in one step for whoever reads it.

    False, and nothing is changed, where one record does not end with `old`.
    """
    body = path.read_bytes()
    if body.count(old) != records_in(path):
        return False
    write_atomic(path, body.replace(old, new))
    return True


def drop_last_line(path: Path, behind: bytes = b"") -> None:
    """Cut off the last whole line.

    Args:
        behind: what follows it, and is kept.
    """
    with path.open("r+b") as file:
        end, start, tail = file.seek(0, os.SEEK_END) - len(behind), 0, b""
        start = end
        while start > 0 and b"\n" not in tail.rstrip(b"\n"):
            step = min(_BLOCK, start)
            start -= step
            file.seek(start)
            tail = file.read(step) + tail
        cut = start + tail.rstrip(b"\n").rfind(b"\n") + 1
        file.truncate(cut)


def records_in(path: Path) -> int:
    """Records of an array or a table: its lines but for the first, and the array's bracket at the end."""
    lines, last = 0, b""
    with path.open("rb") as file:
        while block := file.read(_LARGE_BLOCK):
            lines += block.count(b"\n")
            last = (last + block)[-len(ARRAY_END) :]  # a block may begin inside of it
    return max(lines - 1 - last.endswith(ARRAY_END), 0)


def _line(record: Mapping[str, Any]) -> str:
    """One object without blanks that nobody reads: in a long run they are a tenth of the file."""
    return json.dumps(_finite(record), ensure_ascii=False, default=str, allow_nan=False, separators=(",", ":"))


def _cell(value: Any) -> Any:
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(_finite(value), ensure_ascii=False, default=str)
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None or (isinstance(value, float) and not math.isfinite(value)) else value


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _object(line: bytes) -> dict[str, Any] | None:
    text = line.strip().rstrip(b",")
    if not (text.startswith(b"{") and text.endswith(b"}")):
        return None
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
