"""What scores a run, by its content: scores of before and after a change of it cannot be compared.

A run keeps as a fact what the problem's own files were when it began (`Problem.scoring_files`); whoever goes on with it
looks again. Large files are known by their size, and the files of a folder of many by their names and sizes together.
A Python file is known by its code as well: comments, docstrings and layout score nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.contracts import Problem
from core.storage.reader import RunReader
from problems.user_files import BESIDE, EVALUATOR, GAME, MOST_READ, is_code, named_files
from utils.code_digest import code_digest
from utils.errors import ConfigError
from utils.logger_system import log_msg
from utils.registry import PLUGIN

FACT = "scored_by"
"""Name → `sha256:…` or `size:…`, or ABSENT; with `/` at its end, a folder of many files → `names:…`."""
CODE_FACT = "scored_by_code"
"""Name of a Python file → `utils.code_digest` of it."""
ABSENT = "absent"
"""What stands for a file that may be there and was not (`BESIDE`)."""
LARGE = 64 << 20
"""Bytes of a file whose content is not read."""
MOST_BYTES = 256 << 20
"""Of all files together that are read at a run's start."""
MANY = 500
"""Files of one folder that are told one by one."""
_NO_COMPARING = "what it scored cannot be compared; start a new run"


def scoring_files(problem: Problem) -> dict[str, Path]:
    """Name → file of everything of the user's that decides a score; a problem of his own counts itself."""
    found = dict(problem.scoring_files)
    module = sys.modules.get(type(problem).__module__)
    if module is not None and module.__name__.startswith(PLUGIN) and module.__file__:
        path = Path(module.__file__)
        found |= {"problem": path, **named_files(path.parent, [path.read_text("utf-8", "replace")], {path})}
    return found


def scored_by(problem: Problem) -> dict[str, str]:
    """The fact of a run that begins. Raises ConfigError for a file that cannot be read."""
    found: dict[str, str] = {}
    left = MOST_BYTES
    for folder, files in _by_folder(scoring_files(problem)).items():
        if len(files) > MANY and folder != "/":
            found[folder] = _together(files)
            continue
        for name, path in files.items():
            size = _size(path)
            if size is None and name.startswith(BESIDE):
                found[name] = ABSENT
            elif size is not None:
                whole = size <= LARGE and size <= left
                left -= size if whole else 0
                found[name] = _content(path) if whole else f"size:{size}"
    return found


def code_of(problem: Problem) -> dict[str, str]:
    """The second fact of a run that begins, of the files in Python that can be known by their code."""
    found = {name: _code(path) for name, path in scoring_files(problem).items() if path.suffix == ".py"}
    return {name: digest for name, digest in found.items() if digest}


def check_scored_by(run_dir: Path, problem: Problem, *, gone: bool = False) -> None:
    """Refuse to go on where the files have changed since. A run of an older version knows nothing of them.

    Args:
        gone: look for files that are there no longer: after the problem itself had its say on them.

    Raises:
        ConfigError: names the file.
    """
    warned = False
    for name, change, same_code in _changes(run_dir, problem, gone):
        if same_code:
            log_msg(
                "WARNING",
                f"{change} since the run began, but in comments, docstrings or layout alone: it scores as it did",
            )
            continue
        if not _may_be_written(name, problem):
            raise ConfigError(f"{change} since the run began; {_NO_COMPARING}")
        if not warned:
            log_msg("WARNING", f"{change} since the run began: where it decides scores, old and new ones are no match")
        warned = True


def change_since(run_dir: Path, problem: Problem) -> str:
    """`evaluator.py has changed`, of the first file that is not as it was; '' for none."""
    return next((change for _, change, same_code in _changes(run_dir, problem, False) if not same_code), "")


def _may_be_written(name: str, problem: Problem) -> bool:
    """An evaluator has its user's rights: tables and the like beside it may be its own cache or results."""
    return EVALUATOR in problem.scoring_files and name != EVALUATOR and not is_code(name)


def _changes(run_dir: Path, problem: Problem, gone: bool) -> Iterator[tuple[str, str, bool]]:
    """(name, what has become of it, whether its code is the same)"""
    with RunReader(run_dir) as reader:
        stored, code = reader.fact(FACT), reader.fact(CODE_FACT, {})
    if not isinstance(stored, dict):
        return
    files = scoring_files(problem)
    folders = _by_folder(files)
    if gone:
        for name, before in stored.items():
            if before != ABSENT and not _is_there(name, files, folders):
                yield name, f"{_shown(name)} is gone", False
        return
    for name, before in stored.items():
        if _is_there(name, files, folders) and _now(name, str(before), files, folders) != before:
            change = "is new" if before == ABSENT else "has changed"
            same_code = name in code and code[name] == _code(files[name])
            yield name, f"{_shown(name, files.get(name))} {change}", same_code
    for name in files:  # what may be there stands in every record of a version that knew of it
        known = name in stored or _folder_of(name) in stored or name.startswith(("data/", BESIDE, GAME))
        if not known and os.path.isfile(files[name]):
            yield name, f"{_shown(name, files[name])} is new", False


def _now(name: str, before: str, files: Mapping[str, Path], folders: Mapping[str, Mapping[str, Path]]) -> Any:
    """What stands for it now, in the form of before."""
    if name.endswith("/"):
        return _together(folders[name])
    path = files[name]
    size = _size(path)
    if before.startswith("size:") or (size or 0) > LARGE:
        return f"size:{size}"
    return _content(path)


def _is_there(name: str, files: Mapping[str, Path], folders: Mapping[str, Mapping[str, Path]]) -> bool:
    return name in folders if name.endswith("/") else name in files and os.path.isfile(files[name])


def _by_folder(files: Mapping[str, Path]) -> dict[str, dict[str, Path]]:
    found: dict[str, dict[str, Path]] = {}
    for name, path in files.items():
        found.setdefault(_folder_of(name), {})[name] = path
    return found


def _folder_of(name: str) -> str:
    return f"{name.rpartition('/')[0]}/"


def _together(files: Mapping[str, Path]) -> str:
    digest = sha256()
    for name, path in sorted(files.items()):
        digest.update(f"{name}\0{_size(path)}\n".encode("utf-8", "surrogateescape"))
    return f"names:{digest.hexdigest()[:32]}"


def _content(path: Path) -> str:
    digest = sha256()
    try:
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
    except OSError as error:
        raise ConfigError(f"'{path}' cannot be read: {error.strerror}") from error
    return f"sha256:{digest.hexdigest()[:32]}"


def _code(path: Path) -> str:
    size = _size(path)
    return code_digest(path.read_bytes()) if size is not None and size <= MOST_READ else ""


def _size(path: Path) -> int | None:
    """None where there is no such file, or none of ours to look at."""
    return os.path.getsize(path) if os.path.isfile(path) else None


def _shown(name: str, path: Path | None = None) -> str:
    """A key of the configuration stands for the file that it names."""
    return name if path is None or "/" in name else path.name
