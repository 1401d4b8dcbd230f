"""docs/glossary.md: every word has one entry, and every name in code form is really there."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

from pydantic import BaseModel

from utils.config_schema import Config

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
PARTS = ("core", "agents", "problems", "runs", "cli", "reports", "dashboard", "utils")
NAMES = sorted(set(re.findall(r"`([^`\n]+)`", TEXT)))
ROWS = [line for line in TEXT.splitlines() if line.startswith("| **")]


@cache
def identifiers() -> set[str]:
    """Every name that the product's code defines, uses as a field, or holds as a text that is one word."""
    found: set[str] = set()
    for part in PARTS:
        for path in (ROOT / part).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef | ast.FunctionDef):
                    found.add(node.name)
                elif isinstance(node, ast.Name | ast.Attribute):
                    found.add(node.id if isinstance(node, ast.Name) else node.attr)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
    return found


def is_key(name: str) -> bool:
    """A dotted configuration key."""
    section: type[BaseModel] = Config
    *sections, last = name.split(".")
    for part in sections:
        field = section.model_fields.get(part)
        if field is None or not (isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)):
            return False
        section = field.annotation
    return last in section.model_fields


def is_there(name: str) -> bool:
    words = name.split()
    if len(words) > 1:  # a command line: `fork --edit`
        return all(is_there(word) for word in words)
    if name.startswith("logs/"):
        return True  # made at run time
    if "/" in name:
        return (ROOT / name).exists()
    return name in identifiers() or is_key(name)


def test_the_names_in_code_form_are_there():
    gone = [name for name in NAMES if not is_there(name)]
    assert not gone, f"docs/glossary.md names {gone}: rename them there, or take them out"


def test_the_check_can_fail():
    assert not is_there("QueryDesk") and not is_there("core/desk.py") and not is_there("search.polcy")
    assert is_there("search.policy") and is_there("Node") and len(NAMES) > 60


def test_a_word_has_one_entry():
    words = [word for row in ROWS for word in re.findall(r"\*\*(.+?)\*\*", row)]
    assert len(words) > 70 and len(words) == len(set(words))
    assert all(row.count("|") == 3 for row in ROWS)
