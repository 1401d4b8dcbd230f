"""StoredNode: what a journal keeps in memory of a node that the store has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import PrivateAttr

from core.state.node import Node
from utils.genes import cut_genes, gene_lengths

Read = Callable[[str], tuple[str, str]]
"""Node id → (program, output), from the store."""
_TEXTS = ("code", "term_out")
_ALWAYS_KEPT = frozenset({"id", "ctime", "is_buggy", "is_valid", "island", "metric_value", "operator", "parent_ids"})
"""What a node draws itself, and what policies read of every node."""
_DEFAULTS = {
    name: field.get_default(call_default_factory=True)
    for name, field in Node.model_fields.items()
    if not field.is_required() and name not in _ALWAYS_KEPT
}
"""Values that a node has unless somebody gave it another."""
_NONE_SET: set[str] = set()
"""One for all: which fields somebody set is nothing that a node of a journal tells."""


class StoredNode(Node):
    """A Node that holds only what differs from a node's defaults. Its program and output are read when asked for.

    A whole node of 4 KB of code and 300 lines of output takes 25 KB of memory, this 2.
    """

    _read: Read | None = PrivateAttr(None)
    _cuts: tuple[tuple[str, int], ...] = PrivateAttr(())
    """Names and lengths of its sections, where they are the program cut up."""

    @classmethod
    def of(cls, node: Node, read: Read) -> StoredNode:
        """The same node; `read` must know its texts already."""
        kept = cls.__new__(cls)
        cuts = gene_lengths(node.genes, node.code) if node.genes else ()
        left = {*_TEXTS, "genes"} if cuts else _TEXTS
        own = {name: value for name, value in vars(node).items() if name not in left and not _is_default(name, value)}
        for name, value in (
            ("__dict__", own), ("__pydantic_fields_set__", _NONE_SET), ("__pydantic_extra__", None),
            ("__pydantic_private__", {"_read": read, "_cuts": cuts}),
        ):  # fmt: skip
            object.__setattr__(kept, name, value)
        return kept

    def whole(self) -> Node:
        """With everything in it."""
        return Node.model_construct(**{name: getattr(self, name) for name in Node.model_fields})

    def __getattr__(self, name: str) -> Any:
        """What is not kept: the texts, and what is a default."""
        if name in _TEXTS:
            assert self._read is not None
            return self._read(self.id)[_TEXTS.index(name)]
        if name == "genes" and self._cuts:
            return cut_genes(self.code, self._cuts)
        if name in _DEFAULTS:
            value = _DEFAULTS[name]
            return dict(value) if isinstance(value, dict) else value
        return super().__getattr__(name)  # type: ignore[misc]

    def __eq__(self, other: object) -> bool:
        whole = other.whole() if isinstance(other, StoredNode) else other
        return bool(self.whole() == whole)

    def model_dump(self, **options: Any) -> dict[str, Any]:
        return self.whole().model_dump(**options)

    def model_dump_json(self, **options: Any) -> str:
        return self.whole().model_dump_json(**options)


def _is_default(name: str, value: Any) -> bool:
    return (
        name in _DEFAULTS
        and name not in _ALWAYS_KEPT
        and type(value) is type(_DEFAULTS[name])
        and bool(value == _DEFAULTS[name])
    )
