"""Unified diffs over several files: written in one canonical form, read from anybody's, applied to texts.

The canonical form is what `git diff` writes without hashes and what `git apply` and `patch -p1` take. Equal changes
give equal text, so that the text is an identity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from utils.diff import Change, DiffError, apply_diff
from utils.line_matching import line_matcher

Kind = Literal["added", "changed", "deleted"]
_CONTEXT = 3
_HUNK = re.compile(r"^@@ -(\d{1,18})(?:,(\d{1,18}))? \+(\d{1,18})(?:,(\d{1,18}))? @@")
_TREE = re.compile(r"base [0-9a-f]{24}\n")
"""The first line of a diff that is a program: it names the tree."""
_NO_NEWLINE = "\\ No newline at end of file"


class PatchError(ValueError):
    """A diff that cannot be read or does not fit; the text says which file, where and why."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """A run of changed lines with those around it. Lines keep their newline; the last of a file may have none."""

    start: int
    """Line of the old text, from 0, where `old` is expected."""
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a diff does to one file."""

    path: str
    kind: Kind
    hunks: tuple[Hunk, ...]
    text: str
    """Its part of the diff, as it was read."""

    @property
    def counts(self) -> tuple[int, int]:
        """(lines added, lines removed), of its hunks: above them `--- ` names a file, in them it is a line of SQL."""
        marks = [line[:1] for line in self.text.partition("\n@@ ")[2].split("\n")[1:]]
        return marks.count("+"), marks.count("-")


def is_script(text: str) -> bool:
    """True for a file that names its interpreter: a new one can be run as it is."""
    return text.startswith("#!")


def tree_patches(code: str) -> list[FilePatch] | None:
    """What a program changes of the tree that it is a diff against, file by file; None for one of another kind."""
    if not _TREE.match(code):
        return None
    try:
        return read_patch(code.partition("\n")[2])
    except PatchError:
        return None


def write_patch(changes: Mapping[str, tuple[str | None, str | None]]) -> str:
    """The canonical diff of path → (old text, new text); None is a file that is not there. '' where nothing differs."""
    return "".join(_written(path, *changes[path]) for path in sorted(changes))


def read_patch(text: str) -> list[FilePatch]:
    """The files of a diff, in order; whatever stands around them is skipped.

    Raises:
        PatchError: hunks whose counts do not fit their lines, or no file at all where there are hunks.
    """
    lines = text.split("\n")
    found: list[FilePatch] = []
    place = 0
    while place < len(lines):
        if not _begins_file(lines, place):
            if _HUNK.match(lines[place]):
                raise PatchError(f"line {place + 1}: a hunk without `--- a/PATH` and `+++ b/PATH` above it")
            place += 1
            continue
        patch, place = _read_file(lines, place)
        found.append(patch)
    return found


def apply_patch(patch: FilePatch, old: str | None) -> str | None:
    """The file's new text, None where it is deleted.

    Hunks that do not stand where they say are put where their lines are; see `utils.diff.apply_diff`.

    Raises:
        PatchError: the file is not there, or has not the lines that the diff takes away.
    """
    if patch.kind == "deleted":
        if old is None:
            raise PatchError(f"{patch.path}: it is not there to be deleted")
        return None
    if old is None and patch.kind == "changed":
        raise PatchError(f"{patch.path}: there is no such file")
    if patch.kind == "added":
        return "".join(line for hunk in patch.hunks for line in hunk.new)
    lines = _split(old or "")
    shift = 0
    exact = list(lines)
    for hunk in patch.hunks:
        start = hunk.start + shift
        if start > len(exact) or tuple(exact[start : start + len(hunk.old)]) != hunk.old:
            return _by_content(patch, old or "")
        exact[start : start + len(hunk.old)] = hunk.new
        shift += len(hunk.new) - len(hunk.old)
    return "".join(exact)


def changed_text(old: str, changes: Sequence[Change], first: int = 1) -> str:
    """`apply_diff` for files of any line ending; DiffError where a block does not fit."""
    if "\r\n" in old:
        return apply_diff(old.replace("\r\n", "\n"), changes, first).replace("\n", "\r\n")
    return apply_diff(old, changes, first)


def with_line_ends(text: str, old: str | None) -> str:
    """A file's new text, its lines ended as the old one's are; just the old one where nothing else differs."""
    if old is None or "\r\n" not in old:
        return text
    plain, text = old.replace("\r\n", "\n"), text.replace("\r\n", "\n")
    same = text == plain or (text == f"{plain}\n" and not plain.endswith("\n"))
    return old if same else text.replace("\n", "\r\n")


# ---------------------------------------------------------------- writing


def _written(path: str, old: str | None, new: str | None) -> str:
    if old == new:
        return ""
    head = [f"diff --git a/{path} b/{path}\n"]
    if old is None:
        head.append(f"new file mode {'100755' if is_script(new or '') else '100644'}\n")
    elif new is None:
        head.append("deleted file mode 100644\n")
    body = list(_hunks(_split(old or ""), _split(new or "")))
    if body:
        head.append(f"--- {'/dev/null' if old is None else f'a/{path}'}\n")
        head.append(f"+++ {'/dev/null' if new is None else f'b/{path}'}\n")
    return "".join([*head, *body])


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    for group in _groups(old, new):
        low, high = group[0], group[-1]
        yield f"@@ -{_range(low[1], high[2])} +{_range(low[3], high[4])} @@\n"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (_line(" ", line) for line in old[i1:i2])
            else:
                yield from (_line("-", line) for line in old[i1:i2])
                yield from (_line("+", line) for line in new[j1:j2])


