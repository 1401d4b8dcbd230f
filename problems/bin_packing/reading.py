"""Files of bin packing instances as they are written: OR-Library text, CSV, JSON. What is wrong is told by place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from problems.file_numbers import SHOWN, file_number, unread, whole_number
from problems.instance_text import (
    TABLES,
    Labels,
    cells_of,
    check_columns,
    check_keys,
    column_names,
    instance_files,
    instance_json,
    instance_stem,
    instance_suffix,
    instance_text,
    listed,
    table_rows,
)
from utils.counts import counted

EMPTY = "the file is empty"
FORM = "JSON must be {name: {capacity, items}} or a list of {capacity, items}"
LABELS = ("item", "id")
"""Of a column that says what an item is called."""
SUFFIXES = (".txt", ".csv", ".tsv", ".tab", ".json", ".bpp", ".dat", "")
"""Of the files of a folder."""


@dataclass(slots=True)
class Written:
    """An instance in the file's own numbers: `capacity` above 0, every size above 0 and within it."""

    name: str
    capacity: Decimal
    sizes: list[Decimal]
    best: int | None = None
    place: str = ""
    """Where its capacity is told."""

    @classmethod
    def begun(cls, name: str, capacity: object, place: str) -> Written:
        found = file_number(capacity, f"{place}: capacity")
        if found <= 0:
            raise ValueError(f"{place}: capacity {found}; it must be above 0")
        return cls(name, found, [], place=place)

    def add(self, size: object, what: str) -> None:
        found = file_number(size, what)
        if not 0 < found <= self.capacity:
            raise ValueError(f"{what} {found}; sizes must be above 0 and at most the capacity, {self.capacity}")
        self.sizes.append(found)

    def know(self, best: object, what: str) -> None:
        """Take the best known number of bins, once all sizes are there; 0: nobody knows it."""
        found, most = whole_number(best, what), len(self.sizes)
        whole, rest = divmod(sum(self.sizes), self.capacity)
        least = int(whole) + (rest > 0)
        if found and not least <= found <= most:
            raise ValueError(
                f"{what} is {found}; {counted(most, 'item needs', 'items need')} {least} to {counted(most, 'bin')}"
            )
        self.best = found or None


def written(path: Path) -> list[Written]:
    """The instances of a file, or of every file of a folder, in order.

    ValueError, OSError: why it cannot be read, in a sentence.
    """
    if not path.is_dir():
        return _of_file(path)
    files = instance_files(path, SUFFIXES)
    if not files:
        raise ValueError(f"the folder holds no {', '.join(filter(None, SUFFIXES))} file")
    found = []
    for file in files:
        try:
            found += _of_file(file)
        except (ValueError, OSError) as error:
            raise ValueError(f"{file.name}: {unread(error)}") from error
    return found


def _of_file(path: Path) -> list[Written]:
    suffix = instance_suffix(path)
    reader = _from_json if suffix == ".json" else _from_csv if suffix in TABLES else _from_text
    return list(reader(path))


def _from_csv(path: Path) -> list[Written]:
    """A row an item, in order of arrival."""
    found: dict[str, Written] = {}
    rows = table_rows(path)
    head = next(rows, ([], ""))[0]
    names = column_names(head)
    if not any(names):
        raise ValueError(EMPTY)
    if missing := [name for name in ("capacity", "size") if name not in names]:
        lacks = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not there"
        has = f"; it has {listed(head)}" if head else ""
        raise ValueError(f"needs the columns instance, capacity and size ({lacks}{has})")
    called = Labels(check_columns(names, ("instance", "capacity", "size"), LABELS))
    for row, place in rows:
        cells = cells_of(names, row, place)
        name = cells.get("instance", "").strip() or instance_stem(path)
        called.add(name, cells, place)
        _add_row(found, cells, place, name)
    return list(found.values())


def _add_row(found: dict[str, Written], row: Mapping[str, str], place: str, name: str) -> None:
    one = Written.begun(name, row.get("capacity", ""), place)
    known = found.setdefault(name, one)
    if known.capacity != one.capacity:
        raise ValueError(f"{place}: capacity {one.capacity}, but {name} has {known.capacity} in {known.place}")
    known.add(row.get("size", ""), f"{place}: size")


