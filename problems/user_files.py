"""Files of the user's that decide a score: those that an evaluator or a command names, those of a data folder.

Nothing is run to find them. A file counts if the evaluator, or a file that counts already, holds its name: as a text
(`"cases.json"`), a pattern (`"case_*.json"`, `f"case_{i}.json"`), an import, or the folder that it lies in. Notes,
results and whatever else lies beside them may change as they like.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from utils.clean_text import one_line
from utils.user_path import user_path

EVALUATOR = "problem.evaluator"
"""Name of the evaluator itself among the files that score."""
BESIDE = "beside/"
"""Begins the names of files that score where they are there: a run knows of each whether it was."""
LEFT_OUT = frozenset({"__pycache__", "node_modules", "venv", "env"})
"""Folders of caches and packages; names with a dot before them are left out, too."""
NO_INPUT = (".pyc", ".ipynb", ".md", ".log", ".tmp", ".bak")
"""Endings of what is written beside data and evaluators, and scores nothing."""
NO_DATA = (*NO_INPUT, ".py")
"""The same in a data folder."""
STORE = "run.db"
"""A folder of such files' folders holds runs."""
EXPORTED = "solution.py"
"""A folder below the data with it is what `export-best` wrote."""
MOST_FILES = 20_000
"""Of one folder that is walked."""
MOST_READ = 1_000_000
"""Bytes of a file that is searched for names of others."""
_CODE = (
    ".py", ".sh", ".mk", ".c", ".h", ".cpp", ".hpp", ".js", ".ts", ".rs", ".go", ".java", ".jl", ".r", ".pl", ".toml",
)  # fmt: skip
_MAKE = ("makefile", "gnumakefile", "cmakelists.txt", "conftest.py")
"""Files that a command reads without being told their names."""
_WORD = re.compile(r"[\w.*?/~+-]+")
_FILLED = re.compile(r"\{[^{}\n]*\}|%\d*[sdi]")
"""What an f-string, `format` or `%` puts a value in for."""
_QUOTED = re.compile(r"[\"'/]([\w.-]+)(?=[\"'/])")
_IMPORTED = re.compile(r"(?m)^[ \t]*(?:from\s+([\w.]+)\s+)?import\s+(\([^)]*\)|[^\n;#]+)|\s-m\s+([\w.]+)")
_SYSTEM = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", "/proc", "/sys", sys.prefix)))


def named_files(folder: Path, texts: Iterable[str], without: Collection[Path] = ()) -> dict[str, Path]:
    """Path as it is named from `folder` → file: what the texts name there or elsewhere, and what these files name.

    Args:
        texts: an evaluator's source; a command.
        without: files that are not meant, such as the program that is searched.
    """
    beside = {path.name: path for path in _children(folder)}
    found: dict[str, Path] = {}
    todo = list(texts)
    while todo:
        for name, path in _named(todo.pop(), folder, beside):
            if name in found or path in without:
                continue
            found[name] = path
            if is_code(path.name):
                todo.append(_text(path))
    return found


def names_in(texts: Iterable[str]) -> set[str]:
    """The last parts of all paths that may stand in the texts, and all other words."""
    return {word.strip("/").rpartition("/")[2] for text in texts for word in _WORD.findall(text)}


def paths_in(text: str) -> set[str]:
    """Everything in the text that may be a path, without `./` before it."""
    return {word.removeprefix("./") for word in _WORD.findall(text)}


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first of some files' names, and how many more there are, in one line."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(one_line(name) for name in names[:most]) + more


def is_code(name: str) -> bool:
    """True for what a computer runs, or what says how: it is read for the names of other files."""
    file = name.rpartition("/")[2].lower()
    return file.endswith(_CODE) or file in _MAKE


def folder_files(folder: Path, skip: Collection[str] = ()) -> dict[str, Path]:
    """Path in the folder → file, for the data of a folder, whatever is below it.

    Args:
        skip: paths in the folder that are ours.
    """
    found = {
        name: path
        for name, path in _walked(folder, "")
        if not any(name == one or name.startswith(f"{one}/") for one in skip)
    }
    exports = {name.removesuffix(EXPORTED) for name in found if name.endswith(f"/{EXPORTED}")}
    return {
        name: path
        for name, path in found.items()
        if not name.lower().endswith(NO_DATA) and f"{name.rpartition('/')[0]}/" not in exports
    }


def _named(text: str, folder: Path, beside: Mapping[str, Path]) -> Iterator[tuple[str, Path]]:
    words = set(_WORD.findall(text)) | set(_WORD.findall(_FILLED.sub("*", text)))
    names = {word.strip("/").rpartition("/")[2] for word in words}
    names |= {name.rstrip(".") for name in names}  # a sentence's end
    patterns = [name for name in names if "*" in name and len(name.strip("*?.")) > 1]
    endings = tuple(name for name in names if name.startswith(".") and len(name) > 2)
    modules = set(_QUOTED.findall(text)) | set(re.findall(r"\w+", " ".join(map(" ".join, _IMPORTED.findall(text)))))
    folders = modules | {part for word in words if "/" in word for part in word.split("/")}
    makes = bool(names & {"make", "cmake", "pytest"})
    for name, path in beside.items():
        if os.path.isdir(path):
            if name in folders and not os.path.islink(path) and not any(path.glob(f"*/{STORE}")):
                yield from _walked(path, f"{name}/")
            continue
        is_code = path.suffix == ".py" and path.stem in modules
        is_made = makes and name.lower() in _MAKE
        is_meant = name in names or any(fnmatchcase(name, one) for one in patterns) or name.endswith(endings)
        if is_code or is_made or (is_meant and is_answer(name)):
            yield name, path
    for word in words:
        if "/" in word and "*" not in word and (elsewhere := _elsewhere(word, folder)):
            yield word, elsewhere


def is_answer(name: str) -> bool:
    """False for a log, which an evaluator writes, and for notes on it."""
    return not name.lower().endswith(NO_INPUT)


def _elsewhere(word: str, folder: Path) -> Path | None:
    """A file that a path leads to outside of the folder; none of the system's."""
    try:
        path = (folder / user_path(word)).resolve()
        is_meant = not path.is_relative_to(folder) and not any(path.is_relative_to(one) for one in _SYSTEM)
        return path if is_meant and path.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None


def _children(folder: Path) -> list[Path]:
    """What lies in a folder, by name, without hidden names and caches."""
    try:
        return [path for path in sorted(folder.iterdir()) if path.name[0] != "." and path.name not in LEFT_OUT]
    except OSError:
        return []


def _walked(folder: Path, before: str) -> Iterator[tuple[str, Path]]:
    left = MOST_FILES
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in LEFT_OUT)
        here = Path(parent)
        inside = here.relative_to(folder).as_posix()
        for name in sorted(names):
            path = here / name
            if name.startswith(".") or not is_answer(name) or not os.path.isfile(path):
                continue
            yield before + (name if inside == "." else f"{inside}/{name}"), path
            left -= 1
            if not left:
                return


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MOST_READ).decode("utf-8", "replace")
    except OSError:
        return ""
