"""Metric: a score with its direction, and the table of metrics that a user may name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import total_ordering
from typing import Any

from utils.direction import Direction, finite


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """A score in the problem's own unit, and which way is better. `a > b` reads "a is better than b".

    No score (None, NaN, infinite, not a number) is worse than any score and equal to no score. Integers are numbers;
    booleans are not scores.
    """

    value: float | None
    lower_is_better: bool = False

    @classmethod
    def of(cls, value: Any, lower_is_better: bool = False) -> Metric:
        """From anything a program may have given: what is not a finite number becomes no score."""
        return cls(finite(value), lower_is_better)

    @property
    def is_worst(self) -> bool:
        """True if there is no score."""
        return finite(self.value) is None

    @property
    def fitness(self) -> float:
        """Turned so that higher is better; -inf for no score."""
        turned = Direction(self.lower_is_better).fitness(self.value)
        return -math.inf if turned is None else turned

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metric) and self.fitness == other.fitness

    def __hash__(self) -> int:
        return hash(self.fitness)

    def __gt__(self, other: Metric) -> bool:
        if self.lower_is_better != other.lower_is_better and not (self.is_worst or other.is_worst):
            raise ValueError("metrics of different direction cannot be compared")
        return self.fitness > other.fitness

    def __str__(self) -> str:
        arrow = "↓" if self.lower_is_better else "↑"
        return f"none {arrow}" if self.is_worst else f"{self.value:.6g} {arrow}"


@dataclass(frozen=True, slots=True)
class MetricKind:
    """What is known about a metric that has a name."""

    name: str
    label: str
    lower_is_better: bool
    task: str
    """`regression`, `labels` (predicts a class), `probability` (of the second of two classes; of each where there are
    more), `classes` (a probability for each class) or `own` (a user's function: numbers or labels)."""


KINDS: dict[str, MetricKind] = {
    kind.name: kind
    for kind in (
        MetricKind("rmse", "RMSE", True, "regression"),
        MetricKind("rmsle", "RMSLE", True, "regression"),
        MetricKind("mse", "MSE", True, "regression"),
        MetricKind("mae", "MAE", True, "regression"),
        MetricKind("medae", "median absolute error", True, "regression"),
        MetricKind("mape", "MAPE", True, "regression"),
        MetricKind("smape", "SMAPE", True, "regression"),
        MetricKind("rmspe", "RMSPE", True, "regression"),
        MetricKind("r2", "R²", False, "regression"),
        MetricKind("pearson", "Pearson correlation", False, "regression"),
        MetricKind("spearman", "Spearman correlation", False, "regression"),
        MetricKind("accuracy", "accuracy", False, "labels"),
        MetricKind("balanced_accuracy", "balanced accuracy", False, "labels"),
        MetricKind("f1", "F1", False, "labels"),
        MetricKind("f1_macro", "macro F1", False, "labels"),
        MetricKind("f1_weighted", "weighted F1", False, "labels"),
        MetricKind("mcc", "Matthews correlation", False, "labels"),
        MetricKind("qwk", "quadratic weighted kappa", False, "labels"),
        MetricKind("auc", "AUC", False, "probability"),
        MetricKind("gini", "Gini", False, "probability"),
        MetricKind("average_precision", "average precision", False, "probability"),
        MetricKind("logloss", "log loss", True, "probability"),
        MetricKind("brier", "Brier score", True, "probability"),
    )
}
"""Name → kind; the formulas are in `problems/competition/grader/scores.py`."""

WITH_NUMBER: dict[str, tuple[str, bool, str]] = {
    "map": ("MAP@{:g}", False, "classes"),
    "ndcg": ("NDCG@{:g}", False, "classes"),
    "top": ("top-{:g} accuracy", False, "classes"),
    "quantile": ("quantile loss at {:g}", True, "regression"),
}
"""Metrics with a number, `map@5`, `quantile@0.9`: label, whether lower is better, task."""
NAMES = (*KINDS, "map@K", "ndcg@K", "top@K", "quantile@Q")
"""What a user may write."""

ALIASES = {
    "roc_auc": "auc",
    "auc_roc": "auc",
    "roc_auc_score": "auc",
    "area_under_roc": "auc",
    "accuracy_score": "accuracy",
    "quadratic_weighted_kappa": "qwk",
    "matthews_correlation_coefficient": "mcc",
    "root_mean_squared_error": "rmse",
    "root_mean_squared_logarithmic_error": "rmsle",
    "mean_absolute_error": "mae",
    "mean_squared_error": "mse",
    "acc": "accuracy",
    "classification_accuracy": "accuracy",
    "categorization_accuracy": "accuracy",
    "multi_class_classification_accuracy": "accuracy",
    "log_loss": "logloss",
    "kappa": "qwk",
    "ap": "average_precision",
    "macro_f1": "f1_macro",
    "weighted_f1": "f1_weighted",
    "f1_micro": "accuracy",
    "micro_f1": "accuracy",
    "multiclass_logloss": "logloss",
    "multiclass_log_loss": "logloss",
    "multi_class_log_loss": "logloss",
    "mlogloss": "logloss",
    "mclogloss": "logloss",
    "mcrmse": "rmse",
    "brier_score": "brier",
    "pearsonr": "pearson",
    "spearmanr": "spearman",
    "pinball": "quantile",
    "mapk": "map",
    "top_k": "top",
}


def metric_kind(name: str) -> MetricKind | None:
    """The kind of that name or alias, or None; case, blanks and dashes do not matter."""
    key = name.strip().lower().replace("-", "_").replace(" ", "_")
    if "@" in key:
        return _with_number(*key.split("@", 1))
    return KINDS.get(ALIASES.get(key, key))


def _with_number(key: str, number: str) -> MetricKind | None:
    """`map@5`, `quantile@0.9`; None where the number cannot be meant."""
    key = ALIASES.get(key, key)
    value = finite(_as_number(number))
    if key not in WITH_NUMBER or value is None:
        return None
    if not (0 < value < 1 if key == "quantile" else value >= 1 and value == int(value)):
        return None
    label, lower, task = WITH_NUMBER[key]
    return MetricKind(f"{key}@{value:g}", label.format(value), lower, task)


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
