"""The best classes of a row in one cell of the sample submission: `w_23a w_9b5 w_9c5`, for MAP@K."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

LOOKED_AT = 50
"""Rows of the sample that are asked what stands between names."""
MARKS = (" ", ",", ", ", ";", "|")
"""What may stand there."""


@dataclass(frozen=True, slots=True)
class RankedCells:
    """How a cell names classes.

    Args:
        most: so many of them, the most probable first.
        mark: what stands between two.
    """

    most: int
    mark: str

    def __str__(self) -> str:
        return f"the {self.most} most probable classes, the best first, with '{self.mark}' between them"


def ranked_cells(sample: Any, metric: str, classes: list[str]) -> RankedCells | None:
    """How a sample submission names several classes in a cell; None where the metric ranks none, or it may not.

    Args:
        classes: as the sample spells them.
    """
    kind, _, most = metric.partition("@")
    if kind not in ("map", "top", "ndcg"):
        return None
    cells = [str(cell).strip() for name in sample.columns for cell in sample[name].head(LOOKED_AT)]
    known = set(classes)
    shown = [mark for mark in MARKS for cell in cells if len(parts := cell.split(mark)) > 1 and known.issuperset(parts)]
    if not shown and (kind == "ndcg" or _has_several_rows(sample)):
        return None  # with a single name in a cell, further ones may be wanted in rows of their own
    return RankedCells(int(most), shown[0] if shown else MARKS[0])


def _has_several_rows(sample: Any) -> bool:
    """True where no column names each row once: a row to predict has several rows of the sample."""
    return len(sample) > 0 and all(sample[name].duplicated().any() for name in sample.columns)
