"""CompetitionWriter: answers as a model would, with a plan and one fenced script, from the repertoire."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.state.operators import Doing, doing
from problems.competition.rules import changes, drafts, features, foreign, recipe, repair, script
from problems.competition.rules.facts import Facts, read_facts
from problems.competition.rules.families import FAMILIES
from problems.competition.rules.recipe import Recipe

WIDE_AFTER = 60
"""Programs of a run after which parameters are no longer drawn from a grid: by then its points are mostly known."""
NEAR_TRIED = (4, 12)
"""Programs of a run, after the drafts, in which the nearest rows of groups are tried: they help much or not at all."""


class CompetitionWriter:
    """Drafts, improves, merges and repairs scikit-learn scripts. Deterministic: a function of context and `rng`.

    Args:
        random_draws: ignore parents and draw each program anew from the whole repertoire (the control).
    """

    def __init__(self, *, random_draws: bool = False) -> None:
        self._random_draws = random_draws

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        """A reply to `context` (see contracts.RulesWriter)."""
        facts = read_facts(context.get("extras") or context)
        ordinal = _ordinal(context, facts.batch)
        facts = facts.at(ordinal)
        parents = list(context.get("parents") or ())
        if not facts.is_table:
            return reply(
                "The data are not one table with its targets: hand in the sample submission.", script.constant(facts)
            )
        if self._random_draws:
            return reply("A random draw from the repertoire.", script.render(changes.random_recipe(facts, rng), facts))
        plan, code = _write(doing(context), parents, facts, rng, ordinal)
        return reply(plan, code)


def reply(plan: str, code: str) -> str:
    return f"{plan}\n\n```python\n{code.rstrip()}\n```\n"


def own_recipe(code: str, facts: Facts) -> Recipe | None:
    """The recipe of a script of ours; None for any other, also for one of ours that somebody has changed since."""
    found = recipe.find(code)
    if found is None:
        return None
    try:
        known = all(FAMILIES[member.family].takes(member) for member in found.members)
        return found if known and script.render(found, facts).strip() == code.strip() else None
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return None


def _write(
    what: Doing, parents: Sequence[Mapping[str, Any]], facts: Facts, rng: random.Random, ordinal: int | None
) -> tuple[str, str]:
    if not parents or what == "new":
        made, plan = drafts.draft(facts, rng, ordinal)
        return plan, script.render(made, facts)
    parent = parents[0]
    known = own_recipe(str(parent.get("code", "")), facts)
    if known:
        known = replace(known, features=features.worthwhile(known.features, str(parent.get("term_out") or "")))
    if what == "repair" or parent.get("failure"):
        return repair.repair(parent, known, facts, rng)
    if len(parents) > 1 and what == "cross":
        other = own_recipe(str(parents[1].get("code", "")), facts)
        if known and other:
            made, plan = changes.merge(known, other, facts, rng)
            return plan, script.render(made, facts)
        return foreign.join(parent, parents[1], facts, rng)
    if known is None:
        return foreign.improve(str(parent.get("code", "")), facts, rng)
    wide, near = ordinal is not None and ordinal >= WIDE_AFTER, ordinal in NEAR_TRIED
    made, plan = changes.improve(known, facts, rng, str(parent.get("plan") or ""), wide=wide, near=near)
    return plan, script.render(made, facts)


def _ordinal(context: Mapping[str, Any], batch: int) -> int | None:
    """Which program of the run this is, as far as the context tells.

    Args:
        batch: programs of a round.
    """
    task = context.get("task") or {}
    if isinstance(context.get("ordinal"), int):
        return int(context["ordinal"])
    if isinstance(task, Mapping) and "round" in task:
        return batch * int(task["round"]) + int(task.get("slot", 0))
    return None
