"""What a repertoire knows of a data set: the problem's extras (plain JSON), sorted by use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from problems.competition.rules import number_lists
from problems.competition.rules.row_files import RowFiles, row_files
from problems.competition.rules.scales import ordered
from problems.competition.rules.side_tables import SideTable, side_tables

PROGRAMS, FEWEST_PROGRAMS = 24, 8
"""Programs that a short search should come to on small tables and on large ones."""
VAST = 1_000_000
"""Rows at which these are twice as many: a search that does not begin with small parts ends before it begins."""
HALVED = 15_000
"""Rows at which a search comes to half as many: their models are worth more time, and scores tell them apart."""
SHORT = 45.0
"""Seconds, on one thread, of a short search on a small table. A longer one begins as a short one, and goes on with more
and with longer programs: with longer ones alone, five minutes found less than one."""
READING = 1.2e-7
"""Seconds to read a cell, of which a program has no more than half of its time."""
MANY, WORDY = 30, 60
"""Values from which on a category is told by its mean target, and by the words in its values."""
MOST_CLASSES = 30
"""Different whole numbers that are still taken for classes, where no metric tells."""
MOST_FLAGS = 151
"""Values of a category that are told apart, with one for all others."""
EXTREME = 1e30
"""Sizes from which on a number is taken for none."""
FEWEST = 5
"""Values of a column, and rows of a class: of fewer a fold may have none."""
EXACT = 2**24
"""Whole numbers below are exact in four bytes."""
WIDE = 100
"""Columns from which on programs leave out numbers that are alike in nearly every row."""
TELLING = 10
"""Rows in which such a number has to differ: the leaves of most boosters hold no fewer."""
GROUPS, MOST_GROUPED, MOST_DATED, ROWS_OF_GROUPS = 60, 6, 2, 200_000
"""Values from which on whole numbers may name groups of rows, such as persons; how many such columns are looked at,
those of most values first, and how many dates; and the rows up to which they are."""
PARTS = 7
"""Columns that a date becomes."""
WORDY_LENGTH = 8
"""Characters that such values have on average."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What is learned of a target."""

    task: str
    """`regression`, `labels`, `probability` (of the second class) or `classes` (a probability for each)."""
    outputs: int = 1
    """Classes that a booster grows trees for: all of them where there are more than two, else 1."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The data set, as the writer sees it."""

    key: str
    targets: tuple[str, ...]
    """Columns of the training table to learn."""
    classes: tuple[str, ...]
    """Where the submission has a column of probabilities for each class: their names; else ()."""
    goals: tuple[Goal, ...]
    """What is learned of each target."""
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
    many: tuple[str, ...] = ()
    """Categories of many values, each seen several times."""
    wordy: tuple[str, ...] = ()
    """Categories of many values that are texts themselves, such as names of products."""
    grouped: tuple[str, ...] = ()
    """Columns whose values may name groups of rows: categories of many values, whole numbers that come again, dates."""
    pace: float = 4.0
    """Seconds on one thread that one program may take for one target, by estimate."""
    longest: float = 100.0
    """What the last ones of a long search may take."""
    programs: float = inf
    """How many may take no more than the first; then it grows with their number."""
    batch: int = 2
    """Programs of a round of the search."""
    more: int = 0
    """Columns that a recipe's features add in number."""
    table: str = "train.csv"
    """The training table in `input/`, whatever a competition calls it."""
    packages: tuple[str, ...] = ()
    """Libraries of boosted trees that programs can import beside scikit-learn."""
    memory_mb: float = 4096.0
    """What a program may take."""
    flags: int = 0
    """Columns that categories become, one for each value."""
    narrow: frozenset[str] = frozenset()
    """Numbers that lose nothing that matters at half their size."""
    extreme: tuple[str, ...] = ()
    """Numbers with values that are infinite or next to it."""
    strays: tuple[str, ...] = ()
    """Numbers among which words stand in the rows to predict."""
    scarce: tuple[str, ...] = ()
    """Columns with next to no values: nothing is learned from them."""
    alike: int = 0
    """Numbers of a wide table that programs leave out, about."""
    rarest: float = inf
    """Rows that the rarest class of a target has, as far as is known."""
    filled: Mapping[str, float] = field(default_factory=dict)
    """Rows that have a value, of columns with missing ones."""
    unlabelled: bool = False
    """Whether training rows lack a label."""
    asked: int = 0
    """Rows to predict."""
    ids: str = "test.csv"
    """The table in `input/` that names the rows to predict; where it is not `test.csv`, row by row."""
    asks: str = "test.csv"
    """The table that has the rows to predict: of the sample submission, no more than the ids are read."""
    files: RowFiles = field(default_factory=RowFiles)
    """What programs read of each row's files."""
    lists: Mapping[str, int] = field(default_factory=dict)
    """Columns whose cells are lists of so many numbers."""
    sides: tuple[SideTable, ...] = ()
    """Further tables that programs can join."""
    joined: int = 0
    """Columns that those add which a recipe joins."""

    def at(self, ordinal: int | None) -> Facts:
        """As the writer of that program of the run sees them, the first is 0; None: of any."""
        grown = self.pace * (ordinal or 0) / self.programs
        return replace(self, pace=min(grown, self.longest)) if grown > self.pace else self

    @property
    def is_table(self) -> bool:
        """False where there is no training table with the target columns: only the sample submission is known."""
        return bool((self.columns or self.files.pictures or self.sides) and self.targets)

    @property
    def target(self) -> str:
        return self.targets[0]

    @property
    def task(self) -> str:
        """Of the target, the first where there are several."""
        return self.goals[0].task

    @property
    def outputs(self) -> int:
        return max(goal.outputs for goal in self.goals)

    def by_goal(self) -> dict[Goal, Facts]:
        """The facts of targets that one kind of model learns."""
        pairs = list(zip(self.targets, self.goals, strict=True))
        return {
            goal: replace(self, targets=tuple(name for name, other in pairs if other == goal), goals=(goal,))
            for goal in dict.fromkeys(self.goals)
        }

    @property
    def classifies(self) -> bool:
        return self.task != "regression"

    @property
    def averages(self) -> bool:
        """True if the submissions of two programs have a mean: columns of numbers."""
        return all(goal.task in ("regression", "probability") for goal in self.goals)

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns to predict from."""
        return (*self.numbers, *self.categories, *self.texts, *self.dates, *self.lists)

    def joining(self, tables: tuple[str, ...]) -> Facts:
        """Of a recipe that joins these tables."""
        width = sum(side.width for side in self.sides if side.file in tables)
        return self if width == self.joined else replace(self, joined=width)

    @property
    def width(self) -> int:
        """Columns that models learn from."""
        made = self.more + self.files.looks + self.joined + number_lists.width(self.lists)
        return len(self.numbers) - self.alike + len(self.categories) + made


def read_facts(extras: Mapping[str, Any]) -> Facts:
    """From `Problem.prompt_extras()`; whatever is missing is taken as unknown."""
    data = extras.get("data") or {}
    columns = {column["name"]: column for column in data.get("columns", [])}
    label = data.get("label")
    key, targets = data.get("id"), tuple(name for name in data.get("targets", []) if name in columns)
    targets = (label,) if label in columns else targets if len(targets) == len(data.get("targets", [])) else ()
    rows = int(data.get("rows", {}).get("train", 0))
    scarce = tuple(name for name, one in columns.items() if name not in targets and _is_scarce(one, rows))
    pace, longest, programs = _pace(data.get("limits") or {}, rows)
    memory_mb = float((data.get("limits") or {}).get("memory_mb") or 4096)
    files = row_files(data, pace, longest, memory_mb)
    sides = side_tables(data, longest, memory_mb)
    used = {
        name: column
        for name, column in columns.items()
        if (name != key or column["kind"] in ("text", "date"))
        and name not in (*targets, *scarce, *files.naming)
        and column["kind"] != "constant"
    }

    def of(kind: str) -> tuple[str, ...]:
        return tuple(name for name, column in used.items() if column["kind"] == kind)

    numbers, lists = of("number"), {name: int(used[name].get("listed") or 0) for name in of("text")}
    lists = {name: count for name, count in lists.items() if count}
    aims = [columns[name] for name in targets] or [{}]
    tasks = ["classes" if label in columns else _task_of(data, aim) for aim in aims]
    goals = tuple(Goal(task, _outputs(task, aim)) for task, aim in zip(tasks, aims, strict=True))
    if not all(_is_learnable(aim, goal.task, rows) for aim, goal in zip(aims, goals, strict=True)):
        targets = ()
    asked = int((data.get("rows") or {}).get("test") or 0)
    reading = READING * (rows + asked) * len(columns) + files.seconds * (min(rows, files.most) + asked)
    reading += sum(side.seconds for side in sides)
    return Facts(
        key=str(key or "id"),
        targets=targets,
        classes=tuple(data["targets"]) if label in columns else (),
        goals=goals,
        metric=str(data.get("metric") or ""),
        rows=rows,
        numbers=numbers,
        categories=of("category"),
        texts=(*(name for name in of("text") if name not in lists), *files.texts),
        dates=of("date"),
        date_formats={name: str(used[name]["format"]) for name in of("date") if used[name].get("format")},
        skewed=tuple(n for n in numbers if _is_skewed(used[n])),
        scales={n: s for n in of("category") if (s := _scale(used[n])) is not None},
        years=tuple(n for n in numbers if _is_year(n, used[n])),
        groups=_groups(numbers),
        missing=tuple(n for n in numbers if used[n]["missing"] > 0),
        positive_target=all(aim.get("min", -1) >= 0 for aim in aims),
        skewed_target=any(abs(aim.get("skew", 0)) > 1 for aim in aims),
        many=tuple(n for n in of("category") if MANY <= used[n]["unique"] < 0.7 * rows),
        wordy=tuple(n for n in of("category") if _is_wordy(used[n])),
        grouped=_grouped(used, goals, rows),
        pace=max(pace - reading, pace / 2) / len(aims),
        longest=max(longest - reading, longest / 2) / len(aims),
        programs=programs,
        batch=int((data.get("limits") or {}).get("batch") or 2),
        table=str(data.get("table") or "train.csv"),
        packages=tuple(data.get("packages") or ()),
        memory_mb=memory_mb,
        flags=sum(min(used[n]["unique"], MOST_FLAGS) for n in of("category")),
        narrow=frozenset(n for n in numbers if _is_narrow(used[n]) and not used[n].get("strays")),
        extreme=tuple(n for n in numbers if not -EXTREME < used[n].get("min", 0) <= used[n].get("max", 0) < EXTREME),
        strays=tuple(n for n in numbers if used[n].get("strays")),
        scarce=scarce,
        alike=sum(_is_alike(used[n], rows) for n in numbers) if len(used) > WIDE else 0,
        rarest=min(_rarest(aim, data) if label in columns else aim.get("fewest", inf) for aim in aims),
        filled={n: (1 - column["missing"]) * rows for n, column in used.items() if column["missing"] > 0},
        unlabelled=any(aim.get("unlabelled") for aim in aims),
        asked=asked,
        ids=str(data.get("ids") or "test.csv"),
        asks=str(data.get("asks") or "test.csv"),
        files=files,
        lists=lists,
        sides=sides,
    )


def _task_of(data: Mapping[str, Any], goal: Mapping[str, Any]) -> str:
    """What to predict for one column: what the metric asks for, where the target can be that; else what the target and
    the sample submission's column of that name look like. A ranking (`map@5`) may be as short as its first place."""
    told, numeric = data.get("task"), goal.get("kind") == "number"
    several = goal.get("unique", 0) > 2
    if told == "probability" and numeric and several:
        return "regression"  # a number to rank by
    if told in ("regression", "labels") or (told == "probability" and not several):
        return str(told)
    form = (data.get("form") or {}).get(goal.get("name"))
    if told != "classes" and not several and form == "fractions":
        return "probability"
    few = told == "classes" or goal.get("unique", 0) <= MOST_CLASSES
    are_classes = goal.get("whole") and few and form != "fractions"
    return "regression" if numeric and not are_classes else "labels"


