"""What is handed in for the user's own rows: which of the public test they are, what he calls them, in which form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from ..tables.columns import listed
from ..tables.contents import nameless, read_texts
from ..tables.keys import as_keys
from .long_form import long_form
from .own_tables import OwnTables
from .ranked_cells import ranked_cells
from .sample_form import Outputs, RowNames, SampleForm, form_of, other_ids
from .targets import Goal


def outputs_of(tables: OwnTables, shown: Any, columns: list[str], goal: Goal, metric: str) -> Outputs:
    """What a program predicts, under the user's names."""
    target = tables.targets[0]
    words = tables.classes[target].words if target in tables.classes else {}
    if goal.task == "classes":
        theirs = {words.get(name, name): name for name in columns}
        return Outputs(theirs, ranked=ranked_cells(tables.sample, metric, list(theirs)))
    pair = sorted(shown[target].unique()) if goal.task == "probability" and len(columns) == 1 else ()
    return Outputs({name: name for name in columns}, tuple(words.get(name, name) for name in as_keys(pair)))


def write_user_rows(
    path: Path,
    tables: OwnTables,
    names: RowNames,
    outputs: Outputs,
    ids: Any,
    goal: Goal,
    beside: Sequence[Path] = (),
) -> list[str]:
    """Which rows of the public test are the user's, what he calls them, and the form of his submission; notes of it.

    Args:
        ids: our names of his rows.
        beside: his further tables, which may say what the sample's ids are.
    """
    key, at = str(ids.name), tables.files.get("sample") if len(ids) else None
    form = form_of(tables.sample if at else pd.DataFrame(), at.name if at else "", names, outputs, key, tables.others)
    others = other_ids(at.name, names) if at else ""
    long = long_form(tables, as_keys(ids), outputs.columns, beside) if at and form.wrong else None
    told, unlike = ([long.told], "") if long else ([*form.told, *filter(None, [others])], form.wrong)
    cells = _cells(tables, form) if at else {}
    known = {name: found.all_words for name, found in tables.classes.items() if goal.labels}
    words = {name: spelled_like(found, cells.get(name, set())) for name, found in known.items()}
    told += [line for name in words if (line := _other_classes(name, cells.get(name, set()), words[name], tables))]
    mine = as_keys(ids).iloc[names.places]
    own = {
        "key": key, "column": names.column, "table": names.table, "source": names.source, "columns": form.columns,
        "unlike": "; ".join(filter(None, [unlike, "" if long else others, tables.no_rows])),
        "rows": dict(zip(map(str, mine), names.texts, strict=True)), "by_sample": names.is_sample_of_same,
        "kept": {name: read_texts(at, name).tolist() for name in form.kept} if at else {},
        "nameless": nameless(at) if at else [],
        "words": words,
        "lost": {name: found.lost for name, found in tables.classes.items()},
        "composed": names.composed and asdict(names.composed), "long": long and asdict(long),
        "ranked": outputs.ranked and {**asdict(outputs.ranked), "names": {o: t for t, o in outputs.columns.items()}},
    }  # fmt: skip
    path.write_text(json.dumps(own, default=str), encoding="utf-8")
    return told


def spelled_like(words: dict[str, str], cells: set[str]) -> dict[str, str]:
    """The words of classes in the spelling of the sample's cells, where each is a class that the training table writes
    otherwise: `2` for `2.0`, as stands there beside a missing label, or 1 for `True`.

    Args:
        words: every class as a program may hand it in → as the file spells it.
    """
    if not cells or cells <= {*words.values()} or not {*map(_plain, cells)} <= {*words}:
        return words
    behind = ".0" if all(cell == f"{_plain(cell)}.0" for cell in cells) else ""
    short = {words[key]: key for key in sorted(words, key=lambda key: (key.isdigit(), key))}
    return {key: f"{short[word]}{behind}" for key, word in words.items()}


def _plain(cell: str) -> str:
    """A whole number without a point or zeros in front, as classes are compared; other cells as they are."""
    number = pd.to_numeric(cell, errors="coerce")
    return str(int(number)) if number % 1 == 0 else cell


def _cells(tables: OwnTables, form: SampleForm) -> dict[str, set[str]]:
    """Target → what stands in the sample's column of it."""
    ours = {mine: theirs for theirs, mine, how in form.columns if not how and mine in tables.classes}
    held = {mine: theirs for mine, theirs in ours.items() if theirs in tables.sample}
    return {mine: {*read_texts(tables.files["sample"], theirs).str.strip()} - {""} for mine, theirs in held.items()}


def _other_classes(name: str, cells: set[str], words: dict[str, str], tables: OwnTables) -> str:
    """That the sample holds what is no class: `0` where they are `no` and `yes`; '' where it does not."""
    known = {*words.values()}
    if not (odd := sorted(cell for cell in cells if cell not in known and _plain(cell) not in words)):
        return ""
    told = f"{tables.files['sample'].name} has {name} {listed(odd, 1)}, which is no class"
    return f"{told}: {listed(sorted(known))} are handed in"
