"""Replies that change several files: SEARCH/REPLACE blocks, whole files and unified diffs, each under its path.

    src/a.py
    <<<<<<< SEARCH … ======= … >>>>>>> REPLACE

    src/b.py
    ```python
    the whole file
    ```

    DELETE src/c.py

A reply may hold all forms; they are applied in the order in which they stand. Files that somebody hands in take the
same way (`as_reply`), whatever they hold and whatever they are called.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from problems.command.tree.tree import Tree, TreeError, with_patches
from utils.diff import REPLACE, SEARCH, DiffError, parse_diff, together
from utils.fences import less_indented
from utils.patch import PatchError, changed_text, read_patch, with_line_ends
from utils.response import left_out

_FENCE = re.compile(r"^(?P<indent>[ ]*)(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[^`]*)$")
"""In a list's item it is indented, and so are the lines of its file."""
_DELETE = re.compile(r"^[ \t>*-]*DELETE:?[ \t]+(\S.*)$")
_READ = re.compile(r"^[ \t>*-]*READ:?[ \t]+(\S.*)$", re.MULTILINE)
_RANGE = re.compile(r"(?<![ \t:])[ \t:]+(\d{1,7})-(\d{1,7})$")
_DECORATION = re.compile(
    r"[\s#>*`'\"-]*(?:\d{1,3}[.)]\s+[`*'\"]*)?(?:(?:file|path|filename)\s*[:=]\s*)?[`*'\"]*", re.IGNORECASE
)
_BEHIND = "`*'\": \t"
"""What may decorate the end of a line."""
_PATH = re.compile(r"(?=.*[./])[\w.+@=~-][\w.+@=,~/-]*")
_ODD_PATH = re.compile(r"(?=.*/)(?!.*\]\()[\w.+@=~$(\[-][\w.+@=,~/$()\[\]!&'#%-]*\w")
"""`app/(shop)/[id]/page.tsx`: no word of prose, and no link of Markdown."""
_QUOTED = re.compile(
    r"[\s#>*-]*(?:\d{1,3}[.)]\s+)?(?:(?:file|path|filename)\s*[:=]\s*)?`([^`\s](?:[^`]*[^`\s])?)`[\s:*]*", re.IGNORECASE
)
_ENDING = re.compile(r"\.\w{1,10}$")
_MARKDOWN = (".md", ".markdown", ".mdx", ".qmd", ".rmd")
_PROSE = (*_MARKDOWN, ".txt", ".rst")
"""Endings of files in which such a comment is an example."""
WHOLE = "whole"
"""The word at a fence that holds a whole file, whatever stands in it: as files that are handed in are written."""
CRLF = "crlf"
"""Behind it, where the file ends its lines by `\\r\\n`: a reply is read without them."""
MOST_READ = 8
"""Files that a writer is shown when it asks."""


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


def edits_of(reply: str, tree: Tree | None = None) -> tuple[list[Edit], str]:
    """(what a reply does to which files, in order; the plan in front of it).

    Args:
        tree: that it changes: paths that look like prose are known by the files and folders that are there.
    """
    lines = reply.replace("\r\n", "\n").split("\n")
    reader = _Reader(tree)
    found, first = reader.edits(lines, "")
    plan = (line for line in lines[:first] if not reader.path_in(line) and not _FENCE.match(line))
    return [edit for edit in found if edit.form != "unnamed"], "\n".join(plan).strip()


def unnamed_blocks(reply: str, tree: Tree | None = None) -> int:
    """How many fenced blocks have no path above them: nobody can tell what file they are, if they are one."""
    lines = reply.replace("\r\n", "\n").split("\n")
    return sum(edit.form == "unnamed" for edit in _Reader(tree).edits(lines, "")[0])


def read_reply(tree: Tree, reply: str) -> tuple[Tree, str]:
    """(the tree with everything that a reply says, the plan).

    Raises:
        TreeError: it changes nothing, or something that may not be, or something that does not fit: then all of it.
    """
    edits, plan = edits_of(reply, tree)
    misfits: list[str] = []
    blocks: Counter[str] = Counter()
    for edit in edits:
        blocks[edit.path] += edit.form == "blocks"
        try:
            tree = _applied(tree, edit, blocks[edit.path])
        except (DiffError, PatchError) as error:
            where = "" if str(error).startswith(edit.path) or not edit.path else f"{edit.path}: "
            misfits.append(f"{where}{error}")
    if misfits:
        raise TreeError(together(misfits))
    return tree, plan


