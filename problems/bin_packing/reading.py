"""Files of bin packing instances as they are written: OR-Library text, CSV, JSON. What is wrong is told by place."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from problems.file_numbers import SHOWN, file_number, whole_number

FORM = "JSON must be {name: {capacity, items}}"


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


def written(path: Path) -> list[Written]:
    """The instances of a file, in its order. ValueError, OSError: why it cannot be read, in a sentence."""
    readers = {".json": _from_json, ".csv": _from_csv}
    return list(readers.get(path.suffix.lower(), _from_orlib)(path))


def _from_csv(path: Path) -> list[Written]:
    """A row an item, in order of arrival."""
    found: dict[str, Written] = {}
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        try:
            names = [name.strip().lower() for name in next(rows, [])]
            if missing := [name for name in ("capacity", "size") if name not in names]:
                lacks = f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not there"
                raise ValueError(f"needs the columns instance, capacity and size ({lacks})")
            for row in rows:
                if row:
                    _add_row(found, dict(zip(names, row, strict=False)), f"line {rows.line_num}", path.stem)
        except csv.Error as error:
            raise ValueError(f"line {rows.line_num}: {error}") from error
    return list(found.values())


def _add_row(found: dict[str, Written], row: Mapping[str, str], place: str, stem: str) -> None:
    name = row.get("instance", "").strip() or stem
    one = Written.begun(name, row.get("capacity", ""), place)
    known = found.setdefault(name, one)
    if known.capacity != one.capacity:
        raise ValueError(f"{place}: capacity {one.capacity}, but {name} has {known.capacity} in {known.place}")
    known.add(row.get("size", ""), f"{place}: size")


def _from_json(path: Path) -> Iterator[Written]:
    data = json.loads(path.read_text(encoding="utf-8-sig"))
    if isinstance(data, dict) and len(data) == 1:
        (inner,) = data.values()
        data = inner if isinstance(inner, dict) and "items" not in inner else data
    if not isinstance(data, dict):
        raise ValueError(f"{FORM}, and this is {_kind(data)}")
    for name, one in data.items():
        if not isinstance(one, dict) or "capacity" not in one or not isinstance(one.get("items"), list):
            raise ValueError(f"{FORM}, and {name[:SHOWN]!r} is not so")
        instance = Written.begun(name, one["capacity"], name)
        for number, size in enumerate(one["items"], 1):
            instance.add(size, f"{name}: item {number}")
        if not instance.sizes:
            raise ValueError(f"{name}: no items")
        yield instance


def _kind(value: Any) -> str:
    return "a list" if isinstance(value, list) else "a text" if isinstance(value, str) else f"{value!r}"[:SHOWN]


def _from_orlib(path: Path) -> list[Written]:
    """Blanks and `150.0` are accepted."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    words = [(word, f"line {number}") for number, line in enumerate(lines, 1) for word in line.split()]
    if not words:
        raise ValueError("not in OR-Library format: the file is empty")
    stream = iter(words)
    try:
        found = list(_instances(stream))
    except ValueError as error:
        raise ValueError(f"not in OR-Library format: {error}") from error
    if further := next(stream, None):
        raise ValueError(f"not in OR-Library format: {further[1]} is after the last of {len(found)} instances")
    return found


def _instances(words: Iterator[tuple[str, str]]) -> Iterator[Written]:
    count = _count(words, "the number of instances")
    for number in range(1, count + 1):
        missing = f"it ends before instance {number} of {count}"
        name, (capacity, place) = _next(words, missing)[0], _next(words, missing)
        instance = Written.begun(name, capacity, place)
        items, instance.best = _count(words, "the number of items"), _count(words, "the best known number of bins")
        for item in range(items):
            size, place = _next(words, f"it ends after {item} of the {items} items of {name}")
            instance.add(size, f"{place}: size")
        if not items:
            raise ValueError(f"{place}: {name} has no items")
        yield instance


def _count(words: Iterator[tuple[str, str]], what: str) -> int:
    word, place = _next(words, f"it ends before {what}")
    return whole_number(word, f"{place}: {what}")


def _next(words: Iterator[tuple[str, str]], missing: str) -> tuple[str, str]:
    found = next(words, None)
    if found is None:
        raise ValueError(missing)
    return found
