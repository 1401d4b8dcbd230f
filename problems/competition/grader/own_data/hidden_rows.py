"""Which of the user's labelled rows are hidden: drawn, in strata, by groups, by equal rows, or the newest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..scoring.parts import strata_of
from ..tables.counts import counted
from ..tables.exact import Unusable
from ..tables.pieces import looked_at
from ..tables.times import as_time, newest
from .own_tables import MIN_ROWS, OwnTables
from .sides import numbers_of_rows
from .targets import MANY_CLASSES, Goal

HIDDEN = 0.3
"""Fraction of the labelled rows that is hidden unless `data.hidden` says another: half for validation, half for the
final score …"""
MOST_HIDDEN = 200_000
"""… and no more rows than that: two halves tell programs apart by a thousandth, and every program predicts them all."""
RARE, FEW = 0.1, 20
"""Share of a class, and its rows in a part, below which chance would decide on how many of them a score rests: rows are
drawn by class then."""
NO_GROUP = "\0none"
"""The group of rows without one: no text of a table holds that character."""


def hidden_rows(tables: OwnTables, request: dict[str, Any], features: list[str], goal: Goal) -> tuple[Any, str, str]:
    """Which of the labelled rows are hidden, as `data.split` says; and how they were parted.

    Args:
        features: columns in which rows are compared.
    """
    targets = tables.targets
    how, _, column = request["split"].partition(":")
    if column and column not in (*tables.columns, *tables.labelled):
        raise Unusable(f"data.split={request['split']}: no such column '{column}' in train.csv")
    if column in targets:
        raise Unusable(f"data.split={request['split']}: {column} is the target, which rows to predict lack")
    random, count = np.random.default_rng(request["seed"]), len(tables.labelled)
    wanted = max(16, min(round(count * request.get("hidden", HIDDEN)), MOST_HIDDEN))
    if how == "random" and goal.task != "regression" and _has_rare_class(tables.labelled[targets], wanted / 2):
        how = "stratified"
    if how == "time":
        times = as_time(tables.column(column))
        chosen = np.argsort(times, kind="stable")[-newest(times, wanted) :]
    elif how == "group":
        chosen = _whole_groups(groups_of(tables.column(column)), wanted, random, request)
    elif how == "distinct":
        chosen = _whole_groups(numbers_of_rows(tables, features), wanted, random, request)
    else:
        chosen = (
            _strata(tables.labelled[targets], wanted, random)
            if how == "stratified"
            else random.permutation(count)[:wanted]
        )
    mask = np.zeros(count, bool)
    mask[chosen] = True
    return mask, how, column


def _has_rare_class(labelled: Any, part: float) -> bool:
    """True if a part of so many rows is expected to hold few of some target's rarest class."""
    rarest = [int(labelled[name].value_counts().iloc[-1]) for name in labelled]
    return any(count < RARE * len(labelled) and count * part / len(labelled) < FEW for count in rarest)


def _strata(labelled: Any, wanted: int, random: Any) -> Any:
    """Evenly spaced rows of the targets' order, ties shuffled: each class keeps its share."""
    shuffled = random.permutation(len(labelled))
    ordered = shuffled[np.argsort(strata_of(labelled.iloc[shuffled]), kind="stable")]
    return ordered[np.linspace(0, len(labelled) - 1, wanted).round().astype(int)]


def groups_of(values: Any) -> Any:
    """Names of the rows' groups. Rows without one are a group: nobody knows that they do not belong together."""
    return values.astype("string").fillna(NO_GROUP)


