"""Which programs are known already: by their text, and by their syntax tree for what is Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from core.state.failure import FailureKind
from core.state.findings import Rung
from core.state.fingerprint import text_hash
from core.state.node import Node

_REMEMBERED = 256
"""Programs whose syntax tree is kept as a hash: each is looked up before it is appended, and a window of a pipeline may
stand between."""


class Fingerprint(NamedTuple):
    """What two programs that are the same have in common."""

    text: str
    """Hash of the text."""
    tree: str
    """Hash of the syntax tree; '' where there is none."""

    def is_same(self, other: Fingerprint) -> bool:
        return self.text == other.text or (bool(self.tree) and self.tree == other.tree)


class ProgramIndex:
    """Finds an earlier node with the same program.

    Args:
        normal_hash: equal for programs that behave alike; None where nothing is known of that. Not every program is
            Python: to Python a file of `#define` lines is empty.
    """

    def __init__(self, normal_hash: Callable[[str], str | None]) -> None:
        self._by_text: dict[str, str] = {}
        self._by_tree: dict[str, str] = {}
        self._tree_hash = lru_cache(maxsize=_REMEMBERED)(normal_hash)

    def fingerprint(self, code: str) -> Fingerprint:
        return Fingerprint(text_hash(code), self._tree_hash(code) or "")

    def stored_form(self, node: Node) -> str:
        """`Node.fingerprint`. It is stored, so that ten thousand programs are read back without parsing one of them."""
        if not node.code:
            return node.fingerprint
        text = text_hash(node.code)[:16]
        if node.fingerprint.partition(":")[0] == text:
            return node.fingerprint
        return f"{text}:{self._tree_hash(node.code) or ''}"

    def add(self, node: Node) -> None:
        """Note the program of a node that carries its fingerprint. Of a lost one nothing is known: it may run again."""
        if node.code:
            self.add_known(node, text_hash(node.code))

    def add_known(self, node: Node, code_hash: str) -> None:
        """The same for a node whose program is not at hand.

        Args:
            code_hash: of its text; '' for no program.
        """
        if not code_hash or node.failure is FailureKind.LOST_WORKER:
            return
        self._by_text.setdefault(code_hash, node.id)
        tree = node.fingerprint.partition(":")[2]
        if tree:
            self._by_tree.setdefault(tree, node.id)

    def find(self, code: str) -> tuple[str, Rung] | None:
        """(id of the first node with the same program, whether by `text` or by `ast`); None if it is new."""
        program = self.fingerprint(code)
        if program.text in self._by_text:
            return self._by_text[program.text], "text"
        return (self._by_tree[program.tree], "ast") if program.tree in self._by_tree else None

    def has(self, program: Fingerprint) -> bool:
        return program.text in self._by_text or program.tree in self._by_tree
