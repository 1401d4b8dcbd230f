"""The hash over a journal: equal for two searches that tried the same programs in order, with the same scores."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from core.state.node import Node
from core.state.stored_node import StoredNode

_text_of = json.JSONEncoder(sort_keys=True).encode
HASHED = ("id", "parent_ids", "operator", "code", "metric_value", "failure", "signature", "is_valid")


def digest_line(fields: Mapping[str, Any]) -> bytes:
    """What a node adds to `journal_sha256`; `fields` are those of HASHED as JSON has them."""
    return _text_of({name: fields[name] for name in HASHED}).encode()


class JournalDigest:
    """Grows with the journal, or catches up when it is asked for: then programs of older nodes are read."""

    def __init__(self) -> None:
        self._hash = sha256()
        self.count = 0
        """So many of the first nodes are in it."""

    def catch_up(self, nodes: Sequence[Node]) -> str:
        """Take in what of `nodes`, all of the journal, is not in it yet; the hash."""
        for place in range(self.count, len(nodes)):  # `islice` would pass all that stand before it
            self._hash.update(digest_line(_hashed_of(nodes[place])))
        self.count = len(nodes)
        return self._hash.hexdigest()


def _hashed_of(node: Node) -> dict[str, Any]:
    """The fields of HASHED as JSON has them; of a stored node no others are made for it."""
    if not isinstance(node, StoredNode):
        return node.model_dump(mode="json", include=set(HASHED))
    return {name: node.glance(name) for name in HASHED} | {"failure": node.failure and node.failure.value}
