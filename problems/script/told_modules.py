"""Modules beside an evaluator that go along with the program, for who writes programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from pathlib import Path

from core.evaluation.isolation.modules import file_beside, modules_beside
from utils.clean_text import clean
from utils.counts import counted
from utils.prompt_text import fenced_data

MOST_BESIDE = 3_000
"""Characters of a module beside the evaluator that a prompt shows; of longer ones it holds the name."""
MOST_SHOWN = 20_000
"""Of all of them together."""
FILES_SHOWN = 8
"""Names of files that a line tells."""


def offered(evaluator: Path, programs: Iterable[str], offers: Iterable[str]) -> dict[str, str]:
    """Name → source of modules beside the evaluator that go along with programs: what these import, and `offers`."""
    found: dict[str, str] = {}
    for code in (*programs, *(f"import {name}" for name in offers)):
        found |= modules_beside(evaluator.parent, code, evaluator.stem)
    return found


def told_modules(beside: Mapping[str, str]) -> str:
    """What a prompt holds of them: path → source."""
    shown = _shown(beside)
    return "\n\n".join(_told_module(name, text, whole=name in shown) for name, text in sorted(beside.items()))


def _shown(beside: Mapping[str, str]) -> set[str]:
    """The modules that a prompt shows, the shortest first: they stand in each, and must leave room for the task."""
    sizes = sorted((len(text), name) for name, text in beside.items())
    fitting = [name for size, name in sizes if size <= MOST_BESIDE]
    totals = accumulate(len(beside[name]) for name in fitting)
    return {name for name, total in zip(fitting, totals, strict=True) if total <= MOST_SHOWN}


def _told_module(name: str, text: str, *, whole: bool) -> str:
    """A module that goes along with the program, for who writes programs."""
    if not whole:
        return f"{name} ({counted(len(text), 'character', form=',')}, not shown)"
    return f"{name}:\n{fenced_data(clean(text))}" if text.strip() else f"{name} (empty)"


def files_of(modules: Iterable[str]) -> str:
    """Modules that go along, as files beside the evaluator; of many the first."""
    files = sorted(map(file_beside, modules))
    return ", ".join(files[:FILES_SHOWN]) + f" and {len(files) - FILES_SHOWN} more" * (len(files) > FILES_SHOWN)
