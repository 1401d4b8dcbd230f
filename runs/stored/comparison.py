"""Runs side by side: what each came to, under which limits, and the settings in which they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.storage.reader import RunReader
from core.storage.unreadable import unreadable
from reports.conclusion import conclusion_of
from reports.provenance import flat
from reports.search_limits import limits_now
from reports.verdict_kind import IN_WORDS
from runs.stored.run_list import run_rows
from utils.errors import UnknownRunError
from utils.secrets import masked

AROUND_IT = ("project.dir", "logging.", "tracking.", "notify.", "dashboard.")
"""Beginnings of keys by which no search is another one: where a run lies, and what is said of it to whom."""
UNSET: tuple[Any, ...] = (None, "", [], {})


def comparison(project_dir: str, folders: Sequence[Path]) -> dict[str, Any]:
    """The JSON object of a comparison.

    `runs` holds an object a run: what a list of runs tells, with `final_interval`, `limits` (in words) and
    `verdict_words`. `settings` maps each key whose value is not the same in all runs to the values in their order,
    null where a run has none.

    Raises:
        UnknownRunError: a run that has not begun. StoreError: one that cannot be read.
    """
    rows = {row["run"]: row for row in run_rows(project_dir)}
    if waiting := [folder.name for folder in folders if folder.name not in rows]:
        raise UnknownRunError(f"run '{waiting[0]}' has not begun yet")
    found = [_read(folder, rows[folder.name]) for folder in folders]
    return {"runs": [row for row, _ in found], "settings": differing([config for _, config in found])}


def differing(configs: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Dotted key → its value in each configuration, of those that are not the same in all, in alphabetical order.

    What is around a search and no part of it is left out.
    A policy's options are compared between the configurations that use it; the others have none.
    """
    flats = [{key: value for key, value in flat(config) if value not in UNSET} for config in configs]
    policies = [one.get("search.policy") for one in flats]
    found: dict[str, list[Any]] = {}
    for key in sorted({key for one in flats for key in one if not key.startswith(AROUND_IT)}):
        owner = _policy_of(key)
        uses = [owner in (None, policy) for policy in policies]
        values = [one.get(key) if used else None for one, used in zip(flats, uses, strict=True)]
        compared = [value for value, used in zip(values, uses, strict=True) if used]
        if any(value != compared[0] for value in compared):
            found[key] = values
    return found


def _policy_of(key: str) -> str | None:
    """Of which policy a key is an option."""
    section, _, rest = key.partition(".")
    name, _, option = rest.partition(".")
    return name if section == "search" and option and name != "selectors" else None


def _read(folder: Path, row: dict[str, Any]) -> tuple[dict[str, Any], Mapping[str, Any]]:
    with unreadable(folder.name), RunReader(folder) as reader:
        facts = reader.facts()
        winner = conclusion_of(reader, facts).winner
        limits = limits_now(reader, paid=row["cost_usd"] is not None)
    config = facts.get("config")
    told = {
        "final_interval": winner and winner.final_interval,
        "limits": limits,
        "verdict_words": IN_WORDS[row["verdict"]],
    }
    return row | told, masked(config) if isinstance(config, dict) else {}
