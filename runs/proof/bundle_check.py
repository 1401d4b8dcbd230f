"""`verify FOLDER` for a bundle: its chain, its rows, and that the winner is the one the journal names."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from hashlib import file_digest
from pathlib import Path
from typing import Any

from core.state.fingerprint import text_hash
from core.storage.chain import CHAINED_FROM, row_hash
from core.storage.chain_check import ChainRead, Finding, check_rows, read_chain
from core.storage.cross_check import cross_check
from core.storage.models import columns_of
from core.storage.rows import BESIDE
from core.storage.store_check import origins_of
from reports.winner import is_concluded
from runs.proof.bundle import (
    CHAIN_FILE,
    FORMAT,
    MANIFEST,
    PROGRAM_FILE,
    ROWS_FILE,
    SOLUTION,
    WHOLE_TABLES,
    is_told,
)  # fmt: skip
from runs.proof.verification import Verification, concluded
from runs.recorded.files import BEST, FILES, is_as_recorded
from utils.errors import ConfigError
from utils.regular_files import DOCUMENT, open_regular, read_regular

_FAULTS = (ValueError, TypeError, LookupError, AttributeError, RecursionError, OSError, zlib.error)
Tables = dict[str, dict[str, list[Any]]]


def verify_bundle(folder: Path, head: str | None = None) -> Verification:
    """Check a folder that `export-best --bundle` wrote.

    Args:
        head: the newest head of the journal, as it is known from elsewhere.

    Raises:
        ConfigError: it is no bundle, or one of a newer form.
    """
    manifest = _manifest(folder)
    findings: list[Finding] = []
    unchecked = ["prompts, replies and outputs: a bundle does not hold them"]
    chain, tables = ChainRead(), dict[str, dict[str, list[Any]]]()
    try:
        chain = read_chain(_lines(folder / CHAIN_FILE))
        findings += chain.findings
        tables = _tables(folder / ROWS_FILE)
        findings += _rows(chain, tables)
        rows = {
            table: {
                key: dict(zip(columns_of(table), map(_value, values), strict=True))
                for key, values in tables.get(table, {}).items()
            }
            for table in (*WHOLE_TABLES, "facts")
        }
        findings += cross_check(rows)
        findings += _winner(folder, manifest, rows, chain)
        findings += _files(folder, rows["facts"], unchecked)
    except _FAULTS as error:
        findings.append(Finding(MANIFEST, f"the bundle cannot be read: {type(error).__name__}: {error}"))
    origins = tables.get("facts", {}).get(CHAINED_FROM)
    return concluded(
        str(manifest.get("run")), chain, findings, head, unchecked=unchecked,
        chained_from=origins_of(origins[1]) if origins and not findings else [],
        counts={table: len(rows) for table, rows in tables.items()},
    )  # fmt: skip


def _manifest(folder: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(read_regular(folder / MANIFEST, DOCUMENT))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{folder / MANIFEST}: no bundle of ours: {error}") from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ConfigError(f"{folder / MANIFEST}: not a bundle of format {FORMAT}")
    return found


def _lines(path: Path) -> Iterator[Any]:
    with open_regular(path) as file:
        while line := file.readline(DOCUMENT + 1):
            if len(line) > DOCUMENT:
                raise ValueError(f"{path.name} has a line of more than {DOCUMENT >> 20} MB")
            yield json.loads(line.decode("utf-8"))


def _tables(path: Path) -> Tables:
    tables: Tables = {}
    for table, key, values in _lines(path):
        tables.setdefault(table, {})[key] = values
    return tables


def _value(told: Any) -> Any:
    """A column as the store had it: bytes are told as a list of one text in hex."""
    return bytes.fromhex(told[0]) if isinstance(told, list) else told


def _rows(chain: ChainRead, tables: Tables) -> Iterator[Finding]:
    for table in sorted({*WHOLE_TABLES, *tables}):
        rows = tables.get(table, {})
        found = check_rows(chain, table, ((key, row_hash(values)) for key, values in rows.items()))
        if table in WHOLE_TABLES:
            yield from found
        else:  # some rows stay at home: of the facts those that name places of a machine
            for one in found:
                if is_told(one.where.removeprefix(f"{table}/")) or not one.what.startswith("deleted"):
                    yield one


def _winner(folder: Path, manifest: Mapping[str, Any], rows: Mapping[str, Any], chain: ChainRead) -> Iterator[Finding]:
    if manifest["journal_head"] != chain.head or manifest["links"] != chain.links:
        yield Finding(MANIFEST, "its journal_head or its links are not those of the chain")
    facts = {key: json.loads(row["value"]) for key, row in rows["facts"].items()}
    final = facts.get("final") or {}
    node = rows["nodes"].get(manifest["node_id"]) or _beside(facts, manifest["node_id"])
    if node is None:
        yield Finding(MANIFEST, f"its node {manifest['node_id']} is not in the journal")
        return
    for name, column in (("metric", "metric_value"), ("metric_source", "metric_source")):
        if manifest[name] != node[column]:
            yield Finding(MANIFEST, f"its {name} is not that of node {node['id']}")
    if facts.get("status") == "finished" and final.get("node_id") != node["id"]:
        yield Finding(MANIFEST, f"its node is not the final choice of the run, {final.get('node_id')}")
    if manifest["final_metric"] != final.get("metric"):
        yield Finding(MANIFEST, "its final_metric is not that of the journal")
    for name in ("run", "problem", "lower_is_better"):
        if manifest[name] != facts.get(name):
            yield Finding(MANIFEST, f"its {name} is not that of the journal")
    with open_regular(folder / PROGRAM_FILE) as program:
        if file_digest(program, "sha256").hexdigest() == node["code_hash"]:
            return
    yield Finding(PROGRAM_FILE, f"not the program of node {node['id']}")


def _beside(facts: Mapping[str, Any], node_id: str) -> dict[str, Any] | None:
    """A baseline beside the search that leads or won: a fact of its own, or the final choice, holds it whole."""
    chosen, told = (facts.get("final") or {}).get("program") or {}, facts.get(f"{BESIDE}{node_id}") or {}
    in_order = (chosen, told) if is_concluded(facts) else (told, chosen)  # as `winner_node`: the choice judged it last
    program = next((one for one in in_order if one.get("id") == node_id), None)
    return None if program is None else {**program, "code_hash": text_hash(program["code"])}


def _files(folder: Path, facts: Mapping[str, Any], unchecked: list[str]) -> Iterator[Finding]:
    """The files of the solution are those that the run recorded, and nothing else lies in the folder."""
    recorded: Mapping[str, str] = json.loads(facts[FILES]["value"])["hashes"] if FILES in facts else {}
    known = {f"{SOLUTION}/{name.removeprefix(f'{BEST}/')}": value for name, value in recorded.items()
             if name.startswith(f"{BEST}/")}  # fmt: skip
    own = {MANIFEST, CHAIN_FILE, ROWS_FILE, PROGRAM_FILE}
    there = {
        path.relative_to(folder).as_posix(): path
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }
    for name in sorted({*known, *there} - own):
        if name not in there:
            yield Finding(name, "deleted: the run recorded this file")
        elif name not in known:
            yield Finding(name, "inserted: the run recorded no such file")
        elif not is_as_recorded(there[name], known[name]):
            yield Finding(name, "changed: not the file that the run recorded")
    if not known:
        unchecked.append("the solution's other files: the run has not ended, so that it has not recorded them")
