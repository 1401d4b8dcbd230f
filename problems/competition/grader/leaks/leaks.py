"""Looks for what makes a score too good before anything is searched: copies of the target, telling ids, twins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from ..own_data.sides import Sides
from ..scoring.scores import rank_correlation
from ..tables.counts import counted
from .chance import MANY
from .decoding import decoded

ROWS = 20_000
"""Rows that are looked at for copies of the target."""
COPY = 0.9999
"""Rank correlation from which a column is called a copy of a target of numbers."""
FEW, NEARLY = 1000, 0.99
"""Rows that are looked at first, and the rank correlation that they have if all rows have that of a copy."""
TELLS = 0.95
"""Share of labels, or rank correlation, from which an id is said to tell the target."""
FEWEST_CHANGES = 12
"""Rows that chance lets differ in class from the row before: of fewer, that hardly any does may be chance."""
FEWEST_FILLED = 10
"""Rows that have a value, and that have none, from which it is no chance that one class alone has them."""
MOST_CLASSES = 1000
"""Classes whose names are looked for in texts."""
_SIGNS, _WORDS = re.compile(r"[\W_]+"), re.compile(r"[^\W\d_]+")
_NUMBERS = re.compile(r"(?:(?<![^\W_])-)?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
MOST_NUMBERS = 9
"""Of a text that are compared with the target."""
TWINS = 0.01
"""Share of hidden rows with a twin from which it is told."""
FEWEST_TWINS = 3
"""Fewer are an accident, however few the hidden rows are."""
BY_CHANCE = 2
"""Of columns with few values many rows are equal: twins are told if they are so many times what chance makes."""


def copies(sides: Sides, targets: list[str], key: str) -> dict[str, list[str]]:
    """Target → columns that tell it exactly. `key` is the column that names rows."""
    head = sides.shown.head(ROWS)
    others = [name for name in head if name not in (*targets, key)]
    return {target: [str(name) for name in others if is_copy(head[name], head[target])] for target in targets}


def find_leaks(sides: Sides, targets: list[str], key: str, copied: dict[str, list[str]]) -> Iterator[str]:
    """One line for each thing that a user should know of.

    Args:
        key: the column that names rows.
        copied: the `copies` of these.
    """
    shown, head = sides.shown, sides.shown.head(ROWS)
    for target in targets:
        filled = [str(name) for name in head if name not in targets and is_filled_for_one(head[name], head[target])]
        if told := ", ".join(dict.fromkeys([*copied[target], *filled][:3])):
            yield f"possible leak: {told} tells {target} exactly; is it known when you predict?"
        spelled = [str(name) for name in head if name not in targets and _spells(head[name], head[target])]
        if spelled:
            yield f"possible leak: {', '.join(spelled[:3])} has the class of {target} among its words (file names?)"
        held = [str(name) for name in head if name not in targets and _holds(head[name], head[target])]
        if held:
            yield f"possible leak: {', '.join(held[:3])} has a number that tells {target} exactly (file names?)"
        if order_tells(shown[key], shown[target]):
            yield f"possible leak: {target} follows the order of {key}"
    if sides.twins >= max(FEWEST_TWINS, TWINS * len(sides.hidden), BY_CHANCE * sides.by_chance):
        yield (
            f"possible leak: {sides.twins} of {counted(len(sides.hidden), 'hidden row')} equal a training row in every "
            f"feature; if they are the same cases, --data.split=distinct keeps equal rows on one side"
        )


def is_copy(values: Any, target: Any) -> bool:
    """True if the column is the target in other words: numbers in the same order, or one value for each class."""
    there = values.notna()
    if there.mean() < 0.9:
        return False
    values, target = values[there], target[there]
    (codes, kinds), (labels, classes) = pd.factorize(values), pd.factorize(target)
    if len(kinds) < 2:
        return False
    if pd.api.types.is_numeric_dtype(target) and len(classes) > 20:
        return pd.api.types.is_numeric_dtype(values) and all(
            abs(rank_correlation(values[rows].to_numpy(float), target[rows].to_numpy(float))) >= least
            for rows, least in ((slice(None, None, len(values) // FEW + 1), NEARLY), (slice(None), COPY))
        )
    if not len(classes) <= len(kinds) <= max(2 * len(classes), 2):
        return False
    return len(np.unique(codes * len(classes) + labels)) == len(kinds)


def is_filled_for_one(values: Any, target: Any) -> bool:
    """True if one of two classes alone has a value there: why a customer left."""
    there = values.notna().to_numpy()
    labels, classes = pd.factorize(target)
    few = min(int(there.sum()), int((~there).sum())) < FEWEST_FILLED
    return not few and len(classes) == 2 and len(np.unique(there ^ (labels == 0))) == 1


def _spells(values: Any, target: Any) -> bool:
    """True if texts such as `image_cat_001.png` name the row's class, and no other class."""
    if pd.api.types.is_numeric_dtype(values):
        return False
    classes = {word.casefold() for word in _texts(target.dropna())}
    if not 2 <= len(classes) <= MOST_CLASSES or values.nunique() <= len(classes):
        return False
    words = ({*_SIGNS.split(text.casefold()), *_WORDS.findall(text.casefold())} & classes for text in _texts(values))
    right = [found == {label.casefold()} for found, label in zip(words, _texts(target), strict=True)]
    return sum(right) >= TELLS * len(right)


def _texts(values: Any) -> list[str]:
    """Of a column; pandas leaves what is missing a number (NaN) among its texts: here it is ''."""
    return [str(value) if there else "" for value, there in zip(values, values.notna(), strict=True)]


def _holds(values: Any, target: Any) -> bool:
    """True if texts such as `scan_12_350.50.png`, or what they are in base64, have the row's number at one place."""
    if not pd.api.types.is_numeric_dtype(target) or target.nunique() <= MANY or pd.api.types.is_numeric_dtype(values):
        return False
    plain = "\n".join(text.replace("\n", " ") for text in _texts(values))
    for said in (plain, *decoded(plain, lambda _: iter(()))):
        lines = (_NUMBERS.findall(line) for line in said.split("\n"))
        numbers = [(found + [""] * MOST_NUMBERS)[:MOST_NUMBERS] for found in lines]
        columns = pd.DataFrame(numbers).apply(pd.to_numeric, errors="coerce")
        if len(columns) == len(target) and any(
            is_copy(columns[name], target.reset_index(drop=True)) for name in columns
        ):
            return True
    return False


def order_tells(ids: Any, target: Any) -> bool:
    """True if ids that count upwards run with the target, as in a table that is sorted by it, or if its classes stand
    in blocks along them."""
    if not pd.api.types.is_numeric_dtype(ids) or target.nunique() < 2:
        return False
    is_number = pd.api.types.is_numeric_dtype(target)
    codes = target.to_numpy(float) if is_number else pd.factorize(target, sort=True)[0]
    if abs(rank_correlation(ids.to_numpy(float), np.asarray(codes, float))) >= TELLS:
        return True
    return target.nunique() <= MANY and _in_blocks(pd.factorize(target)[0][np.argsort(ids.to_numpy(), kind="stable")])


def _in_blocks(classes: Any) -> bool:
    """True if hardly more rows than blocks of theirs need differ in class from the row before, of those that would by
    chance."""
    counts = np.bincount(classes)
    by_chance = (len(classes) - 1) * (1 - float(((counts / len(classes)) ** 2).sum()))
    changes = int((classes[1:] != classes[:-1]).sum())
    return by_chance >= FEWEST_CHANGES and changes - (len(counts) - 1) <= (1 - TELLS) * by_chance
