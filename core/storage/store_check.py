"""What a run's store says of itself: schema, chain, rows, texts, and whether its records agree. Nothing is run."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.state.fingerprint import text_hash
from core.storage.chain import CHAINED_FROM, chained_tables, row_hash, rows_of
from core.storage.chain_check import ChainRead, Finding, check_rows, check_tables, read_chain
from core.storage.chain_links import CHAIN, Row, links_of
from core.storage.connection import is_of_the_machine, is_unmade, lacking_room, reading
from core.storage.cross_check import check_programs, check_texts, cross_check
from core.storage.database import DB_NAME, make_schema
from core.storage.foreign_schema import runs_something
from core.storage.migrations import CHAINED, SCHEMA_VERSION, migrate
from core.storage.packing import WINDOW, TextOf, is_named, raw_text, unpacked, whole_text
from core.storage.rows import JOURNAL, journal_line
from core.storage.views import OLDER_VIEWS
from utils.counts import counted
from utils.errors import StoreError, StoreVersionError

_KEPT = ("nodes", "events", "facts", "tasks", "games", "calls")
"""Tables whose rows the cross-check reads."""
_ORIGIN = ("schema", "link")
_FAULTS = (sqlite3.Error, ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, zlib.error)


@dataclass(slots=True)
class StoreCheck:
    """What was found in one store."""

    schema: int
    """Version of the file; before 3 there was no chain. 0: nothing stands in it yet."""
    chain: ChainRead
    rows: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    """Table → rows."""

    @property
    def chained_from(self) -> list[dict[str, int]]:
        """Where links took the rows of older versions as they lay: `{schema, link}`."""
        return origins_of(self.rows.get("facts", {}).get(CHAINED_FROM, {}).get("value"))


def origins_of(value: Any) -> list[dict[str, int]]:
    """The rows of the fact CHAINED_FROM as it is stored; without what a stranger put there that is none."""
    try:
        found = json.loads(value)
    except (ValueError, TypeError, RecursionError):
        return []
    rows = found if isinstance(found, list) else []
    return [row for row in rows if isinstance(row, dict) and all(type(row.get(name)) is int for name in _ORIGIN)]


def check_store(run_dir: Path) -> StoreCheck:
    """Recompute everything that the store of `logs/<run>` holds.

    Raises:
        StoreVersionError: a newer version wrote it. StoreError: this machine cannot read it now, which says nothing of
            the run.
    """
    path = run_dir / DB_NAME
    check = StoreCheck(SCHEMA_VERSION, ChainRead())
    try:
        with closing(reading(path)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
            connection.execute("BEGIN")  # one moment of a store that may be growing
            check.schema = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if check.schema > SCHEMA_VERSION:
                raise StoreVersionError(
                    f"store '{path}' has schema {check.schema}, this program knows up to {SCHEMA_VERSION}"
                )
            if not check.schema and not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
                return check
            if foreign := runs_something(connection):
                check.findings.append(Finding(foreign.name, f"the store holds {foreign.what}: nothing of it is read"))
                return check
            check.findings += _file(connection)
            _records(connection, check)
    except _FAULTS as error:
        if isinstance(error, sqlite3.Error) and is_unmade(path, error):
            check.schema = 0
            return check
        if is_of_the_machine(error):
            raise StoreError(f"store '{path}': {error}{lacking_room(path.parent)}; nothing was checked") from error
        check.findings.append(Finding(DB_NAME, f"cannot be read: {type(error).__name__}: {error}"))
    return check


def _records(connection: sqlite3.Connection, check: StoreCheck) -> None:
    has_chain = bool(connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (CHAIN,)).fetchone())
    if check.schema < CHAINED and not has_chain:
        with closing(_as_this_version(connection)) as copy:
            _compare(copy, check, has_chain=False)
    else:
        _compare(connection, check, has_chain=has_chain)


def _as_this_version(connection: sqlite3.Connection) -> sqlite3.Connection:
    """An older store in memory, as a resume would bring it along."""
    copy = sqlite3.connect(":memory:", isolation_level=None)
    copy.text_factory = connection.text_factory
    connection.backup(copy)
    try:
        migrate(copy, Path(DB_NAME), chained=False)
    except StoreError as error:
        raise ValueError(str(error)) from error
    return copy


def _compare(connection: sqlite3.Connection, check: StoreCheck, *, has_chain: bool) -> None:
    tables = chained_tables(connection)
    hashes: dict[Row, bytes] = {}
    programs: dict[str, str] = {}
    text_of = _texts(connection)
    for table, (columns, key) in tables.items():
        for name, row in _seen(check, table, columns, rows_of(connection, table, columns, key)):
            if has_chain:
                hashes[table, name] = row_hash(row)
            if table == "texts":
                check.findings += _text(name, row[1], text_of, programs)
    if check.schema >= CHAINED:
        check.findings += _schema(connection, check.schema)
    elif has_chain:
        check.findings.append(Finding("user_version", f"the file says schema {check.schema}, which has no chain yet"))
    if has_chain:
        _follow(connection, check, tables, hashes)
    if set(_KEPT) <= check.rows.keys():
        check.findings += cross_check(check.rows)
        check.findings += check_programs(check.rows, programs)
        check.findings += check_texts(check.rows, programs, text_of)
        check.findings += _journal(connection, check.rows, text_of)


def _follow(connection: sqlite3.Connection, check: StoreCheck, tables: Iterable[str], hashes: dict[Row, bytes]) -> None:
    """The chain, and what it says of every row."""
    check.chain = read_chain(links_of(connection, hashes))
    check.findings += check.chain.findings
    by_table: dict[str, list[tuple[str, bytes]]] = {table: [] for table in tables}
    for (table, key), value in hashes.items():
        by_table[table].append((key, value))
    for table, rows in by_table.items():
        check.findings += check_rows(check.chain, table, rows)
    check.findings += check_tables(check.chain, tables)


def _seen(
    check: StoreCheck, table: str, columns: Sequence[str], rows: Iterator[tuple[str, tuple[Any, ...]]]
) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Pass the rows on; count them, and keep those that are compared with each other."""
    kept = check.rows.setdefault(table, {}) if table in _KEPT else None
    check.counts[table] = 0
    for key, row in rows:
        check.counts[table] += 1
        if kept is not None:
            kept[key] = dict(zip(columns, row, strict=True))
        yield key, row


