"""What a prompt shows of a tree: a map that never changes, and the files that matter to one program."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from problems.command.tree.imported_files import led_to
from problems.command.tree.replies import Wanted
from problems.command.tree.tree import Ground, Tree
from problems.user_files import is_login
from utils.clean_text import one_line
from utils.counts import counted
from utils.globs import matches
from utils.patch import write_patch
from utils.prompt_text import fence, shorten

MAP_LINES = 150
_DEFINED = re.compile(
    r"^(?:export |pub |public |static |async )*(?:def|class|func|fn|function|struct|impl) +(\w+)", re.M
)
_NAMES_SHOWN = 8
_WORD = re.compile(r"[\w.+@=~-]+(?:/[\w.+@=~-]+)*")


def map_of(ground: Ground) -> str:
    """The files that may change, with what they define, and how many others there are."""
    paths = sorted(ground.searched())
    lines = [_line(ground, path) for path in paths[:MAP_LINES]]
    if len(paths) > MAP_LINES:
        lines.append(f"… and {len(paths) - MAP_LINES} more")
    locked = Counter(path.partition("/")[0] for path in ground.base.files if not ground.may_change(path))
    most = [(one_line(name), count) for name, count in locked.most_common(20)]
    others = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in most)
    text = f"May change: {', '.join(ground.editable)}\n" + "\n".join(lines)
    return f"{text}\n\nLocked, read-only where the command runs: {others}" if others else text


def relevant(tree: Tree, texts: Iterable[str], room: int) -> list[str]:
    """Paths of the files that a prompt shows, up to `room` bytes together: what the program changed, what its output or
    the task names, be it locked, then those that these import, then the smallest that may change. The first may change,
    and is shown however long."""
    searched = tree.ground.searched()
    words = {word.strip(".") for text in texts for word in _WORD.findall(text)}
    stems = {_stem(word) for word in words}
    locked = [path for path in _locked_by_name(tree, words, stems) if readable(tree, [path])]
    there = [path for path in (*tree.changes, *searched) if tree.text(path) is not None]
    changed = [path for path in there if path in tree.changes or _stem(path) in stems]
    smallest = sorted(searched, key=lambda path: (tree.ground.base.files[path].size, path))
    rest = [*led_to(tree, [*changed, *locked], there, room), *smallest]
    chosen: list[str] = []
    for path in dict.fromkeys((*(changed or rest[:1]), *locked, *rest)):
        size = _size(tree, path)
        if tree.text(path) is not None and (size <= room or (room and not chosen)):
            chosen.append(path)
            room = max(0, room - size)
    return chosen


def rendered(tree: Tree, paths: Sequence[str], room: int) -> str:
    """Files as they are in a tree, each in a fence below its path; what is longer than `room` bytes is cut."""
    return "\n\n".join(f"{path}\n{fence(_cut(tree, path, room), _language(path))}" for path in paths)


def excerpts(tree: Tree, wanted: Sequence[Wanted], room: int) -> str:
    """What a writer asked for, in its order, within `room` bytes together."""
    shown = []
    for one in wanted:
        lines = (tree.text(one.path) or "").split("\n")
        first, last = one.lines or (1, len(lines))
        text = shorten("\n".join(lines[max(0, first - 1) : last]), room)
        room = max(0, room - len(text.encode("utf-8", "replace")))
        there = len(lines) - (not lines[-1])  # what ends with a newline has no further line behind it
        where = f"{one.path}, lines {first} to {min(last, there)}" if one.lines else one.path
        shown.append(f"{where}\n{fence(text, _language(one.path))}")
    return "\n\n".join(shown)


def left_out(tree: Tree, shown: Sequence[str]) -> str:
    """A line on the files that the program changed and that found no room; '' where all are shown."""
    hidden = [path for path, text in tree.changes.items() if text is not None and path not in shown]
    return f"Changed as well, and too long to be shown here: {', '.join(hidden)}." if hidden else ""


def difference(tree: Tree, other: Tree) -> str:
    """What a tree has otherwise than another, as a diff against it."""
    paths = sorted({*tree.changes, *other.changes})
    return write_patch({path: (other.text(path), tree.text(path)) for path in paths})


def readable(tree: Tree, paths: Sequence[str]) -> list[str]:
    """Those of the paths that a writer may see: all text of the repository that is not protected, and no login."""
    return [p for p in paths if tree.text(p) is not None and not is_hidden(tree.ground, p)]


def is_hidden(ground: Ground, path: str) -> bool:
    """True for what is protected or grades, and for a login that nobody has said may change."""
    kept = matches(path, ground.protected) or path in ground.hidden
    return kept or (is_login(path) and not ground.may_change(path))


def _locked_by_name(tree: Tree, words: set[str], stems: set[str]) -> list[str]:
    """Files that may not change and are meant by a word: by their path, or by a name that no other file has."""
    ground = tree.ground
    locked = [path for path in ground.base.files if _stem(path) in stems and not ground.may_change(path)]
    alike = Counter(map(_stem, locked))
    return [p for p in locked if alike[_stem(p)] == 1 or any(word == p or word.endswith(f"/{p}") for word in words)]


def _line(ground: Ground, path: str) -> str:
    text = ground.base.text(path) or ""
    names = _DEFINED.findall(text)
    more = ", …" if len(names) > _NAMES_SHOWN else ""
    what = f": {', '.join(names[:_NAMES_SHOWN])}{more}" if names else ""
    return f"{path} ({counted(text.count(chr(10)), 'line')}){what}"


def _stem(path: str) -> str:
    return path.rpartition("/")[2]


def _size(tree: Tree, path: str) -> int:
    return len((tree.text(path) or "").encode("utf-8", "replace"))


def _cut(tree: Tree, path: str, room: int) -> str:
    """A file's text; of one that is too long its beginning and its end, and how the rest can be had."""
    text = tree.text(path) or ""
    if _size(tree, path) <= room:
        return text
    told = f"\n[{counted(text.count(chr(10)), 'line')}; `READ {path} 200-400` shows lines of it]"
    return shorten(text, room) + told


def _language(path: str) -> str:
    return {"py": "python", "rs": "rust", "js": "javascript", "ts": "typescript"}.get(
        ending := path.rpartition(".")[2], ending if ending.isalnum() else ""
    )
