"""Asks a competition's own grader which way is better: what it gives the true answers, and those shuffled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..tables.exact import Unusable, read_table
from ..tables.with_columns import with_columns
from .shim import import_function


def by_name(request: dict[str, Any], exam: dict[str, Any], out: Path) -> str:
    """A note that nothing but the grader's name tells the direction; '' where something else does.

    Raises:
        Unusable: the grader gives the opposite of what its name or the user says. Names are no proof:
            `dice-hausdorff-combo` of MLE-bench's ventilator is a mean absolute error.
    """
    name, said = request.get("by_name"), request.get("said")
    if not name and not said:
        return ""
    lower = bool(request["lower"])
    way = "lower" if lower else "higher"
    found = _tried(exam, out)
    if found is not None and (found[0] < found[1]) != lower:
        by = (
            f"problem.direction={said}: its grader"
            if said
            else f"by its grader's name, {name}, {way} is better, but it"
        )
        raise Unusable(
            f"problem.path={request['folder']}: {by} gives the true answers {found[0]:g} and shuffled ones "
            f"{found[1]:g}: say --problem.direction={'max' if lower else 'min'}"
        )
    if not name:
        return ""
    shown = "" if found is None else ", and so it gives the true answers the better score"
    return f"nothing but the grader's name, {name}, tells that {way} is better{shown}"


def _tried(exam: dict[str, Any], out: Path) -> tuple[float, float] | None:
    """The score of the answers and of those shuffled; None where answers are no submission, or tell nothing."""
    path, key, targets = out / exam["answers"], exam["id"], exam["targets"]
    if path.suffix != ".csv":
        return None
    answers = read_table(path)
    if not targets or not {key, *targets} <= set(answers):
        return None
    grade: Callable[[Any, Any], Any] = import_function(Path(exam["grade"]["folder"]), exam["grade"]["function"])
    truth = answers[[key, *targets]]
    drawn = np.random.default_rng(0).permutation(len(truth))
    shuffled = with_columns(truth, {name: truth[name].to_numpy()[drawn] for name in targets})
    try:
        best, poor = (float(grade(table.copy(), answers.copy())) for table in (truth, shuffled))
    except Exception:  # noqa: BLE001 - the competition's own grader, given what it may not take
        return None
    return (best, poor) if np.isfinite([best, poor]).all() and best != poor else None