def _is_learnable(goal: Mapping[str, Any], task: str, rows: int) -> bool:
    """False for sentences, lists of boxes and masks: nearly as many answers as rows are no classes."""
    return task != "labels" or (goal.get("kind") not in ("text", "date") and goal.get("unique", 0) <= max(20, rows / 2))


def _outputs(task: str, goal: Mapping[str, Any]) -> int:
    classes = int(goal.get("unique", 0)) if task in ("labels", "classes") else 0
    return classes if classes > 2 else 1


def _rarest(label: Mapping[str, Any], data: Mapping[str, Any]) -> float:
    """Of classes that are the submission's columns: of one that nobody has looked at nothing is known."""
    return 0 if len(data["targets"]) > label.get("unique", 0) > 0 else label.get("fewest", inf)


def _pace(limits: Mapping[str, Any], rows: int) -> tuple[float, float, float]:
    """`Facts.pace`, `longest` and `programs`: a share of a short search's seconds, of all where there are no steps for
    more programs; without a limit of seconds, of those of one run, and more on large tables.
    """
    timeout, budget = float(limits.get("timeout") or 300.0), limits.get("budget")
    if budget is None:
        return min(timeout / 75 * (1 + rows / 20_000), timeout / 3), timeout / 3, inf
    seconds, size = float(budget) * int(limits.get("workers") or 1), 1 + rows / HALVED
    programs = max(min(FEWEST_PROGRAMS * (1 + rows / VAST), PROGRAMS), PROGRAMS / size)
    pace = min(seconds, SHORT * size) / programs
    if limits.get("steps"):
        most = limits["steps"] / programs
        pace = max(pace, seconds / programs / (most if most < 1 else (1 + most**2) / 2))
    longest = min(timeout / 3, seconds / 2)
    return min(max(pace, 1.0), longest), longest, programs


