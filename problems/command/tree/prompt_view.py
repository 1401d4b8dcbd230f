"""What a prompt shows of a tree: a map that never changes, and the files that matter to one program."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from problems.command.tree.tree import Ground, Tree
from utils.globs import matches
from utils.prompt_builder import fence

MAP_LINES = 150
LARGEST_SHOWN = 24_000
"""Bytes of one file; of a larger one its beginning is shown."""
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
    others = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in locked.most_common(20))
    text = f"May change: {', '.join(ground.editable)}\n" + "\n".join(lines)
    return f"{text}\n\nLocked, read-only where the command runs: {others}" if others else text


def relevant(tree: Tree, texts: Iterable[str], room: int) -> list[str]:
    """Paths of the files that a prompt shows: what the program changed, what its output or the task names, be it
    locked, then the smallest that may change, up to `room` bytes together."""
    searched = tree.ground.searched()
    words = {word.strip(".") for text in texts for word in _WORD.findall(text)}
    stems = {_stem(word) for word in words}
    named = [path for path in searched if _stem(path) in stems]
    named += [path for path in _locked_by_name(tree, words, stems) if readable(tree, [path])]
    rest = sorted(searched, key=lambda path: (tree.ground.base.files[path].size, path))
    chosen: list[str] = []
    for path in dict.fromkeys((*(p for p, text in tree.changes.items() if text is not None), *named, *rest)):
        size = min(LARGEST_SHOWN, len((tree.text(path) or "").encode("utf-8", "replace")))
        if tree.text(path) is not None and size <= room:
            chosen.append(path)
            room -= size
    return chosen


def rendered(tree: Tree, paths: Sequence[str]) -> str:
    """Files as they are in a tree, each in a fence below its path."""
    return "\n\n".join(f"{path}\n{fence(_cut(tree.text(path) or ''), _language(path))}" for path in paths)


def readable(tree: Tree, paths: Sequence[str]) -> list[str]:
    """Those of the paths that a writer may see: everything of the repository that is text and not protected."""
    return [p for p in paths if tree.text(p) is not None and not matches(p, tree.ground.protected)]


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
    return f"{path} ({text.count(chr(10))} lines){what}"


def _stem(path: str) -> str:
    return path.rpartition("/")[2]


def _cut(text: str) -> str:
    raw = text.encode("utf-8", "replace")
    if len(raw) <= LARGEST_SHOWN:
        return text
    return raw[:LARGEST_SHOWN].decode(errors="ignore") + f"\n[… {len(raw) - LARGEST_SHOWN:,} bytes left out …]"


def _language(path: str) -> str:
    return {"py": "python", "rs": "rust", "js": "javascript", "ts": "typescript"}.get(
        ending := path.rpartition(".")[2], ending if ending.isalnum() else ""
    )
