"""Debug: mends a script from its failure, its message and its traceback."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from problems.competition.rules import drafts, foreign, script
from problems.competition.rules.facts import Facts
from problems.competition.rules.families import FAMILIES
from problems.competition.rules.recipe import Member, Recipe
from utils.counts import counted

DEAR = 0.5
"""Seconds from which on a further table may be what took too long."""
TOO_MUCH = ("timeout", "cpu", "memory", "disk", "processes", "lost_worker", "signal")


def repair(parent: Mapping[str, Any], known: Recipe | None, facts: Facts, rng: random.Random) -> tuple[str, str]:
    """Plan and script. A script of ours gets a simpler recipe; any other is mended in place, or else replaced."""
    failure = str(parent.get("failure") or "")
    said = " ".join(str(parent.get(key) or "") for key in ("message", "term_out"))[-4000:]
    if known is not None:
        made, plan = _simpler(known, failure, facts, rng)
        return plan, script.render(made, facts)
    code = str(parent.get("code") or "")
    if failure in TOO_MUCH:
        lighter = foreign.lighten(code)
        if lighter != code:
            return f"It failed by {failure}: do less work (fewer rounds, one process).", lighter
    mended = foreign.mend(code, failure, said, facts)
    if mended is not None and mended[1] != code:
        return mended
    made, plan = drafts.draft(facts, rng, 0)
    return f"The failure ({failure or 'unknown'}) has no known remedy; start again. {plan}", script.render(made, facts)


def _simpler(known: Recipe, failure: str, facts: Facts, rng: random.Random) -> tuple[Recipe, str]:
    if failure in TOO_MUCH:
        sides = [side for side in facts.sides if side.file in known.tables]
        dearest = max(sides, key=lambda side: side.seconds, default=None)
        if dearest and dearest.seconds > DEAR and (facts.columns or len(sides) > 1):
            others = tuple(name for name in known.tables if name != dearest.file)
            return replace(known, tables=others), f"It failed by {failure}: leave out {dearest.about}."
        if len(known.members) > 1:
            dear = max(known.members, key=lambda member: FAMILIES[member.family].seconds(facts))
            kept = tuple(member for member in known.members if member != dear)
            return replace(known, members=kept, bags=1, weights="given"), (
                f"It failed by {failure}: leave out {FAMILIES[dear.family].about}, the dearest model."
            )
        if facts.rows > drafts.SAMPLE_ROWS and known.rows != drafts.SAMPLE_ROWS:
            rows = max(drafts.SAMPLE_ROWS, (known.rows or facts.rows) // 5)
            return replace(known, rows=rows, bags=1), f"It failed by {failure}: learn {counted(rows, 'row', form=',')}."
        if (known.columns or len(facts.numbers)) > drafts.SAMPLE_COLUMNS and not known.features:
            columns = max(drafts.SAMPLE_COLUMNS, (known.columns or len(facts.numbers)) // 3)
            return replace(
                known, columns=columns, bags=1
            ), f"It failed by {failure}: learn from {counted(columns, 'number', form=',')}."
        member = _smaller(known.members[0])
        if member != known.members[0]:
            return replace(known, members=(member,), bags=1), f"It failed by {failure}: train fewer rounds."
    tables = () if facts.columns else known.tables
    if known.features or known.tables != tables:
        return replace(
            known, features=(), encode="ordinal", weights="given", tables=tables
        ), "Take back the features and code plainly."
    made, plan = drafts.draft(facts, rng, 0)
    return made, f"Start again. {plan}"


def _smaller(member: Member) -> Member:
    for name in ("max_iter", "n_estimators"):
        values = FAMILIES[member.family].grid.get(name)
        if values and member.param(name) != values[0]:
            return member.with_param(name, values[0])
    return member