def _from_json(path: Path) -> Iterator[Written]:
    if not instance_text(path).strip():
        raise ValueError(EMPTY)
    data = instance_json(path)
    if isinstance(data, list):
        named = [(str(one.get("name", number) if isinstance(one, dict) else number), one)
                 for number, one in enumerate(data, 1)]  # fmt: skip
        data = dict(named)
        if len(data) < len(named):
            names = [name for name, _ in named]
            raise ValueError(f"two instances are called {next(n for n in names if names.count(n) > 1)[:SHOWN]}")
    if isinstance(data, dict) and len(data) == 1:
        (inner,) = data.values()
        data = inner if isinstance(inner, dict) and "items" not in inner else data
    if not isinstance(data, dict):
        raise ValueError(f"{FORM}, and this is {_kind(data)}")
    for name, one in data.items():
        yield _from_object(name, one)


def _from_object(name: str, one: Any) -> Written:
    if not isinstance(one, dict) or "capacity" not in one or not isinstance(one.get("items"), list):
        raise ValueError(f"{FORM}, and {name[:SHOWN]!r} is not so")
    check_keys(one, ("capacity", "items", "num_items", "best", "name"), name)
    if str(one.get("name", name)) != name:
        raise ValueError(f"{name}: its name is {str(one['name'])[:SHOWN]!r}")
    instance = Written.begun(name, one["capacity"], name)
    for number, size in enumerate(one["items"], 1):
        instance.add(size, f"{name}: item {number}")
    if not instance.sizes:
        raise ValueError(f"{name}: no items")
    told = one.get("num_items")
    if told is not None and whole_number(told, f"{name}: num_items") != len(instance.sizes):
        raise ValueError(f"{name}: num_items is {told}, but it has {counted(len(instance.sizes), 'item')}")
    if one.get("best") is not None:
        instance.know(one["best"], f"{name}: best")
    return instance


def _kind(value: Any) -> str:
    return "a list" if isinstance(value, list) else "a text" if isinstance(value, str) else f"{value!r}"[:SHOWN]


def _from_text(path: Path) -> list[Written]:
    """OR-Library's form; or one instance as BPPLIB has it: number of items, capacity, sizes. `150.0` is accepted."""
    lines = instance_text(path).splitlines()
    words = [(word, f"line {number}") for number, line in enumerate(lines, 1) for word in line.split()]
    if not words:
        raise ValueError(EMPTY)
    if words[0][0] == str(len(words) - 2):  # so few words cannot be so many instances
        one = Written.begun(instance_stem(path), *words[1])
        for size, place in words[2:]:
            one.add(size, f"{place}: size")
        return [one]
    stream = iter(words)
    try:
        found = list(_instances(stream))
        if further := next(stream, None):
            raise ValueError(f"{further[1]} is after the last of {counted(len(found), 'instance')}")
    except ValueError as error:
        raise ValueError(_neither(lines, words[0][0], len(words), error)) from error
    return found


def _neither(lines: list[str], first: str, count: int, error: ValueError) -> str:
    """Why it is of neither form: OR-Library's has three numbers in a line, for each instance."""
    if not first.isdigit() or any(len(line.split()) > 1 for line in lines):
        return f"not in OR-Library format: {error}"
    told = f"the number of items is {first[:SHOWN]}, but there are {max(0, count - 2)} sizes"
    return f"{told} (a number a line is BPPLIB's form: how many items, the capacity, the sizes)"


def _instances(words: Iterator[tuple[str, str]]) -> Iterator[Written]:
    count = _count(words, "the number of instances")
    for number in range(1, count + 1):
        missing = f"it ends before instance {number} of {count}"
        name, (capacity, place) = _next(words, missing)[0], _next(words, missing)
        instance = Written.begun(name, capacity, place)
        items, (best, told) = _count(words, "the number of items"), _next(words, missing)
        for item in range(items):
            size, place = _next(words, f"it ends after {item} of {counted(items, 'item')} of {name}")
            instance.add(size, f"{place}: size")
        if not items:
            raise ValueError(f"{place}: {name} has no items")
        instance.know(best, f"{told}: the best known number of bins")
        yield instance


def _count(words: Iterator[tuple[str, str]], what: str) -> int:
    word, place = _next(words, f"it ends before {what}")
    return whole_number(word, f"{place}: {what}")


def _next(words: Iterator[tuple[str, str]], missing: str) -> tuple[str, str]:
    found = next(words, None)
    if found is None:
        raise ValueError(missing)
    return found
