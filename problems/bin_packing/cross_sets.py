"""Known rules beside a program on the same instances, and how a program does on data sets that it was not made for."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache
from typing import Any

from core.contracts import Evaluation, EvaluatorDeps
from core.evaluation.base import side_by_side
from problems.bin_packing import references
from problems.bin_packing.instances import (
    FAMILIES,
    Instance,
    excess_interval,
    excess_over_bound,
    generate_split,
)
from problems.bin_packing.job import PRELUDE
from problems.bin_packing.rules import Rule, RuleFailed, TableRule
from problems.bin_packing.stages import PackingStages
from utils.logger_system import log_msg

CROSS_SETS = ("weibull_1k", "weibull_5k", "weibull_10k", "u120", "u250", "u500", "u1000")
CROSS_INSTANCES = 10


def references_on(stages: PackingStages, instances: Sequence[Instance]) -> dict[str, dict[str, Any]]:
    """Name → {excess, interval} of every reference on the same instances."""
    rows = {}
    for name, used in reference_counts(stages, instances).items():
        interval = excess_interval(used, instances)
        rows[name] = {"excess": excess_over_bound(used, instances), "interval": interval and list(interval)}
    return rows


def reference_counts(stages: PackingStages, instances: Sequence[Instance]) -> dict[str, list[int]]:
    """Name → bins used on each instance."""
    capacity, sizes = instances[0].capacity, sizes_of(instances)
    rules = {
        "first_fit": _tabulated(references.FIRST_FIT, sizes, capacity),
        "best_fit": _tabulated(references.BEST_FIT, sizes, capacity),
        "funsearch_or": _tabulated(references.FUNSEARCH_OR, sizes, capacity),
        "sum_of_squares": stages.rules([references.sum_of_squares(capacity)], sizes, capacity)[0],
    }
    counts: dict[str, list[int]] = {"funsearch_weibull": vector_counts(instances)}
    for name, rule in rules.items():
        used = None if isinstance(rule, Evaluation) else rule.used(instances)
        if used is not None:
            counts[name] = used
    return dict(sorted(counts.items()))


def _tabulated(code: str, sizes: Sequence[int], capacity: int) -> Rule:
    """A rule of ours as the sandbox would tabulate it; nobody else's program comes here, so it needs none."""
    names: dict[str, Any] = {}
    exec(f"{code}\n{PRELUDE}", names)
    return TableRule.of({"table": names["tabulate__"](list(sizes), capacity)}, sizes, capacity)


def vector_counts(instances: Sequence[Instance]) -> list[int]:
    """Bins that FunSearch's Weibull rule uses, by its compiled loop."""
    import numpy as np

    from problems.bin_packing.compiled import pack_neighbours

    return [
        int(pack_neighbours(one.sizes, one.capacity, np.empty(len(one.sizes), dtype=np.int64))) for one in instances
    ]


def cross_table(
    stages: PackingStages, code: str, deps: EvaluatorDeps, *, an_item: float = 0.0
) -> dict[str, dict[str, float | None]]:
    """Data set → rule → excess on held-out instances of that set. Heuristics do not transfer: this shows how little.

    Sets for which the run's allowance does not do are left out and told; the smallest are packed first.

    Args:
        an_item: seconds that the program has taken to pack an item so far.
    """
    pace = [an_item]  # of the largest set so far: small ones are noise

    @cache
    def ready(capacity: int) -> Rule | Evaluation:
        same = [name for name in CROSS_SETS if FAMILIES[name].capacity == capacity]
        return stages.rules([code], sizes_of([one for name in same for one in _held_out(name)]), capacity)[0]

    def row(name: str) -> dict[str, float | None] | None:
        items = CROSS_INSTANCES * FAMILIES[name].items
        if pace[-1] * items > deps.allowance.left:
            return None
        instances, rule = _held_out(name), ready(FAMILIES[name].capacity)
        began = time.monotonic()
        excess = _excess(rule, instances)
        pace.append((time.monotonic() - began) / items)
        counts = reference_counts(stages, instances)
        return {"this": excess, **{known: excess_over_bound(used, instances) for known, used in counts.items()}}

    order = sorted(CROSS_SETS, key=lambda name: FAMILIES[name].items)
    rows = dict(zip(order, side_by_side(deps, "final part: other data sets packed", order, row), strict=True))
    left_out = [name for name in CROSS_SETS if rows[name] is None]
    if left_out:
        log_msg("WARNING", f"the final part did not pack {', '.join(left_out)}{deps.allowance.told}")
    return {name: found for name in CROSS_SETS if (found := rows[name]) is not None}


def _held_out(name: str) -> list[Instance]:
    return generate_split(name, "test", CROSS_INSTANCES)


def _excess(rule: Rule | Evaluation, instances: Sequence[Instance]) -> float | None:
    if isinstance(rule, Evaluation):
        return None
    try:
        used = rule.used(instances)
    except RuleFailed:
        return None
    return None if used is None else excess_over_bound(used, instances)


def sizes_of(instances: Sequence[Instance]) -> list[int]:
    """The sizes that occur, in ascending order."""
    import numpy as np

    return [int(size) for size in np.unique(np.concatenate([instance.sizes for instance in instances]))]
