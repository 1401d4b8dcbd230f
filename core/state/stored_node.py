"""StoredNode: what a journal keeps in memory of a node that the store has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import PrivateAttr

from core.state.node import Node
from utils.genes import cut_genes, gene_lengths

Read = Callable[[str], tuple[str, str]]
"""Node id → (program, output), from the store."""
Rest = Callable[[], tuple[Mapping[str, Any], tuple[tuple[str, int], ...]]]
"""→ (the fields of a stored node that are not at hand, names and lengths of its sections), from its row."""
_TEXTS = ("code", "term_out")
AT_HAND = frozenset({
    "id", "step", "operator", "generation", "island", "slot", "metric_value", "fitness", "metric_source",
    "claimed_metric", "is_buggy", "is_valid", "failure", "exec_time", "ctime", "writer", "parent_ids", "parent_id",
    "lower_is_better", "fingerprint", "duplicate_of", "nothing_left", "prompt_tokens", "completion_tokens", "cost_usd",
    "attempts", "interval", "behaviour", "cheap_score", "children_ids", "visits", "total_reward",
})  # fmt: skip
"""What a node that is read back tells without unpacking its row: what an index, a policy, a ladder of looks or a sum
asks of every node."""
_ALWAYS_KEPT = frozenset({"id", "ctime", "is_buggy", "is_valid", "island", "metric_value", "operator", "parent_ids"})
"""What a node draws itself, and what policies read of every node."""
_DEFAULTS = {
    name: field.get_default(call_default_factory=True)
    for name, field in Node.model_fields.items()
    if not field.is_required() and name not in _ALWAYS_KEPT
}
"""Values that a node has unless somebody gave it another."""
_IN_ROW = Node.model_fields.keys() - AT_HAND - set(_TEXTS)
_NONE_SET: set[str] = set()
"""One for all: which fields somebody set is nothing that a node of a journal tells."""


class StoredNode(Node):
    """A Node that holds only what differs from a node's defaults. Its program and output are read when asked for.

    A whole node of 4 KB of code and 300 lines of output takes 25 KB of memory, this 2. One that is read back from the
    store (`from_store`) keeps its row, and unpacks it when a field is asked for that is not in AT_HAND.
    """

    _read: Read | None = PrivateAttr(None)
    _rest: Rest | None = PrivateAttr(None)
    """For a node whose row is not unpacked yet."""
    _code_hash: str = PrivateAttr("")
    """SHA-256 of its program, where it was read back; '' for no program."""
    _cuts: tuple[tuple[str, int], ...] = PrivateAttr(())
    """Names and lengths of its sections, where they are the program cut up."""

    @classmethod
    def of(cls, node: Node, read: Read) -> StoredNode:
        """The same node; `read` must know its texts already."""
        cuts = gene_lengths(node.genes, node.code) if node.genes else ()
        left = {*_TEXTS, "genes"} if cuts else _TEXTS
        own = {name: value for name, value in vars(node).items() if name not in left and not _is_default(name, value)}
        return cls._made(own, {"_read": read, "_cuts": cuts, "_rest": None, "_code_hash": ""})

    @classmethod
    def from_store(cls, own: dict[str, Any], code_hash: str, read: Read, rest: Rest) -> StoredNode:
        """A node as its row tells it.

        Args:
            own: the fields in AT_HAND that differ from a node's defaults, as a node has them: nothing is checked.
            code_hash: SHA-256 of its program, '' for none.
            rest: gives all others; called once, if one is asked for.
        """
        return cls._made(own, {"_read": read, "_cuts": (), "_rest": rest, "_code_hash": code_hash})

    @classmethod
    def _made(cls, own: dict[str, Any], private: dict[str, Any]) -> StoredNode:
        kept = cls.__new__(cls)
        for name, value in (
            ("__dict__", own), ("__pydantic_fields_set__", _NONE_SET), ("__pydantic_extra__", None),
            ("__pydantic_private__", private),
        ):  # fmt: skip
            object.__setattr__(kept, name, value)
        return kept

    @property
    def code_hash(self) -> str:
        """SHA-256 of the program of a node that was read back; '' for no program."""
        return str((self.__pydantic_private__ or {})["_code_hash"])

    def as_of(self, lower_is_better: bool, read: Read | None) -> StoredNode:
        """Itself, once a journal of that direction has taken it in: its texts are read by `read`, if that is given."""
        vars(self)["lower_is_better"] = lower_is_better
        if read is not None and self.__pydantic_private__ is not None:
            self.__pydantic_private__["_read"] = read
        return self

    def glance(self, name: str) -> Any:
        """A field, without keeping what its row unpacks to: for what looks at every node once."""
        if name in _IN_ROW and name not in vars(self) and self._rest is not None:
            return self._rest()[0].get(name, _DEFAULTS.get(name))
        return getattr(self, name)

    def _unpack(self) -> None:
        """Take over what the row holds; what a copy has of its own (`model_copy`) stays. Twice does no harm."""
        if self._rest is not None:
            more, cuts = self._rest()
            for name, value in more.items():
                vars(self).setdefault(name, value)
            self._cuts = cuts
            self._rest = None

    def whole(self) -> Node:
        """With everything in it."""
        return Node.model_construct(**{name: getattr(self, name) for name in Node.model_fields})

    def __getattr__(self, name: str) -> Any:
        """What is not kept: the texts, and what is a default."""
        if name in _TEXTS or name in _IN_ROW:
            private = self.__pydantic_private__ or {}  # by their names its entries take thirty times as long
            if name in _TEXTS:
                return private["_read"](self.id)[_TEXTS.index(name)]
            if private["_rest"] is not None:
                self._unpack()
                if name in vars(self):
                    return vars(self)[name]
            if name == "genes" and private["_cuts"]:
                return cut_genes(self.code, private["_cuts"])
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
