"""Replies that change several files: SEARCH/REPLACE blocks, whole files and unified diffs, each under its path.

    src/a.py
    <<<<<<< SEARCH … ======= … >>>>>>> REPLACE

    src/b.py
    ```python
    the whole file
    ```

    DELETE src/c.py

A reply may hold all forms; they are applied in the order in which they stand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from problems.command.tree.tree import Tree, TreeError, with_patches
from utils.diff import DiffError, parse_diff
from utils.patch import PatchError, changed_text, read_patch

_FENCE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,})[ \t]*([^`]*)$")
_SEARCH = re.compile(r"^<{5,9} SEARCH[ \t]*$")
_REPLACE = re.compile(r"^>{5,9} REPLACE[ \t]*$")
_DELETE = re.compile(r"^[ \t>*-]*DELETE:?[ \t]+`?([^\s`]+)`?[ \t]*$")
_READ = re.compile(r"^[ \t>*-]*READ:?[ \t]+`?([^\s`]+?)`?(?:[ \t:]+(\d{1,7})-(\d{1,7}))?`?[ \t]*$", re.MULTILINE)
_DECORATION = re.compile(r"[\s#>*`'\"-]*(?:(?:file|path|filename)\s*[:=]\s*)?[`*'\"]*", re.IGNORECASE)
_BEHIND = "`*'\": \t"
"""What may decorate the end of a line."""
_PATH = re.compile(r"(?=.*[./])[\w.+@=~-][\w.+@=,~/-]*")
_MOST_READ = 8


@dataclass(frozen=True, slots=True)
class Edit:
    """One thing that a reply does."""

    path: str
    """'' where the reply names none."""
    text: str
    form: str
    """`whole`, `blocks`, `diff` or `delete`."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A file that a writer asks for."""

    path: str
    lines: tuple[int, int] | None = None
    """Of them the first and the last, from 1; None: all."""


def edits_of(reply: str) -> tuple[list[Edit], str]:
    """(what a reply does to which files, in order; the plan in front of it)."""
    lines = reply.replace("\r\n", "\n").split("\n")
    edits, first = _edits(lines, "")
    plan = (line for line in lines[:first] if not _path_in(line) and not _FENCE.match(line))
    return edits, "\n".join(plan).strip()


def read_reply(tree: Tree, reply: str) -> tuple[Tree, str]:
    """(the tree with everything that a reply says, the plan).

    Raises:
        TreeError: it changes nothing, or something that does not fit or may not be.
    """
    edits, plan = edits_of(reply)
    for edit in edits:
        try:
            tree = _applied(tree, edit)
        except (DiffError, PatchError) as error:
            where = "" if str(error).startswith(edit.path) or not edit.path else f"{edit.path}: "
            raise TreeError(f"{where}{error}") from error
    return tree, plan


def asked_files(reply: str) -> list[Wanted]:
    """The `READ path` and `READ path 200-400` lines, where a reply does nothing else."""
    found = [] if edits_of(reply)[0] else _READ.findall(reply)
    return [Wanted(path, (int(first), int(last)) if first else None) for path, first, last in dict.fromkeys(found)][
        :_MOST_READ
    ]


def as_reply(files: Mapping[str, str | None]) -> str:
    """Whole files, and deletions, as a reply holds them."""
    parts = []
    for path, text in files.items():
        if text is None:
            parts.append(f"DELETE {path}\n")
            continue
        longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
        marks = "`" * max(3, longest + 1)
        parts.append(f"{path}\n{marks}\n{text.removesuffix(chr(10))}\n{marks}\n")
    return "\n".join(parts)


