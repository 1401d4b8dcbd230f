"""Model families: how each is written, what it wants its columns to look like, and the grid on which it is tuned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from problems.competition.rules.facts import Facts
from problems.competition.rules.recipe import Member

ROBUST_LOSS = {"hgb": "absolute_error", "gb": "huber", "svd_boost": "absolute_error"}
"""Written where the metric is of absolute errors."""
QUANTILE_LOSS = {"hgb": "quantile", "gb": "alpha", "svd_boost": "quantile"}
"""What says which quantile, where the metric is a quantile loss."""


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of model.

    Args:
        wants: `trees` (coded columns), `dense` (one-hot, scaled) or `text` (TF-IDF beside one-hot),
            `words` (TF-IDF alone) or `topics` (few numbers from TF-IDF).
        regressor, classifier: class names, '' if there is none.
        modules: scikit-learn module of each class.
        grid: values of each parameter, in an order in which neighbours are alike; the middle is the default.
        fixed: parameters that are always written.
        cost: seconds on one thread for 1,000 rows of 80 columns, about.
        power: how the cost grows with rows.
    """

    name: str
    about: str
    wants: str
    regressor: str
    classifier: str
    modules: tuple[str, str]
    grid: Mapping[str, tuple[Any, ...]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    fixed_classifier: Mapping[str, Any] = field(default_factory=dict)
    cost: float = 0.1
    power: float = 1.0
    seeded: bool = False
    wrap: str = "{}"
    """What stands round the classifier, for those without probabilities."""

    def suits(self, facts: Facts) -> bool:
        """True if the family has a model for the task and can afford the rows."""
        written = self.classifier if facts.classifies else self.regressor
        if not written or (self.wants in ("text", "words", "topics")) != bool(facts.texts):
            return False
        return self.seconds(facts) <= 20

    def seconds(self, facts: Facts) -> float:
        thousands: float = (max(facts.rows, 100) / 1000) ** self.power
        return self.cost * thousands * (0.3 + facts.width / 80)

    def default(self) -> Member:
        return Member(self.name, tuple(sorted((name, values[len(values) // 2]) for name, values in self.grid.items())))

    def write(self, member: Member, facts: Facts, seed: str) -> str:
        """The constructor call."""
        classifies = facts.classifies
        known = {**self.fixed, **(self.fixed_classifier if classifies else {})}
        if self.name in ROBUST_LOSS and not classifies and facts.metric in ("mae", "medae", "mape", "smape", "rmspe"):
            known["loss"] = ROBUST_LOSS[self.name]
        if self.name in QUANTILE_LOSS and not classifies and facts.metric.startswith("quantile@"):
            known |= {"loss": "quantile", QUANTILE_LOSS[self.name]: float(facts.metric.partition("@")[2])}
        known |= {name: value for name, value in member.params if name in self.grid}
        if classifies:
            known = {k: v for k, v in known.items() if k not in ("loss", "epsilon")}
        arguments = [f"{name}={value!r}" for name, value in known.items()]
        if self.seeded:
            arguments.append(f"random_state={seed}")
        call = f"{self.classifier if classifies else self.regressor}({', '.join(arguments)})"
        return self.wrap.format(call) if classifies else call

    def imports(self, facts: Facts) -> list[tuple[str, str]]:
        """Pairs of module and name."""
        if not facts.classifies:
            return [(self.modules[0], self.regressor)]
        more = [("sklearn.calibration", "CalibratedClassifierCV")] if "Calibrated" in self.wrap else []
        return [(self.modules[1], self.classifier), *more]


_ENSEMBLE = ("sklearn.ensemble", "sklearn.ensemble")
_LINEAR = ("sklearn.linear_model", "sklearn.linear_model")

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "hgb", "histogram gradient boosting", "trees",
            "HistGradientBoostingRegressor", "HistGradientBoostingClassifier", _ENSEMBLE,
            {"learning_rate": (0.02, 0.04, 0.06, 0.1), "max_iter": (100, 200, 300, 500),
             "max_leaf_nodes": (6, 10, 15, 31), "min_samples_leaf": (5, 10, 20, 40),
             "l2_regularization": (0.0, 1.0, 5.0), "max_features": (0.3, 0.6, 1.0)},
            cost=0.5, power=0.8, seeded=True,
        ),
        Family(
            "gb", "stochastic gradient boosting", "trees",
            "GradientBoostingRegressor", "GradientBoostingClassifier", _ENSEMBLE,
            {"learning_rate": (0.03, 0.05, 0.08), "n_estimators": (200, 300, 400), "max_depth": (3, 4, 5),
             "subsample": (0.5, 0.7, 0.9), "max_features": (0.15, 0.25, 0.4), "min_samples_leaf": (3, 6, 12)},
            cost=0.6, seeded=True,
        ),
        Family(
            "extra", "extremely randomised trees", "trees",
            "ExtraTreesRegressor", "ExtraTreesClassifier", _ENSEMBLE,
            {"n_estimators": (150, 200, 300), "min_samples_leaf": (1, 2, 4), "max_features": (0.3, 0.5, 0.8)},
            cost=0.7, power=1.1, seeded=True,
        ),
        Family(
            "forest", "a random forest", "trees",
            "RandomForestRegressor", "RandomForestClassifier", _ENSEMBLE,
            {"n_estimators": (100, 150, 200), "min_samples_leaf": (1, 2, 4), "max_features": (0.2, 0.35, 0.5)},
            cost=0.9, power=1.1, seeded=True,
        ),
        Family(
            "ridge", "ridge regression", "dense", "Ridge", "", _LINEAR,
            {"alpha": (1.0, 3.0, 8.0, 15.0, 30.0, 60.0)}, cost=0.05,
        ),
        Family(
            "elastic", "the elastic net", "dense", "ElasticNet", "", _LINEAR,
            {"alpha": (0.001, 0.002, 0.005, 0.01, 0.02), "l1_ratio": (0.1, 0.3, 0.5, 0.8)},
            {"max_iter": 5000}, cost=0.15,
        ),
        Family(
            "bayes", "Bayesian ridge regression", "dense", "BayesianRidge", "", _LINEAR,
            {"lambda_1": (1e-6, 1e-3, 1.0)}, cost=0.15,
        ),
        Family(
            "huber", "robust linear regression (Huber)", "dense", "HuberRegressor", "", _LINEAR,
            {"alpha": (0.1, 1.0, 10.0), "epsilon": (1.2, 1.5, 2.0)}, {"max_iter": 400}, cost=0.5,
        ),
        Family(
            "logistic", "logistic regression", "dense", "", "LogisticRegression", _LINEAR,
            {"C": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)}, {"max_iter": 2000}, cost=0.1,
        ),
        Family(
            "svm", "a support vector machine with a Gaussian kernel", "dense", "SVR", "SVC",
            ("sklearn.svm", "sklearn.svm"),
            {"C": (0.7, 1.5, 3.0, 6.0), "gamma": (0.001, 0.002, 0.004, 0.008), "epsilon": (0.03, 0.07, 0.15)},
            cost=0.4, power=2.0, wrap="CalibratedClassifierCV({}, cv=3, ensemble=False)",
        ),
        Family(
            "kernel", "kernel ridge regression", "dense", "KernelRidge", "", ("sklearn.kernel_ridge", ""),
            {"alpha": (0.3, 1.0, 3.0), "gamma": (0.0005, 0.001, 0.002)},
            {"kernel": "rbf"}, cost=0.15, power=2.5,
        ),
        Family(
            "knn", "nearest neighbours", "dense", "KNeighborsRegressor", "KNeighborsClassifier",
            ("sklearn.neighbors", "sklearn.neighbors"),
            {"n_neighbors": (3, 5, 9, 15, 25)}, {"weights": "distance"}, cost=0.1, power=1.6,
        ),
        Family(
            "words", "logistic regression on words and word pairs", "text", "Ridge", "LogisticRegression", _LINEAR,
            {"C": (0.5, 1.0, 2.0, 4.0, 8.0)}, fixed_classifier={"max_iter": 1000}, cost=0.4,
        ),
        Family(
            "bayes_words", "naive Bayes on words", "words", "", "ComplementNB", ("", "sklearn.naive_bayes"),
            {"alpha": (0.1, 0.3, 1.0)}, cost=0.3,
        ),
        Family(
            "svd_boost", "gradient boosting on topics (truncated SVD)", "topics",
            "HistGradientBoostingRegressor", "HistGradientBoostingClassifier", _ENSEMBLE,
            {"learning_rate": (0.05, 0.1), "max_iter": (100, 150), "max_leaf_nodes": (10, 15)}, cost=1.0, seeded=True,
        ),
    )
}  # fmt: skip


def suited(facts: Facts) -> list[Family]:
    """Families for this task and size; never empty."""
    found = [family for family in FAMILIES.values() if family.suits(facts)]
    return found or [FAMILIES["hgb"]]


def seconds_of(members: tuple[Member, ...], facts: Facts) -> float:
    """What a blend takes to train, about."""
    return sum(FAMILIES[member.family].seconds(facts) for member in members)