def asked_files(reply: str, tree: Tree | None = None) -> list[Wanted]:
    """The `READ path` and `READ path 200-400` lines, where a reply does nothing else."""
    if edits_of(reply, tree)[0]:
        return []
    found = (_wanted(line.strip(_AROUND)) for line in _READ.findall(reply))
    return [one for one in dict.fromkeys(found) if " " not in one.path or "/" in one.path or "." in one.path]


def _wanted(text: str) -> Wanted:
    lines = _RANGE.search(text)
    path = text[: lines.start()] if lines else text
    return Wanted(_plain(path.strip(_AROUND)), (int(lines[1]), int(lines[2])) if lines else None)


def as_reply(files: Mapping[str, str | None]) -> str:
    """Whole files, and deletions, as a reply holds them."""
    parts = []
    for path, text in files.items():
        if text is None:
            parts.append(f"DELETE `{path}`\n")
            continue
        longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
        marks = "`" * max(3, longest + 1)
        lines = f"{text.removesuffix(chr(10))}\n" if text else ""
        kind = f"{WHOLE} {CRLF}" if text.count("\r\n") == text.count("\n") > 0 else WHOLE
        parts.append(f"`{path}`\n{marks}{kind}\n{lines}{marks}\n")
    return "\n".join(parts)


_AROUND = "`* \t\r"
"""What may stand around a path behind READ and DELETE."""


@dataclass(frozen=True, slots=True)
class _Reader:
    """Finds the edits in lines.

    Args:
        tree: that they change, where it is known.
    """

    tree: Tree | None

    def edits(self, lines: Sequence[str], path: str) -> tuple[list[Edit], int]:
        """(what lines do, in order; the place of the first that does something).

        A path holds for all SEARCH/REPLACE blocks below it, but for one whole file: a fenced block further down is an
        example, or another file.

        Args:
            path: of the file that they are about until another is named.
        """
        edits: list[Edit] = []
        first = len(lines)
        place = 0
        is_new = bool(path)
        while place < len(lines):
            found, after = self._at(lines, place, path, path if is_new else "")
            edits += found
            if done := [edit for edit in found if edit.form != "unnamed"]:
                first = min(first, place)
                path, is_new = ("" if done[-1].form == "delete" else done[-1].path or path), False
            elif after == place + 1 and (named := self.path_in(lines[place])):
                path, is_new = named, True
            elif after == place + 1 and lines[place].strip() and first == len(lines):
                path = ""
            place = after
        return edits, first

    def _at(self, lines: Sequence[str], place: int, path: str, fresh: str) -> tuple[list[Edit], int]:
        """What begins at a line, and the place behind it.

        Args:
            fresh: the path, where no edit has taken it yet.
        """
        line = lines[place]
        if (deleted := _DELETE.match(line)) and (gone := self._deleted(deleted[1])):
            return [Edit(gone, "", "delete")], place + 1
        if SEARCH.fullmatch(line):
            end = _end_of_block(lines, place)
            return [Edit(path, "\n".join(lines[place : end + 1]), "blocks")], end + 1
        if line.startswith("diff --git ") or _is_diff_head(lines, place):
            end = place + 1
            while end < len(lines) and not self._ends_diff(lines[end]):
                end += 1
            return [Edit("", "\n".join(lines[place:end]) + "\n", "diff")], end
        fence = _FENCE.match(line)
        if fence is None:
            return [], place + 1
        return self._fenced(lines, place, fence, path, fresh)

    def _fenced(
        self, lines: Sequence[str], place: int, fence: re.Match[str], path: str, fresh: str
    ) -> tuple[list[Edit], int]:
        named = self._named_by(fence["info"])
        end = _end_of_fence(lines, place, fence, (named or fresh).lower().endswith(_MARKDOWN))
        body = less_indented(lines[place + 1 : end], len(fence["indent"]))
        text = "\n".join(body) + "\n" if body else ""
        if fence["info"].split()[:1] == [WHOLE] and fresh:
            ended = text.replace("\n", "\r\n") if fence["info"].split()[1:] == [CRLF] else text
            return [Edit(fresh, ended, "whole")], end + 1
        if any(SEARCH.fullmatch(line) for line in body):
            return self.edits(body, named or path)[0], end + 1
        if any(line.startswith("diff --git ") or _is_diff_head(body, i) for i, line in enumerate(body)):
            return [Edit("", text, "diff")], end + 1
        if not (named or fresh):
            return [Edit("", text, "unnamed")], end + 1
        return [Edit(named or fresh, text, "whole")], end + 1

    def _ends_diff(self, line: str) -> bool:
        """True for what stands behind a diff without a fence: another edit, or the path of one."""
        if line.startswith((" ", "+", "-", "@", "\\")):
            return False
        return bool(_FENCE.match(line) or SEARCH.fullmatch(line) or _DELETE.match(line) or self.path_in(line))

    def _deleted(self, words: str) -> str:
        """The path behind DELETE; '' for prose."""
        path = _plain(words.strip(_AROUND))
        if not any(mark.isspace() for mark in path) or words.lstrip().startswith("`"):
            return path
        return path if self._is_there(path) else ""

    def _named_by(self, info: str) -> str:
        """The path in a fence's first line: ```` ```python src/a.py ````, `path=src/a.py`, `python:src/a.py`."""
        for word in info.split():
            if found := self.path_in(re.sub(r"^(?:\w+[=:])+", "", word)):
                return found
        return ""

    def path_in(self, line: str) -> str:
        """The path that a line consists of, whatever decorates it; '' for prose."""
        if (quoted := _QUOTED.fullmatch(line)) and ("/" in quoted[1] or _ENDING.search(quoted[1])):
            return "" if quoted[1].endswith("/") else _plain(quoted[1])
        text = line.strip()
        for _ in range(2):
            found = _DECORATION.match(text)
            text = text[found.end() if found else 0 :].rstrip(_BEHIND)
        text = _plain(text)
        if text.endswith(("/", ".")):
            return ""
        return text if _PATH.fullmatch(text) or _ODD_PATH.fullmatch(text) or self._is_there(text) else ""

    def _is_there(self, text: str) -> bool:
        """True for the path of a file of the tree, or of a new one in a folder of it."""
        if self.tree is None:
            return False
        folder, _, name = text.rpartition("/")
        is_name = bool(_ENDING.search(name)) and "." not in name[: name.rfind(" ") + 1]
        return self.tree.text(text) is not None or (is_name and folder in self.tree.ground.base.folders)


