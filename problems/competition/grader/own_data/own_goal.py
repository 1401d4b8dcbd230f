"""What a metric of the user's own is given, found by asking it before a search is spent."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from ..scoring.own_metric import ROWS, TABLES, OwnMetric, OwnMetricFault
from ..scoring.scores import Undefined
from ..tables.columns import listed
from ..tables.exact import Unusable, first_line
from ..tables.with_columns import with_columns
from .own_tables import OwnTables
from .sample_form import Outputs, id_column
from .targets import Goal, is_numbers, task_of

TAKES = {"classes": "labels", "numbers": "regression", "probability": "probability"}
"""What the user may say that his function is given."""
SOFT = (0.17, 0.61)
"""A label x of 0 to 1 as a prediction that is less sure, SOFT[0] + SOFT[1] * x: no label of few values is its own."""
ID = "row_id"


def own_goal(tables: OwnTables, request: dict[str, Any]) -> Goal | None:
    """What programs predict for the user's function; None where a metric has a name. It is told in `tables.notes`.

    Raises:
        Unusable: the function cannot be asked, or does not tell good predictions from bad ones.
    """
    if not request.get("function"):
        return None
    trial = _Trial(tables, request)
    goal = trial.goal()
    trial.check(goal)
    tables.notes += trial.told(goal)
    return goal


class _Trial:
    """Asks the function about the labelled rows."""

    def __init__(self, tables: OwnTables, request: dict[str, Any]) -> None:
        own, targets = request["function"], tables.targets
        where = f"{own['file']}:{own['name']}"
        self._said, self._where, self._request = f"data.metric={where}", where, request
        self._labels = tables.labelled[targets]
        self._key, self._called, self._asked = _as_the_sample_calls(tables)
        try:
            with self._deadline():
                self._metric = OwnMetric(own["file"], own["name"], self._called)
        except (Exception, SystemExit) as error:  # the user's code
            why = first_line(error) if type(error) is ValueError else f"{type(error).__name__}: {first_line(error)}"
            raise Unusable(f"{self._said} cannot be loaded: {why}") from error
        if self._metric.takes not in (None, *TAKES):
            raise Unusable(f"{self._said}: its `takes` is {self._metric.takes!r:.40}; allowed: {', '.join(TAKES)}")
        self._beside = self._metric.named(name for name in tables.columns if name not in targets)
        rows = pd.DataFrame({name: tables.column(name) for name in self._beside}, index=self._labels.index)
        self._rows = rows if self._key in rows else with_columns(rows, {self._key: range(len(rows))})
        self._order = np.random.default_rng(0).permutation(len(self._labels))

    def goal(self) -> Goal:
        """Numbers or classes, by the labels; of few values or two classes as well, if it takes what lies between."""
        tasks = {task_of(self._labels[name]) for name in self._labels}
        numeric = all(is_numbers(self._labels[name]) for name in self._labels)
        pairs = all(self._labels[name].nunique() == 2 for name in self._labels)
        if self._metric.takes:
            task = TAKES[self._metric.takes]
        elif "regression" in tasks and numeric:
            task = "regression"
        elif "regression" in tasks:
            raise Unusable(f"{self._said}: of {listed([*self._labels])} some are numbers and some are words: take one")
        else:
            between = "probability" if pairs else "regression" if numeric else "labels"
            task = between if between != "labels" and self._takes_fractions(between) else "labels"
        return Goal(task, beside=tuple(self._beside), called=self._called)

    def told(self, goal: Goal) -> Iterator[str]:
        name, few = (
            self._request["function"]["name"],
            all(task_of(self._labels[one]) == "labels" for one in self._labels),
        )
        if few and goal.task != "labels" and not self._metric.takes:
            given = "probabilities" if goal.task == "probability" else "numbers"
            yield f"{name} is given {given}, since it takes fractions (classes: {name}.takes = 'classes' in its file)"
        if self._metric.form == TABLES:
            solution = [self._key, *self._labels, *(name for name in self._beside if name != self._key)]
            submission = [self._key, *(self._called.get(name, name) for name in self._labels)]
            yield f"{name} is given solution ({listed(solution)}) and submission ({listed(submission)})"
        elif self._metric.form == ROWS:
            yield f"{name} is given {listed(self._beside) or 'no column'} of the scored rows, as its file names them"

    def check(self, goal: Goal) -> None:
        """Unusable where it fails on what programs may predict, or tells nothing."""
        truth = self._known(goal.task)
        shuffled, short = _moved(truth, self._order), slice(None, None, 7)
        try:
            perfect = self._tried(truth, truth, "the true labels")
        except Unusable as error:
            raise Unusable(f"{error}{self._one_for_all()}") from error
        poor = self._tried(truth, shuffled, "the true labels, shuffled")
        middle = truth.mean() if goal.task != "labels" else truth.mode().iloc[0]
        constant = truth.astype(float) * 0 + middle if goal.task != "labels" else truth.assign(**middle)
        others = [self._tried(truth, constant, "one prediction for every row", defined=False)]
        self._tried(truth, shuffled, "a part of the rows", short, defined=False)
        if goal.task != "labels":
            between = (truth + shuffled) / 2
            others += [self._tried(truth, between, "predictions between the labels", defined=False)]
        if {perfect, poor, *others} == {perfect}:
            raise Unusable(
                f"{self._said} is {perfect:g} for the true labels, for shuffled ones and for one prediction for every "
                "row"
            )
        if perfect != poor and not self._is_better(perfect, poor):
            better = "min" if perfect < poor else "max"
            raise Unusable(
                f"{self._said} is {perfect:g} for the true labels, {poor:g} for shuffled ones: say "
                f"--problem.direction={better}{self._runs_against()}"
            )

    def _runs_against(self) -> str:
        """What else it may be where a published metric is asked: a risk is predicted, and the target is a time."""
        if self._metric.form != TABLES or len(self._labels.columns) > 1 or not is_numbers(self._labels.iloc[:, 0]):
            return ""
        return "; where it is right as published, its predictions run against the target: name a column of its negative"

    def _one_for_all(self) -> str:
        """What to say where the sample asks for one prediction, and several targets are named."""
        if len(self._labels.columns) < 2 or len(self._asked) != 1:
            return ""
        first, *others = map(str, self._labels)
        one = f"; the sample asks for one prediction ({self._asked[0]}): give one target, --data.target={first}"
        return f"{one}; where its file names {listed(others)}, the function is given that too"

    def _takes_fractions(self, task: str) -> bool:
        """True if predictions that are less sure than labels are still better than others in the wrong order."""
        truth = self._known(task).astype(float)
        least, span = truth.min(), truth.max() - truth.min()
        soft = least + span * (SOFT[0] + SOFT[1] * (truth - least) / span)
        try:
            good, poor = (self._tried(truth, one, "fractions") for one in (soft, _moved(soft, self._order)))
        except Unusable:
            return False
        return self._is_better(good, poor)

    def _known(self, task: str) -> Any:
        """The labels as they are graded: of two classes the second is 1."""
        if task == "probability":
            return self._labels.apply(lambda values: (values == sorted(values.unique())[-1]).astype(int))
        return self._labels.astype(float) if task == "regression" else self._labels

    def _is_better(self, one: float, other: float) -> bool:
        return one < other if self._request["lower"] else one > other

    def _tried(self, truth: Any, predicted: Any, what: str, rows: Any = slice(None), *, defined: bool = True) -> float:
        try:
            with self._deadline():
                return self._metric.score(_of(truth, rows), _of(predicted, rows), _of(self._rows, rows), self._key)
        except (Undefined, OwnMetricFault) as error:
            if defined or isinstance(error, OwnMetricFault):
                raise Unusable(
                    f"{self._said} fails on {what}: {str(error).removeprefix(self._where).strip()}"
                ) from error
            return math.nan

    @contextmanager
    def _deadline(self) -> Iterator[None]:
        """Code of the user's that hangs ends this process, in C code too: `prepared.py`, which asked, tells why."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(self._request["try_seconds"]))
        try:
            yield
        finally:
            signal.alarm(0)


def _as_the_sample_calls(tables: OwnTables) -> tuple[str, dict[str, str], list[str]]:
    """The sample submission's column of ids, what it calls predictions (targets → its names), and its other columns."""
    sample, targets = tables.sample, tables.targets
    ids = id_column(sample, tables.test, targets) if len(sample.columns) else None
    rest = [str(name) for name in sample.columns if name != ids]
    found = Outputs({name: name for name in targets}).matched(rest) or {}
    return ids or ID, {ours: theirs for theirs, (ours, _) in found.items()}, rest


def _moved(table: Any, order: Any) -> Any:
    return table.iloc[order].set_axis(table.index)


def _of(table: Any, rows: Any) -> Any:
    return table.iloc[rows].reset_index(drop=True)
