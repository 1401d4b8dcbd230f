"""What a sweep runs: settings times seeds, kept beside the runs so that the same command goes on where it stopped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from runs.run_folder import logs_dir
from utils.errors import ConfigError

FOLDER = "sweeps"
PLAN = "plan.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_COMMA = re.compile(r",(?![^\[{]*[\]}])")
"""Commas between values, not those inside of a list or an object."""
_PRESETS = ("llm",)
"""Presets that may vary. Another problem has other scores: it is another sweep."""


class Cell(BaseModel):
    """One run of a sweep."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    setting: tuple[str, ...]
    """`key=value` words; () where nothing varies."""
    seed: int

    @property
    def name(self) -> str:
        """Names its file."""
        digest = sha256("\n".join(self.setting).encode()).hexdigest()[:10]
        return f"{digest}-{self.seed}"

    @property
    def words(self) -> list[str]:
        """Words of the command line that make this run what it is, presets as options."""
        return [*(f"--{word}" for word in self.setting), f"--project.seed={self.seed}"]


class Plan(BaseModel):
    """A sweep: all its runs follow from this."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: tuple[str, ...]
    """What all runs have in common."""
    settings: tuple[tuple[str, ...], ...]
    seeds: tuple[int, ...]

    @property
    def cells(self) -> list[Cell]:
        """Seed by seed, so that a sweep that is cut off has compared something."""
        return [Cell(setting=setting, seed=seed) for seed in self.seeds for setting in self.settings]

    @property
    def default_name(self) -> str:
        """The same plan has the same name: the same command goes on with the same sweep."""
        return f"sweep-{sha256(self.model_dump_json().encode()).hexdigest()[:8]}"

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Raises ConfigError where there is no such sweep."""
        try:
            return cls.model_validate_json((folder / PLAN).read_bytes())
        except (OSError, ValidationError) as error:
            known = sorted(path.parent.name for path in folder.parent.glob(f"*/{PLAN}"))
            raise ConfigError(f"no sweep '{folder.name}'; there are: {', '.join(known) or 'none'}") from error

    def keep(self, folder: Path) -> None:
        """Write it where it is new. Raises ConfigError where another sweep has this name."""
        if (folder / PLAN).is_file():
            if Plan.read(folder) != self:
                raise ConfigError(f"--name {folder.name}: another sweep has this name; take another")
            return
        folder.mkdir(parents=True, exist_ok=True)
        (folder / PLAN).write_text(self.model_dump_json(indent=2) + "\n", encoding="utf-8")


def sweep_folder(project_dir: str | Path, name: str) -> Path:
    """`logs/sweeps/NAME`. Raises ConfigError for what is no name."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"sweep '{name}': letters, digits and . _ - are allowed")
    return logs_dir(project_dir) / FOLDER / name


def settings_of(vary: Sequence[str], cases: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Every combination of the values of `vary`, then the settings of `cases`. Others are compared with the first.

    Args:
        vary: `KEY=A,B,…` each.
        cases: `KEY=VALUE[,KEY=VALUE…]` each: a setting of its own, beside the combinations.
    Raises:
        ConfigError: a word that is neither, or nothing that differs.
    """
    columns = [_values(word) for word in vary]
    settings = [tuple(found) for found in product(*columns)] if columns else []
    settings += [tuple(_pair(word, "--case") for word in _COMMA.split(case)) for case in cases]
    if len(set(settings)) < 2:
        raise ConfigError("sweep: two settings at least, as in --vary search.policy=three_phase,mcts")
    return tuple(dict.fromkeys(settings))


def _values(word: str) -> list[str]:
    key, _, values = _pair(word, "--vary").partition("=")
    return [f"{key}={value}" for value in _COMMA.split(values)]


def _pair(word: str, option: str) -> str:
    key, equals, value = word.removeprefix("--").partition("=")
    if not equals or not value or ("." not in key and key not in _PRESETS):
        allowed = f"a dotted configuration key or {', '.join(_PRESETS)}"
        raise ConfigError(f"{option} {word}: KEY=VALUE[,…] is wanted, KEY {allowed}")
    return f"{key}={value}"


def seeds_of(text: str) -> tuple[int, ...]:
    """`1..5` or `1,2,7`. Raises ConfigError."""
    found = re.fullmatch(r"(\d+)\.\.(\d+)", text)
    try:
        seeds = range(int(found[1]), int(found[2]) + 1) if found else [int(word) for word in text.split(",")]
    except ValueError as error:
        raise ConfigError(f"--seeds {text}: write 1..5 or 1,2,7") from error
    if not seeds:
        raise ConfigError(f"--seeds {text}: the first is above the last")
    return tuple(dict.fromkeys(seeds))