def _whole_groups(groups: Any, wanted: int, random: Any, request: dict[str, Any]) -> Any:
    """Places of the rows of so many groups, drawn, that about so many rows are hidden and never more than half of all
    rows or of all groups, if that can be: a group that is too large is passed over.
    """
    sizes = groups.value_counts(sort=False)
    names = groups.unique().tolist()
    if len(names) < 4:
        count = counted(len(names), "different row" if request["split"] == "distinct" else "group")
        raise Unusable(f"data.split={request['split']}: {count}; at least 4 are needed")
    random.shuffle(names)
    rows = sizes.to_dict()
    chosen: list[Any] = []
    total, most = 0, min(2 * wanted, len(groups) // 2)
    for name in names:
        if total >= wanted or len(chosen) == max(2, len(names) // 2):
            break
        if total + rows[name] <= most:
            chosen.append(name)
            total += rows[name]
    if len(chosen) < 2:  # a validation part and a final part: the smallest groups there are
        chosen = sorted(names, key=rows.get)[:2]
    return np.flatnonzero(groups.isin(chosen))


def same_time(times: Any, hidden: Any, column: str) -> list[str]:
    """That rows which are learned are as new as hidden ones, where one time has too many rows to be on one side."""
    alike = int((times[~hidden] >= times[hidden].min()).sum())
    learned = counted(alike, "row that is learned has", "rows that are learned have")
    return [f"possible leak: {learned} the {column} of the oldest hidden rows"] if alike else []


def parted(tables: OwnTables, how: str, column: str, times: Any, shown: Any, hidden: Any) -> dict[str, Any]:
    """How hidden rows were parted from those that are learned, for who writes programs: `how`, `column`, and in order
    of time the newest learned row and the oldest and the newest hidden one, as they are written.
    """
    told: dict[str, Any] = {"how": how, "column": column}
    if times is None:
        return told
    written, learned, scored = tables.column(column), np.flatnonzero(shown), np.flatnonzero(hidden)
    return told | {
        "learned_to": str(written.iloc[learned[np.argmax(times[learned])]])[:40],
        "scored_from": str(written.iloc[scored[np.argmin(times[scored])]])[:40],
        "scored_to": str(written.iloc[scored[np.argmax(times[scored])]])[:40],
    }


def of_size(tables: OwnTables, hidden: int, request: dict[str, Any]) -> Iterator[str]:
    """How many rows are hidden, where it is not the usual share; and rows that have no group."""
    count, (how, _, column) = len(tables.labelled), request["split"].partition(":")
    share, described = request.get("hidden", HIDDEN), looked_at(len(tables.columns))
    if count * share > MOST_HIDDEN:
        yield f"of {counted(count, 'row', form=',')} {hidden:,} are hidden; columns are described from {described:,}"
    elif described < count - hidden:
        yield f"columns are described from {described:,} of {counted(count, 'row', form=',')}"
    elif not 0.8 * share <= hidden / count <= 1.2 * share and count >= MIN_ROWS * 2:
        together = {"time": "rows of the same time", "distinct": "equal rows"}.get(how, "rows of a group")
        yield f"of {counted(count, 'row', form=',')} {hidden:,} are hidden: {together} stay together"
    if how == "group" and (without := int(tables.column(column).isna().sum())):
        yield f"{counted(without, 'row')} without {column} count as one group"


def rare_class(answers: Any, parts: dict[str, list[int]], targets: list[str], goal: Goal, split: str) -> Iterator[str]:
    """That few rows of a class are left to score on."""
    each = {name: answers[name].value_counts() for name in targets}
    target = min(targets, key=lambda name: each[name].iloc[-1])
    counts, rarest = each[target], each[target].index[-1]
    if goal.task == "regression" or len(counts) > MANY_CLASSES:
        return
    validation, final = ((answers[target].iloc[parts[part]] == rarest).sum() for part in ("validation", "final"))
    if counts.iloc[-1] < RARE * len(answers) and min(validation, final) < FEW:
        of = f" of {target}" if len(targets) > 1 else ""
        share = ": each part has its share" if split == "stratified" else ""
        both = f"{counted(validation, 'row is', 'rows are')} in validation and {final} in the final part"
        yield f"of the rarest class{of}, {rarest}, {both}{share}"


def known_classes(labelled: Any, hidden: Any, targets: list[str], goal: Goal) -> tuple[Any, Any]:
    """A class that only hidden rows have cannot be a column: those rows are left out."""
    if goal.task != "classes":
        return hidden, np.zeros(len(labelled), bool)
    names = labelled[targets[0]]
    foreign = hidden & ~names.isin(names[~hidden].unique()).to_numpy()
    return hidden & ~foreign, foreign
