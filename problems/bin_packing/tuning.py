"""Tuning the constants of a packing rule: one session for a tabulated rule, none for one that is arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.contracts import JobContext, Limits, Session, SessionFailure
from core.evaluation.tune import Number, lifted, literals, tune, with_values
from problems.bin_packing.arithmetic import translate
from problems.bin_packing.instances import Instance, excess_over_bound
from problems.bin_packing.job import PRELUDE, table_of
from problems.bin_packing.machine import arrays
from problems.bin_packing.program import arity
from problems.bin_packing.rules import ArithmeticRule, Rule, SandboxedRule, TableRule

Objective = Callable[[Sequence[Number]], float | None]


def tune_rule(payload: dict[str, Any], context: JobContext) -> dict[str, Any]:
    """Job entry. Payload: `code`, `instances`, `items`, `capacity`, `limits`, `seed`, `trials`.

    Returns `{code, score, start}`, all null where nothing could be tuned (no literals, or a rule that needs the sandbox
    for every single item).
    """
    code, capacity = payload["code"], payload["capacity"]
    instances = [Instance(str(i), np.array(sizes), capacity) for i, sizes in enumerate(payload["instances"])]
    start = literals(code)
    nothing = {"code": None, "score": None, "start": None}
    if not start:
        return nothing
    if arity(code) == 3:
        return _search(payload, start, _arithmetic(code, instances)) if translate(code) else nothing
    limits = Limits.model_validate(payload["limits"])
    session = context.sandbox.session(lifted(code), limits=limits, seed=payload["seed"], prelude=PRELUDE)
    try:
        return _search(payload, start, _tabulated(session, payload, instances, limits.seconds))
    finally:
        session.close()


def _search(payload: dict[str, Any], start: Sequence[Number], objective: Objective) -> dict[str, Any]:
    values, score, first = tune(start, objective, trials=payload["trials"], seed=payload["seed"], lower_is_better=True)
    return {"code": with_values(payload["code"], values), "score": score, "start": first}


def _tabulated(session: Session, payload: dict[str, Any], instances: list[Instance], timeout: float) -> Objective:
    items, capacity = payload["items"], payload["capacity"]

    def objective(values: Sequence[Number]) -> float | None:
        try:
            answer = table_of(session, "tabulate_with__", [list(values)], items, capacity, timeout)
        except SessionFailure:
            return None
        return _excess(TableRule.of(answer, items, capacity), instances) if "table" in answer else None

    return objective


def _arithmetic(code: str, instances: list[Instance]) -> Objective:
    def never(_: str, __: Sequence[Instance]) -> dict[str, Any]:
        raise ArithmeticError("left plain arithmetic")

    def objective(values: Sequence[Number]) -> float | None:
        program = translate(with_values(code, values))
        if program is None:
            return None
        try:
            return _excess(ArithmeticRule(*arrays(program), otherwise=SandboxedRule(code, never)), instances)
        except ArithmeticError:
            return None

    return objective


def _excess(rule: Rule, instances: list[Instance]) -> float | None:
    used = rule.used(instances)
    return None if used is None else excess_over_bound(used, instances)
