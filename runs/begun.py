"""What a run has begun: a resume may give it more steps, not fewer than these."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from core.storage.reader import RunReader
from core.storage.repository import RunStore
from utils.config_schema import Config
from utils.errors import ConfigError


def check_steps(run_dir: Path, store: RunStore, config: Config) -> None:
    """Refuse fewer steps than the run has begun: those that are open were proposed with the steps that were left then,
    and are finished first. A run that has more than its own limit, by steps by hand, keeps that limit.

    Raises:
        ConfigError: `search.max_steps` is lower than it was, and lower than that.
    """
    wanted, stored = config.search.max_steps, store.get_fact("config") or {}
    if wanted is None or wanted == _max_steps(stored):
        return
    with RunReader(run_dir) as reader:
        done = reader.steps()
    waiting = sum(not store.get_fact(f"round/{task.round}/by_hand") for task in store.open_tasks())
    if wanted < done + waiting:
        told = f"{done} done and {waiting} proposed" if waiting else f"{done} done"
        raise ConfigError(
            f"search.max_steps={wanted}: the run has begun {done + waiting} steps ({told}); allowed: {done + waiting} "
            "or more"
        )


def _max_steps(stored: dict[str, Any]) -> int | None:
    known: int | None = (stored.get("search") or {}).get("max_steps")
    return known
