"""Parts of the shown folders that candidates must not see: data of installed packages in which answers lie.

Where there are mount namespaces the fork server covers them before it imports anything: neither its memory nor a file
system made from its own then holds them. Without namespaces Landlock's list leaves them out.
"""

from __future__ import annotations

import builtins
import glob
import io
import os
import sys
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from . import kernel

_PYTHONS = ("lib*/python*", "local/lib*/python*", "pkgs/*/lib/python*", "envs/*/lib/python*")
"""Below a prefix: its own, those of other interpreters beside it, conda's second copies."""
_PACKAGES = ("", "site-packages", "dist-packages")
"""Where packages lie below each."""
_INSTALLED = ("bin", "include", "lib", "lib64", "share", "etc", "pyvenv.cfg")
"""What an interpreter has below its prefix: of a prefix in which somebody works that, and nothing else, is shown."""


def find(patterns: list[str], shown: list[str], kept: Sequence[str] = ()) -> list[str]:
    """Real paths of what is to be hidden, none below another.

    Args:
        patterns: below any folder of packages, with `*` and `**`; or absolute paths.
        shown: what candidates see; whatever lies outside of it is absent anyway.
        kept: what is shown by name, and stays where it lies in something that is to be hidden, as an interpreter does.
    """
    places = [os.path.join(glob.escape(root), pattern) for root in shown for pattern in _PYTHONS]
    pythons = [python for place in places for python in glob.iglob(place)]
    packages = [os.path.join(python, name) for python in pythons for name in _PACKAGES]
    folders = {path for path in (*sys.path, *packages) if os.path.isdir(path)}
    found = {os.path.realpath(path) for pattern in patterns for path in _matching(pattern, folders)}
    found |= {compiled for path in found if path.endswith(".py") for compiled in _compiled(path)}
    roots = [os.path.realpath(root) for root in shown]
    inside = {path for path in found if any(_below(path, root) or _is_place_of_work(path, root) for root in roots)}
    prefixes = {*shown, sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    needed = {os.path.realpath(path) for path in kept}
    needed |= {os.path.realpath(os.path.join(prefix, name)) for prefix in prefixes for name in _INSTALLED}
    inside = {part for path in inside for part in _without(path, needed)}
    return outermost(inside)


def outermost(paths: Collection[str]) -> list[str]:
    """Those of `paths` that lie below no other, in order."""
    return sorted(path for path in paths if not any(_below(path, other) for other in paths))


def working(folder: str, shown: list[str], named: Sequence[str]) -> list[str]:
    """The real path of a folder of working folders where it lies in what is shown; [] elsewhere.

    Args:
        named: what the user asked to show: where that lies in the folder, so it is.
    """
    real = os.path.realpath(folder)
    is_shown = any(_below(real, os.path.realpath(root)) for root in shown)
    return [real] if is_shown and not any(_below(os.path.realpath(path), real) for path in named) else []


def _is_place_of_work(path: str, root: str) -> bool:
    """True for a project's folder that is itself a virtual environment (`python -m venv .`)."""
    return path == root and os.path.isfile(os.path.join(root, "pyvenv.cfg"))


def _without(path: str, needed: set[str]) -> list[str]:
    """The path, or what is left of it where it holds something that is needed."""
    return around([path], sorted(needed))[0] if any(_below(one, path) for one in needed) else [path][path in needed :]


def is_hidden(patterns: Sequence[str], shown: list[str], hidden: list[str]) -> bool:
    """True if all of `patterns`, absolute paths, that lies in what is shown is among `hidden` or below it."""
    found = find(list(patterns), shown)
    return all(any(path == one or _below(path, one) for one in hidden) for path in found)


def _matching(pattern: str, folders: set[str]) -> Iterator[str]:
    if os.path.isabs(pattern):
        yield from glob.iglob(pattern, recursive=True)
        return
    for folder in folders:
        yield from glob.iglob(os.path.join(glob.escape(folder), pattern), recursive=True)


def _compiled(module: str) -> list[str]:
    """What Python keeps of a module beside its source."""
    folder, name = os.path.split(module[: -len(".py")])
    return glob.glob(os.path.join(glob.escape(folder), "__pycache__", glob.escape(name) + ".*.pyc"))


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def cover(paths: list[str], scratch: str) -> None:
    """Take a mount namespace for this process and its children in which something empty lies over `paths`.

    As an ordinary user that needs a user namespace, too. Only from a single-threaded process.

    Args:
        scratch: an empty folder.
    """
    uid, gid = os.getuid(), os.getgid()
    kernel.syscall("unshare", kernel.CLONE_NEWNS | (kernel.CLONE_NEWUSER if uid else 0))
    if uid:
        kernel.map_identity(uid, gid)
    kernel.mount(None, "/", None, kernel.MS_REC | kernel.MS_SLAVE)  # what the host mounts later is seen here, too
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    kernel.mount("tmpfs", scratch, "tmpfs", flags, "mode=755,size=16k,nr_inodes=8")
    os.mkdir(f"{scratch}/folder", 0o555)
    os.close(os.open(f"{scratch}/file", os.O_CREAT, 0o444))
    for path in paths:
        kernel.bind(f"{scratch}/{'folder' if os.path.isdir(path) else 'file'}", path, read_only=True)
    kernel.unmount(scratch, kernel.MNT_DETACH)


def around(roots: list[str], hidden: list[str]) -> tuple[list[str], list[str]]:
    """(what of `roots` may be shown whole, folders on the way to `hidden` that may only be listed)."""
    whole, listed, todo = [], [], deque((path, os.path.realpath(path)) for path in roots)
    while todo:
        path, real = todo.popleft()
        if not any(_below(one, real) for one in hidden):
            whole += [path] if real not in hidden else []
            continue
        listed.append(path)
        with os.scandir(real) as entries:  # what a link leads to is judged by itself
            todo += [(entry.path, entry.path) for entry in entries if not entry.is_symlink()]
    return whole, listed


def aliases(paths: list[str], shown: list[str]) -> list[str]:
    """Under which names a shown folder that is a link shows `paths`, their real ones included."""
    found = set(paths)
    for root in shown:
        real = os.path.realpath(root)
        found.update(root + path[len(real) :] for path in paths if _below(path, real))
    return sorted(found)


@contextmanager
def refused(paths: list[str]) -> Iterator[None]:
    """While modules are imported, opening `paths` from Python fails: they load nothing that is to be hidden."""
    originals = io.open, os.open

    def checked(original: Any) -> Any:
        def opened(file: Any, *args: Any, **named: Any) -> Any:
            if isinstance(file, (str, bytes, os.PathLike)):
                real = os.path.realpath(os.fsdecode(file))
                if real in paths or any(_below(real, path) for path in paths):
                    raise FileNotFoundError(2, "No such file or directory", file)
            return original(file, *args, **named)

        return partial(opened)  # a class that holds it, as `pathlib` did before Python 3.11, is not to make it a method

    if paths:
        builtins.open = io.open = checked(originals[0])
        os.open = checked(originals[1])
    try:
        yield
    finally:
        builtins.open = io.open = originals[0]
        os.open = originals[1]
