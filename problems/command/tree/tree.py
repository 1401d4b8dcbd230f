"""A candidate: the base with some of its files changed, added or deleted; as text, the diff against the base."""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from core.state.fingerprint import ast_hash, text_hash
from problems.command.tree.base import LARGEST_TEXT, Base
from utils.clean_text import clean
from utils.globs import matches
from utils.patch import FilePatch, PatchError, apply_patch, read_patch, write_patch

HEAD = "base "
"""Begins the first line of every candidate's text; the base's id follows."""
_NAME = re.compile(r"(?! )[^/\\\"`*?<>|:\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+(?<! )")
"""What a diff, git, a prompt and every system can say: no quotes, wildcards, controls or bytes that are no UTF-8."""
LONGEST_NAME, LONGEST_PATH = 255, 2_000
"""Bytes. A system takes paths of 4,096, and where the tree lies is a part of them."""
_RESERVED = frozenset({".", "..", ".git", ".hg", ".svn"})


class TreeError(ValueError):
    """A change that may not be made, or text that is no candidate; the text says which path and why.

    `locked` where it is a change of what must stay as it is.
    """

    def __init__(self, message: str, *, locked: bool = False) -> None:
        super().__init__(message)
        self.locked = locked


def is_path(path: str) -> bool:
    """True for what a file below a folder may be called."""
    return _is_named(path) and not _is_too_long(path)


def _is_named(path: str) -> bool:
    return all(_NAME.fullmatch(name) and name.lower() not in _RESERVED for name in path.split("/"))


def _is_too_long(path: str) -> bool:
    sizes = [len(name.encode()) for name in path.split("/")]
    return max(sizes) > LONGEST_NAME or sum(sizes) + len(sizes) - 1 > LONGEST_PATH


@dataclass(frozen=True, slots=True)
class Ground:
    """The base and what may be changed of it."""

    base: Base
    editable: tuple[str, ...]
    protected: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    """Paths of files that grade: no program sees them, and no writer."""

    def may_change(self, path: str) -> bool:
        return matches(path, self.editable) and not matches(path, self.protected) and path not in self.hidden

    def check(self, path: str) -> None:
        """Raises TreeError for a path that no candidate may change."""
        names = path.split("/")
        if not _is_named(path):
            raise TreeError(
                f"{path[:200]!r} is not a path of a file in this repository, or no diff can say it", locked=True
            )
        if not self.may_change(path):
            allowed = ", ".join(self.editable)
            raise TreeError(f"{path} is locked; files that may change: {allowed}", locked=True)
        if _is_too_long(path):  # a slip of its writer, who touched nothing that is locked
            told = f"a name may have {LONGEST_NAME} bytes, and a path {LONGEST_PATH:,}"
            raise TreeError(f"{path[:60]!r}… is too long: {told}")
        entry = self.base.files.get(path)
        if entry is not None and self.base.text(path) is None:
            what = "a link" if entry.mode == stat.S_IFLNK else f"no text of at most {LARGEST_TEXT:,} bytes"
            raise TreeError(f"{path} is {what}; it stays as it is", locked=True)
        for end in range(1, len(names)):
            if "/".join(names[:end]) in self.base.files:
                raise TreeError(f"{path}: {'/'.join(names[:end])} is a file or a link, not a folder", locked=True)
        if entry is None and (self.base.folder / path).is_dir():
            raise TreeError(f"{path} is a folder", locked=True)

    def searched(self) -> list[str]:
        """Paths of the base that may change and are text."""
        return [p for p in self.base.files if self.may_change(p) and is_path(p) and self.base.text(p) is not None]

    def with_odd_names(self) -> list[str]:
        """Paths of the base that may change but for their names, as they can be shown."""
        return [clean(path) for path in self.base.files if self.may_change(path) and not is_path(path)]

    def in_other_encoding(self) -> list[str]:
        """Paths of the base that may change and look like text, but are no UTF-8."""
        return [p for p in self.base.files if self.may_change(p) and is_path(p) and self.base.is_other_text(p)]


@dataclass(frozen=True, slots=True)
class Tree:
    """`changes`: path → new text, or None where the file is deleted. Only what differs from the base."""

    ground: Ground
    changes: Mapping[str, str | None] = field(default_factory=dict)

    def text(self, path: str) -> str | None:
        """A file's text in this tree; None where there is none, or it is no text."""
        return self.changes[path] if path in self.changes else self.ground.base.text(path)

    def with_file(self, path: str, text: str | None) -> Tree:
        """With another text of one file, or without it. Raises TreeError where that may not be."""
        self.ground.check(path)
        base = self.ground.base.text(path)
        if text is None and self.text(path) is None:
            raise TreeError(f"{path}: it is not there to be deleted")
        if text is not None and len(text.encode("utf-8", "replace")) > LARGEST_TEXT:
            raise TreeError(f"{path}: more than {LARGEST_TEXT:,} bytes")
        if text is not None and base is not None and text == f"{base}\n" and not base.endswith("\n"):
            text = base  # whole files come out of replies with a newline at their end
        others = {name: new for name, new in self.changes.items() if name != path}
        if any(
            name.startswith(f"{path}/") or path.startswith(f"{name}/")
            for name, new in others.items()
            if new is not None
        ):
            raise TreeError(f"{path}: it is a file and a folder")
        return Tree(self.ground, others if text == base else {**others, path: text})

    def files(self, extra: Sequence[str] = ()) -> dict[str, str]:
        """Path → text of the changed files and of `extra`, as they are in this tree."""
        found = {path: self.text(path) for path in (*self.changes, *extra)}
        return {path: text for path, text in found.items() if text is not None}

    def code(self) -> str:
        """As `Node.code`: the base's id and the canonical diff against it."""
        base = self.ground.base
        diff = write_patch({path: (base.text(path), text) for path, text in self.changes.items()})
        return f"{HEAD}{base.id}\n{diff}"

    def normal_hash(self) -> str:
        """Equal for trees that differ only in what Python does not run: comments, layout, names of locals."""
        lines = []
        for path, text in sorted(self.changes.items()):
            form, was = _normal(path, text), _normal(path, self.ground.base.text(path))
            if form != was:
                lines.append(f"{path}\0{form}")
        return sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def read_tree(ground: Ground, code: str) -> Tree:
    """The candidate of a text.

    Raises:
        TreeError: it belongs to another base, does not fit it, or changes what may not be changed.
    """
    first, _, diff = code.partition("\n")
    if first.startswith(HEAD) and first.removeprefix(HEAD).strip() != ground.base.id:
        raise TreeError("the diff is against another base: the folder has changed since")
    try:
        patches = read_patch(diff if first.startswith(HEAD) else code)
        if not patches and not first.startswith(HEAD):
            raise TreeError("it is no diff: a program of a folder is the difference to it, as `git diff` writes it")
        return with_patches(Tree(ground), patches)
    except PatchError as error:
        raise TreeError(str(error)) from error


def with_patches(tree: Tree, patches: Sequence[FilePatch]) -> Tree:
    """The tree with a diff applied to it. Raises PatchError, TreeError."""
    for patch in patches:
        tree.ground.check(patch.path)
        if patch.kind == "added" and tree.text(patch.path) is not None and not patch.hunks:
            continue
        tree = tree.with_file(patch.path, apply_patch(patch, tree.text(patch.path)))
    return tree


def _normal(path: str, text: str | None) -> str:
    if text is None:
        return "-"
    return (ast_hash(text) if path.endswith((".py", ".pyi")) else None) or text_hash(text)
