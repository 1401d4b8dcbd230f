"""Registry: the names of one kind of part that can be added: policies, providers, operators, selectors, problems.

A name comes from one of three places: the table's own lines, the entry points of installed packages, the files of
plug-in folders. A part is loaded when its name is asked for, never before, and only here.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import os
import re
import shlex
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar

from utils.errors import ConfigError

T = TypeVar("T")

BUILT_IN = "built in"
PLUGIN = "swarm_evo_plugin_"
"""Begins the name of a module that is a user's file."""

_LOADING = threading.RLock()
"""One thread at a time loads plug-ins: no other is handed a module that is half there. A plug-in may ask for others."""

PLAIN_NAME = re.compile(r"[A-Za-z][\w-]*")
"""What a part may be called: its name is also a configuration key. Other files of a folder are passed over."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a name of a registry comes from."""

    place: str
    """For messages: `built in`, the entry point's value, or the file's path."""
    load: Callable[[], object]
    """Gives the spec itself, or the module that holds it."""


class Registry(Generic[T]):
    """Name → spec of one kind of part. A name that stands in two places is refused, wherever they are.

    Args:
        key: the configuration key that takes such a name; messages begin with it (`search.policy`).
        kind: last part of the entry point group and name of the folder inside a plug-in folder: `policies` stands for
            the group `swarm_evo.policies` and the files `<folder>/policies/<name>.py`.
        attribute: what a plug-in's module calls its spec (`POLICY`).
        spec: the type that every spec must have.
        builtin: name → `module:attribute`, or the spec itself where it is plain data.
        files: where a plug-in folder may hold a part, with `*` for its name; None for `<kind>/*.py`.
    """

    def __init__(
        self,
        *,
        key: str,
        kind: str,
        attribute: str,
        spec: type[Any],
        builtin: Mapping[str, str | T],
        files: Sequence[str] | None = None,
    ) -> None:
        self.key, self.kind, self.attribute, self.spec = key, kind, attribute, spec
        self.group = f"swarm_evo.{kind}"
        self._builtin = dict(builtin)
        self._files = tuple(files or (f"{kind}/*.py",))

    def get(self, name: str, plugins: Sequence[str | Path] = ()) -> T:
        """The spec of that name, loaded now.

        Args:
            plugins: the user's plug-in folders (`config.plugin_folders`).
        Raises:
            ConfigError: no such name, a name that two places claim, or a part that cannot be loaded.
        """
        if named := self._named(name, plugins):
            return self._load(name, named)
        sources = self._sources(plugins)
        if name not in sources:
            raise ConfigError(
                f"{self.key}={name}: unknown{nearest(name, list(sources))}; allowed: {', '.join(sources)}; "
                f"a further one is an entry point of {self.group} or a file {self._files[0].replace('*', name)} "
                "in a folder of `plugins`"
            )
        return self._load(name, sources[name])

    def names(self, plugins: Sequence[str | Path] = ()) -> list[str]:
        """Every name: the built-in ones first, in the table's order. Loads nothing."""
        return list(self._sources(plugins))

    def is_builtin(self, name: str) -> bool:
        """Whether it comes along: then what its code raises is a fault of ours."""
        return name in self._builtin

    def all(self, plugins: Sequence[str | Path] = ()) -> dict[str, T]:
        """Every spec by name, all of them loaded. Raises ConfigError for the first that cannot be."""
        return {name: self._load(name, source) for name, source in self._sources(plugins).items()}

    # ------------------------------------------------------------ where a name comes from

    def _sources(self, plugins: Sequence[str | Path]) -> dict[str, list[Source]]:
        found: dict[str, list[Source]] = {}
        for name, source in (*self._own(), *self._installed(), *self._in_folders(plugins)):
            found.setdefault(name, []).append(source)
        return found

    def _named(self, name: str, plugins: Sequence[str | Path]) -> list[Source]:
        """What `_sources` has of a name that is plain, without a look at all the others: a start asks sixty times."""
        if not PLAIN_NAME.fullmatch(name):
            return []
        files = [pattern.replace("*", name) for pattern in self._files]
        holding = [
            folder
            for folder in plugins
            if not os.path.isdir(folder) or any(os.path.lexists(os.path.join(folder, file)) for file in files)
        ]
        further = (*self._own(), *self._installed(), *self._in_folders(holding))
        return [source for other, source in further if other == name]

    def _own(self) -> Iterator[tuple[str, Source]]:
        for name, target in self._builtin.items():
            yield name, Source(BUILT_IN, partial(_resolve, target))

    def _installed(self) -> Iterator[tuple[str, Source]]:
        for name, value, load in _entry_points(self.group):
            yield name, Source(f"entry point {value} of {self.group}", load)

    def _in_folders(self, plugins: Sequence[str | Path]) -> Iterator[tuple[str, Source]]:
        for folder in dict.fromkeys(Path(folder).resolve() for folder in plugins):
            if not os.path.isdir(folder):  # as `is_dir`, but False for a name that is too long
                raise ConfigError(f"plugins={folder}: no such folder")
            for pattern in self._files:
                for path in sorted(folder.glob(pattern)):
                    depth = next(i for i, part in enumerate(pattern.split("/")) if "*" in part)
                    name = path.relative_to(folder).parts[depth].removesuffix(".py")
                    if PLAIN_NAME.fullmatch(name) and not _is_test(path):
                        yield name, Source(str(path), partial(user_module, path))

    # ------------------------------------------------------------ loading

    def _load(self, name: str, sources: Sequence[Source]) -> T:
        if len(sources) > 1:
            raise ConfigError(f"{self.key}={name} stands for two: {sources[0].place} and {sources[1].place}")
        place = sources[0].place
        try:
            found = sources[0].load()
        except (Exception, SystemExit) as error:  # another party's file: whatever it raises is told in one line
            if place == BUILT_IN:
                raise
            reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise ConfigError(
                f"{self.key}={name}: {place} cannot be loaded: {reason}{_path_of(error, place)}"
            ) from error
        if isinstance(found, ModuleType):
            if not hasattr(found, self.attribute):
                raise ConfigError(f"{self.key}={name}: {place} has no `{self.attribute}`")
            found = getattr(found, self.attribute)
        if not isinstance(found, self.spec):
            kind = type(found).__name__
            raise ConfigError(f"{self.key}={name}: {place} gives a {kind}, not a {self.spec.__name__}")
        spec: T = found
        return spec


