"""The model families that recipes are made of, with the grids on which they are tuned."""

from __future__ import annotations

from problems.competition.rules.facts import Facts
from problems.competition.rules.family import Family
from problems.competition.rules.recipe import Member

_ENSEMBLE = ("sklearn.ensemble", "sklearn.ensemble")
_LINEAR = ("sklearn.linear_model", "sklearn.linear_model")

_STARTS = (
    {"learning_rate": 0.03, "max_iter": 300, "max_leaf_nodes": 6, "min_samples_leaf": 20, "l2_regularization": 5.0,
     "max_features": 0.3},
    {"learning_rate": 0.04, "max_iter": 1000, "max_leaf_nodes": 15, "min_samples_leaf": 10, "l2_regularization": 1.0,
     "max_features": 0.3},
    {"learning_rate": 0.05, "max_iter": 1000, "max_leaf_nodes": 31, "min_samples_leaf": 10, "l2_regularization": 1.0,
     "max_features": 0.3},
    {"learning_rate": 0.05, "max_iter": 1000, "max_leaf_nodes": 63, "min_samples_leaf": 10, "l2_regularization": 1.0,
     "max_features": 0.3},
)  # fmt: skip
"""Of histogram boosting, from shy to bold; found on public tables of 800 to 54,000 rows."""
_LIGHTGBM = {"learning_rate": "learning_rate", "max_iter": "n_estimators", "max_leaf_nodes": "num_leaves",
             "min_samples_leaf": "min_child_samples", "l2_regularization": "reg_lambda",
             "max_features": "colsample_bytree"}  # fmt: skip