def _edits(lines: Sequence[str], path: str) -> tuple[list[Edit], int]:
    """(what lines do, in order; the place of the first that does something).

    Args:
        path: of the file that they are about until another is named.
    """
    edits: list[Edit] = []
    first = len(lines)
    place = 0
    while place < len(lines):
        found, after = _edits_at(lines, place, path)
        if found:
            first = min(first, place)
            edits += found
            path = found[-1].path or path
        elif after == place + 1:
            path = _path_in(lines[place]) or (path if edits or not lines[place].strip() else "")
        place = after
    return edits, first


def _edits_at(lines: Sequence[str], place: int, path: str) -> tuple[list[Edit], int]:
    """What begins at a line, and the place behind it."""
    line = lines[place]
    if deleted := _DELETE.match(line):
        return [Edit(deleted[1], "", "delete")], place + 1
    if _SEARCH.match(line):
        end = _end_of_block(lines, place)
        return [Edit(path, "\n".join(lines[place : end + 1]), "blocks")], end + 1
    if line.startswith("diff --git ") or _is_diff_head(lines, place):
        end = place
        while end < len(lines) and not _FENCE.match(lines[end]):
            end += 1
        return [Edit("", "\n".join(lines[place:end]) + "\n", "diff")], end
    fence = _FENCE.match(line)
    if fence is None:
        return [], place + 1
    return _fenced(lines, place, fence, path)


def _fenced(lines: Sequence[str], place: int, fence: re.Match[str], path: str) -> tuple[list[Edit], int]:
    end = place + 1
    while end < len(lines) and not ((m := _FENCE.match(lines[end])) and m[1].startswith(fence[1]) and not m[2].strip()):
        end += 1
    body = list(lines[place + 1 : end])
    named = _named_by(fence[2]) or path
    if any(_SEARCH.match(line) for line in body):
        return _edits(body, named)[0], end + 1
    if any(line.startswith("diff --git ") or _is_diff_head(body, i) for i, line in enumerate(body)):
        return [Edit("", "\n".join(body) + "\n", "diff")], end + 1
    if not named:
        return [], end + 1
    return [Edit(named, "\n".join(body) + "\n" if body else "", "whole")], end + 1


def _applied(tree: Tree, edit: Edit) -> Tree:
    if edit.form == "diff":
        return with_patches(tree, read_patch(edit.text))
    path = edit.path or _only(tree)
    if edit.form == "delete":
        return tree.with_file(path, None)
    if edit.form == "whole":
        return tree.with_file(path, edit.text)
    tree.ground.check(path)
    old = tree.text(path)
    changes = parse_diff(edit.text)
    if not changes:
        raise TreeError(f"{path}: a SEARCH/REPLACE block without its end")
    if old is None and any(change.search.strip() for change in changes):
        raise TreeError(f"{path}: there is no such file; write it whole")
    return tree.with_file(path, changed_text(old or "", changes))


def _only(tree: Tree) -> str:
    """The one file that may be meant where a reply names none."""
    paths = tree.ground.searched()
    if len(paths) != 1:
        raise TreeError("write the path of the file on the line above each block")
    return paths[0]


def _end_of_block(lines: Sequence[str], place: int) -> int:
    for end in range(place, len(lines)):
        if _REPLACE.match(lines[end]):
            return end
    return len(lines) - 1


def _is_diff_head(lines: Sequence[str], place: int) -> bool:
    return lines[place].startswith("--- ") and place + 1 < len(lines) and lines[place + 1].startswith("+++ ")


def _named_by(info: str) -> str:
    """The path in a fence's first line: ```` ```python src/a.py ````, `path=src/a.py`, `python:src/a.py`."""
    for word in info.split():
        if found := _path_in(re.sub(r"^(?:\w+[=:])+", "", word)):
            return found
    return ""


def _path_in(line: str) -> str:
    """The path that a line consists of, whatever decorates it; '' for prose."""
    text = line.strip()
    for _ in range(2):
        found = _DECORATION.match(text)
        text = text[found.end() if found else 0 :].rstrip(_BEHIND)
    return text if _PATH.fullmatch(text) and not text.endswith(("/", ".")) else ""
