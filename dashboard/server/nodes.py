"""Nodes as the API tells them: lists, one node whole, its difference to a parent, its prompts."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

from core.executor.archive import archive_of, archived_files
from core.search.statistics import counted_again
from core.state.change import against_parent
from core.state.node import Node
from core.storage.numbering import numbering_of
from core.storage.reader import RunReader
from core.storage.unreadable import reads_store
from dashboard.server.overview import node_totals
from dashboard.server.schemas.nodes import (
    Call,
    ChangedFile,
    Diff,
    DiffLine,
    LeftFile,
    NodeDetail,
    NodePage,
    NodeRow,
    ShownNode,
)
from reports.ratings import ratings_of
from utils.archives import BROKEN
from utils.clean_text import whole, whole_all
from utils.counts import counted
from utils.line_matching import line_matcher
from utils.patch import tree_patches
from utils.regular_files import open_regular
from utils.syntax import source_lines
from utils.traceback_text import alike_once

NODE_ID = re.compile(r"[0-9a-f]{4,64}")
CONTEXT_LINES = 4
"""Equal lines shown on both sides of a change."""
_LONGEST_DIFF = 20_000
LARGEST_FILE = 256 * 2**20
"""Bytes of a file that a program left."""
_MARK = (
    "SELECT json_extract(body, '$.mark') FROM events WHERE type = 'node.marked' AND node_id = ?"
    " ORDER BY seq DESC LIMIT 1"
)
_CHILDREN = (
    "SELECT id FROM nodes WHERE EXISTS (SELECT 1 FROM json_each(nodes.parent_ids) WHERE value = ?) ORDER BY step"
)


@reads_store
def node_page(reader: RunReader, /, *, offset: int, limit: int, newest_first: bool, **filters: Any) -> NodePage:
    """A page of nodes in journal order. Filters: operator, failure, buggy, generation, island."""
    nodes = reader.nodes(offset=offset, limit=limit, newest_first=newest_first, **filters)
    numbers, ratings = numbering_of(reader), ratings_of(reader)
    return NodePage(
        total=reader.count(**filters), nodes=[node_row(ratings.now(node), numbers.step(node.id)) for node in nodes]
    )


def node_row(node: Node, step: int | None) -> NodeRow:
    names = NodeRow.model_fields.keys() & Node.model_fields.keys() - {"parent_ids", "step"}
    shared = {name: getattr(node, name) for name in names}
    parents = list(node.parent_ids)
    return NodeRow(node_id=node.id, step=step, place=node.step, metric=node.metric_value, parent_ids=parents, **shared)


@reads_store
def node_detail(reader: RunReader, node: Node) -> NodeDetail:
    """A node, whole, with what the policy counted of it."""
    counted = counted_again(reader.fact("config", {}).get("search", {}), lambda: reader.journal(texts=False))
    if counted is not None and node.id in counted:
        visits, reward = counted.visits(node.id)
        node = node.model_copy(update={"visits": visits, "total_reward": reward})
    node = ratings_of(reader).now(node).model_copy(update={"term_out": alike_once(node.term_out)})
    with reader.db.transaction():
        mark = reader.db.value(_MARK, (node.id,))
        children = [child for (child,) in reader.db.select(_CHILDREN, (node.id,))]
        sums = node_totals(reader, node.id)
    return NodeDetail(
        node=ShownNode(**{**whole_all(dict(node)), "step": numbering_of(reader).step(node.id), "place": node.step}),
        against_parent=against_parent(node),
        children_ids=children,
        why=reader.why(node.id),
        stages=node.stages,
        mark=mark if mark in ("pinned", "banned") else "none",
        totals=sums,
        files=[LeftFile.model_validate(file) for file in archived_files(reader.run_dir, node.id)],
        changed=_changed(node),
    )


def _changed(node: Node) -> list[ChangedFile] | None:
    patches = tree_patches(node.code)
    if patches is None:
        return None
    counted = [(patch, *patch.counts) for patch in patches]
    return [ChangedFile(path=p.path, kind=p.kind, added=more, removed=less, diff=p.text) for p, more, less in counted]


def left_file(run_dir: Path, node_id: str, name: str) -> bytes | None:
    """What a program left under that name, or None; a name that is not in its archive opens nothing."""
    try:
        with open_regular(archive_of(run_dir, node_id)) as file, zipfile.ZipFile(file) as archive:
            return archive.read(name) if archive.getinfo(name).file_size <= LARGEST_FILE else None
    except (*BROKEN, KeyError):
        return None  # a program made it: what cannot be unpacked is not there


@reads_store
def node_calls(reader: RunReader, node_id: str) -> list[Call]:
    return [Call(**record.model_dump(include=set(Call.model_fields))) for record in reader.calls(node_id)]


def diff(node: Node, other: Node | None) -> Diff:
    """Line by line against `other` (for a draft: against nothing); long equal stretches are left out."""
    old = source_lines(whole(other.code))[:_LONGEST_DIFF] if other else []
    new = source_lines(whole(node.code))[:_LONGEST_DIFF]
    lines: list[DiffLine] = []
    opcodes = line_matcher(old, new).get_opcodes()
    for index, (tag, i1, i2, j1, j2) in enumerate(opcodes):
        if tag == "equal":
            lines += _equal(new, i1, j1, j2, first=index == 0, last=index == len(opcodes) - 1)
            continue
        lines += [DiffLine(kind="del", old=i + 1, text=old[i]) for i in range(i1, i2)]
        lines += [DiffLine(kind="add", new=j + 1, text=new[j]) for j in range(j1, j2)]
    return Diff(
        node_id=node.id,
        against=other.id if other else None,
        added=sum(line.kind == "add" for line in lines),
        removed=sum(line.kind == "del" for line in lines),
        lines=lines,
    )


def _equal(new: list[str], i1: int, j1: int, j2: int, *, first: bool, last: bool) -> list[DiffLine]:
    same = [DiffLine(kind="same", old=i1 + k + 1, new=j1 + k + 1, text=new[j1 + k]) for k in range(j2 - j1)]
    head, tail = (0 if first else CONTEXT_LINES), (0 if last else CONTEXT_LINES)
    hidden = len(same) - head - tail
    if hidden <= 2:
        return same
    note = DiffLine(kind="skip", text=f"{counted(hidden, 'equal line')} hidden")
    return [*same[:head], note, *same[len(same) - tail :]]
