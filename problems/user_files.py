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
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from utils.clean_text import one_line
from utils.user_path import user_path

EVALUATOR = "problem.evaluator"
"""Name of the evaluator itself among the files that score."""
BESIDE = "beside/"
"""Begins the names of files that score where they are there: a run knows of each whether it was."""
GAME = "game/"
"""Begins the names of a user's game's own files."""
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
MAKE = ("makefile", "gnumakefile", "cmakelists.txt", "conftest.py")
"""Files that a command reads without being told their names."""
_WORD = re.compile(r"[\w.*?/~+-]+")
_FILLED = re.compile(r"\{[^{}\n]*\}|%\d*[sdi]")
"""What an f-string, `format` or `%` puts a value in for."""
_QUOTED = re.compile(r"[\"'/]([\w.-]+)(?=[\"'/])")
_IMPORTED = re.compile(r"(?m)^[ \t]*(?:from\s+([\w.]+)\s+)?import\s+(\([^)]*\)|[^\n;#]+)|\s-m\s+([\w.]+)")
_LOGIN = re.compile(
    r"\.env(?:\..*)?|\.envrc|.*\.(?:pem|key|p12|pfx)|id_(?:rsa|ed25519).*|\.netrc|\.npmrc|\.pypirc|\.git-credentials"
    r"|credentials(?:\.json)?|kaggle\.json"
)
"""Names of files that mostly hold keys: a prompt leaves the machine."""
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
                todo.append(file_text(path))
    return found


@dataclass(frozen=True, slots=True)
class Words:
    """What of a text may mean a file."""

    words: frozenset[str]
    """Paths, names and all else without spaces; what is put in later stands as `*`."""
    names: frozenset[str]
    """Last parts of these."""
    patterns: tuple[str, ...]
    endings: tuple[str, ...]
    modules: frozenset[str]
    """Words of imports, and what stands in quotes."""
    imports: frozenset[str]
    """What is imported, with dots: of `from a import b` `a.b`."""

    @staticmethod
    @lru_cache(maxsize=64)
    def of(text: str) -> Words:
        words = set(_WORD.findall(text)) | set(_WORD.findall(_FILLED.sub("*", text)))
        names = {word.strip("/").rpartition("/")[2] for word in words}
        names |= {name.rstrip(".") for name in names}  # a sentence's end
        patterns = tuple(name for name in names if "*" in name and len(name.strip("*?.")) > 1)
        endings = tuple(name for name in names if name.startswith(".") and len(name) > 2)
        found = _IMPORTED.findall(text)
        modules = set(_QUOTED.findall(text)) | set(re.findall(r"\w+", " ".join(map(" ".join, found))))
        imports = {f"{start}.{name}".strip(".") for start, several, run in found for name in _parts(several, run)}
        return Words(
            frozenset(words),
            frozenset(names),
            patterns,
            endings,
            modules=frozenset(modules),
            imports=frozenset(imports),
        )

    def may_mean(self, name: str) -> bool:
        """True for a file of that name, or one that a pattern or an ending fits."""
        fits = any(fnmatchcase(name, one) for one in self.patterns)
        return name in self.names or fits or name.endswith(self.endings)


def _parts(several: str, run: str) -> list[str]:
    """Names of `import a.b as x, c`, or the module of `-m`."""
    parts = [part.strip(" ()\n\t").split()[:1] for part in several.split(",")]
    return [*(part[0] for part in parts if part), *filter(None, [run])]


def is_login(path: str) -> bool:
    """True for a file that mostly holds keys, by its name."""
    return _LOGIN.fullmatch(path.rpartition("/")[2]) is not None


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first of some files' names, and how many more there are, in one line."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(one_line(name) for name in names[:most]) + more


def is_code(name: str) -> bool:
    """True for what a computer runs, or what says how: it is read for the names of other files."""
    file = name.rpartition("/")[2].lower()
    return file.endswith(_CODE) or file in MAKE


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
    said = Words.of(text)
    folders = said.modules | {part for word in said.words if "/" in word for part in word.split("/")}
    makes = bool(said.names & {"make", "cmake", "pytest"})
    for name, path in beside.items():
        if os.path.isdir(path):
            if name in folders and not os.path.islink(path) and not any(path.glob(f"*/{STORE}")):
                yield from _walked(path, f"{name}/")
            continue
        is_code = path.suffix == ".py" and path.stem in said.modules
        is_made = makes and name.lower() in MAKE
        if is_code or is_made or (said.may_mean(name) and is_answer(name)):
            yield name, path
    for word in said.words:
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


def file_text(path: Path) -> str:
    """The beginning of a file, as text; '' where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MOST_READ).decode("utf-8", "replace")
    except OSError:
        return ""
