"""What metrics are called: by people, by Kaggle, by the graders of MLE-bench."""

import pytest

from utils.metric_kinds import ALIASES, KINDS, WITH_NUMBER, grader_kind, lacks_number, meant_by, metric_kind


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("RMSE", "rmse"), ("roc-auc", "auc"), ("Log Loss", "logloss"), ("quadratic_kappa", "qwk"), ("mcauc", "auc"),
        ("column-wise auc", "auc"), ("Mean Columnwise RMSE", "rmse"), ("Macro F1-Score", "f1_macro"), ("R²", "r2"),
        ("balanced accuracy score", "balanced_accuracy"), ("mean column-wise ROC AUC", "auc"),
        ("pinball@0.9", "quantile@0.9"), ("mean average precision @ 5", "map@5"),
        ("pinball loss at 0.1", "quantile@0.1"),
        ("MAP at 5", "map@5"), ("mapk@3", "map@3"), ("top_k_accuracy@5", "top@5"),
        ("Pearson correlation coefficient", "pearson"), ("misclassification rate", "error_rate"),
        ("Area under the ROC curve", "auc"), ("mean columnwise area under the ROC curve", "auc"),
        ("Area Under Receiver Operating Characteristic Curve", "auc"), ("macro-averaged ROC-AUC", "auc"),
        ("Symmetric mean absolute percentage error", "smape"), ("Coefficient of determination", "r2"),
        ("Matthews correlation coefficient (MCC)", "mcc"), ("area under the ROC curve (AUC)", "auc"),
        ("Probability of ranking well (AUC)", "auc"), ("F1 (macro)", "f1_macro"),
        ("Mean Average Precision (MAP@12)", "map@12"), ("MAP@{K=3}", "map@3"), ("map3", "map@3"), ("NDCG 5", "ndcg@5"),
        ("top 5 accuracy", "top@5"), ("quantile 0.9", "quantile@0.9"), ("top 1 accuracy", "accuracy"),
        ("Logarithmic Loss", "logloss"), ("Multiclass Loss", "logloss"), ("categorical crossentropy", "logloss"),
        ("Root Mean Square Error (RMSE)", "rmse"), ("Root Mean Square Percentage Error", "rmspe"),
        ("Normalized Gini Index", "gini"), ("AUPRC", "average_precision"), ("Hamming loss", "error_rate"),
        ("F1 score (micro)", "accuracy"), ("multi-class accuracy", "accuracy"),
    ],
)  # fmt: skip
def test_metrics_are_known_by_their_usual_spellings(written, name):
    assert metric_kind(written).name == name


@pytest.mark.parametrize(
    "name",
    ["profit", "score", "", "accuracy-loss", "_", "auc@5", "map@0", "map@2.5", "quantile@1", "wrmse", "RMSE (MAE)",
     "profit (in euros)", "kappa (accuracy)", "()"],
)  # fmt: skip
def test_an_unknown_metric_is_none(name):
    assert metric_kind(name) is None


@pytest.mark.parametrize(
    ("written", "name"),
    [("cohen_kappa_score", "cohen_kappa"), ("Cohen's kappa", "cohen_kappa"),
     ("Cohen's kappa coefficient", "cohen_kappa"),
     ("quadratic kappa", "qwk"), ("quadratic_weighted_kappa", "qwk"), ("Quadratic-Weighted-Kappa", "qwk")],
)  # fmt: skip
def test_a_kappa_that_says_its_weights_is_known(written, name):
    assert metric_kind(written).name == name and not meant_by(written)


@pytest.mark.parametrize("written", ["kappa", "Kappa", "kappa score", "mean kappa"])
def test_a_kappa_that_does_not_say_its_weights_is_none_but_has_choices(written):
    """Scikit-learn's is unweighted, Kaggle's quadratic."""
    assert metric_kind(written) is None and "qwk" in meant_by(written) and "cohen_kappa" in meant_by(written)
    assert grader_kind(written).lower_is_better is False


