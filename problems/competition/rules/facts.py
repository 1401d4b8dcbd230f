"""What a repertoire knows of a data set: the problem's extras (plain JSON), sorted by use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from problems.competition.rules.scales import ordered


@dataclass(frozen=True, slots=True)
class Facts:
    """The data set, as the writer sees it."""

    key: str
    targets: tuple[str, ...]
    """Columns of `train.csv` to learn."""
    classes: tuple[str, ...]
    """Where the submission has a column of probabilities for each class: their names; else ()."""
    task: str
    """`regression`, `labels`, `probability` (of the second class) or `classes` (a probability for each)."""
    metric: str
    rows: int
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    texts: tuple[str, ...]
    dates: tuple[str, ...]
    date_formats: Mapping[str, str]
    """How dates are written, where that is not year-month-day."""
    skewed: tuple[str, ...]
    """Numbers of at least 0 with a long right tail."""
    scales: Mapping[str, tuple[str, ...]]
    """Category columns whose values have an order, low to high."""
    years: tuple[str, ...]
    groups: Mapping[str, tuple[str, ...]]
    """Numbers that share the last word of their name, such as areas: candidates for sums."""
    missing: tuple[str, ...]
    positive_target: bool
    skewed_target: bool

    @property
    def is_table(self) -> bool:
        """False where there is no `train.csv` with one target column: only the sample submission is known."""
        return bool(self.numbers or self.categories or self.texts or self.dates) and len(self.targets) == 1

    @property
    def target(self) -> str:
        return self.targets[0]

    @property
    def classifies(self) -> bool:
        return self.task != "regression"

    @property
    def averages(self) -> bool:
        """True if the submissions of two programs have a mean: one column of numbers."""
        return self.task in ("regression", "probability")

    @property
    def width(self) -> int:
        return len(self.numbers) + len(self.categories)


def read_facts(extras: Mapping[str, Any]) -> Facts:
    """From `Problem.prompt_extras()`; whatever is missing is taken as unknown."""
    data = extras.get("data") or {}
    columns = {column["name"]: column for column in data.get("columns", [])}
    label = data.get("label")
    key, targets = data.get("id"), tuple(name for name in data.get("targets", []) if name in columns)
    targets = (label,) if label in columns else targets
    used = {name: c for name, c in columns.items() if name != key and name not in targets and c["kind"] != "constant"}

    def of(kind: str) -> tuple[str, ...]:
        return tuple(name for name, column in used.items() if column["kind"] == kind)

    numbers = of("number")
    goal = columns[targets[0]] if targets else {}
    return Facts(
        key=str(key or "id"),
        targets=targets,
        classes=tuple(data["targets"]) if label in columns else (),
        task="classes" if label in columns else str(data.get("task") or _task_of(goal)),
        metric=str(data.get("metric") or ""),
        rows=int(data.get("rows", {}).get("train", 0)),
        numbers=numbers,
        categories=of("category"),
        texts=of("text"),
        dates=of("date"),
        date_formats={name: str(used[name]["format"]) for name in of("date") if used[name].get("format")},
        skewed=tuple(n for n in numbers if _is_skewed(used[n])),
        scales={n: s for n in of("category") if (s := _scale(used[n])) is not None},
        years=tuple(n for n in numbers if _is_year(n, used[n])),
        groups=_groups(numbers),
        missing=tuple(n for n in numbers if used[n]["missing"] > 0),
        positive_target=goal.get("min", -1) >= 0,
        skewed_target=abs(goal.get("skew", 0)) > 1,
    )


def _task_of(goal: Mapping[str, Any]) -> str:
    return "regression" if goal.get("kind") == "number" else "labels"


def _scale(column: Mapping[str, Any]) -> tuple[str, ...] | None:
    values = column.get("values", [])
    found = ordered(values) if all(isinstance(v, str) for v in values) and len(values) == column["unique"] else None
    return tuple(found) if found else None


def _is_skewed(column: Mapping[str, Any]) -> bool:
    return bool(column.get("min", -1) >= 0 and column.get("skew", 0) > 1 and column["unique"] > 10)


def _is_year(name: str, column: Mapping[str, Any]) -> bool:
    return bool(re.search(r"year|yr", name, re.I)) and 1500 <= column.get("min", 0) <= column.get("max", 0) <= 2200


def _groups(numbers: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in numbers:
        words = [word for word in re.split(r"[_\W]+|(?<=[a-z])(?=[A-Z])", name) if word and not word.isdigit()]
        if words:
            found.setdefault(words[-1], []).append(name)
    return {word: tuple(names) for word, names in found.items() if 3 <= len(names) <= 12}
