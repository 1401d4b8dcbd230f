"""What a competition folder in MLE-bench's form says of itself, and where its data lie."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

from utils.config_schema import Config
from utils.errors import ConfigError
from utils.file_utils import is_lfs_pointer
from utils.metric_kinds import grader_kind
from utils.user_path import user_path
from utils.user_text import user_text
from utils.user_yaml import user_yaml

_DIRECTIONS = {"min": True, "minimize": True, "max": False, "maximize": False}


def read_config(path: Path) -> dict[str, Any]:
    loaded = user_yaml(path)
    if not isinstance(loaded, dict):
        raise ConfigError(f"'{path}' must hold keys and values")
    return loaded


def read_leaderboard(path: Path) -> tuple[float, ...]:
    if not path.is_file() or is_lfs_pointer(path):
        return ()
    rows = list(csv.DictReader(StringIO(user_text(path, ""))))
    try:
        return tuple(float(row["score"]) for row in rows if row.get("score"))
    except (KeyError, ValueError):
        return ()


def direction_of(
    config: dict[str, Any], leaderboard: tuple[float, ...], cfg: Config, folder: Path
) -> tuple[bool, bool]:
    """Whether lower is better, and whether nothing but the grader's name tells it: from the config, else from the
    leaderboard's order, else from `problem.direction`, else by that name."""
    lower, where = _told_direction(config, leaderboard, folder)
    said, kind = cfg.problem.direction, grader_kind(str(config["grader"].get("name", "")))
    if lower is not None:
        if said is not None and (said == "min") != lower:
            raise ConfigError(
                f"problem.direction={said}: {where} tells that {'lower' if lower else 'higher'} is better"
            )
        return lower, False
    if said is not None:
        return said == "min", False
    if kind is not None:
        return kind.lower_is_better, True
    pointer = " (leaderboard.csv is a Git-LFS pointer)" if is_lfs_pointer(folder / "leaderboard.csv") else ""
    raise ConfigError(
        f"problem.path={folder}: neither config.yaml nor a leaderboard{pointer} nor the grader's name tells the "
        f"direction; say --problem.direction=min or max"
    )


def _told_direction(config: dict[str, Any], leaderboard: tuple[float, ...], folder: Path) -> tuple[bool | None, str]:
    """Whether lower is better, and which file tells it; None where none does."""
    if "direction" in config:
        if str(config["direction"]) not in _DIRECTIONS:
            raise ConfigError(f"problem.path={folder}: direction: {config['direction']}; allowed: min, max")
        return _DIRECTIONS[str(config["direction"])], "config.yaml"
    grader = config["grader"]
    for told in (config.get("lower_is_better"), grader.get("is_lower_better"), grader.get("lower_is_better")):
        if isinstance(told, bool):
            return told, "config.yaml"
    if len(leaderboard) > 1 and leaderboard[0] != leaderboard[-1]:
        return leaderboard[0] < leaderboard[-1], "the order of leaderboard.csv"
    return None, ""


def data_of(folder: Path, cfg: Config) -> tuple[Path | None, Path | None]:
    """Prepared files or raw ones: in the folder, in `problem.options.data`, or in MLE-bench's own cache."""
    given = cfg.problem.options.get("data")
    named = user_path(given) if given else None
    places = [named, named / folder.name] if named else [folder, user_path("~/.cache/mle-bench/data") / folder.name]
    for place in places:
        if (place / "prepared" / "public").is_dir() and (place / "prepared" / "private").is_dir():
            return (place / "prepared").resolve(), None
        if (place / "raw").is_dir():
            return None, (place / "raw").resolve()
    raise ConfigError(
        f"problem.path={folder}: needs prepared/public and prepared/private, or raw/, in "
        f"{' or '.join(repr(str(place)) for place in places)}; or name the folder: --problem.options.data=DIR"
    )


def stamped(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        for part in (folder, folder / "public", folder / "private"):
            if part.is_dir():
                yield from sorted(path for path in part.iterdir() if path.is_file())