@pytest.mark.parametrize("written", ["weighted_kappa", "Weighted Kappa score"])
def test_a_weighted_kappa_may_have_linear_weights(written):
    assert metric_kind(written) is None and "qwk" in meant_by(written) and "linear" in meant_by(written)


@pytest.mark.parametrize("written", ["Mean F-Score", "F score", "f_score"])
def test_an_f_score_that_does_not_say_its_mean_has_choices(written):
    assert metric_kind(written) is None and "f1_macro" in meant_by(written)


@pytest.mark.parametrize("alias", ALIASES)
def test_every_other_name_leads_to_a_metric(alias):
    known = ALIASES[alias]
    assert metric_kind(alias) is KINDS[known] if known in KINDS else metric_kind(alias) is None
    assert known in KINDS or lacks_number(alias) == WITH_NUMBER[known][3]


@pytest.mark.parametrize(
    ("written", "example"),
    [("pinball", "quantile@0.9"), ("mapk", "map@5"), ("MAP@K", "map@5"), ("top-k", "top@5"), ("ndcg", "ndcg@10"),
     ("pinball loss", "quantile@0.9"), ("map@5", ""), ("rmse", ""), ("profit", "")],
)  # fmt: skip
def test_a_metric_without_its_number_has_an_example(written, example):
    assert lacks_number(written) == example
    assert not example or metric_kind(example) is not None


OURS = {
    "MAP@12": "map@12", "MAP@5": "map@5", "accuracy": "accuracy", "auc-roc": "auc", "auroc-multi-label": "auc",
    "column-wise ROC AUC": "auc", "column-wise-spearman": "spearman", "f1-score": "f1", "log-loss": "logloss",
    "macro-f1-score": "f1_macro", "map-at-5": "map@5", "matthews-correlation-coefficient": "mcc",
    "mean-absolute-error": "mae", "mean-column-wise-rmsle": "rmsle", "mean-column-wise-roc-auc": "auc",
    "micro-f1-score": "accuracy", "multi-class-classification-accuracy": "accuracy", "multi-class-log-loss": "logloss",
    "pearson-correlation-coefficient": "pearson", "quadratic-weighted-kappa": "qwk", "root-mean-squared-error": "rmse",
    "root_mean_squared_error": "rmse", "top-1-classification-error": "error_rate",
}  # fmt: skip
"""Names of MLE-bench's graders → our metric of that meaning."""
HIGHER = (
    "dice-coefficient", "dice-hausdorff-combo", "f0.5-score", "global-dice", "jaccard-similarity", "kendall-tau",
    "jigsaw-unintended-bias-in-toxicity-classification-score", "label-ranking-average-precision", "mAP-at-IoU>0.4",
    "mean-average-precision", "mean-precision-intersection-over-union-at-different-thresholds", "weighted-auroc",
    "modified-laplace-log-likelihood", "probabilistic-f1-score", "word-level-jaccard-score",
)  # fmt: skip
LOWER = (
    "KL-divergence", "average-haversine-distance", "levenhstein-distance", "levenshtein-distance",
    "log-mean-absolute-error", "mean-angular-error", "weighted-multi-label-log-loss",
)  # fmt: skip


def test_these_are_all_names_of_the_graders():
    assert len({*OURS, *HIGHER, *LOWER}) == 45


@pytest.mark.parametrize("name", OURS)
def test_a_graders_name_is_the_metric_that_we_have(name):
    assert grader_kind(name).name == OURS[name]


@pytest.mark.parametrize("name", [*HIGHER, *LOWER])
def test_the_words_of_a_graders_own_name_tell_which_way_is_better_and_no_task(name):
    kind = grader_kind(name)
    assert (kind.lower_is_better, kind.task) == (name in LOWER, "")


@pytest.mark.parametrize("name", ["score", "points", "accuracy-loss", "own-measure", ""])
def test_a_name_that_says_neither_is_none(name):
    assert grader_kind(name) is None
