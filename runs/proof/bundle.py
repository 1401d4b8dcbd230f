"""`export-best --bundle`: the winner with the proof of how it got there, to be verified without our store.

A folder of plain files. `docs/verify.md` tells them and checks them with the standard library.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from core.state.node import Node
from core.storage.chain import as_json, chained_tables, row_hashes, rows_of
from core.storage.chain_links import links_of
from core.storage.reader import RunReader
from core.storage.rows import BESIDE
from runs.recorded.files import BEST, FILES, is_as_recorded, solution_files
from utils.errors import ConfigError
from utils.regular_files import copy_regular

FORMAT = 1
WHOLE_TABLES = ("nodes", "events", "tasks", "games")
"""Every row of these is in a bundle; prompts, replies and outputs (`calls`, `texts`) stay at home."""
TOLD_FACTS = (
    "run", "problem", "unit", "family", "lower_is_better", "status", "started_at", "writer", "baselines", "final",
    "sandbox", "cautions", FILES, "chained_from",
)  # fmt: skip
"""No configuration and no environment: they name places of this machine."""
MANIFEST, CHAIN_FILE, ROWS_FILE, PROGRAM_FILE, SOLUTION = (
    "bundle.json", "chain.jsonl", "rows.jsonl", "program.txt", "solution",
)  # fmt: skip


def write_bundle(reader: RunReader, node: Node, out: Path) -> list[Path]:
    """Write `node` and the journal that vouches for it into the folder `out`; returns the files.

    Raises:
        ConfigError: the run has no chain, or `out` holds something already.
    """
    if reader.journal_head() is None:
        raise ConfigError(f"run {reader.name}: an older version wrote it, so that it has no chain; resume it first")
    if out.exists() and any(out.iterdir()):
        raise ConfigError(f"--bundle={out}: a bundle is written into an empty or new folder")
    out.mkdir(parents=True, exist_ok=True)
    with reader.db.transaction() as connection:  # one moment of a run that may be growing, the reader's
        links = list(links_of(connection, row_hashes(connection)))
        _write_lines(out / CHAIN_FILE, links)
        _write_lines(out / ROWS_FILE, _rows(connection))
    (out / PROGRAM_FILE).write_bytes(node.code.encode("utf-8", "surrogatepass"))
    files = _solution(reader, out)
    manifest = {
        "format": FORMAT,
        "run": reader.fact("run") or reader.name,
        "problem": reader.fact("problem"),
        "lower_is_better": bool(reader.fact("lower_is_better")),
        "node_id": node.id,
        "metric": node.metric_value,
        "metric_source": node.metric_source,
        "final_metric": (reader.fact("final") or {}).get("metric"),
        "journal_head": links[-1][2],
        "links": len(links),
    }
    (out / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return [out / name for name in (MANIFEST, CHAIN_FILE, ROWS_FILE, PROGRAM_FILE)] + files


def _rows(connection: sqlite3.Connection) -> Iterator[list[Any]]:
    """`[table, key, values]`: the hash of `values` as JSON is what the chain says of the row."""
    tables = chained_tables(connection)
    for table in WHOLE_TABLES:
        for key, values in rows_of(connection, table, *tables[table]):
            yield [table, key, values]
    for key, values in rows_of(connection, "facts", *tables["facts"]):
        if is_told(key):
            yield ["facts", key, values]


def is_told(fact: str) -> bool:
    """True for a fact that a bundle holds."""
    return fact in TOLD_FACTS or fact.startswith(BESIDE)


def _write_lines(path: Path, lines: Iterable[Any]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(as_json(line) + "\n" for line in lines)


def _solution(reader: RunReader, out: Path) -> list[Path]:
    """The files of `best_solution/` that the run recorded and that are still those."""
    written = []
    for source, known in solution_files(reader).items():
        if is_as_recorded(source, known):
            target = out / SOLUTION / source.relative_to(reader.run_dir / BEST)
            target.parent.mkdir(parents=True, exist_ok=True)
            written.append(copy_regular(source, target))
    return written
