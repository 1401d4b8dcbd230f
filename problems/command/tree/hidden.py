"""What of a repository grades a candidate, and is shown to none: the grader, and the answers that it alone names."""

from __future__ import annotations

from collections.abc import Sequence

from problems.command.tree.tree import Ground
from problems.user_files import is_answer, is_code, names_in, paths_in


def graded_alone(ground: Ground, grade: str, commands: Sequence[str]) -> tuple[str, ...]:
    """Locked files of the base that the grading command names and no other command does, and the data that these name
    and no other code of the repository: what another program may need stays in sight.

    Args:
        commands: those that candidates run.
    """
    locked = [path for path in ground.base.files if not ground.may_change(path)]
    graders = [path for path in locked if path in paths_in(grade) - paths_in(" ".join(commands))]
    named = names_in(ground.base.text(path) or "" for path in graders)
    data = {path for path in locked if not is_code(path) and is_answer(path) and _name(path) in named}
    others = (path for path in ground.base.files if is_code(path) and path not in graders) if data else ()
    for text in (*commands, *(ground.base.text(path) or "" for path in others)):
        data = {path for path in data if _name(path) not in names_in([text])}
    return tuple(sorted({*graders, *data}))


def _name(path: str) -> str:
    return path.rpartition("/")[2]
