"""Turns a submission and the answers into arrays, and scores them: by a named formula or by the user's function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from . import scores
from .class_scores import formula, gains_of_groups, mean_of_groups
from .own_metric import OwnMetric
from .scores import DRAWS

RANKED = ("auc", "gini", "average_precision")
"""Metrics that sort all rows, for each class."""
MOST_RANKED, FEWEST_DRAWS = 100_000_000, 100
"""Predictions that are sorted for an interval, some 20 CPU seconds; and its draws at least."""
OF_TWO = ("auc", "gini", "average_precision", "logloss", "brier")
"""Metrics of the second of two classes: its rows count as 1."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Truth and prediction of one target, row by row."""

    truth: Any
    predicted: Any


class Scoring:
    """What a submission of one competition is worth.

    Args:
        exam: `metric` or `function` ({file, name}), `targets` (columns of the submission), `task`, `labels`, and where
            they differ from that: `truth` (columns of the answers), `group` (a column of the answers), `counted`
            (target → the second of its two classes, which the hidden rows may lack).
        answers: all rows, for what must not depend on the part that is scored; they tell the second class where
            nothing else does.
    """

    def __init__(self, exam: dict[str, Any], answers: Any) -> None:
        self._exam, self._answers = exam, answers
        self._metric: str = exam.get("metric") or ""
        self._truth: list[str] = exam.get("truth") or exam["targets"]
        own = exam.get("function")
        self._own = OwnMetric(own["file"], own["name"], own.get("called")) if own else None
        self._score = None if own else formula(self._metric, exam.get("task"))

    def score(self, table: Any, answers: Any) -> float:
        """Mean over the targets, or what the user's function says of all of them."""
        pairs = self.pairs(table, answers)
        if self._own is None:
            return self._mean(pairs)
        truth, predicted = (
            pd.DataFrame({name: getattr(pair, side) for name, pair in zip(self._truth, pairs, strict=True)})
            for side in ("truth", "predicted")
        )
        return self._own.score(truth, predicted, answers, self._exam["id"])

    def resampled(self, table: Any, answers: Any, units: Any, run: int = 1) -> list[float]:
        """Scores of resampled units; of whole groups where the metric compares rows of a group."""
        pairs = self.pairs(table, answers)
        if self._exam.get("group"):
            k = int(self._metric.partition("@")[2])
            gains = gains_of_groups(k, pairs[0].truth, pairs[0].predicted)  # once: a draw takes their mean
            return scores.resampled(lambda drawn: mean_of_groups(gains[drawn]), np.arange(len(gains)))
        return scores.resampled(
            lambda rows: self._mean([Pair(pair.truth[rows], pair.predicted[rows]) for pair in pairs]),
            units,
            run=run,
            draws=self._draws(len(answers)),
        )

    def _draws(self, rows: int) -> int:
        """1000; fewer where a score ranks many rows for each of several classes, so that a grader answers in time."""
        if self._exam.get("task") != "classes" or self._metric not in RANKED:
            return DRAWS
        return max(FEWEST_DRAWS, min(DRAWS, MOST_RANKED // (rows * len(self._exam["targets"]))))

    def pairs(self, table: Any, answers: Any) -> list[Pair]:
        if self._exam.get("task") == "classes":
            return [self._classes(table, answers)]
        return [self._pair(answers[name], table[name], name, answers) for name in self._truth]

    def _mean(self, pairs: list[Pair]) -> float:
        assert self._score is not None
        return float(np.mean([self._score(pair.truth, pair.predicted) for pair in pairs]))

    def _classes(self, table: Any, answers: Any) -> Pair:
        """Positions of the true classes, and a column of probabilities for each."""
        places = {name: place for place, name in enumerate(self._exam["targets"])}
        return Pair(
            answers[self._truth[0]].astype(str).map(places).to_numpy(int),
            table[self._exam["targets"]].to_numpy(float),
        )

    def _pair(self, y: Any, p: Any, name: str, answers: Any) -> Pair:
        task = self._exam.get("task")
        if task == "probability" or (task is None and self._metric in OF_TWO):
            return Pair((y == self._second(name)).to_numpy().astype(int), p.to_numpy(float))
        if self._exam["labels"]:
            numeric = pd.api.types.is_numeric_dtype(y) and not pd.api.types.is_bool_dtype(y)
            y, p = (y.astype(float), p.astype(float)) if numeric else (y.astype(str), p.astype(str))
            if self._metric == "f1":
                positive = float(self._second(name)) if numeric else str(self._second(name))
                return Pair((y == positive).to_numpy().astype(int), (p == positive).to_numpy().astype(int))
            if self._metric and not numeric:  # formulas ask which are equal: a number is compared sooner than a word
                codes = pd.factorize(pd.concat([y, p]), sort=True)[0]
                return Pair(codes[: len(y)], codes[len(y) :])
            return Pair(y.to_numpy(), p.to_numpy())
        if group := self._exam.get("group"):
            codes = pd.factorize(answers[group])[0]
            return Pair(np.column_stack([y.to_numpy(float), codes]), p.to_numpy(float))
        return Pair(y.to_numpy(float), p.to_numpy(float))

    def _second(self, name: str) -> Any:
        if name in (counted := self._exam.get("counted") or {}):
            return counted[name]
        return sorted(self._answers[name].dropna().unique())[-1]
