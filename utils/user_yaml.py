"""A YAML file of the user's or of a stranger's: whatever hinders reading it is one line that names the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from utils.errors import ConfigError
from utils.user_text import user_text
from utils.yaml_fault import yaml_fault

MOST_VALUES = 100_000
"""Aliases count as often as they are named: in a kilobyte of them lies more than anybody can walk through or print."""


def user_yaml(path: Path) -> Any:
    """What it says.

    Raises:
        ConfigError: it is missing, no YAML, or says too much.
    """
    import yaml

    try:
        plain = yaml.safe_load(user_text(path, ""))
        _check_size(plain)
    except (ValueError, RecursionError, yaml.YAMLError) as error:  # ValueError: a date such as 2026-99-99
        raise ConfigError(f"{path}: cannot be read as YAML: {yaml_fault(error)}") from error
    return plain


def _check_size(plain: Any) -> None:
    todo, count = [plain], 0
    while todo:
        value = todo.pop()
        count += 1
        todo += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        if count + len(todo) > MOST_VALUES:
            raise ValueError(f"with its aliases it holds more than {MOST_VALUES} values")
