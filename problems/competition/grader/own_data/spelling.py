"""Ids and classes as the user's files spell them. pandas reads 007 as 7, 1e7 as 10000000 and a class `None` as nothing.

Programs, answers and grades know what pandas reads; what is handed in at the end has the file's own words again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from ..tables.columns import bare, listed
from ..tables.contents import read_texts
from ..tables.counts import counted
from ..tables.exact import Unusable
from ..tables.keys import as_keys
from ..tables.missing_words import TO_PANDAS
from .targets import task_of

SHOWN = 3
"""Classes that a line names."""


@dataclass(frozen=True, slots=True)
class Ids:
    """A column that names rows.

    Args:
        texts: its cells as they stand.
        keys: what they are compared by: 007, 7 and 7.0 are one id.
    """

    texts: Any
    keys: Any

    @classmethod
    def of(cls, values: Any, texts: Any) -> Ids:
        """From what pandas reads and what stands there; an id `NA`, which pandas takes for missing, is itself."""
        keys, stripped = as_keys(values), pd.Series(texts).reset_index(drop=True).str.strip()
        return cls(pd.Series(texts).reset_index(drop=True), keys.where(keys.notna(), stripped.where(stripped != "")))

    @property
    def name_rows(self) -> bool:
        """True if each row has an id of its own."""
        return bool(len(self.texts) and self.keys.notna().all() and self.texts.is_unique)

    def places_of(self, others: Ids) -> Any:
        """Where each of `others` is among these, in their order; None where these are not the same ids."""
        for mine, theirs in ((self.texts, others.texts), (self.keys, others.keys)):
            if mine.is_unique and theirs.is_unique and set(mine) == set(theirs):
                return pd.Index(mine).get_indexer(theirs)
        return None


@dataclass(frozen=True, slots=True)
class Classes:
    """A target of classes.

    Args:
        values: as programs know them; missing only where the cell is empty.
        words: class as programs know it → as the file spells it, where these differ.
        lost: what stands in the file and pandas alone would read otherwise → as programs know it.
        notes: what a user should know of it, a line each.
    """

    values: Any
    words: dict[str, str] = field(default_factory=dict)
    lost: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def all_words(self) -> dict[str, str]:
        """Every class as a program may hand it in → as the file spells it: 2.0 is 2, and of truths 1 is True."""
        there = self.values.dropna()
        known = {key: self.words.get(key, key) for key in as_keys(pd.Series(there.unique()))} | self.words
        if set(known) <= {"True", "False"} and there.map(type).eq(bool).all():
            known |= {digit: known[truth] for digit, truth in (("1", "True"), ("0", "False")) if truth in known}
        return known


def classes_of(values: Any, texts: Any, order: Sequence[str] = ()) -> Classes:
    """The classes of a column that pandas has read as `values` and that stands in its file as `texts`.

    Among numbers `NA` is missing, as ever. Among words it is a class: programs, whose pandas would lose it, know it by
    another name.

    Args:
        order: all classes, the lowest first: programs know each by its place.

    Raises:
        Unusable: `order` lacks a class of the column. One that no row has is a grade all the same.
    """
    values = _as_programs_read(values)
    missing = values.isna() & (texts.str.strip() != "").to_numpy()
    numbers = pd.api.types.is_numeric_dtype(values) and values.notna().any()
    renamed = {}
    if missing.any() and not numbers:
        taken = set(texts)
        renamed = {word: _unlike(word, taken) for word in texts[missing.to_numpy()].unique()}
        values = texts.replace(renamed).where(texts.str.strip() != "").set_axis(values.index).rename(values.name)
    spelled = pd.DataFrame({"key": as_keys(values), "text": texts.reset_index(drop=True)}).dropna()
    words, counts = _words(spelled), spelled["key"].value_counts()
    if order:
        return _in_order(values, spelled, words, order)
    notes = _notes(str(values.name), words, {name: int(counts[name]) for name in renamed.values()}, spelled)
    return Classes(values, words, renamed, tuple(notes))


def _as_programs_read(values: Any) -> Any:
    """Texts of a table that knows types (Parquet, JSON, a database) as pandas reads them in a CSV: words for missing
    values as such, numbers as numbers."""
    values = values.astype(object) if isinstance(values.dtype, pd.CategoricalDtype) else values
    if pd.api.types.infer_dtype(values, skipna=True) != "string":
        return values
    values = values.where(~values.isin(TO_PANDAS))
    numbers = pd.to_numeric(values, errors="coerce")
    return numbers if values.notna().any() and (numbers.isna() == values.isna()).all() else values


def _in_order(values: Any, spelled: Any, words: dict[str, str], order: Sequence[str]) -> Classes:
    """Places of classes in `order`, which names each by one of its spellings."""
    said, name = f"data.classes={listed([*order])}", str(values.name)
    pairs = list(spelled.drop_duplicates().itertuples(index=False, name=None))
    keys = {key: key for key, _ in pairs} | {text.strip(): key for key, text in pairs}
    there = {key: words.get(key, key) for key in sorted(set(keys.values()))}
    absent = [word for word in order if word not in keys]
    places = {keys.get(word, word): place for place, word in enumerate(order)}
    if missing := [word for key, word in there.items() if key not in places]:
        wrong = f"no row has the {name} '{absent[0]}'" if absent else f"lacks the {name} '{missing[0]}'"
        raise Unusable(f"{said}: {wrong}; there are {listed([*there.values()])}")
    if len(places) < len(order):
        raise Unusable(f"{said}: names a class twice")
    numbers = as_keys(values).map(places).set_axis(values.index).rename(values.name)
    told = f"{name} is written as numbers: {', '.join(f'{place} for {word}' for place, word in enumerate(order))}"
    told += f" ({listed(absent)}: no row has it)" if absent else ""
    read = {text: places[key] for key, text in pairs}
    return Classes(numbers, {str(place): word for place, word in enumerate(order)}, read, (told,))


def _unlike(word: str, taken: set[str]) -> str:
    """A name that sorts like the word and that pandas does not take for missing."""
    name = f"{word}_"
    return _unlike(name, taken) if name in taken else name


def _words(spelled: Any) -> dict[str, str]:
    """The usual spelling of each class that has another than pandas'."""
    usual = spelled.groupby("key")["text"].agg(lambda texts: texts.mode().iloc[0])
    return {str(key): str(text) for key, text in usual.items() if key != text}