"""LightGBM's words for the same."""

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family(
            "hgb", "histogram gradient boosting", "trees",
            "HistGradientBoostingRegressor", "HistGradientBoostingClassifier", _ENSEMBLE,
            {"learning_rate": (0.02, 0.03, 0.04, 0.05, 0.06, 0.1, 0.15),
             "max_iter": (100, 150, 200, 300, 500, 1000, 1500), "max_leaf_nodes": (4, 6, 10, 15, 31, 63, 127, 255),
             "min_samples_leaf": (5, 10, 20, 40), "l2_regularization": (0.0, 1.0, 5.0, 20.0),
             "max_features": (0.15, 0.3, 0.6, 1.0)},
            {"categorical_features": "from_dtype"},  # what scikit-learn before 1.6 takes only if it is said
            tree=1.0, seeded=True, starts=_STARTS,
            absolute={"loss": "absolute_error"}, quantile={"loss": "quantile", "quantile": "{q}"},
        ),
        Family(
            "lgbm", "LightGBM", "trees", "LGBMRegressor", "LGBMClassifier", ("lightgbm", "lightgbm"),
            {"learning_rate": (0.02, 0.03, 0.04, 0.05, 0.06, 0.1, 0.15),
             "n_estimators": (100, 150, 200, 300, 500, 1000, 1500), "num_leaves": (4, 6, 10, 15, 31, 63, 127, 255),
             "min_child_samples": (5, 10, 20, 40), "reg_lambda": (0.0, 1.0, 5.0, 20.0),
             "colsample_bytree": (0.15, 0.3, 0.6, 1.0), "subsample": (0.6, 0.8, 1.0)},
            {"subsample_freq": 1, "verbosity": -1, "num_threads": 1}, tree=0.6, seeded=True,
            starts=tuple({_LIGHTGBM[name]: value for name, value in start.items()} for start in _STARTS),
            absolute={"objective": "l1"}, quantile={"objective": "quantile", "alpha": "{q}"}, package="lightgbm",
        ),
        Family(
            "xgb", "XGBoost", "trees", "XGBRegressor", "XGBClassifier", ("xgboost", "xgboost"),
            {"learning_rate": (0.02, 0.04, 0.06, 0.1, 0.15), "n_estimators": (100, 200, 300, 500, 1000),
             "max_depth": (3, 4, 6, 8), "min_child_weight": (1, 3, 10), "reg_lambda": (0.1, 1.0, 5.0),
             "colsample_bytree": (0.4, 0.7, 1.0), "subsample": (0.6, 0.8, 1.0)},
            {"tree_method": "hist"},
            tree=0.8, seeded=True, large={"max_depth": 8, "n_estimators": 500},
            absolute={"objective": "reg:absoluteerror"},
            quantile={"objective": "reg:quantileerror", "quantile_alpha": "{q}"}, package="xgboost", counts=True,
        ),
        Family(
            "cat", "CatBoost", "trees", "CatBoostRegressor", "CatBoostClassifier", ("catboost", "catboost"),
            {"learning_rate": (0.03, 0.06, 0.1), "iterations": (200, 400, 800), "depth": (4, 6, 8),
             "l2_leaf_reg": (1.0, 3.0, 10.0)},
            {"verbose": False, "allow_writing_files": False, "thread_count": 1},
            cost=2.5, power=0.9, seeded=True, per_class=1.0, names={"cat_features": "categories"},
            absolute={"loss_function": "MAE"}, quantile={"loss_function": "Quantile:alpha={q}"}, package="catboost",
        ),
        Family(
            "gb", "stochastic gradient boosting", "trees",
            "GradientBoostingRegressor", "GradientBoostingClassifier", _ENSEMBLE,
            {"learning_rate": (0.03, 0.05, 0.08), "n_estimators": (200, 300, 400), "max_depth": (3, 4, 5),
             "subsample": (0.5, 0.7, 0.9), "max_features": (0.15, 0.25, 0.4), "min_samples_leaf": (3, 6, 12)},
            cost=0.7, seeded=True, per_class=1.0, large={"max_depth": 5}, absolute={"loss": "huber"},
            quantile={"loss": "quantile", "alpha": "{q}"},
        ),
        Family(
            "extra", "extremely randomised trees", "trees",
            "ExtraTreesRegressor", "ExtraTreesClassifier", _ENSEMBLE,
            {"n_estimators": (100, 200, 300), "min_samples_leaf": (1, 2, 4), "max_features": (0.3, 0.5, 0.8)},
            cost=0.9, power=1.1, seeded=True,
        ),
        Family(
            "forest", "a random forest", "trees",
            "RandomForestRegressor", "RandomForestClassifier", _ENSEMBLE,
            {"n_estimators": (100, 150, 200), "min_samples_leaf": (1, 2, 4), "max_features": (0.2, 0.35, 0.5)},
            cost=1.1, power=1.1, seeded=True,
        ),
        Family(
            "ridge", "ridge regression", "dense", "Ridge", "", _LINEAR,
            {"alpha": (1.0, 3.0, 8.0, 15.0, 30.0, 60.0)}, cost=0.02,
        ),
        Family(
            "elastic", "the elastic net", "dense", "ElasticNet", "", _LINEAR,
            {"alpha": (0.001, 0.002, 0.005, 0.01, 0.02), "l1_ratio": (0.1, 0.3, 0.5, 0.8)},
            {"max_iter": 5000}, cost=0.06,
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
            {"C": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)}, {"max_iter": 2000}, cost=0.03,
        ),
        Family(
            "svm", "a support vector machine with a Gaussian kernel", "dense", "SVR", "SVC",
            ("sklearn.svm", "sklearn.svm"),
            {"C": (0.7, 1.5, 3.0, 6.0), "gamma": (0.001, 0.004, "auto", 0.03, 0.15), "epsilon": (0.03, 0.07, 0.15)},
            cost=0.3, power=1.8, wrap="CalibratedClassifierCV({}, cv=3, ensemble=False)", folds=True,
        ),
        Family(
            "kernel", "kernel ridge regression", "dense", "KernelRidge", "", ("sklearn.kernel_ridge", ""),
            {"alpha": (0.3, 1.0, 3.0), "gamma": (0.001, None, 0.1)},
            {"kernel": "rbf"}, cost=0.15, power=2.5,
        ),
        Family(
            "knn", "nearest neighbours", "dense", "KNeighborsRegressor", "KNeighborsClassifier",
            ("sklearn.neighbors", "sklearn.neighbors"),
            {"n_neighbors": (3, 5, 9, 15, 25)}, {"weights": "distance"}, cost=0.1, power=1.6,
        ),
        Family(
            "words", "logistic regression on words and word pairs", "text", "", "LogisticRegression", _LINEAR,
            {"C": (0.5, 1.0, 2.0, 4.0, 8.0)}, fixed_classifier={"max_iter": 1000}, cost=0.4, per_class=0.3,
        ),
        Family(
            "words_sgd", "logistic regression on words and word pairs, by stochastic gradients", "text",
            "", "SGDClassifier", _LINEAR, {"alpha": (3e-6, 1e-5, 3e-5, 1e-4)}, fixed_classifier={"loss": "log_loss"},
            cost=0.3, per_class=0.015, seeded=True, instead_of="words",
        ),
        Family(
            "words_ridge", "ridge regression on words and word pairs", "text", "Ridge", "", _LINEAR,
            {"alpha": (0.3, 1.0, 3.0, 10.0)}, {"solver": "lsqr"}, cost=0.4,
        ),
        Family(
            "bayes_words", "naive Bayes on words", "words", "", "ComplementNB", ("", "sklearn.naive_bayes"),
            {"alpha": (0.1, 0.3, 1.0)}, cost=0.3,
        ),
    )
}  # fmt: skip


def suited(facts: Facts) -> list[Family]:
    """Families for this task and size; never empty."""
    able = {family.name: family for family in FAMILIES.values() if family.suits(facts)}
    found = [family for family in able.values() if family.instead_of not in able]
    return found or [FAMILIES["hgb"]]


def seconds_of(members: tuple[Member, ...], facts: Facts) -> float:
    """What a blend takes to train, about."""
    return sum(FAMILIES[member.family].seconds(facts, member) for member in members)
