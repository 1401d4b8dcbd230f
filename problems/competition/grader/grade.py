"""The grader: holds the answers, checks submissions and scores them on the validation or the final part."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from .mlebench.shim import import_function, refusals
from .scoring import blend, parts, scores, validate
from .scoring.exam import Scoring
from .scoring.own_metric import OwnMetricFault
from .tables.exact import Malformed, read_answers, read_submission, read_table
from .tables.keys import as_keys
from .tables.with_columns import with_columns

BOOTSTRAP_SECONDS = 5.0
"""What resampling with a competition's own grader may take."""

BOUNDS = {"rmsle": (0.0, None), "logloss": (0.0, 1.0), "brier": (0.0, 1.0)}
"""What predictions must lie between."""


def handler() -> Callable[[dict[str, Any]], Any]:
    judge: Judge | None = None

    def handle(request: dict[str, Any]) -> Any:
        nonlocal judge
        if request["verb"] == "load":
            judge = Judge(request["exam"])
            return {"rows": judge.sizes}
        assert judge is not None
        if request["verb"] == "blend":
            return judge.blend(request["paths"], request["lower_is_better"], request["seconds"], request["most"])
        return judge.grade(request["path"], request["part"], bool(request.get("interval")))

    return handle


MOST_CELLS, FEWEST_BLENDED = 4_000_000, 20
"""Predictions that a blend is looked for in, some 200 MB as words; so many of the best are there in any case."""
LARGE = 1 << 24
"""Whole numbers from there on: of smaller ones 32,768 squares and their sum fit into 64 bits."""
BLOCKS = 8
"""Parts of the rows that are scored by themselves, for what varies between them."""
WHOLE = "whole"
"""All hidden rows, as published scores of a competition count them."""