def _path_of(error: BaseException, place: str) -> str:
    """What finds a module that lies beside a plug-in's file, or above it: only its own file is loaded."""
    module = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    folders = Path(place).parents[:2] if module else ()
    there = next((one for one in folders if (one / f"{module}.py").is_file() or (one / module).is_dir()), None)
    return f"; with PYTHONPATH={shlex.quote(str(there))} in the environment it is found" if there else ""


def _is_test(path: Path) -> bool:
    """A plug-in folder holds its own tests too, as `init` writes them."""
    return path.name.startswith("test_") or path.name == "conftest.py"


def user_file(module: str) -> Path | None:
    """The file that `user_module` made the module of that name from; None for any other module."""
    return Path(str(sys.modules[module].__file__)) if module.startswith(PLUGIN) else None


def nearest(word: str, known: Sequence[str]) -> str:
    """What to add to a refusal: the known word that is most like `word`, or nothing."""
    close = ending_alike(word, known) or difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return f" (did you mean '{close[0]}'?)" if close else ""


def ending_alike(word: str, known: Sequence[str]) -> list[str]:
    """Known keys whose name `word` says in another section (`search.seed`: `project.seed`), else the end of their name
    (`steps`: `max_steps`); those of the word's own section first, the likest of them first, then those that are less
    deep."""
    section, _, last = word.rpartition(".")
    ends = {key: key.rpartition(".")[2] for key in known}
    found = [key for key, end in ends.items() if end == last]
    found = found or [key for key, end in ends.items() if end.endswith(f"_{last}")]
    near = {key for key in found if section and key.startswith(f"{section}.")}
    likeness = {key: difflib.SequenceMatcher(None, word, key).ratio() for key in near}
    return sorted(found, key=lambda key: (-likeness.get(key, 0.0), key.count(".")))


def _resolve(target: object) -> object:
    if not isinstance(target, str):
        return target
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def user_module(path: Path) -> ModuleType:
    """A user's file as a module, under a name that shadows nothing. Executed once a process.

    What it prints goes to standard error: the other is a verb's own, and may be JSON.
    """
    name = f"{PLUGIN}{path.stem}_{zlib.crc32(str(path).encode()):08x}"
    with _LOADING:
        if name in sys.modules:
            return sys.modules[name]
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        vars(module)["print"] = _print
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module


def _print(*values: object, **how: Any) -> None:
    print(*values, **{"file": sys.stderr, **how})


Installed = tuple[str, str, Callable[[], object]]
"""Name, value and `load` of an installed entry point."""


def _entry_points(group: str) -> tuple[Installed, ...]:
    return _of_group(group, tuple(sys.path))


@lru_cache
def _of_group(group: str, path: tuple[str, ...]) -> tuple[Installed, ...]:
    """Looked for once: to select a group looks at every entry point there is, and a start asks sixty times."""
    return tuple((point.name, point.value, point.load) for point in _installed(path).select(group=group))


@lru_cache
def _installed(path: tuple[str, ...]) -> Any:
    """Of all groups, to `select` one of: read once, since what is installed on a path does not change in a process."""
    from importlib.metadata import entry_points

    return entry_points()