def _notes(name: str, words: dict[str, str], lost: dict[str, int], spelled: Any) -> Iterator[str]:
    for known, rows in list(lost.items())[:SHOWN]:
        whose = f"{counted(rows, 'row')} whose {name} is '{words[known]}'"
        yield f"{whose}, which pandas reads as missing: programs see '{known}'"
    several = spelled.groupby("key")["text"].unique()
    for key, texts in [(key, texts) for key, texts in several.items() if len(texts) > 1][:SHOWN]:
        usual = words.get(str(key), str(key))
        yield f"{name} is written {' and '.join(sorted(texts)[:SHOWN])}: one class, handed in as {usual}"
    alike = spelled.groupby(spelled["text"].map(bare))["text"].unique()
    apart = [texts for texts in alike if spelled["key"][spelled["text"].isin(texts)].nunique() > 1]
    for texts in apart[:SHOWN]:
        classes = " and ".join(repr(text) for text in sorted(texts)[:SHOWN])
        yield f"{name} has the classes {classes}, which differ by case or blanks alone: write them alike"


def read_classes(table: Any, path: Path, targets: list[str], request: dict[str, Any]) -> dict[str, Classes]:
    """The targets of this table that are classes; they take the place of what pandas has read."""
    task, order = request["task"], request.get("classes", ())
    aimed = [name for name in targets if name in table and task != "regression"]
    found = {name: classes_of(table[name], read_texts(path, name), order) for name in aimed
             if task != "own" or task_of(table[name]) == "labels"}  # fmt: skip
    for name, classes in found.items():
        table[name] = classes.values
    return found
