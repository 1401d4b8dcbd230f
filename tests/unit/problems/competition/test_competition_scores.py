"""Formulas against scikit-learn's, intervals against theory, checks of bundled graders against the formulas."""

import importlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from problems.competition.grader.mlebench import shim
from problems.competition.grader.scoring import scores
from problems.competition.grader.scoring.class_scores import formula
from problems.competition.source import BUNDLED, find_source
from utils.config import load_config
from utils.metric_kinds import KINDS
from utils.stats import drawn_interval


class Late:
    """Functions of a module that is loaded by the first call: every worker reads this file, few run its tests."""

    def __init__(self, module):
        self._module = module

    def __getattr__(self, name):
        return lambda *values, **more: getattr(importlib.import_module(self._module), name)(*values, **more)


metrics, stats = Late("sklearn.metrics"), Late("scipy.stats")
random = np.random.default_rng(0)
Y, P = random.gamma(2, 10, 200), random.gamma(2, 10, 200)
CLASS, GUESS = random.integers(0, 4, 200), random.integers(0, 4, 200)
BIT, CHANCE = random.integers(0, 2, 200), random.random(200).round(2)

THEIRS = {
    "mse": (metrics.mean_squared_error, Y, P),
    "rmse": (metrics.root_mean_squared_error, Y, P),
    "rmsle": (metrics.root_mean_squared_log_error, Y, P),
    "mae": (metrics.mean_absolute_error, Y, P),
    "medae": (metrics.median_absolute_error, Y, P),
    "mape": (metrics.mean_absolute_percentage_error, Y, P),
    "r2": (metrics.r2_score, Y, P),
    "rmspe": (lambda y, p: metrics.root_mean_squared_error(np.ones(len(y)), p / y), Y, P),
    "pearson": (lambda y, p: stats.pearsonr(y, p).statistic, Y, P),
    "spearman": (lambda y, p: stats.spearmanr(y, p).statistic, Y, P.round()),
    "f1_weighted": (lambda y, p: metrics.f1_score(y, p, average="weighted"), CLASS, GUESS),
    "gini": (lambda y, p: 2 * metrics.roc_auc_score(y, p) - 1, BIT, CHANCE),
    "accuracy": (metrics.accuracy_score, CLASS, GUESS),
    "error_rate": (metrics.zero_one_loss, CLASS, GUESS),
    "balanced_accuracy": (metrics.balanced_accuracy_score, CLASS, GUESS),
    "f1": (metrics.f1_score, BIT, (CHANCE > 0.4).astype(int)),
    "f1_macro": (lambda y, p: metrics.f1_score(y, p, average="macro"), CLASS, GUESS),
    "mcc": (metrics.matthews_corrcoef, CLASS, GUESS),
    "cohen_kappa": (metrics.cohen_kappa_score, CLASS, GUESS),
    "qwk": (lambda y, p: metrics.cohen_kappa_score(y, p, weights="quadratic"), CLASS, GUESS),
    "auc": (metrics.roc_auc_score, BIT, CHANCE),
    "average_precision": (metrics.average_precision_score, BIT, CHANCE),
    "logloss": (metrics.log_loss, BIT, CHANCE * 0.98 + 0.01),
    "brier": (metrics.brier_score_loss, BIT, CHANCE),
}


@pytest.mark.parametrize("name", THEIRS)
def test_formulas_agree_with_scikit_learn(name):
    theirs, y, p = THEIRS[name]
    assert scores.SCORES[name](y, p) == pytest.approx(theirs(y, p), rel=1e-12)


@pytest.mark.parametrize("name", ["pearson", "spearman"])
@pytest.mark.parametrize("scale", [5e-163, 1e-300, 1e300])
def test_a_correlation_is_the_same_on_every_scale(name, scale):
    """Predictions whose squares are below the smallest number had a correlation of 1 with anything."""
    close = 0.1 * (Y - Y.mean()) + random.normal(size=len(Y))
    close -= close.mean()
    assert scores.SCORES[name](Y, close * scale) == pytest.approx(scores.SCORES[name](Y, close), rel=1e-9)


@pytest.mark.parametrize("name", ["qwk", "mcc", "cohen_kappa", "f1_macro", "f1_weighted", "balanced_accuracy"])
def test_a_class_of_its_own_for_each_row_takes_no_table_of_all_with_all(name):
    """Of 12,000 rows it took 3.3 GB and half a minute, in the grader and for each program anew."""
    y, p = np.arange(100_000) % 5.0, np.arange(100_000) + 0.5
    assert scores.SCORES[name](y, p) == pytest.approx(0.0, abs=1e-3)


BELIEF = random.dirichlet(np.ones(4), 200)
BY_CLASS = {
    "logloss": lambda y, p: metrics.log_loss(y, p, labels=range(4)),
    "auc": lambda y, p: metrics.roc_auc_score(y, p, multi_class="ovr"),
    "average_precision": lambda y, p: metrics.average_precision_score(np.eye(4)[y], p),
    "brier": lambda y, p: ((p - np.eye(4)[y]) ** 2).sum(axis=1).mean(),
    "top@2": lambda y, p: metrics.top_k_accuracy_score(y, p, k=2),
    "ndcg@3": lambda y, p: metrics.ndcg_score(np.eye(4)[y], p, k=3),
    "map@3": lambda y, p: np.mean(
        [1 / (r + 1) if (r := list(np.argsort(-q)).index(t)) < 3 else 0 for t, q in zip(y, p, strict=True)]
    ),
}


