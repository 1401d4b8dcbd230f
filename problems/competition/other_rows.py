"""Another table for a run's winner to predict: the run's own data, made ready once more with that table as the test."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from problems.competition.prepared import Prepared
from problems.competition.source import Source
from utils.errors import ConfigError

_KEY = "data.test"


def with_rows(source: Source, prepared: Prepared, rows: Path) -> Source:
    """The source with `rows` as its test. Programs find their rows named as they know them; a sample submission is of
    the run's own test, so there is none.

    Raises:
        ConfigError: it is no table of the user's own, or nothing is known of its labels.
    """
    if source.request["kind"] != "own" or not prepared.meta["targets"]:
        raise ConfigError(f"export-best --{_KEY}={rows}: only a run on data of your own, with data.target, predicts it")
    left_out = {"sample": None, "test": None}
    request = {name: value for name, value in source.request.items() if name not in left_out}
    if parts := {name: files for name, files in request.pop("parts", {}).items() if name not in left_out}:
        request["parts"] = parts
    request |= {"test": str(rows), "key": prepared.meta["id"]}
    return replace(source, request=request, stamped=tuple(sorted({*source.stamped, rows})))


def check_alike(before: Prepared, now: Prepared, rows: Path) -> None:
    """ConfigError where programs would find other columns than those that they were written for."""
    kinds = {column["name"]: column["kind"] for column in now.meta["columns"]}
    for column in before.meta["columns"]:
        name, kind = column["name"], column["kind"]
        if name in before.meta["targets"] or kinds.get(name) == kind:
            continue
        why = (
            f"is a {kind} for the run's programs, and with this table a {kinds[name]}"
            if name in kinds
            else "is missing"
        )
        raise ConfigError(f"{_KEY}={rows}: the column {name!r} {why}")