def _is_scarce(column: Mapping[str, Any], rows: int) -> bool:
    return column["kind"] != "constant" and (1 - column["missing"]) * rows < FEWEST - 0.5 and rows > 0


def _is_alike(column: Mapping[str, Any], rows: int) -> bool:
    return bool(max(column.get("zeros", 0), column["missing"]) * rows > rows - TELLING)


def _grouped(used: Mapping[str, Mapping[str, Any]], goals: tuple[Goal, ...], rows: int) -> tuple[str, ...]:
    """() where there are more than two classes: what is left of these is no number."""
    if rows > ROWS_OF_GROUPS or any(goal.outputs > 1 for goal in goals):
        return ()
    least = {"category": MANY, "number": GROUPS}
    found = [
        name
        for name, column in used.items()
        if least.get(column["kind"], rows) <= column.get("unique", 0) <= rows / 2
        and (column["kind"] == "category" or (column.get("whole") and not column.get("strays")))
    ]
    dated = [name for name, column in used.items() if column["kind"] == "date" and column.get("unique", 0) >= GROUPS]
    return (*sorted(found, key=lambda name: (-used[name]["unique"], name))[:MOST_GROUPED], *dated[:MOST_DATED])


def _is_wordy(column: Mapping[str, Any]) -> bool:
    lengths = [len(value) for value in column.get("values", []) if isinstance(value, str)]
    return column["unique"] >= WORDY and bool(lengths) and sum(lengths) / len(lengths) >= WORDY_LENGTH


def _scale(column: Mapping[str, Any]) -> tuple[str, ...] | None:
    values = column.get("values", [])
    found = ordered(values) if all(isinstance(v, str) for v in values) and len(values) == column["unique"] else None
    return tuple(found) if found else None


def _is_skewed(column: Mapping[str, Any]) -> bool:
    return bool(column.get("min", -1) >= 0 and column.get("skew", 0) > 1 and column["unique"] > 10)


def _is_narrow(column: Mapping[str, Any]) -> bool:
    return bool(-EXACT < column.get("min", -EXACT) <= column.get("max", EXACT) < EXACT)


def _is_year(name: str, column: Mapping[str, Any]) -> bool:
    return bool(re.search(r"year|yr", name, re.I)) and 1500 <= column.get("min", 0) <= column.get("max", 0) <= 2200


def _groups(numbers: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name in numbers:
        words = [word for word in re.split(r"[_\W]+|(?<=[a-z])(?=[A-Z])", name) if word and not word.isdigit()]
        if words:
            found.setdefault(words[-1], []).append(name)
    return {word: tuple(names) for word, names in found.items() if 3 <= len(names) <= 12}
