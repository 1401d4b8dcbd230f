"""What tests of programs that learn stand on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

ROUNDS = {
    "HistGradientBoostingClassifier": "max_iter", "HistGradientBoostingRegressor": "max_iter",
    "GradientBoostingClassifier": "n_estimators", "GradientBoostingRegressor": "n_estimators",
    "ExtraTreesClassifier": "n_estimators", "ExtraTreesRegressor": "n_estimators",
    "RandomForestClassifier": "n_estimators", "RandomForestRegressor": "n_estimators",
}  # fmt: skip
FEW = 5


@pytest.fixture
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that run in this process boost and draw trees a few times and not some hundred times: what is looked at
    is that they run and what form their answers have, never how good these are."""
    from sklearn import ensemble

    for name, rounds in ROUNDS.items():
        learner = getattr(ensemble, name)
        monkeypatch.setattr(learner, "fit", _stopped(learner.fit, rounds))


def _stopped(fit: Callable[..., Any], rounds: str) -> Callable[..., Any]:
    @functools.wraps(fit)  # pipelines look at what it takes
    def few(self: Any, *args: Any, **named: Any) -> Any:
        setattr(self, rounds, min(getattr(self, rounds), FEW))
        return fit(self, *args, **named)

    return few
