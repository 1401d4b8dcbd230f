"""The files beside a run's store against its journal: the winner's, the metrics, the figures of the report."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.events import NodeCommitted
from core.storage.chain_check import Finding
from core.storage.reader import RunReader
from core.storage.unreadable import unreadable
from reports.conclusion import winner_in
from reports.winner import is_concluded
from runs.beside.sinks import GenerationRows, StepRows, winner_fields
from runs.recorded.files import BEST, BEST_SO_FAR, KEPT, METRICS, REPORT, hashes_of, recorded
from utils.counts import counted
from utils.errors import StoreError
from utils.metrics_file import CsvTable, write_array
from utils.scratch_folders import scratch_folder

_GOES_ON = (BEST, KEPT)
_OPEN = "has not ended, so that it has not"
LEADS = {f"{BEST}/{name}" for name in BEST_SO_FAR}
_OLDER = "not what this version makes of the journal, and the version that wrote the run recorded no hash"


def check_files(run_dir: Path, unchecked: list[str]) -> Iterator[Finding]:
    """What does not follow from the journal; `unchecked` is told of what cannot be followed."""
    try:
        with unreadable(run_dir.name), RunReader(run_dir) as reader:
            known, recorded_last = recorded(reader)
            finished = reader.fact("status") == "finished"
            ended = recorded_last and finished
            there = hashes_of(run_dir)
            same = {name for name, value in there.items() if known.get(name) == value}
            going_on = "has gone on since it" if known else _OPEN
            since = "" if recorded_last else "was killed at its end, before it" if finished else going_on
            yield from _recorded(reader, known, there, finished, since, unchecked)
            if not same.issuperset(METRICS):
                found = list(_metrics(reader, ended))
                chained = reader.journal_head() is not None
                unchecked += [] if chained else [f"{one.where}: {_OLDER}" for one in found]
                yield from found if chained else []
        if REPORT not in same:
            with unreadable(run_dir.name):
                yield from _report(run_dir, REPORT in known, ended, unchecked)
    except StoreError as error:  # a store that cannot be read is told by the check of the store
        unchecked.append(f"the files beside the store: {error}")


# ------------------------------------------------------------ best_solution/, config.yaml, plots


def _recorded(
    reader: RunReader,
    known: Mapping[str, str],
    there: Mapping[str, str],
    finished: bool,
    since: str,
    unchecked: list[str],
) -> Iterator[Finding]:
    """`since`: what a process has done that took the run up after its files were recorded; '' where none has. While a
    run goes on it changes what lies in `_GOES_ON`, and at its end any of them.
    """
    ended = finished and not since
    for name in sorted({*known, *there} - {*METRICS, REPORT}):
        if known.get(name) == there.get(name):
            continue
        if name in LEADS and not ended and name in there and _was_best(reader, reader.run_dir / name):
            continue  # it follows the best so far until the run ends
        if name in known and not (since and (finished or name.partition("/")[0] in _GOES_ON)):
            gone = name not in there
            yield Finding(
                name, "deleted: the run recorded it" if gone else "changed: not the file that the run recorded"
            )
        elif ended:
            yield Finding(name, "inserted: the run recorded no such file")
        else:
            told = f"{name.partition('/')[0]}: the run {since or _OPEN} recorded its files"
            unchecked += [] if told in unchecked else [told]


def _was_best(reader: RunReader, path: Path) -> bool:
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    best = (event.node_id for event in _committed(reader) if event.is_best)
    return any(node is not None and node.code == text for node in map(reader.node, best))


# ------------------------------------------------------------ metrics.json, metrics.csv


def _metrics(reader: RunReader, ended: bool) -> Iterator[Finding]:
    """Both are written from the events: a row a step, or one a generation. A run that was killed may have told them
    less, and each another end."""
    events, lower = _committed(reader), bool(reader.fact("lower_is_better"))
    older = [_OlderStepRows(reader.name, lower)] if all(event.number is None for event in events) else []
    by_generation = GenerationRows(reader.name, lower)
    kinds: list[StepRows | GenerationRows] = [StepRows(reader.name, lower), *older, by_generation]
    rows = [[row for told in map(kind.add, events) for row in told] for kind in kinds]
    rows[-1] += by_generation.rest()
    at_the_end = {**reader.facts(), "status": "finished"}
    winners = [winner_in(reader, at_the_end)] if is_concluded(at_the_end) else []
    winners += [] if winners and ended else [None]  # a killed process has not told its end, or not taken back the last
    made = [_files_of([{**row, **winner_fields(winner)} for row in told]) for told in rows for winner in winners]
    array, table = _read(reader.run_dir / "metrics.json"), _read(reader.run_dir / "metrics.csv")
    found = _objects(array) if array or ended else []
    fits = [(whole, lines) for whole, lines in made if found is not None and _is_told(found, whole, ended)]
    if not fits:
        yield Finding("metrics.json", _difference(found, [whole for whole, _ in made]))
    if not any(_is_told(table, lines, ended) for _, lines in (ended and fits) or made):
        yield Finding("metrics.csv", "its rows are not those that the journal's events make")


class _OlderStepRows(StepRows):
    """As a version wrote them that numbered nodes by their place in the journal, from 0."""

    def add(self, event: NodeCommitted) -> Iterator[dict[str, Any]]:
        return ({**row, "step": event.step} for row in super().add(event))


def _is_told(found: Sequence[Any], whole: Sequence[Any], ended: bool) -> bool:
    return found == whole if ended else found == whole[: len(found)]


def _files_of(rows: list[dict[str, Any]]) -> tuple[list[Any], bytes]:
    """The objects of metrics.json as they come back, and the bytes of metrics.csv."""
    with scratch_folder("swarm-evo-verify-") as folder:
        array, table = folder / "metrics.json", CsvTable(folder / "metrics.csv")
        write_array(array, rows)
        for row in rows:
            table.append(row)
        table.close()
        return _objects(array.read_bytes()) or [], table.path.read_bytes()


def _difference(found: list[Any] | None, expected: list[list[dict[str, Any]]]) -> str:
    if found is None:
        return "missing, or no JSON"
    is_by_generation = found and isinstance(found[0], dict) and "avg_score" in found[0]
    rows = expected[-1] if is_by_generation else expected[0]
    for place, (one, other) in enumerate(zip(found, rows, strict=False)):
        if one != other:
            names = [key for key in other if not isinstance(one, dict) or one.get(key) != other[key]] or [
                "a further key"
            ]
            return f"object {place}: {', '.join(names[:5])}: not what the journal's events make of it"
    return f"{counted(len(found), 'object')} where the journal's events make {len(rows)}"


def _read(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _objects(raw: bytes) -> list[Any] | None:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, list) else None


def _committed(reader: RunReader) -> list[NodeCommitted]:
    events = reader.events(types=["node.committed"])
    return [event for event in events if isinstance(event, NodeCommitted)]


# ------------------------------------------------------------ report.html


def _report(run_dir: Path, was_recorded: bool, ended: bool, unchecked: list[str]) -> Iterator[Finding]:
    """The report is made of the journal alone: one that nobody recorded must be the same text, made once more."""
    path = run_dir / REPORT
    if not path.is_file():
        if was_recorded and ended:
            yield Finding(path.name, "deleted: the run recorded it")
        return
    from reports.facts import read_facts
    from reports.html import render

    if path.read_text(encoding="utf-8", errors="replace") == render(read_facts(run_dir)):
        return
    said = f"not what this version makes of the journal; `report {run_dir.name}` writes it anew"
    if ended:
        yield Finding(path.name, said)
    else:
        unchecked.append(f"{path.name}: {said}: the run went on after it was written")
