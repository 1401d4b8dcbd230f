"""Toolchains outside of the system's folders (rustup, nvm, juliaup, conda, pyenv, go): shown to programs, read-only."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from utils.errors import ConfigError
from utils.user_path import home

_SYSTEM = ("/usr/local/bin", "/usr/bin", "/bin")
_SECRETS = ("credentials*", ".credentials*", ".npmrc", ".netrc", ".pypirc", ".condarc", ".git-credentials")
"""Files of logins that lie in such folders."""
_HOMES = {
    ".cargo": "CARGO_HOME", ".rustup": "RUSTUP_HOME", ".julia": "JULIA_DEPOT_PATH", ".juliaup": "JULIAUP_DEPOT_PATH",
}  # fmt: skip
"""A folder's name → the variable by which its programs find it; their own home is elsewhere for programs."""
_KNOWN = {
    "Rust": ("~/.cargo/bin", "~/.rustup"),
    "Node": ("~/.nvm/versions/node/*",),
    "Julia": ("~/.julia/juliaup/julia-*",),
    "Go": ("/usr/local/go", "~/sdk/go*"),
    "conda": ("~/miniforge3", "~/miniconda3", "~/anaconda3", "/opt/conda"),
    "Python (pyenv)": ("~/.pyenv/versions/*",),
    "Deno": ("~/.deno",),
    "Bun": ("~/.bun",),
    "Haskell": ("~/.ghcup",),
}


@dataclass(frozen=True, slots=True)
class Toolchains:
    """What programs see of `execution.paths`, and how they find it."""

    shown: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    """Patterns of what is not shown in them."""
    environment: tuple[tuple[str, str], ...] = ()
    """PATH among it, but for what every program finds (`search_path`)."""


def search_path(bins: str, python: str) -> str:
    """Where programs look for commands: `bins`, the folder of their interpreter, the system.

    So `python3`, `pytest` and the like are those of `execution.python`, as in an environment that was activated.
    """
    own = os.path.dirname(os.path.abspath(python))
    return ":".join(filter(None, (bins, own if own not in _SYSTEM else "", *_SYSTEM)))


def toolchains_of(paths: Sequence[str]) -> Toolchains:
    """Read `execution.paths`.

    Raises:
        ConfigError: a path is no folder, or one that holds more than a toolchain.
    """
    folders = [_checked(path) for path in paths]
    if not folders:
        return Toolchains()
    bins = [str(folder / "bin") if (folder / "bin").is_dir() else str(folder) for folder in folders]
    variables = {_HOMES[folder.name]: str(folder) for folder in folders if folder.name in _HOMES}
    real = [str(folder.resolve()) for folder in folders]
    hidden = [f"{glob.escape(path)}/{name}" for path in dict.fromkeys([*map(str, folders), *real]) for name in _SECRETS]
    environment = {"PATH": ":".join(bins), **variables}
    return Toolchains(tuple(dict.fromkeys([*map(str, folders), *real])), tuple(hidden), tuple(environment.items()))


def _checked(path: str) -> Path:
    folder = Path(os.path.abspath(os.path.expanduser(path)))
    if not folder.is_dir():
        raise ConfigError(f"execution.paths={path}: no such folder")
    own = home()
    holds_more = own is not None and (folder in (own, *own.parents) or folder.resolve() == own.resolve())
    if holds_more or folder.resolve() == Path("/"):
        raise ConfigError(f"execution.paths={path}: it holds more than a toolchain; name the toolchain's own folder")
    return folder


def found_here() -> dict[str, list[str]]:
    """Name of a toolchain → its folders on this machine, of several versions the newest."""
    found: dict[str, list[str]] = {}
    for name, patterns in _KNOWN.items():
        places = [sorted(glob.glob(os.path.expanduser(pattern)), key=os.path.getmtime) for pattern in patterns]
        folders = [place[-1] for place in places if place]
        if folders and (name != "Rust" or len(folders) == 2):
            found[name] = folders
    return found