@pytest.mark.parametrize("name", BY_CLASS)
def test_formulas_over_class_columns_agree_with_scikit_learn(name):
    assert formula(name, "classes")(CLASS, BELIEF) == pytest.approx(BY_CLASS[name](CLASS, BELIEF), rel=1e-12)


@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_constant_predictions_run_with_nothing_whatever_their_mean_rounds_to(name):
    assert scores.SCORES[name](Y, np.full(len(Y), 0.1 + 0.2)) == 0


def test_quantile_loss_agrees_with_scikit_learn():
    assert formula("quantile@0.9", "regression")(Y, P) == pytest.approx(metrics.mean_pinball_loss(Y, P, alpha=0.9))


def test_ndcg_over_groups_agrees_with_scikit_learn():
    relevance, group, belief = random.integers(0, 4, 60).astype(float), np.arange(60) % 6, random.random(60)
    for beliefs in (belief, belief.round(1), 0 * belief):  # ties too
        theirs = [metrics.ndcg_score([2.0 ** relevance[group == g] - 1], [beliefs[group == g]], k=5) for g in range(6)]
        mine = formula("ndcg@5", "regression")(np.column_stack([relevance, group]), beliefs)
        assert mine == pytest.approx(np.mean(theirs))


def test_grades_that_are_apart_disagree_by_their_values():
    y, p = np.array([0.0, 0, 1, 3, 3, 3]), np.array([0.0, 1, 1, 3, 1, 5])
    theirs = metrics.cohen_kappa_score(y, p, weights="quadratic", labels=range(6))
    assert scores.SCORES["qwk"](y, p) == pytest.approx(theirs, rel=1e-12)
    assert scores.SCORES["qwk"](10 * y, 10 * p) == pytest.approx(theirs, rel=1e-12)


def test_smape_by_hand():
    assert scores.smape(np.array([0.0, 1.0, 3.0]), np.array([0.0, 3.0, 1.0])) == pytest.approx(200 * (0.5 + 0.5) / 3)


def test_every_named_metric_has_a_formula_and_every_formula_a_name():
    assert set(scores.SCORES) == set(KINDS)


@given(arrays(float, 30, elements=st.sampled_from([0.1, 0.2, 0.5, 0.9])))
def test_auc_is_the_chance_that_a_one_ranks_before_a_zero(p):
    y = np.arange(30) % 2
    pairs = [(a > b) + 0.5 * (a == b) for a in p[y == 1] for b in p[y == 0]]
    assert scores.auc(y, p) == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize(
    ("name", "y"), [("auc", np.ones(5)), ("average_precision", np.zeros(5)), ("r2", np.ones(5)), ("f1", np.zeros(5))]
)
def test_what_has_no_value_says_so(name, y):
    with pytest.raises(scores.Undefined):
        scores.SCORES[name](y, np.arange(5.0))


def test_an_interval_is_as_wide_as_theory_says():
    errors = np.random.default_rng(1).normal(10, 2, 400)
    low, high = drawn_interval(scores.resampled(lambda rows: float(errors[rows].mean()), np.arange(400)), 400)
    assert (low + high) / 2 == pytest.approx(errors.mean(), abs=0.05)
    assert high - low == pytest.approx(2 * 1.96 * errors.std() / 20, rel=0.15)


def test_an_interval_is_reproducible_and_none_without_values():
    drawn = [scores.resampled(lambda rows: float(rows.mean()), np.arange(50)) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert drawn_interval(scores.resampled(lambda rows: float("nan"), np.arange(50)), 50) is None
    assert drawn_interval(drawn[0], 1) is None


@pytest.mark.parametrize("name", sorted(path.parent.name for path in BUNDLED.glob("*/description.md")))
def test_a_bundled_grader_computes_the_metric_that_its_config_names(name):
    source = find_source(load_config(None, [f"problem.name={name}"]))
    grade = shim.import_function(BUNDLED / name, source.request["config"]["grader"]["grade_fn"])
    key, target = sample_columns(name)
    _, y, p = THEIRS[source.metric.name]
    tables = [pd.DataFrame({key: range(len(values)), target: values}) for values in (p, y)]
    assert grade(*tables) == pytest.approx(scores.SCORES[source.metric.name](y, p))
    with pytest.raises(shim.InvalidSubmissionError):
        grade(tables[0][:-1], tables[1])


@pytest.mark.parametrize("name", sorted(path.parent.name for path in BUNDLED.glob("*/description.md")))
def test_a_bundled_description_leaves_the_direction_to_the_prompt(name):
    assert "is better" not in (BUNDLED / name / "description.md").read_text()


def sample_columns(name):
    text = (BUNDLED / name / "description.md").read_text()
    return text.rpartition("## Submission")[2].partition("    ")[2].splitlines()[0].split(",")
