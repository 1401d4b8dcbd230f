"""Keys that had another name: still read wherever they stand (command line, file, environment, stored runs)."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

HOMES: dict[str, tuple[str, ...]] = {
    "num_drafts": ("three_phase.num_drafts", "mcts.num_drafts", "portfolio.num_drafts"),
    "debug_prob": ("three_phase.debug_prob", "portfolio.debug_prob"),
    "max_debug_depth": ("three_phase.max_debug_depth", "mcts.max_debug_depth"),
    "merge_prob": ("three_phase.merge_prob", "mcts.merge_prob", "portfolio.merge_prob"),
    "exploration": ("mcts.exploration",),
    "num_islands": ("islands.num_islands", "portfolio.num_islands"),
    "per_island": ("islands.per_island",),
    "population_size": ("islands.population_size", "portfolio.population_size"),
    "selection": ("islands.selection",),
    "tournament_size": ("selectors.tournament.size",),
    "temperature": ("selectors.softmax.temperature",),
    "migration": ("islands.migration",),
    "migration_interval": ("islands.migration_interval",),
    "reset_evaluations": ("islands.reset_evaluations",),
    "stagnation_restart": ("islands.stagnation_restart",),
    "crossover_prob": ("islands.crossover_prob", "portfolio.crossover_prob"),
    "generate_prob": ("islands.generate_prob",),
    "refine_interval": ("islands.refine_interval",),
    "tune_interval": ("islands.tune_interval",),
    "grid": ("islands.grid",),
    "questions": ("generations.questions",),
    "repairs": ("generations.repairs",),
}
"""Key of `search` → where it is now, below `search`: each policy has its own options."""

_QUOTED = re.compile(r"\$\{search\.(\w+)\}")


def renamed(plain: Mapping[str, Any], seen: Callable[[str], None] = lambda key: None) -> dict[str, Any]:
    """`plain` with every key under its present name. A value that stands there already wins.

    Args:
        seen: told each older key that was found.
    """
    ours: dict[str, Any] = _requoted(copy.deepcopy(dict(plain)))
    search = ours.get("search")
    if not isinstance(search, dict):
        return ours
    for key in [key for key in search if key in HOMES]:
        value = search.pop(key)
        seen(f"search.{key}")
        for home in HOMES[key]:
            *above, last = home.split(".")
            place = search
            for name in above:
                place = place.setdefault(name, {})
            place.setdefault(last, copy.deepcopy(value))
    return ours


def told(keys: list[str]) -> str:
    """One line for the user who wrote older keys: each with its present name."""
    pairs = (f"{key} → search.{HOMES[key.removeprefix('search.')][0]}" for key in dict.fromkeys(keys))
    return f"keys by an older name: {', '.join(pairs)}"


def _requoted(value: Any) -> Any:
    """`${search.questions}` in a text means the key's present name too."""
    if isinstance(value, dict):
        return {key: _requoted(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_requoted(item) for item in value]
    if isinstance(value, str):
        return _QUOTED.sub(lambda found: f"${{search.{HOMES.get(found[1], (found[1],))[0]}}}", value)
    return value
