"""Every way to change a run behind its back, made from the schema: a new table or column is tampered with at once.

A tampering is (name, what it does to a copy of the run's folder, where `verify` must find it).
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.storage.chain import Chain, chained_tables, rows_of
from core.storage.chain_links import CHAIN, Record, packed_records, unpacked_records
from core.storage.database import DB_NAME
from core.storage.packing import json_of, pack_json


@dataclass(frozen=True)
class Tampering:
    name: str
    apply: Callable[[Path], None]
    where: str
    """Beginning of the place of a finding."""


def all_tamperings(run_dir: Path) -> list[Tampering]:
    """For this run: rows, links, schema and files."""
    with closing(_open(run_dir)) as db:
        tables = chained_tables(db)
        rows = {table: list(rows_of(db, table, *told)) for table, told in tables.items()}
        unique = {table: _unique(db, table) for table in tables}
    found: list[Tampering] = []
    for table, (columns, key) in tables.items():
        found += _of_table(table, columns, key, rows[table], unique[table])
    return [*found, *_of_chain(run_dir), *_of_schema(), *_of_files(run_dir)]


# ------------------------------------------------------------ rows


def _of_table(
    table: str, columns: list[str], key: list[str], rows: list[tuple[str, tuple[Any, ...]]], unique: set[str]
) -> Iterator[Tampering]:
    assert len(rows) > 1, f"the run that is tampered with has too few rows in {table}"
    name, row = rows[len(rows) // 2]
    match = " AND ".join(f'"{column}" = ?' for column in key)
    at = [row[columns.index(column)] for column in key]
    for column, value in zip(columns, row, strict=True):
        new = _other(value)
        yield Tampering(
            f"{table}.{column} changed",
            _sql((f'UPDATE "{table}" SET "{column}" = ? WHERE {match}', [new, *at])),
            f"{table}/{name}",
        )
    yield Tampering(f"{table}: row deleted", _sql((f'DELETE FROM "{table}" WHERE {match}', at)), f"{table}/{name}")
    copy = [_other(value) if column in {*key, *unique} else value for column, value in zip(columns, row, strict=True)]
    marks = ", ".join("?" * len(columns))
    inserted = "/".join(str(copy[columns.index(column)]) for column in key)
    yield Tampering(
        f"{table}: row inserted", _sql((f'INSERT INTO "{table}" VALUES ({marks})', copy)), f"{table}/{inserted}"
    )
    other = next(one for other, one in rows if other != name and one != row)
    changes = []
    for mine, theirs in ((row, other), (other, row)):
        rest = [column for column in columns if column not in {*key, *unique}]
        sets = ", ".join(f'"{column}" = ?' for column in rest)
        given = [theirs[columns.index(column)] for column in rest] + [mine[columns.index(column)] for column in key]
        changes.append((f'UPDATE "{table}" SET {sets} WHERE {match}', given))
    yield Tampering(f"{table}: rows swapped", _sql(*changes), f"{table}/{name}")


def _other(value: Any) -> Any:
    """Another value of the same kind; large, so that no number is taken already."""
    if isinstance(value, bytes):
        return value + b"x"
    if isinstance(value, str):
        return value + "x"
    return "x" if value is None else value + 1_000_000


# ------------------------------------------------------------ links


def _of_chain(run_dir: Path) -> Iterator[Tampering]:
    with closing(_open(run_dir)) as db:
        (last,) = db.execute(f"SELECT max(seq) FROM {CHAIN}").fetchone()
        (records,) = db.execute(f"SELECT records FROM {CHAIN} WHERE seq = ?", (last // 2,)).fetchone()
    middle = last // 2
    less = _packed(list(unpacked_records(records))[1:])
    links = {
        "records changed": ("UPDATE chain SET records = ? WHERE seq = ?", [less, middle]),
        "head changed": ("UPDATE chain SET head = ? WHERE seq = ?", ["0" * 64, middle]),
        "number changed": ("UPDATE chain SET seq = ? WHERE seq = ?", [last + 5, middle]),
        "link deleted": ("DELETE FROM chain WHERE seq = ?", [middle]),
        "first link deleted": ("DELETE FROM chain WHERE seq = 1", []),
    }
    for name, (statement, values) in links.items():
        yield Tampering(f"chain: {name}", _sql((statement, values)), "chain/")
    yield Tampering("chain: last link deleted", _sql(("DELETE FROM chain WHERE seq = ?", [last])), "events/")
    yield Tampering(
        "chain: link inserted",
        _sql(("INSERT INTO chain VALUES (?, '[]', ?)", [last + 1, "0" * 64])),
        f"chain/{last + 1}",
    )
    moves = ((-1, middle), (middle, middle + 1), (middle + 1, -1))
    swap = [("UPDATE chain SET seq = ? WHERE seq = ?", list(move)) for move in moves]
    yield Tampering("chain: links swapped", _sql(*swap), f"chain/{middle}")
    yield Tampering("chain: all links deleted", _sql(("DELETE FROM chain", [])), "nodes/")


def _packed(records: list[Record]) -> bytes:
    rows = {(one.table, one.key): one for one in records}
    return packed_records({row: one.tag for row, one in rows.items()}, {row: one.before for row, one in rows.items()})


def made_anew(run_dir: Path) -> None:
    """A careful forger: one score and its event changed, and a chain over it that holds."""
    with closing(_open(run_dir)) as db:
        (node,) = db.execute("SELECT id FROM nodes WHERE metric_value IS NOT NULL ORDER BY fitness LIMIT 1").fetchone()
        db.execute("UPDATE nodes SET exec_time = 99.0 WHERE id = ?", (node,))
        told = "type = 'node.committed' AND node_id = ?"
        (body,) = db.execute(f"SELECT body FROM events WHERE {told}", (node,)).fetchone()
        forged = pack_json(json.dumps({**json_of(body), "exec_time": 99.0}))
        db.execute(f"UPDATE events SET body = ? WHERE {told}", (forged, node))
        db.execute("DELETE FROM chain")
        chain = Chain(db)
        chain.take_all(3)
        db.execute("DELETE FROM facts WHERE key = 'chained_from'")
        chain._touched.pop(("facts", "chained_from"))
        chain.link()
        db.commit()


def careless(run_dir: Path) -> None:
    """A forger who makes the chain anew but forgets what the events say."""
    with closing(_open(run_dir)) as db:
        db.execute("UPDATE nodes SET metric_value = metric_value + 1 WHERE metric_value IS NOT NULL")
        db.commit()
    made_anew(run_dir)


def cut_off(run_dir: Path) -> None:
    """The newest record and its link are gone, as if they had never been."""
    with closing(_open(run_dir)) as db:
        seq, records = db.execute("SELECT seq, records FROM chain ORDER BY seq DESC LIMIT 1").fetchone()
        for record in unpacked_records(records):
            (_, (column, *_)) = chained_tables(db)[record.table]
            db.execute(f'DELETE FROM "{record.table}" WHERE "{column}" = ?', (record.key,))
        db.execute("DELETE FROM chain WHERE seq = ?", (seq,))
        db.commit()


# ------------------------------------------------------------ schema


def _of_schema() -> Iterator[Tampering]:
    view = "CREATE VIEW candidates AS SELECT id, 'forged' AS code, 0.0 AS score FROM nodes"
    for name, statements, where in (
        ("view made to lie", ["DROP VIEW candidates", view], "candidates"),
        ("view dropped", ["DROP VIEW generations"], "generations"),
        ("table inserted", ["CREATE TABLE extra (id INTEGER PRIMARY KEY)"], "extra"),
        ("trigger inserted", ["CREATE TRIGGER t AFTER INSERT ON nodes BEGIN SELECT 1; END"], "t"),
        ("table dropped", ["DROP TABLE games"], "games"),
        ("column added", ["ALTER TABLE nodes ADD COLUMN more TEXT"], "nodes"),
        ("called an older version", ["PRAGMA user_version=2"], "user_version"),
    ):
        yield Tampering(f"schema: {name}", _sql(*((one, []) for one in statements)), where)


# ------------------------------------------------------------ files


def _of_files(run_dir: Path) -> Iterator[Tampering]:
    for path in [*sorted((run_dir / "best_solution").iterdir()), run_dir / "config.yaml"]:
        name = path.relative_to(run_dir).as_posix()
        yield Tampering(f"{name} changed", _edit(name, lambda text: text + "\n"), name)
        yield Tampering(f"{name} deleted", lambda folder, name=name: (folder / name).unlink(), name)
        yield Tampering(f"{name} made a link", lambda folder, name=name: _link(folder / name), name)
    more = "best_solution/more.py"
    yield Tampering("file inserted", lambda folder: (folder / more).write_text("1\n") and None, more)
    for name in ("metrics.json", "metrics.csv"):
        yield Tampering(f"{name}: a figure", _edit(name, _one_figure), name)
        yield Tampering(f"{name} deleted", lambda folder, name=name: (folder / name).unlink(), name)
        yield Tampering(f"{name}: a row less", _edit(name, _one_row_less), name)
    figures = {
        "a score": r">(-?\d+\.\d+)<",
        "a count": r"(\d+) steps",
        "journal_head": r"journal_head ([0-9a-f])",
        "a curve": r'd="M ?(\d)',
    }
    report = (run_dir / "report.html").read_text()
    for what, pattern in figures.items():
        if re.search(pattern, report):
            yield Tampering(
                f"report.html: {what}", _edit("report.html", lambda text, p=pattern: _figure(text, p)), "report.html"
            )


def _figure(text: str, pattern: str) -> str:
    found = re.search(pattern, text)
    assert found is not None
    digit = "1" if found[1][-1] != "1" else "2"
    return text[: found.end(1) - 1] + digit + text[found.end(1) :]


def _one_figure(text: str) -> str:
    return _figure(text, r"(\d\.\d\d+)")


def _one_row_less(text: str) -> str:
    lines = text.splitlines(keepends=True)
    del lines[2]
    return "".join(lines)


def _edit(name: str, change: Callable[[str], str]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        path = folder / name
        before = path.read_text()
        after = change(before)
        assert after != before, name
        path.write_text(after)

    return apply


def _link(path: Path) -> None:
    away = path.with_name("elsewhere")
    path.rename(path.parent.parent / "elsewhere") if path.parent.name == "best_solution" else path.rename(away)
    path.symlink_to(path.parent.parent / "elsewhere" if path.parent.name == "best_solution" else away)


# ------------------------------------------------------------ plumbing


def _sql(*statements: tuple[str, Any]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        with closing(_open(folder)) as db:
            for statement, values in statements:
                db.execute(statement, values)
            db.commit()

    return apply


def _open(folder: Path) -> sqlite3.Connection:
    return sqlite3.connect(folder / DB_NAME)


def _unique(db: sqlite3.Connection, table: str) -> set[str]:
    """Columns of which no two rows may have the same value."""
    names = [
        name for name, is_unique in db.execute('SELECT name, "unique" FROM pragma_index_list(?)', (table,)) if is_unique
    ]
    return {column for name in names for (column,) in db.execute("SELECT name FROM pragma_index_info(?)", (name,))}
