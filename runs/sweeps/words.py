"""The words of a sweep's command line: which settings and seeds it has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from math import prod

from utils.config import EXPRESSION
from utils.counts import counted
from utils.errors import ConfigError
from utils.secrets import masked_word

_COMMA = re.compile(r",(?![^\[{]*[\]}])")
"""Commas between values, not those inside of a list or an object."""
MOST_RUNS = 10_000
"""Of a sweep: its plan, its table and a file a run are made as a whole."""
_PRESETS = ("llm",)
"""Presets that may vary. Another problem has other scores: it is another sweep."""
_PROBLEM = "another problem has other scores, which no table compares: make another sweep of it"
_FIXED = {
    "project.seed": "a sweep has seeds of its own, --seeds",
    "project.dir": "all runs of a sweep lie in one project",
    **dict.fromkeys(("presets.problem", "problem.kind", "problem.name", "problem.path", "data.dir"), _PROBLEM),
}
"""Keys that no setting may have, and why."""


def settings_of(vary: Sequence[str], cases: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Every combination of the values of `vary`, then the settings of `cases`; one of no words where there is neither.
    Others are compared with the first.

    Args:
        vary: `KEY=A,B,…` each.
        cases: `KEY=VALUE[,KEY=VALUE…]` each: a setting of its own, beside the combinations.
    Raises:
        ConfigError: a word that is neither.
    """
    columns = [_values(word) for word in vary]
    _check_count(prod(map(len, columns)) + len(cases), "settings")
    settings = [tuple(found) for found in product(*columns)] if columns or not cases else []
    settings += [tuple(_pair(word, "--case") for word in _COMMA.split(case)) for case in cases]
    for setting in settings:
        if secret := next((word.partition("=")[0] for word in setting if _is_secret(word)), None):
            told = f"settings are stored and shown; name a variable, as in {secret}=${{env:NAME}}"
            raise ConfigError(f"sweep: {secret}=…: {told}")
        keys = [word.partition("=")[0] for word in setting]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise ConfigError(f"sweep: {twice} stands twice in one setting ({' '.join(setting)[:200]})")
    return tuple(dict.fromkeys(settings))


def _is_secret(word: str) -> bool:
    return masked_word(word) != word and not EXPRESSION.fullmatch(word.partition("=")[2])


def _values(word: str) -> list[str]:
    key, _, values = _pair(word, "--vary").partition("=")
    return [f"{key}={value}" for value in _COMMA.split(values)]


def _pair(word: str, option: str) -> str:
    key, equals, value = word.removeprefix("--").partition("=")
    if not equals or not value or ("." not in key and key not in _PRESETS):
        allowed = f"a dotted configuration key or {', '.join(_PRESETS)}"
        raise ConfigError(f"{option} {word}: KEY=VALUE[,…] is wanted, KEY {allowed}")
    if key in _FIXED:
        raise ConfigError(f"{option} {word}: {_FIXED[key]}")
    return f"{key}={value}"


def seeds_of(text: str) -> tuple[int, ...]:
    """`1..5` or `1,2,7`. Raises ConfigError."""
    found = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    try:
        first, last = (int(found[1]), int(found[2])) if found else (0, 0)
        named = [] if found else [int(word) for word in text.split(",")]
    except ValueError as error:
        raise ConfigError(f"--seeds {text[:80]}: write 1..5 or 1,2,7") from error
    if first > last:
        raise ConfigError(f"--seeds {text}: the first is above the last")
    if found:
        _check_count(last - first + 1, f"seeds (--seeds {text})")
    return tuple(dict.fromkeys(named or range(first, last + 1)))


def check_runs(settings: Sequence[object], seeds: Sequence[int]) -> None:
    """Raise ConfigError for more runs than a sweep may have, and for one."""
    if len(settings) * len(seeds) < 2:
        raise ConfigError("sweep: two runs at least, as in --seeds 1..5 or --vary search.policy=three_phase,mcts")
    _check_count(
        len(settings) * len(seeds), f"runs ({counted(len(settings), 'setting')}, {counted(len(seeds), 'seed')})"
    )


def _check_count(count: int, what: str) -> None:
    if count > MOST_RUNS:
        raise ConfigError(f"sweep: {count:,} {what}; a sweep has at most {MOST_RUNS:,} runs")
