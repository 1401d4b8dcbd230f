"""The metrics that a user or a competition may name: their directions, and what a program predicts for them."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from utils.direction import finite


@dataclass(frozen=True, slots=True)
class MetricKind:
    """What is known about a metric that has a name."""

    name: str
    label: str
    lower_is_better: bool
    task: str
    """`regression`, `labels` (predicts a class), `probability` (of the second of two classes; of each where there are
    more), `classes` (a probability for each class), `own` (a user's function: numbers or labels) or '' where only the
    data tell."""


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
        MetricKind("error_rate", "error rate", True, "labels"),
        MetricKind("balanced_accuracy", "balanced accuracy", False, "labels"),
        MetricKind("f1", "F1", False, "labels"),
        MetricKind("f1_macro", "macro F1", False, "labels"),
        MetricKind("f1_weighted", "weighted F1", False, "labels"),
        MetricKind("mcc", "Matthews correlation", False, "labels"),
        MetricKind("cohen_kappa", "Cohen's kappa", False, "labels"),
        MetricKind("qwk", "quadratic weighted kappa", False, "labels"),
        MetricKind("auc", "AUC", False, "probability"),
        MetricKind("gini", "Gini", False, "probability"),
        MetricKind("average_precision", "average precision", False, "probability"),
        MetricKind("logloss", "log loss", True, "probability"),
        MetricKind("brier", "Brier score", True, "probability"),
    )
}
"""Name → kind; the formulas are in `problems/competition/grader/scoring/scores.py`."""

WITH_NUMBER: dict[str, tuple[str, bool, str, str]] = {
    "map": ("MAP@{:g}", False, "classes", "map@5"),
    "ndcg": ("NDCG@{:g}", False, "classes", "ndcg@10"),
    "top": ("top-{:g} accuracy", False, "classes", "top@5"),
    "quantile": ("quantile loss at {:g}", True, "regression", "quantile@0.9"),
}
"""Metrics with a number, `map@5`, `quantile@0.9`: label, whether lower is better, task, an example."""
NAMES = (*KINDS, "map@K", "ndcg@K", "top@K", "quantile@Q")
"""What a user may write."""

ALIASES = {
    "roc_auc": "auc",
    "auc_roc": "auc",
    "auroc": "auc",
    "rocauc": "auc",
    "area_under_roc": "auc",
    "area_under_curve": "auc",
    "area_under_the_curve": "auc",
    "area_under_roc_curve": "auc",
    "area_under_the_roc_curve": "auc",
    "area_under_receiver_operating_characteristic_curve": "auc",
    "area_under_the_receiver_operating_characteristic_curve": "auc",
    "macro_roc_auc": "auc",
    "macro_averaged_roc_auc": "auc",
    "macro_auc": "auc",
    "quadratic_weighted_kappa": "qwk",
    "quadratic_kappa": "qwk",
    "matthews_correlation": "mcc",
    "root_mean_squared_error": "rmse",
    "root_mean_square_error": "rmse",
    "root_mean_square_logarithmic_error": "rmsle",
    "root_mean_square_log_error": "rmsle",
    "root_mean_square_percentage_error": "rmspe",
    "root_mean_squared_logarithmic_error": "rmsle",
    "root_mean_squared_log_error": "rmsle",
    "root_mean_squared_percentage_error": "rmspe",
    "mean_absolute_error": "mae",
    "mean_absolute_percentage_error": "mape",
    "symmetric_mean_absolute_percentage_error": "smape",
    "r_squared": "r2",
    "coefficient_of_determination": "r2",
    "median_absolute_error": "medae",
    "mean_squared_error": "mse",
    "acc": "accuracy",
    "classification_accuracy": "accuracy",
    "categorization_accuracy": "accuracy",
    "multi_class_classification_accuracy": "accuracy",
    "multi_class_accuracy": "accuracy",
    "multiclass_accuracy": "accuracy",
    "top_1_accuracy": "accuracy",
    "classification_error": "error_rate",
    "misclassification_error": "error_rate",
    "misclassification_rate": "error_rate",
    "top_1_classification_error": "error_rate",
    "top_1_error": "error_rate",
    "zero_one_loss": "error_rate",
    "hamming_loss": "error_rate",
    "log_loss": "logloss",
    "logarithmic_loss": "logloss",
    "binary_log_loss": "logloss",
    "binary_logloss": "logloss",
    "cross_entropy": "logloss",
    "binary_cross_entropy": "logloss",
    "binary_crossentropy": "logloss",
    "categorical_cross_entropy": "logloss",
    "categorical_crossentropy": "logloss",
    "cohen_s_kappa": "cohen_kappa",
    "cohens_kappa": "cohen_kappa",
    "unweighted_kappa": "cohen_kappa",
    "normalized_gini": "gini",
    "gini_index": "gini",
    "normalized_gini_index": "gini",
    "ap": "average_precision",
    "pr_auc": "average_precision",
    "auc_pr": "average_precision",
    "auprc": "average_precision",
    "macro_f1": "f1_macro",
    "macro_averaged_f1": "f1_macro",
    "weighted_f1": "f1_weighted",
    "f1_score_macro": "f1_macro",
    "f1_score_weighted": "f1_weighted",
    "f1_score_micro": "accuracy",
    "f1_micro": "accuracy",
    "micro_f1": "accuracy",
    "multiclass_logloss": "logloss",
    "multiclass_log_loss": "logloss",
    "multi_class_log_loss": "logloss",
    "multiclass_loss": "logloss",
    "multi_class_loss": "logloss",
    "multiclass_logarithmic_loss": "logloss",
    "multi_class_logarithmic_loss": "logloss",
    "mlogloss": "logloss",
    "mclogloss": "logloss",
    "mcrmse": "rmse",
    "mcrmsle": "rmsle",
    "mcauc": "auc",
    "pearsonr": "pearson",
    "pearson_correlation": "pearson",
    "spearmanr": "spearman",
    "spearman_correlation": "spearman",
    "spearman_rank_correlation": "spearman",
    "brier_loss": "brier",
    "brier_score_loss": "brier",
    "pinball": "quantile",
    "pinball_loss": "quantile",
    "quantile_loss": "quantile",
    "mapk": "map",
    "ndcgk": "ndcg",
    "top_k": "top",
    "top_k_accuracy": "top",
    "mean_average_precision": "map",
}
"""Other names, as `_plain` writes them; what stands around one (`_AROUND`) needs no line here."""

UNCLEAR = {
    "kappa": "qwk (quadratic weighted, as for grades) or cohen_kappa (unweighted, scikit-learn's cohen_kappa_score)",
    "f": "f1 (of the second class), f1_macro (mean over classes) or accuracy (which micro F1 is)",
    "weighted_kappa": "qwk (quadratic weights, as for grades), or FILE.py:FUNCTION of your own for linear ones",
}
"""Names that stand for several metrics → those."""

_AROUND = re.compile(
    r"^(?:mean_|average_|macro_averaged_)?(?:columnwise|column_wise|per_column)_|^(?:mean|average|averaged)_"
    r"|_(?:score|metric|coefficient|multi_?label|k)$"
)
"""Says nothing of its own: several targets are always scored by the mean over their columns."""

_IN_BRACKETS = re.compile(r"(?P<outer>[^(]*[^(\s])\s*\((?P<inner>[^()]+)\)\s*")
"""`Area under the ROC curve (AUC)`; what stands in brackets may also be a part of the name: `F1 (macro)`."""

_NUMBERED = re.compile(r"^(map|ndcg|top|quantile|pinball)_?(\d[\d.]*)(?:_accuracy)?$")
"""`map5`, `top 5 accuracy`, `quantile 0.9`."""

_LOWER = frozenset(
    ("error", "loss", "distance", "divergence", "deviation", "entropy", "perplexity", "rmse", "rmsle", "rmspe", "mse",
     "mae", "mape", "smape", "logloss")
)  # fmt: skip
_HIGHER = frozenset(
    ("accuracy", "auc", "auroc", "precision", "recall", "map", "ndcg", "f1", "f2", "f0.5", "fbeta", "dice", "jaccard",
     "iou", "kappa", "correlation", "pearson", "spearman", "tau", "likelihood", "similarity", "sensitivity",
     "specificity", "r2", "gini")
)  # fmt: skip
"""Words of a grader's name that tell which way is better."""


def metric_kind(name: str) -> MetricKind | None:
    """The kind of that name or alias, or None; case, blanks and dashes do not matter, nor what says nothing of its own
    (`column-wise ROC AUC`, `Macro F1-Score`). A number may be written `@5` or `at 5`, and an abbreviation stand
    in brackets behind the name."""
    found = _kind(name)
    if found is None and (parts := _IN_BRACKETS.fullmatch(name)):
        outer, inner = _kind(parts["outer"]), _kind(parts["inner"])
        found = inner if outer in (inner, None) and not meant_by(parts["outer"]) else None
    return found


def _kind(name: str) -> MetricKind | None:
    key, _, number = _plain(name).partition("@")
    while True:
        known = ALIASES.get(key, key)
        if known in WITH_NUMBER:
            return _with_number(known, number)
        if known in KINDS and not number:
            return KINDS[known]
        shorter = _AROUND.sub("", key, count=1)
        if shorter in (key, ""):
            return None
        key = shorter


def grader_kind(name: str) -> MetricKind | None:
    """What the name of somebody else's grader tells: a metric of ours, or at least which way is better, by its words.

    None where it tells neither. That its words are true has to be asked of the grader itself.
    """
    kind, words = metric_kind(name), re.split("[_@>]+", _plain(name))
    lower, higher = not _LOWER.isdisjoint(words), not _HIGHER.isdisjoint(words)
    if not lower and not higher:
        higher = len(words) > 1 and words[-1] == "score"
    return kind or (MetricKind(_plain(name), name, lower, "") if lower != higher else None)


def meant_by(name: str) -> str:
    """What to say instead of a name that people use for several metrics; '' for others."""
    key, shorter = "", _plain(name)
    while shorter not in (key, "") and key not in UNCLEAR:
        key, shorter = shorter, _AROUND.sub("", shorter, count=1)
    return UNCLEAR.get(key, "")


def lacks_number(name: str) -> str:
    """An example of how a metric is written that was named without its number (`map@5` for `mapk`); '' for others."""
    key, _, number = _plain(name).partition("@")
    if finite(_as_number(number)) is not None:
        return ""
    known = ALIASES.get(key) or ALIASES.get(_AROUND.sub("", key, count=1), key)
    return WITH_NUMBER[known][3] if known in WITH_NUMBER else ""


def _plain(name: str) -> str:
    """Lower case, `_` between the words, numbers behind an `@`: `MAP at 5`, `map5` and `MAP@{K=5}` are `map@5`."""
    text = unicodedata.normalize("NFKC", name).lower()
    key = re.sub(r"[^\w@.>]+", "_", text).strip("_")
    key = re.sub(r"_?@_?(?:k_)?|_at_(?=[\d.]+$)", "@", key)
    return key if key in ALIASES else _NUMBERED.sub(r"\1@\2", key)


def _with_number(key: str, number: str) -> MetricKind | None:
    """`map@5`, `quantile@0.9`; None where the number cannot be meant."""
    value = finite(_as_number(number))
    if value is None or not (0 < value < 1 if key == "quantile" else value >= 1 and value == int(value)):
        return None
    label, lower, task, _ = WITH_NUMBER[key]
    return MetricKind(f"{key}@{value:g}", label.format(value), lower, task)


def _as_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
