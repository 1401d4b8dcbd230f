"""A refit with several seeds: the same program with other draws, and the mean or the vote of what these predict."""

from __future__ import annotations

import ast
import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from problems.competition.submission_rows import submission_rows
from utils.syntax import parse, with_texts

SEEDS = ("random_state", "seed", "random_seed")
"""Arguments by which libraries are told where to begin to draw."""
STEP = 1000
"""Between two programs' seeds, so that none meets another's."""


def reseeded(code: str, number: int) -> str:
    """The program with other seeds wherever it gives one as a number or by a name that says so.

    Args:
        number: 0 for the program as it is.
    """
    try:
        calls = [node for node in ast.walk(parse(code)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code
    given = [word.value for call in calls for word in call.keywords if word.arg in SEEDS and _is_seed(word.value)]
    changes = [(value, f"{ast.unparse(value)} + {STEP * number}") for value in given]
    return with_texts(code, changes) if number and changes else code


def _is_seed(value: ast.expr) -> bool:
    if isinstance(value, ast.Name):
        return value.id.lower() in SEEDS
    return isinstance(value, ast.Constant) and type(value.value) is int


def bagged(paths: Sequence[Path], target: Path, exam: Mapping[str, Any]) -> str:
    """Write the submissions as one to `target`; how they were put together: `mean`, or `vote` of classes.

    Args:
        paths: the first decides the order of rows, and where a vote is even.
        exam: `id`, `targets`, and whether these are `labels`.
    """
    tables = [_rows(path, exam["id"]) for path in paths]
    first = tables[0]
    columns = [name for name in next(iter(first.values())) if name in exam["targets"]]
    votes = bool(exam.get("labels")) or not all(_is_number(row[name]) for row in first.values() for name in columns)
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(next(iter(first.values()))), lineterminator="\n")
        writer.writeheader()
        for key, row in first.items():
            values = {name: [table[key][name] for table in tables] for name in columns}
            writer.writerow(row | {name: _voted(found) if votes else _mean(found) for name, found in values.items()})
    return "vote" if votes else "mean"


def _rows(path: Path, key: str) -> dict[str, dict[str, str]]:
    return {row[key]: row for row in submission_rows(path)}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _mean(texts: Sequence[str]) -> str:
    return repr(sum(map(float, texts)) / len(texts))


def _voted(texts: Sequence[str]) -> str:
    return Counter(texts).most_common(1)[0][0]