def _texts(connection: sqlite3.Connection) -> TextOf:
    """Reads the ends of whole texts, as much as differences to them reach."""

    @lru_cache(maxsize=64)
    def text_of(name: str) -> bytes:
        found = connection.execute("SELECT body FROM texts WHERE hash = ?", (name,)).fetchone()
        if found is None:
            raise ValueError(f"text {name} is missing")
        return whole_text(found[0])[-WINDOW:]

    return text_of


def _journal(
    connection: sqlite3.Connection, rows: Mapping[str, Mapping[str, Mapping[str, Any]]], text_of: TextOf
) -> Iterator[Finding]:
    """The hash that the run told of its journal, against that of the nodes as they lie."""
    told = json.loads(rows["facts"][JOURNAL]["value"]) if JOURNAL in rows["facts"] else None
    if told is None:
        return
    digest = sha256()
    for row in sorted(rows["nodes"].values(), key=lambda row: row["step"])[: told["nodes"]]:
        (body,) = connection.execute("SELECT body FROM texts WHERE hash = ?", (row["code"],)).fetchone() or ("",)
        plain = {"parent_ids": json.loads(row["parent_ids"]), "rest": json.loads(row["rest"])}
        digest.update(journal_line({**row, **plain, "is_valid": bool(row["is_valid"])}, unpacked(body, text_of)))
    if digest.hexdigest() != told["sha256"]:
        yield Finding(f"facts/{JOURNAL}", f"its sha256 is not that of the first {counted(told['nodes'], 'node')}")


def _text(name: str, body: Any, text_of: TextOf, programs: dict[str, str]) -> Iterator[Finding]:
    try:
        raw = raw_text(body, text_of)
        programs[name] = text_hash(raw.decode("utf-8", "surrogatepass"))
    except (zlib.error, ValueError, TypeError):
        yield Finding(f"texts/{name}", "cannot be unpacked")
        return
    if not is_named(name, raw):
        yield Finding(f"texts/{name}", "is not the text of that name")


def _file(connection: sqlite3.Connection) -> Iterator[Finding]:
    (said,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if said != "ok":
        yield Finding(DB_NAME, f"SQLite says: {said}")


def _schema(connection: sqlite3.Connection, schema: int) -> Iterator[Finding]:
    """Tables with other columns, views that tell another story, and whatever else the schema does not have."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        make_schema(fresh)
        ours, theirs = _objects(fresh), _objects(connection)
    for name in sorted(ours.keys() | theirs.keys()):
        if name not in theirs:
            yield Finding(name, "missing: the schema has it")
        elif name not in ours:
            yield Finding(name, "inserted: the schema has no such table, view or trigger")
        elif ours[name] != theirs[name] and not _is_older_view(schema, *theirs[name]):
            yield Finding(name, "changed: it is not what the schema says")


def _is_older_view(schema: int, kind: Any, sql: Any = "", *_: Any) -> bool:
    return kind == "view" and schema < OLDER_VIEWS.get(sha256(str(sql).encode()).hexdigest(), 0)


def _objects(connection: sqlite3.Connection) -> dict[str, Any]:
    found = connection.execute(
        "SELECT type, name, sql FROM sqlite_schema WHERE type != 'index' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchall()
    return {
        name: connection.execute("SELECT name, pk FROM pragma_table_info(?)", (name,)).fetchall()
        if kind == "table"
        else (kind, sql)
        for kind, name, sql in found
    }