def _groups(old: list[str], new: list[str]) -> Iterator[list[tuple[str, int, int, int, int]]]:
    """Groups of changes with their context. Only what lies between common ends is compared: a file may be long."""
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    end = 0
    while end < min(len(old), len(new)) - same and old[-1 - end] == new[-1 - end]:
        end += 1
    low = max(0, same - _CONTEXT)
    tail = max(0, end - _CONTEXT)
    matcher = line_matcher(old[low : len(old) - tail], new[low : len(new) - tail])
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        yield [(tag, i1 + low, i2 + low, j1 + low, j2 + low) for tag, i1, i2, j1, j2 in group]


def _range(start: int, stop: int) -> str:
    count = stop - start
    first = start + 1 if count else start
    return str(first) if count == 1 else f"{first},{count}"


def _line(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n{_NO_NEWLINE}\n"


def _split(text: str) -> list[str]:
    """Lines with their newline; only `\\n` ends one."""
    lines = text.split("\n")
    return [f"{line}\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


# ---------------------------------------------------------------- reading


def _begins_file(lines: list[str], place: int) -> bool:
    if lines[place].startswith("diff --git "):
        return True
    return lines[place].startswith("--- ") and place + 1 < len(lines) and lines[place + 1].startswith("+++ ")


def _read_file(lines: list[str], place: int) -> tuple[FilePatch, int]:
    began = place
    path, kind = "", "changed"
    if lines[place].startswith("diff --git "):
        path = _path_of_head(lines[place].removeprefix("diff --git "))
        place += 1
        while place < len(lines) and not lines[place].startswith(("@@ ", "diff --git ", "--- ")):
            kind = "added" if lines[place].startswith("new file") else kind
            kind = "deleted" if lines[place].startswith("deleted file") else kind
            if not re.match(r"(new|deleted|old|index|similarity|rename|copy|GIT|Binary) ?", lines[place]):
                break
            _check_head(path, lines[place])
            place += 1
    if place < len(lines) and _begins_file(lines, place) and lines[place].startswith("--- "):
        old, new = (_path(lines[place + i]) for i in (0, 1))
        kind = "added" if old is None else "deleted" if new is None else "changed"
        path = new or old or path
        place += 2
    hunks: list[Hunk] = []
    while place < len(lines) and (found := _HUNK.match(lines[place])):
        hunk, place = _read_hunk(lines, place + 1, found)
        hunks.append(hunk)
    if not path:
        raise PatchError(f"line {began + 1}: a file without a name")
    return FilePatch(path, kind, tuple(hunks), "\n".join(lines[began:place]) + "\n"), place  # type: ignore[arg-type]


def _path_of_head(names: str) -> str:
    """Of `a/PATH b/PATH`, where a path may hold ` b/` itself."""
    middle = len(names) // 2
    old, new = names[:middle], names[middle + 1 :]
    return new[2:] if old[:2] == "a/" and new[:2] == "b/" and old[2:] == new[2:] else names.partition(" b/")[2]


def _check_head(path: str, line: str) -> None:
    """Raises PatchError for what no text says: the patch would be taken for less than it means."""
    if line.startswith(("GIT binary patch", "Binary files")):
        raise PatchError(f"{path}: binary files cannot be added or changed; write text")
    if line.startswith("new file mode 120000"):
        raise PatchError(f"{path}: links cannot be added; write a file")
    if line.startswith(("new mode", "old mode")):
        raise PatchError(f"{path}: modes stay as they are; a new file that begins with #! can be run")
    if line.startswith(("rename ", "copy ")):
        raise PatchError(f"{path}: files cannot be renamed or copied by a diff; delete one and write the other")


def _path(line: str) -> str | None:
    """Of a `---` or `+++` line; None for /dev/null."""
    name = line[4:].split("\t")[0].rstrip("\r")
    if name == "/dev/null":
        return None
    return name[2:] if name.startswith(("a/", "b/", "./")) else name


def _read_hunk(lines: list[str], place: int, head: re.Match[str]) -> tuple[Hunk, int]:
    """By its counts; where they do not fit, as models write them, up to the next head."""
    wanted = [int(head[group]) if head[group] is not None else 1 for group in (2, 4)]
    end = place
    left = list(wanted)
    while end < len(lines) and (left[0] > 0 or left[1] > 0 or lines[end] == _NO_NEWLINE):
        mark = lines[end][:1]
        if mark not in ("", " ", "+", "-", "\\"):
            break
        left[0] -= mark in ("", " ", "-")
        left[1] -= mark in ("", " ", "+")
        end += 1
    if any(left) or (end < len(lines) and lines[end][:1] in ("+", "-") and not _begins_file(lines, end)):
        end = place
        while end < len(lines) and lines[end][:1] in (" ", "+", "-", "\\", "") and not _begins_file(lines, end):
            end += 1
        while end > place and lines[end - 1] == "":
            end -= 1
    start = int(head[1]) - (1 if wanted[0] else 0)
    return Hunk(max(0, start), *_sides(lines[place:end])), end


def _sides(body: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    old: list[str] = []
    new: list[str] = []
    last: list[list[str]] = []
    for line in body:
        if line.startswith("\\"):
            for side in last:
                side[-1] = side[-1][:-1]
            continue
        mark, rest = line[:1] or " ", line[1:] + "\n"
        last = [side for side, marks in ((old, " -"), (new, " +")) if mark in marks]
        for side in last:
            side.append(rest)
    return tuple(old), tuple(new)


def _by_content(patch: FilePatch, old: str) -> str:
    changes = [Change("".join(hunk.old), "".join(hunk.new)) for hunk in patch.hunks]
    if any(not change.search.strip() for change in changes):
        raise PatchError(f"{patch.path}: a hunk without lines around it, at another place than it says")
    try:
        return changed_text(old, changes)
    except DiffError as error:
        raise PatchError(f"{patch.path}: {error}") from error
