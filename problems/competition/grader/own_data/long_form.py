"""A sample submission with a row for each row of the test and each thing that is predicted: `55_3_updrs_2, rating`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from .own_tables import OwnTables
from .sample_form import composed_of


@dataclass(frozen=True, slots=True)
class LongForm:
    """What is handed in.

    Args:
        columns: of ids and of predictions, in the sample's order.
        is_id_first: whether that of ids is the first.
        rows: (id, our name of the row, our column of the prediction), in the sample's order.
        told: how it was understood.
    """

    columns: list[str]
    is_id_first: bool
    rows: list[tuple[str, str, str]]
    told: str


def long_form(tables: OwnTables, keys: Any, outputs: dict[str, str]) -> LongForm | None:
    """How the sample names rows and what is predicted in one column; None where it does not.

    Args:
        keys: our names of the test's rows, in its order.
        outputs: what is predicted, as the user calls it → our column.
    """
    sample, test = tables.sample, tables.test
    if len(sample.columns) != 2 or len(outputs) < 2 or len(sample) != len(test) * len(outputs):
        return None
    file = tables.files["sample"].name
    for place, column in enumerate(map(str, sample.columns)):
        ids = tables.ids("sample", column).texts.str.strip()
        if not ids.is_unique or (found := composed_of(tables, ids, list(outputs))) is None:
            continue
        ours = [(str(key), name) for name in outputs.values() for key in keys]
        at = pd.Index(found.texts).get_indexer(ids)
        rows = [(name, *ours[place]) for name, place in zip(ids, at, strict=True)]
        told = (
            f"{file} has a row for each row of test.csv and each prediction: {column} is {found.how.told('its name')}"
        )
        return LongForm([*map(str, sample.columns)], place == 0, rows, told)
    return None