def _plain(path: str) -> str:
    """Without the `./` that a shell would want."""
    return path.removeprefix("./")


def _applied(tree: Tree, edit: Edit, number: int) -> Tree:
    """The tree with one thing done to it; of blocks, `number` says which of its file's they are."""
    if edit.form == "diff":
        return with_patches(tree, read_patch(edit.text))
    path = edit.path or _only(tree)
    if edit.form == "delete":
        return tree.with_file(path, None)
    old = tree.text(path)
    if not path.lower().endswith(_PROSE) and (lacking := left_out(edit.text, [old or ""])):
        raise TreeError(
            f"{path}: a comment in place of lines ({lacking[:80]!r}): write them, or change parts by blocks"
        )
    if edit.form == "whole":
        return tree.with_file(path, with_line_ends(edit.text, old))
    tree.ground.check(path)
    changes = parse_diff(edit.text)
    if old is None and any(change.search.strip() for change in changes):
        raise TreeError(f"{path}: there is no such file; write it whole")
    return tree.with_file(path, changed_text(old or "", changes, number))


def _only(tree: Tree) -> str:
    """The one file that may be meant where a reply names none."""
    paths = tree.ground.searched()
    if len(paths) != 1:
        raise TreeError("write the path of the file on the line above each block")
    return paths[0]


def _end_of_fence(lines: Sequence[str], place: int, opened: re.Match[str], is_markdown: bool) -> int:
    """The line that closes the fence at `place`, or the number of lines. One further in is text of the file.

    In a Markdown file a fence with a language is one of its own, also where its writer took no longer one around it.
    """
    is_inside = False
    for end in range(place + 1, len(lines)):
        found = _FENCE.match(lines[end])
        if found is None or not found["marks"].startswith(opened["marks"]):
            continue
        if len(found["indent"]) > len(opened["indent"]) + 3:
            continue
        if found["info"].strip():
            is_inside = is_inside or is_markdown
        elif is_inside:
            is_inside = False
        else:
            return end
    return len(lines)


def _end_of_block(lines: Sequence[str], place: int) -> int:
    for end in range(place, len(lines)):
        if REPLACE.fullmatch(lines[end]):
            return end
    return len(lines) - 1


def _is_diff_head(lines: Sequence[str], place: int) -> bool:
    return lines[place].startswith("--- ") and place + 1 < len(lines) and lines[place + 1].startswith("+++ ")
