"""What of a repository grades a candidate, and is shown to none."""

from __future__ import annotations

from collections.abc import Sequence

from problems.command.tree.tree import Ground
from problems.grading_files import graded_alone
from problems.user_files import is_code


def grading_files(ground: Ground, grade: str, commands: Sequence[str]) -> tuple[str, ...]:
    """Locked files of the base that the grading command names or leads to and no other command and code does.

    Args:
        commands: those that candidates run.
    """
    files = ground.base.files
    locked = [path for path in files if not ground.may_change(path)]
    code = [path for path in files if is_code(path)]
    return tuple(sorted(graded_alone(locked, lambda path: ground.base.text(path) or "", grade, commands, code)))
