"""What a policy counts in the journal while it searches, counted again for whoever reads a stored run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from core.contracts import PolicyDeps
from core.state.journal import Journal
from utils.strategies import POLICIES


def counted_again(search: Mapping[str, Any], read: Callable[[], Journal]) -> Journal | None:
    """The stored journal with the visits and rewards that its nodes had when the last of them was told.

    None, and nothing is read, under a policy that counts none, or that only a plug-in folder knows: a viewer runs no
    code of those.

    Args:
        search: the section `search` of the run's configuration.
        read: gives the journal, with nothing told to a policy yet.
    """
    name = str(search.get("policy", ""))
    spec = POLICIES.get(name) if name in POLICIES.names() else None
    if spec is None or not spec.keeps_statistics:
        return None
    policy = spec.build(spec.options.model_validate(search.get(name) or {}), PolicyDeps(0, _no_selector))
    journal = read()
    for node in list(journal):
        policy.tell(journal, node)
    return journal


def _no_selector(name: str) -> NoReturn:
    raise LookupError(f"a policy that keeps statistics chooses parents itself, and not by '{name}'")
