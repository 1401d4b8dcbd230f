"""Which files of a folder grade a candidate and do nothing else: the grader, its modules, the answers that it names.

Nothing is run to find them: a file counts if the grading command, or a file that counts already, holds its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache

from problems.user_files import MAKE, Words, is_code

_PACKAGE, _PROGRAM = "__init__.py", "__main__.py"
_KEPT = re.compile(r"[.#~]*(?:\.(?:bak|old|orig|rej|save|tmp|sw[a-p]|~\d+))?[#~]*")
"""What stands around a file's name in those that editors and merges leave of it."""


def graded_alone(
    paths: Collection[str],
    text_of: Callable[[str], str],
    grade: str,
    commands: Iterable[str],
    programs: Iterable[str],
) -> set[str]:
    """Those of the paths that the grading names and nothing else does: what another program may need stays in sight.

    Args:
        paths: files of the folder that no candidate may change.
        text_of: what a file of code says.
        commands: what is shown whatever it names.
        programs: paths of code that may be run; of what grades among them only what others need.
    """
    said = "\n".join(commands)
    graders = _told(paths, grade) - _told(paths, said)
    graded = _reached(paths, text_of, graders) - graders
    todo = [said, *(text_of(path) for path in {*programs} - graded - graders)]
    while todo and graded:  # what is shown may itself need more
        text = todo.pop()
        needed = {path for path in graded if _may_need(text, path)}
        graded -= needed
        todo += [text_of(path) for path in needed if is_code(path)]
    hidden = graders | graded
    return hidden | {path for path in paths if any(_is_kept_of(_name(path), _name(one)) for one in hidden)}


def _told(paths: Collection[str], command: str) -> set[str]:
    """What a command names: by path, as a module, as the folder that it is started in; else code by its name alone."""
    text = re.sub(r"(?<![\w./~])\./", "", command).replace("{output}", "")
    modules = _modules(text, "")
    found = {path for path in paths if path in modules or _names(text, path, "/")}
    starts = {path for path in paths if _name(path) == _PROGRAM or _name(path).lower() in MAKE}
    found |= {path for path in starts if _names(f"{text} ", path.rpartition("/")[0], "/")}
    return found or {path for path in paths if is_code(path) and _name(path) in text and _names(text, _name(path), "/")}


def _reached(paths: Collection[str], text_of: Callable[[str], str], graders: Collection[str]) -> set[str]:
    """What the graders import and name, and what that does. A name alone means data, and code in the same folder; a
    pattern or an ending data below the folder of who says it, where that is not the top."""
    found: set[str] = set()
    todo = [path for path in graders if is_code(path)]
    while todo:
        grader = todo.pop()
        text, here = text_of(grader), grader.rpartition("/")[0]
        modules, words = _modules(text, here), Words.of(text)
        for path in {*paths} - found:
            folder, _, name = path.rpartition("/")
            is_meant = _names(text, name) and name != _PACKAGE and (folder == here or not is_code(path))
            is_alike = bool(here) and path.startswith(f"{here}/") and not is_code(path) and words.may_mean(name)
            if is_meant or is_alike or path in modules:
                found.add(path)
                todo += [path] if is_code(path) else []
    return found


def _may_need(text: str, path: str) -> bool:
    """Whether a text that does not grade may name a file or import it."""
    parent, _, name = path.rpartition("/")
    name = f"{_name(parent)}.py" if name == _PACKAGE else name
    return _names(text, name) or (name.endswith(".py") and name.removesuffix(".py") in Words.of(text).modules)


def _names(text: str, name: str, before: str = "") -> bool:
    """True if a text holds a file's name, whatever letters it is of, and not as a part of another one.

    Args:
        before: further letters that do not stand before it.
    """
    return bool(name) and name in text and _whole(name, before).search(text) is not None


@lru_cache(maxsize=4096)
def _whole(name: str, before: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w{before}-])(?<!\w\.){re.escape(name)}(?![\w-]|\.\w)")


def _modules(text: str, folder: str) -> set[str]:
    """Paths at which modules may lie that a text imports, from its folder on and from the top."""
    found: set[str] = set()
    for dotted in Words.of(text).imports:
        for base in {"", folder}:
            parts = [*filter(None, [base, *dotted.split(".")])]
            for end in range(1 + bool(base), len(parts) + 1):
                place = "/".join(parts[:end])
                found |= {f"{place}.py", f"{place}/{_PACKAGE}"}
            found.add("/".join([*parts, _PROGRAM]))
    return found


def _is_kept_of(name: str, of: str) -> bool:
    """True for what an editor keeps of a file (`answers.json~`, `.answers.json.swp`), and Python of a module
    (`grade.pyc`, `grade.cpython-311.pyc`, which it writes where a grader lies)."""
    rest = name.replace(of, "", 1)
    is_compiled = of.endswith(".py") and name.startswith(of[:-2]) and name.endswith((".pyc", ".pyo"))
    return is_compiled or (of in name and _KEPT.fullmatch(rest) is not None)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
