"""Whether links and rows are those of one unbroken chain. Reads plain values, so that a store and a bundle share it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.storage.chain import next_head


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as the run left it."""

    where: str
    """A row as `table/key`, a link as `chain/seq`, an object of the schema, or a file below the run's folder."""
    what: str
    """One sentence. May quote what a stranger wrote."""


@dataclass(slots=True)
class ChainRead:
    """A chain, read from its first link to its newest."""

    head: str = ""
    """The newest head as stored."""
    heads: dict[str, int] = field(default_factory=dict)
    """Every head → number of its link."""
    newest: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    """(table, key) → the newest hash of that row ('' if it went) and the link that says so."""
    findings: list[Finding] = field(default_factory=list)

    @property
    def links(self) -> int:
        return len(self.heads)


def read_chain(links: Iterable[Sequence[Any]]) -> ChainRead:
    """Follow the chain: `links` are (seq, records as text, head) in stored order."""
    read, before = ChainRead(), 0
    for seq, records, head in links:
        place = f"chain/{seq}"
        if seq != before + 1:
            gone = f"link {before + 1}" if seq == before + 2 else f"links {before + 1} to {seq - 1}"
            read.findings.append(Finding(place, f"{gone} before it missing" if seq > before else "it is not in order"))
        if next_head(read.head, str(records)) != head:
            read.findings.append(Finding(place, "its head does not follow from the link before it and its own records"))
        try:
            for table, key, value in json.loads(records):
                read.newest[str(table), str(key)] = str(value), seq
        except (ValueError, TypeError, RecursionError):
            read.findings.append(Finding(place, "its records cannot be read"))
        before, read.head = seq, str(head)
        read.heads[read.head] = seq
    return read


def check_rows(read: ChainRead, table: str, rows: Iterable[tuple[str, bytes]]) -> Iterator[Finding]:
    """Every row of a table, given by key and hash, against the chain, and every row that the chain knows."""
    seen = set()
    for key, value in rows:
        seen.add(key)
        known, link = read.newest.get((table, key), (None, 0))
        if known is None:
            yield Finding(f"{table}/{key}", "inserted: no link of the chain knows this row")
        elif not known:
            yield Finding(f"{table}/{key}", f"put back: link {link} says that this row went")
        elif known != value.hex():
            yield Finding(f"{table}/{key}", f"changed: it is not the row that link {link} wrote")
    for (named, key), (known, link) in read.newest.items():
        if named == table and known and key not in seen:
            yield Finding(f"{table}/{key}", f"deleted: link {link} wrote this row")


def check_tables(read: ChainRead, tables: Iterable[str]) -> Iterator[Finding]:
    """Tables that only the chain knows."""
    known = set(tables)
    for table in sorted({table for (table, _), (value, _) in read.newest.items() if value} - known):
        yield Finding(table, "deleted: the chain knows rows of this table")
