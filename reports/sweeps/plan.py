"""What a sweep runs: settings times seeds, kept beside the runs so that the same command goes on where it stopped."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from core.storage.database import DB_NAME
from core.storage.moments import microseconds, moment
from core.storage.reader import RunReader
from core.storage.run_names import may_be_run
from utils.errors import ConfigError, StoreError, UnknownRunError
from utils.file_utils import staged
from utils.secrets import masked_word

FOLDER = "sweeps"
PLAN = "plan.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


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
    """What all runs have in common, with the secrets that were typed; see `shown`."""
    settings: tuple[tuple[str, ...], ...]
    seeds: tuple[int, ...]

    @property
    def cells(self) -> list[Cell]:
        """Seed by seed, so that a sweep that is cut off has compared something."""
        return [Cell(setting=setting, seed=seed) for seed in self.seeds for setting in self.settings]

    @property
    def shown(self) -> Self:
        """The plan without its secrets: what is stored, and told to whoever looks."""
        return self.model_copy(update={"words": tuple(map(masked_word, self.words))})

    @property
    def default_name(self) -> str:
        """The same plan has the same name: the same command goes on with the same sweep."""
        return f"sweep-{sha256(self.shown.model_dump_json().encode()).hexdigest()[:8]}"

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Raises ConfigError where there is no such sweep."""
        try:
            return cls.model_validate_json((folder / PLAN).read_bytes())
        except (OSError, ValidationError) as error:
            known = sorted(path.parent.name for path in folder.parent.glob(f"*/{PLAN}"))
            raise ConfigError(f"no sweep '{folder.name}'; there are: {', '.join(known) or 'none'}") from error

    def with_those_of(self, folder: Path) -> Self:
        """With the seeds of the sweep that has this name already. Raises ConfigError where that differs in more."""
        if not (folder / PLAN).is_file():
            return self
        known = Plan.read(folder)
        if (known.shown.words, known.settings) != (self.shown.words, self.settings):
            raise ConfigError(f"--name {folder.name}: another sweep has this name; take another")
        return self.model_copy(update={"seeds": tuple(dict.fromkeys((*known.seeds, *self.seeds)))})

    def keep(self, folder: Path, now: datetime | None = None) -> None:
        """Write it without secrets. The file's time is that of its beginning.

        Args:
            now: of one that begins, behind all that began before it; None: what the clock says.
        """
        file, text = folder / PLAN, self.shown.model_dump_json(indent=2) + "\n"
        began = began_at(folder) or now
        if file.is_file() and Plan.read(folder) == self.shown:
            return
        folder.mkdir(parents=True, exist_ok=True)
        with staged(file) as new:
            new.write_text(text, encoding="utf-8")
            if began is not None:
                os.utime(new, ns=(microseconds(began) * 1000,) * 2)


def sweep_folder(logs: Path, name: str) -> Path:
    """`logs/sweeps/NAME`. Raises ConfigError for what is no name."""
    if not _NAME.fullmatch(name):
        raise ConfigError(f"sweep '{name[:80]}': letters, digits and . _ - are allowed")
    return logs / FOLDER / name


def sweeps_of(logs: Path) -> dict[Path, float]:
    """The folders of all sweeps with the time of their beginning, the newest first."""
    began: dict[Path, float] = {}
    for plan in (logs / FOLDER).glob(f"*/{PLAN}"):
        with suppress(FileNotFoundError):  # removed while we looked
            if _NAME.fullmatch(plan.parent.name):
                began[plan.parent] = plan.stat().st_mtime
    return dict(sorted(began.items(), key=lambda one: one[1], reverse=True))


def began_at(folder: Path) -> datetime | None:
    """When the sweep began; None where it has not."""
    try:
        return moment((folder / PLAN).stat().st_mtime_ns // 1000)
    except (OSError, OverflowError):
        return None


def was_begun(folder: Path, cell: Cell) -> bool:
    """True for a cell that had a run, even if it was removed since."""
    return note_of(folder, cell).is_file()


def note_of(folder: Path, cell: Cell) -> Path:
    """The file with the name of the cell's run, which the run itself writes as soon as it can be asked."""
    return folder / f"{cell.name}.run"


def noted_run(folder: Path, cell: Cell) -> str | None:
    """The name of the cell's run, whatever became of it; None before there is one. Never a path."""
    try:
        name = note_of(folder, cell).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError):
        return None
    return name if may_be_run(name) else None


def run_of(folder: Path, cell: Cell) -> Path | None:
    """The folder of the cell's run; None where it has not begun, was killed before it did, or was removed."""
    name = noted_run(folder, cell)
    found = folder.parents[1] / name if name else None
    return found if found is not None and (found / DB_NAME).is_file() and _has_begun(found) else None


def _has_begun(run: Path) -> bool:
    try:
        with RunReader(run) as reader:
            return reader.fact("config") is not None
    except UnknownRunError:  # a store without a table
        return False
    except StoreError:  # it began, whatever became of it: who reads it is told
        return True
