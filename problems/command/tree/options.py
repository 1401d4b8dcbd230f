"""TreeOptions: `problem.options` where candidates are whole folders."""

from __future__ import annotations

from pydantic import Field

from utils.config_section import Section


class TreeOptions(Section):
    """`problem.options` where `problem.source` is a folder."""

    output: str = "output.txt"
    """File that the command writes and `problem.grade` reads, or a folder of files: `results/`, with a slash."""
    statement: str = ""
    """What the repository is for, for the prompt."""
    timed: bool = False
    """The score is the seconds that the command takes, measured from outside, alone on one core."""
    repeats: int = Field(1, ge=1, le=100)
    """Of a folder: runs of the command a candidate; the score is the median of the metric."""
    alone: bool = False
    """Of a folder: no other job beside it, since the metric is a time that the command measures itself."""
    build_inputs: str = "**"
    """Of a folder: files whose change makes `problem.build` run again; patterns."""
    writable: str = ""
    """Of a folder: locked files that build and command may write all the same, as outputs that lie in it; patterns."""
