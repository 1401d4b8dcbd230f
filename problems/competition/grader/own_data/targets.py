"""What is predicted, in which form, and whether the metric fits it: refused in one line where it does not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..scoring.exam import OF_TWO
from ..tables.counts import counted
from ..tables.exact import Unusable
from ..tables.table_sample import as_programs_read

MANY_CLASSES = 20
"""So many classes may be there however few the rows are."""
MOST_COLUMNS = 1000
"""Columns of a submission with one for each class."""
MOST_RELEVANT = 500
"""A grade of relevance g is worth 2 to the power of g, for NDCG."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What a submission holds.

    Args:
        task: `regression`, `labels`, `probability` (of the second of two classes) or `classes` (one column for each).
        group: the column whose rows are ranked against each other, for NDCG.
        beside: columns that the user's own function is given beside truth and predictions.
        called: targets → what the user's own function calls their predictions.
    """

    task: str
    group: str | None = None
    beside: tuple[str, ...] = ()
    called: dict[str, str] | None = None

    @property
    def labels(self) -> bool:
        return self.task == "labels"


def goal_of(labelled: Any, targets: list[str], request: dict[str, Any], own: Goal | None = None) -> Goal:
    """The form that metric and target ask for. Unusable: the metric does not fit.

    Args:
        own: what the user's own function asks for.
    """
    metric, task = request["metric"] or "", request["task"]
    if own is not None:
        goal = own
    elif metric.startswith("ndcg") and request["split"].startswith("group:"):
        goal = Goal("regression", request["split"].partition(":")[2])
    elif metric == "gini" and all(ranks_by_size(labelled[name]) for name in targets):
        goal = Goal("regression")
    elif task == "probability" and len(targets) == 1 and labelled[targets[0]].nunique() > 2:
        goal = Goal("classes")
    else:
        goal = Goal(task)
    if goal.task == "classes" and len(targets) > 1:
        raise Unusable(f"data.metric={metric} takes one target; data.target names {len(targets)}")
    for name in targets:
        _check_values(labelled[name], metric, goal, len(targets))
    return goal


def ranks_by_size(values: Any) -> bool:
    """True for numbers of more than two values: the Gini coefficient of claims, not of classes."""
    return is_numbers(values) and values.nunique() > 2


def is_numbers(values: Any) -> bool:
    return bool(pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values))


def task_of(values: Any) -> str:
    """What a function of the user's own is given: numbers, or classes."""
    return "regression" if is_numbers(values) and values.nunique() > MANY_CLASSES else "labels"


def classes_read(shown: Any, targets: list[str], goal: Goal) -> dict[str, list[Any]]:
    """Target → its classes in sorted order, as programs read them from the training table; {} for numbers.

    Args:
        shown: the rows that programs learn.
    """
    if goal.task == "regression":
        return {}
    found = {name: as_programs_read(shown[[name]].drop_duplicates(), len(shown)).rows[name] for name in targets}
    return {name: sorted(values.dropna().unique().tolist()) for name, values in found.items()}


def fractions_as_classes(labelled: Any, targets: list[str], metric: str, goal: Goal) -> Iterator[str]:
    """What is most likely meant otherwise: a metric of classes for a column of numbers with fractions."""
    for name in targets if goal.task != "regression" and metric else []:
        values, classes = labelled[name], labelled[name].nunique()
        if classes > MANY_CLASSES and _has_fractions(values):
            yield (
                f"data.metric={metric} takes each of the {classes} numbers in '{name}' "
                f"({values.dropna().iloc[0]:g}, …) for a class: for numbers there are rmse, mae and others"
            )


def _check_values(values: Any, metric: str, goal: Goal, targets: int) -> None:
    given, classes = f"data.metric={metric or 'your function'}", values.nunique()
    if classes < 2:
        raise Unusable(f"data.target={values.name}: all labels are equal")
    if goal.task == "regression":
        _check_numbers(values, metric, given, may_be_two=targets > 1 or goal.group is not None)
    elif classes != 2 and (goal.task == "probability" or metric == "f1"):
        raise Unusable(f"{given} needs two classes; '{values.name}' has {classes}")
    elif classes > max(MANY_CLASSES, len(values) / 2):
        raise Unusable(
            f"{given} compares classes; '{values.name}' has {counted(classes, 'value')} in "
            f"{counted(len(values), 'row')}"
        )
    elif goal.task == "classes" and classes > MOST_COLUMNS:
        raise Unusable(f"{given} takes a column for each class, at most {MOST_COLUMNS}; '{values.name}' has {classes}")
    elif metric == "qwk" and not _is_whole(values):
        raise Unusable(
            f"{given} needs grades that are whole numbers, or their order: --data.classes=LOWEST,…,HIGHEST; "
            f"'{values.name}' holds {values.iloc[0]!r:.40}"
        )


def _check_numbers(values: Any, metric: str, given: str, *, may_be_two: bool) -> None:
    """Unusable for what are no numbers, and for two that look like classes.

    Args:
        may_be_two: a target among others, or what rows of a group are ranked by: clicked or not, for NDCG.
    """
    if not pd.api.types.is_numeric_dtype(values):
        raise Unusable(f"{given} needs a column of numbers; '{values.name}' holds {_text_in(values)}")
    if infinite := int(np.isinf(values.astype(float)).sum()):
        raise Unusable(f"data.target={values.name}: {counted(infinite, 'label is', 'labels are')} infinite")
    if values.nunique() == 2 and metric and not may_be_two:
        both = " and ".join(f"{value:g}" for value in sorted(values.astype(float).unique()))
        raise Unusable(
            f"{given} is for numbers, and '{values.name}' holds only {both}; allowed for two classes: "
            f"{', '.join(OF_TWO)}, accuracy, balanced_accuracy, f1, mcc"
        )
    if metric.startswith("ndcg") and values.max() > MOST_RELEVANT:
        raise Unusable(
            f"{given} takes grades of relevance (0, 1, 2, …), each worth twice the one below; '{values.name}' goes up "
            f"to {values.max():g}"
        )
    if metric == "rmsle" and values.min() < 0:
        raise Unusable(f"{given} needs labels of at least 0; '{values.name}' goes down to {values.min():g}")
    if metric == "mape" and (values == 0).any():
        raise Unusable(
            f"{given} divides by the label; '{values.name}' is 0 in {counted(int((values == 0).sum()), 'row')}"
        )


def _text_in(values: Any) -> str:
    """The first of the values that are no numbers, and how many there are."""
    there = values.dropna()
    bad = there[pd.to_numeric(there, errors="coerce").isna()]
    if not len(bad):
        return f"{values.dtype} such as {values.iloc[0]!r:.40}"
    plain = pd.to_numeric(bad.astype(str).str.replace(r"[^0-9.eE+-]", "", regex=True), errors="coerce").notna().all()
    remedy = "; write numbers as 1234.56, without marks of thousands and units" if plain else ""
    return f"text such as {bad.iloc[0]!r:.40} in {len(bad)} of {counted(len(values), 'row')}{remedy}"


def _has_fractions(values: Any) -> bool:
    return is_numbers(values) and not _is_whole(values.dropna())


def _is_whole(values: Any) -> bool:
    return bool(pd.api.types.is_numeric_dtype(values) and (values.astype(float) % 1 == 0).all())
