"""What is run to score a candidate, and what is read from it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

OUTPUT_UNGRADED = {
    "problem.options.output": "only problem.grade does, and there is none: the metric is in what the command prints"
}
"""A part of `Problem.unread`."""


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """The user's command and the files it is run on."""

    sources: tuple[Path, ...]
    """The searched files, all in one folder."""
    command: str
    """A shell command, run in a copy of the folder."""
    metric: str
    """Name of the number that is read from the output, or of the time."""
    lower_is_better: bool = False
    grade: str | None = None
    """A command of the user's that judges the output file, outside of the candidate's reach."""
    output: str = "output.txt"
    """What `grade` reads, a file or (`results/`) a folder; relative to the folder of the sources."""
    timed: bool = False
    """The score is the seconds that the command takes."""

    @property
    def folder(self) -> Path:
        return self.sources[0].parent

    @property
    def names(self) -> list[str]:
        return [path.name for path in self.sources]


def is_folder(output: str) -> bool:
    """True where `problem.options.output` names a folder: its name says so, since a program must not choose."""
    return output.endswith("/")


def plain_output(output: str) -> str:
    """`results/` for `./results//`: paths below it begin with it."""
    return PurePosixPath(output).as_posix() + "/" * is_folder(output)