class Judge:
    """Holds one competition's answers and grades files.

    Args:
        exam: `answers`, `sample` (paths), `id`, `targets`, `strict`, `grade` ({folder, function}) or `metric`, `parts`
            ({part: positions in the answers}) or None where the answers cannot be split, and maybe `texts` (columns of
            the answers that are words, though those of the hidden rows alone may look like numbers) and `how`
            and `places` (how they were parted, as `scoring.parts.places_of` says).
    """

    def __init__(self, exam: dict[str, Any]) -> None:
        self._exam = exam
        self._wanted: Any = read_table(exam["sample"])[exam["id"]] if exam["strict"] else None
        self._texts = self._words()
        self._answers: Any = read_answers(exam["answers"], self._texts)
        self._metric: str | None = exam.get("metric")
        self._targets: list[str] = exam["targets"]
        grade = exam.get("grade")
        scored = exam.get("metric") or exam.get("function")
        self._scoring = Scoring(exam, self._answers) if scored else None
        if grade:
            theirs = import_function(Path(grade["folder"]), grade["function"], real=not exam["strict"])
            self._grade: Callable[[Any, Any], Any] = lambda *tables: theirs(*map(copy.deepcopy, tables))
            """With tables of its own: a grader may sort and rename in place."""
        else:
            assert self._scoring is not None
            self._grade = self._scoring.score
        self._parts = {name: np.asarray(rows) for name, rows in (exam.get("parts") or {}).items()}

    @property
    def sizes(self) -> dict[str, int]:
        return {name: len(rows) for name, rows in self._parts.items()}

    def grade(self, path: str, part: str, interval: bool) -> dict[str, Any]:
        """`{score, blocks, cases, drawn, draws}`, or `{failure, message}` where there is no score."""
        refused: tuple[type[Exception], ...] = (Malformed, *refusals())
        try:
            table = read_submission(path, self._texts)
            table = self._checked(table) if self._exam["strict"] else _fillable(_as_numbers(table, self._targets))
            return self._grade_part(table, part, interval)
        except refused as error:
            return {"failure": "bad_submission", "message": str(error)[:500]}
        except scores.Undefined as error:
            return {"failure": "eval_error", "message": str(error), "undefined": True}
        except OwnMetricFault as error:
            return {"failure": "eval_error", "message": f"data.metric: {error}"[:500], "own_metric": True}
        except Exception as error:  # noqa: BLE001 - the competition's own grader
            return {"failure": "eval_error", "message": f"grader: {type(error).__name__}: {error}"[:500]}

    def blend(
        self, paths: list[str], lower_is_better: bool, seconds: list[float], most: float | None
    ) -> dict[str, Any]:
        """`{picks, power, score, scale}` on the validation part, or {} where predictions cannot be combined.

        Args:
            seconds: what each program takes.
            most: what all of a blend may take together; None for any time.
        """
        several = len(self._targets) != 1
        if self._scoring is None or not self._parts or (several and self._exam.get("task") != "classes"):
            return {}
        scoring = self._scoring
        scale = "mean" if several else blend.scale_of(self._metric or "", bool(self._exam["labels"]))
        rows = self._parts["validation"]
        truth, names = _rows(self._answers, rows), self._targets if several else self._targets[0]
        form = with_columns(truth[[self._exam["id"]]], dict.fromkeys(self._targets, 0.0))

        def score(values: Any) -> float:
            form[names] = values
            return scoring.score(form, truth)

        most_programs = max(FEWEST_BLENDED, MOST_CELLS // (len(rows) * len(self._targets)))
        columns = [self._predictions(path, rows, names) for path in paths[:most_programs]]
        bounds = blend.Bounds() if most is None else blend.Bounds(seconds=most)
        powers = blend.powers_of(self._metric or "")
        return {**blend.select(columns, scale, score, lower_is_better, seconds, bounds, powers), "scale": scale}

    def refuses(self, paths: list[str], sample: str) -> str:
        """Why submissions for the rows of another sample, such as those of a refit, are not in its form; '' where they
        are, or where the form is a foreign grader's."""
        if not self._exam["strict"]:
            return ""
        try:
            wanted = read_table(sample)[self._exam["id"]]
            for path in paths:
                self._valid(read_submission(path, self._texts), wanted)
        except Malformed as error:
            return str(error)
        return ""

    def _predictions(self, path: str, rows: Any, names: Any) -> Any:
        return _rows(self._checked(read_submission(path, self._texts)), rows)[names].to_numpy()

    def _words(self) -> list[str]:
        """Columns of answers and submissions that are words; ids are what they are among all rows to predict."""
        if self._wanted is None:
            return []
        key = [] if pd.api.types.is_numeric_dtype(self._wanted) else [self._exam["id"]]
        return [*self._exam.get("texts", ()), *key]

    def _grade_part(self, table: Any, part: str, interval: bool) -> dict[str, Any]:
        if not self._parts:
            return self._verdict(self._grade(table, self._answers), [])
        key = self._exam["id"]
        table = validate.check_ids(table, key, self._answers[key]).reset_index(drop=True)
        rows = np.arange(len(self._answers)) if part == WHOLE else self._parts[part]
        mine, truth = _rows(table, rows), _rows(self._answers, rows)
        units, run = self._units(rows)
        verdict = self._verdict(self._grade(mine, truth), self._block_scores(mine, truth, units))
        verdict |= {"cases": int(units.max()) + 1, "drawn": parts.DRAWN.get(self._exam.get("how", ""), "")}
        if interval and "score" in verdict:
            verdict["draws"] = self._resampled(mine, truth, units, run)
        return verdict

    def _units(self, rows: Any) -> tuple[Any, int]:
        """Of these rows the number of what is drawn whole, and how many of these in a row."""
        places = self._exam.get("places")
        return parts.units_of(np.asarray(places)[rows], self._exam["how"]) if places else (np.arange(len(rows)), 1)

    def _verdict(self, score: Any, blocks: list[float]) -> dict[str, Any]:
        number = float(score)
        if not math.isfinite(number):
            return {"failure": "non_finite", "message": f"the score is {number}"}
        return {"score": number, "blocks": blocks}

    def _checked(self, table: Any) -> Any:
        """Columns, ids and values as they must be; values converted, in the order of the answers."""
        key, table = self._exam["id"], self._valid(table, self._wanted)
        table[key] = table.index
        known = as_keys(self._answers[key])
        return table.loc[known.to_numpy()].reset_index(drop=True)

    def _valid(self, table: Any, wanted: Any) -> Any:
        """The table with its values converted, by id.

        Args:
            wanted: ids.
        """
        key = self._exam["id"]
        validate.check_columns(table, [key, *self._targets])
        table = validate.check_ids(table, key, wanted)
        low, high = BOUNDS.get(self._metric or "", (None, None))
        faults: list[str] = []
        for name in self._targets:
            try:
                if self._exam["labels"]:
                    classes = self._exam.get("classes", {}).get(name) if self._metric else None
                    table[name] = validate.check_labels(table[name], name, self._answers[name], classes)
                else:
                    table[name] = validate.check_numbers(table[name], name, low=low, high=high)
            except Malformed as fault:
                faults.append(str(fault))
        validate.refuse(faults)
        return table

    def _block_scores(self, mine: Any, truth: Any, units: Any) -> list[float]:
        """Scores of fixed eighths of the part (units modulo 8 in their order), or [] if one is undefined."""
        if units.max() + 1 < BLOCKS:
            return []
        found = []
        for block in range(BLOCKS):
            rows = np.flatnonzero(units % BLOCKS == block)
            try:
                found.append(float(self._grade(_rows(mine, rows), _rows(truth, rows))))
            except Exception:  # noqa: BLE001 - a metric that needs both classes, a grader that wants all rows
                return []
        return found if all(math.isfinite(value) for value in found) else []

    def _resampled(self, mine: Any, truth: Any, units: Any, run: int) -> list[float]:
        """The score over resampled units, the same rows for every program; [] where the grader refuses them."""
        if self._scoring is not None and self._metric:
            return self._scoring.resampled(mine, truth, units, run)
        return self._resampled_by_grader(mine, truth, units, run)

    def _resampled_by_grader(self, mine: Any, truth: Any, units: Any, run: int) -> list[float]:
        key, deadline = self._exam["id"], time.monotonic() + BOOTSTRAP_SECONDS
        ids = truth[key].to_numpy()

        def score(rows: Any) -> float:
            if time.monotonic() > deadline:
                raise scores.Undefined("out of time")
            # a row drawn twice keeps one id of the part, so that a grader which checks ids is content
            rows = rows[: len(ids)]
            again = [with_columns(_rows(table, rows), {key: ids[: len(rows)]}) for table in (mine, truth)]
            return float(self._grade(*again))

        try:
            return scores.resampled(score, units, run=run, draws=200)
        except Exception:  # noqa: BLE001 - a grader that refuses resampled rows: then there is no interval
            return []


def _as_numbers(table: Any, targets: list[str]) -> Any:
    """Predictions that are large whole numbers as floats: the squares of numpy's wrap round below zero."""
    large = [
        name
        for name in targets
        if name in table and table[name].dtype.kind in "iu" and not table[name].between(-LARGE, LARGE).all()
    ]
    return table.astype(dict.fromkeys(large, float))


def _fillable(table: Any) -> Any:
    """Empty columns may be filled with words, as graders that were written for pandas before 3 do."""
    empty = [name for name in table if table[name].isna().all()]
    return table.astype(dict.fromkeys(empty, object))


def _rows(table: Any, rows: Any) -> Any:
    return table.iloc[rows].reset_index(drop=True)
