"""The configuration that a run was started with, read back for a resume, a replay or an export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.storage.reader import RunReader
from utils.config import MASK, check_config, load_config, merge_overrides, to_plain
from utils.config_schema import Config
from utils.errors import ConfigError


def stored_config(
    run_dir: Any, overrides: list[str], project_dir: str, note: Callable[[str], None] = lambda text: None
) -> Config:
    """The run's own configuration, secrets found again where they came from, with the user's changes on top.

    Args:
        note: told one line where `overrides` have keys by an older name.
    """
    with RunReader(run_dir) as reader:
        plain = reader.fact("config")
    if plain is None:
        raise ConfigError(f"run {run_dir.name} was killed before it began: it holds nothing, start it again")
    plain["project"]["dir"] = project_dir
    presets = {kind: plain["presets"][kind] for kind in ("problem", "llm")}
    fresh = to_plain(load_config(None, overrides, presets=presets, note=note), secrets=True)
    _unmask(plain, fresh)
    return check_config(merge_overrides(plain, overrides))


def _unmask(plain: dict[str, Any], fresh: dict[str, Any]) -> None:
    """A masked secret is read again from the environment through its preset; one typed by hand must be typed again."""
    for key, value in plain.items():
        if isinstance(value, dict) and isinstance(fresh.get(key), dict):
            _unmask(value, fresh[key])
        elif value == MASK:
            plain[key] = fresh.get(key)
