"""The arena's `rules` writer: strategist and builder without a model, the same for every game that lists its genes."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from core.arena.mutation import Gene, cross, down, mutate

_NAME = re.compile(r"^([ \t]+name(?:: str)? = )([\"'])[^\"'\n]*\2", re.MULTILINE)

CROSS_SHARE = 0.25
"""How often a candidate takes genes from the runner-up before it is changed."""
CATEGORIES = ("search", "evaluation", "book", "time")


class ArenaRules:
    """Writes engines by changing constants of the champion's source.

    Args:
        genes: what may be changed.
        costly: whole numbers that cost time, with their least value; turned down where an engine was too slow.
        start: the engine that is changed where there is no parent.
    """

    def __init__(self, genes: Sequence[Gene], costly: Mapping[str, int], start: str = "") -> None:
        self._genes, self._costly, self._start = genes, costly, start
        self._cheaper = [Gene(name, "search", down(low), "less work") for name, low in costly.items()]

    def starting_from(self, code: str) -> ArenaRules:
        """The same writer for a game whose first champion is `code`."""
        return ArenaRules(self._genes, self._costly, code)

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        """Questions as JSON where the context's role is `strategist`, otherwise a plan and one fenced code block."""
        if context.get("role") == "strategist":
            return json.dumps({"questions": self._questions(context, rng)})
        return self._engine(context, rng)

    def _questions(self, context: Mapping[str, Any], rng: random.Random) -> list[dict[str, str]]:
        """One category a question: search and evaluation by turns, book and time now and then where they matter."""
        count = int(context.get("count", 2))
        told = (context.get("extras") or {}).get("categories", CATEGORIES)
        rare = [category for category in ("book", "time") if category in told]
        start = rng.randrange(2)
        questions = []
        for index in range(count):
            category = (
                rng.choice(rare) if rare and rng.random() < 0.1 else ("search", "evaluation")[(start + index) % 2]
            )
            names = [gene.name for gene in self._genes if gene.category == category]
            text = f"Which change to {', '.join(names)} makes the champion stronger?"
            questions.append({"category": category, "question": text})
        return questions

    def _engine(self, context: Mapping[str, Any], rng: random.Random) -> str:
        parents = context.get("parents") or []
        code = str(parents[0]["code"]) if parents else self._start
        category = str((context.get("question") or {}).get("category", ""))
        notes: list[str] = []
        if "time" in str(context.get("refusal", "")):
            code, notes = mutate(code, self._cheaper, rng, count=2)
        elif len(parents) > 1 and rng.random() < CROSS_SHARE:
            code, notes = cross(code, str(parents[1]["code"]), self._genes, rng)
        for _ in range(0 if notes and context.get("refusal") else 20):  # a draw may leave a value as it is
            changed, more = mutate(code, self._genes, rng, category=category, count=rng.choice((1, 1, 2, 3)))
            if more:
                code, notes = changed, notes + more
                break
        code = _renamed(code, context)
        plan = "Changed constants of the champion: " + ("; ".join(notes) or "none") + "."
        return f"{plan}\n\n```python\n{code}\n```\n"


def _renamed(code: str, context: Mapping[str, Any]) -> str:
    """The source with its engine's first `name = "…"` telling generation and slot: standings are read by people."""
    generation, slot = context.get("generation"), context.get("slot")
    if generation is None or slot is None:
        return code
    return _NAME.sub(lambda found: f'{found[1]}"g{generation}.{slot}"', code, count=1)
