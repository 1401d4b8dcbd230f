"""What a repository's command looked for and did not find, because it lies above the folder that programs see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from utils.config_problem import ProblemConfig
from utils.packages import missing_module
from utils.user_path import user_path

_MISSED = re.compile(r"(?i)not find|not found|no such|not exist|no module named")
_NAME = re.compile(r"[\w.-]+(?:/[\w.-]+)*")
_LEVELS = 4
"""Folders above that are looked into."""
_SHORTEST = 3
"""Characters of a name: shorter ones are words."""


def out_of_reach(section: ProblemConfig, told: str) -> str:
    """What would show it to programs; '' where nothing of the kind was missed.

    Args:
        told: what the command said of the user's own program.
    """
    folder = user_path(section.source).resolve() if section.source else None
    if folder is None or not folder.is_dir():
        return ""
    for name in _missed(told):
        for above in folder.parents[:_LEVELS]:
            if above in (Path.home(), Path(above.anchor)):
                break
            if (above / name).exists() and not (folder / name).exists():
                inner = folder.relative_to(above).as_posix()
                editable = ",".join(f"{inner}/{part.strip()}" for part in (section.editable or "").split(","))
                return (
                    f"; {name} lies in {above}, of which programs see {inner}/ alone: --problem.source={above} "
                    f"--problem.editable={editable} --problem.eval='cd {inner} && …' shows them the whole (files of "
                    f"problem.metric_from are named from there, too)"
                )
    return ""


def _missed(told: str) -> Iterator[str]:
    """Names in the lines that say that something is not there, the last line first; a module also as a file."""
    for line in reversed(told.splitlines()):
        if not _MISSED.search(line):
            continue
        if module := missing_module(line):
            yield from (module, f"{module}.py")
            continue
        found = (word.strip(".") for word in _NAME.findall(line))
        yield from sorted((word for word in found if len(word) >= _SHORTEST), key=len, reverse=True)
