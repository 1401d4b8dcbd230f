"""A resume with fewer steps: refused below what the run has begun; what nobody has begun is withdrawn."""

from __future__ import annotations

from pathlib import Path

from core.storage.begun import begun_steps
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from utils.config_schema import Config
from utils.errors import ConfigError


def check_steps(run_dir: Path, config: Config) -> None:
    """Refuse fewer steps than the run has begun: those that are open were proposed with the steps that were left then,
    and are finished first. A run that has more than its own limit, by steps by hand, keeps that limit.

    Raises:
        ConfigError: `search.max_steps` is lower than it was, and lower than that.
    """
    wanted = config.search.max_steps
    if wanted is None:
        return
    with RunReader(run_dir) as reader:
        refusal = begun_steps(reader).refusal("search.max_steps", wanted)
    if refusal:
        raise ConfigError(refusal)


def withdraw_waiting(store: RunStore, config: Config) -> tuple[str, ...]:
    """Withdraw the proposals that nobody has begun and for which the limit of now leaves no step; their nodes."""
    with RunReader(store.run_dir) as reader:
        nodes = begun_steps(reader).withdrawn(config.search.max_steps)
    if nodes:
        store.withdraw(nodes)
    return nodes
