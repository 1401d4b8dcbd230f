"""Policies and selectors of plug-ins, looked at as they are used: what they raise, or wrongly give, is one line."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from core.contracts import ParentSelector, Proposal, SearchPolicy
from core.events import Event
from core.state.journal import Journal
from core.state.node import Node
from core.state.operators import OperatorSpec
from utils.counts import counted
from utils.errors import ConfigError, SwarmEvoError
from utils.user_code import told_fault

T = TypeVar("T")


class PluginPart:
    """A part of the user's, called by its key's name.

    Args:
        key: what named it, as in `search.policy=restarts`.
        contract: whose methods it must have.
        methods: those of them without a default.
        build: gives it, from `arguments`.
    Raises:
        ConfigError: it cannot be built, or lacks a method.
    """

    def __init__(
        self, key: str, contract: type, methods: Sequence[str], build: Callable[..., Any], *arguments: Any
    ) -> None:
        self.key = key
        self._files = {_file_of(build)}
        self.part: Any = self.call("build", lambda: build(*arguments))
        self._files.add(_file_of(type(self.part)))
        for name in methods:
            if getattr(type(self.part), name, None) in (None, vars(contract)[name]):
                raise self.refused(
                    f"build gives {self.part!r:.80}, which has no `{name}`; needed: {', '.join(methods)}"
                )

    def call(self, name: str, ask: Callable[[], T]) -> T:
        """What the user's code gives. ConfigError: what it raised instead, and where."""
        try:
            return ask()
        except SwarmEvoError:
            raise
        except Exception as error:  # another party's code: whatever it raises is told in one line
            raise ConfigError(f"{self.key}: {name} raises {told_fault(error, self._files)}") from error

    def refused(self, what: str) -> ConfigError:
        return ConfigError(f"{self.key}: {what}")


def _file_of(written: object) -> str:
    """Where a class or a function was written."""
    return str(getattr(sys.modules.get(str(getattr(written, "__module__", ""))), "__file__", ""))


class PluginPolicy(SearchPolicy):
    """A policy of a plug-in; it need not inherit ours.

    Args:
        whole_rounds: True: a round may be longer than the steps that are left.
        operators: name → spec of what may be proposed.
    """

    def __init__(self, user: PluginPart, *, whole_rounds: bool, operators: Mapping[str, OperatorSpec]) -> None:
        self._user, self._whole_rounds, self._operators = user, whole_rounds, operators

    @property
    def finished_generations(self) -> int | None:
        return self._user.call("finished_generations", lambda: getattr(self._user.part, "finished_generations", None))

    def ask(self, journal: Journal, rng: random.Random, k: int) -> list[Proposal]:
        proposals: object = self._user.call("ask", lambda: self._user.part.ask(journal, rng, k))
        if not isinstance(proposals, Sequence) or not all(isinstance(one, Proposal) for one in proposals):
            raise self._user.refused(f"ask gives {proposals!r:.80}, not a list of core.contracts.Proposal")
        if len(proposals) > k and not self._whole_rounds:
            raise self._user.refused(f"ask({k}) gives {counted(len(proposals), 'proposal')}; allowed: 1 to {k}, or []")
        for proposal in proposals:
            self._check(journal, proposal)
        return list(proposals)

    def _check(self, journal: Journal, proposal: Proposal) -> None:
        unknown = next((parent for parent in proposal.parents if parent not in journal), None)
        if unknown is not None:
            raise self._user.refused(f"ask proposes the parent {unknown!r:.60}; no node has that id")
        needed = self._operators[proposal.operator].parents if proposal.operator in self._operators else 0
        if len(proposal.parents) < needed:
            raise self._user.refused(
                f"ask proposes {proposal.operator} with {counted(len(proposal.parents), 'parent')}; it needs {needed}"
            )

    def tell(self, journal: Journal, node: Node) -> None:
        self._user.call("tell", lambda: self._user.part.tell(journal, node))

    def drain_events(self) -> list[Event]:
        return self._user.call("drain_events", lambda: getattr(self._user.part, "drain_events", list)())


class PluginSelector(ParentSelector):
    """A parent selector of a plug-in."""

    def __init__(self, user: PluginPart) -> None:
        self._user = user

    def select(self, pool: Sequence[Node], k: int, rng: random.Random) -> list[Node]:
        chosen: object = self._user.call("select", lambda: self._user.part.select(pool, k, rng))
        known = {node.id for node in pool}
        if not isinstance(chosen, Sequence) or not all(isinstance(node, Node) and node.id in known for node in chosen):
            raise self._user.refused(f"select gives {chosen!r:.80}, not a list of nodes of the pool")
        if len(chosen) > k or len({node.id for node in chosen}) < len(chosen):
            raise self._user.refused(
                f"select(…, {k}, …) gives {counted(len(chosen), 'node')}; allowed: up to {k}, each once"
            )
        return list(chosen)
