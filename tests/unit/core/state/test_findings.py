"""What code reads of a node or a verdict is a field: `metadata` is written and shown, never read by key."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
TOPS = ("agents", "benchmarks", "cli", "core", "dashboard", "problems", "reports", "runs")


def reads(tree: ast.AST) -> Iterator[int]:
    """Lines that look a key up in something's `.metadata`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
            looked_in: ast.AST | None = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "pop"):
            looked_in = node.func.value
        elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
            looked_in = node.comparators[0]
        else:
            continue
        if isinstance(looked_in, ast.Attribute) and looked_in.attr == "metadata":
            yield looked_in.lineno


def test_nothing_of_ours_reads_metadata_by_key():
    ours = [file for top in TOPS for file in (ROOT / top).rglob("*.py") if "node_modules" not in file.parts]
    found = [f"{file}:{line}" for file in ours for line in reads(ast.parse(file.read_text(encoding="utf-8")))]
    assert len(ours) > 200 and not found, "\n".join(found)


@pytest.mark.parametrize(
    "text", ["node.metadata['a']", "verdict.metadata.get('a')", "'a' in node.metadata", "n.metadata.pop('a')"]
)
def test_the_check_can_fail(text):
    assert list(reads(ast.parse(text))) == [1]


@pytest.mark.parametrize(
    "text", ["{**node.metadata, 'a': 1}", "SQLModel.metadata.tables", "metadata['a']", "n.metadata"]
)
def test_writing_and_showing_are_no_reads(text):
    assert list(reads(ast.parse(text))) == []
