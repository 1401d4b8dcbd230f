"""One rival of `benchmarks.automl`, in an environment of its own: reads train.csv and test.csv, writes predictions.csv.

    python _automl_rival.py flaml|lightgbm FOLDER TARGET METRIC SECONDS

Imports nothing of ours. Predictions are numbers, the probability of the second class, or a column for each class.
"""

from __future__ import annotations

import os
import random
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

KEY = "row_id"
CORES = len(os.sched_getaffinity(0))


def main(system: str, folder: str, target: str, metric: str, seconds: str) -> None:
    started = time.monotonic()
    train, test = pd.read_csv(Path(folder, "train.csv")), pd.read_csv(Path(folder, "test.csv"))
    y, X, X_test = train[target], train.drop(columns=[KEY, target]), test.drop(columns=KEY)
    if metric == "rmsle":
        y = np.log1p(y)
    left = float(seconds) - (time.monotonic() - started)
    found = {"flaml": flaml, "lightgbm": lightgbm}[system](X, y, X_test, metric, left)
    if metric == "rmsle":
        found = np.expm1(found)
    if metric == "auc":
        found = found[:, 1]
    pd.DataFrame(found).to_csv(Path(folder, "predictions.csv"), index=False)


def flaml(X, y, X_test, metric, seconds):
    """FLAML as its page shows it: task, metric, time; a new fit of the best on all rows is within the time."""
    from flaml import AutoML

    names = {"rmse": "rmse", "rmsle": "rmse", "mae": "mae", "auc": "roc_auc", "logloss": "log_loss"}
    task = "classification" if metric in ("auc", "logloss") else "regression"
    automl = AutoML()
    automl.fit(X, y, task=task, metric=names[metric], time_budget=seconds, n_jobs=CORES, seed=1, verbose=0)
    return automl.predict_proba(X_test) if task == "classification" else automl.predict(X_test)


def lightgbm(X, y, X_test, metric, seconds):
    """LightGBM, its parameters drawn at random until the time is up, judged on a fifth of the rows."""
    import lightgbm as lgb
    from sklearn.model_selection import train_test_split

    started, rng = time.monotonic(), random.Random(1)
    X, X_test = as_categories(X, X_test)
    classifies = metric in ("auc", "logloss")
    codes = pd.factorize(y, sort=True)[0] if classifies else y.to_numpy(float)
    parts = train_test_split(X, codes, test_size=0.2, random_state=0, stratify=codes if classifies else None)
    make = lgb.LGBMClassifier if classifies else lgb.LGBMRegressor
    name = {"rmse": "l2", "rmsle": "l2", "mae": "l1", "auc": "auc"}.get(metric, "multi_logloss")
    fixed = {"n_jobs": CORES, "verbosity": -1, "subsample_freq": 1, **({"objective": "l1"} if metric == "mae" else {})}
    best, settings, longest = None, {}, 0.0
    while best is None or time.monotonic() - started + 2.5 * longest < seconds:
        drawn = {
            "learning_rate": 10 ** rng.uniform(-2, -0.5), "num_leaves": round(2 ** rng.uniform(2, 8)),
            "min_child_samples": round(2 ** rng.uniform(1, 7)), "reg_lambda": 10 ** rng.uniform(-3, 2),
            "colsample_bytree": rng.uniform(0.3, 1), "subsample": rng.uniform(0.5, 1),
        } if best is not None else {}  # fmt: skip
        begun = time.monotonic()
        model = make(n_estimators=2000, **drawn, **fixed)
        stop = lgb.early_stopping(30, verbose=False)
        model.fit(parts[0], parts[2], eval_set=[(parts[1], parts[3])], eval_metric=name, callbacks=[stop])
        longest = max(longest, time.monotonic() - begun)
        loss = model.best_score_["valid_0"][name] * (-1 if name == "auc" else 1)
        if best is None or loss < best:
            best, settings = loss, {**drawn, "n_estimators": max(1, round(1.1 * model.best_iteration_))}
    final = make(**settings, **fixed).fit(X, codes)
    return final.predict_proba(X_test) if classifies else final.predict(X_test)


def as_categories(X, X_test):
    """Words as categories, the same in both tables; names that LightGBM takes."""
    X, X_test = X.copy(), X_test.copy()
    for name in X:
        if not pd.api.types.is_numeric_dtype(X[name]):
            kind = pd.CategoricalDtype(sorted(set(X[name].dropna().astype(str))))
            X[name], X_test[name] = X[name].astype(str).astype(kind), X_test[name].astype(str).astype(kind)
    X.columns = X_test.columns = [f"c{place}" for place in range(X.shape[1])]
    return X, X_test


if __name__ == "__main__":
    main(*sys.argv[1:])
