"""Keeping: facts and their events in one sequence, games, and the record of what was asked of models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from pydantic import BaseModel, ConfigDict

from core.state.node import Node
from core.state.task import Task

if TYPE_CHECKING:
    from core.events import Event

STAGES = ("select", "prompt", "reply", "code", "execute", "review")
"""The life of a node; each stage's result is handed to the store before the next begins."""
CONFIRM = "confirm"
"""The stage of a program that is scored several times, before it is committed."""


class EventSink(Protocol):
    """Something that wants to see events after they are stored (live view, metrics files)."""

    def emit(self, event: Event) -> None:
        """Take in one event, which is stored already; called in the order of `seq`."""


class GameBook(Protocol):
    """Finished games of this run: an evaluator looks here before it plays, so that no game is played twice."""

    def get(self, key: str) -> dict[str, Any] | None:
        """The game of that key, or None."""

    def put(self, key: str, game: dict[str, Any], events: Sequence[Event]) -> None:
        """Store a finished game and its events in one transaction."""

    def all(self) -> list[dict[str, Any]]:
        """All games in the order in which they ended."""


class Store(Protocol):
    """The facts of one run. One writer; a fact and its events share a transaction; events get an increasing `seq`.

    A stage and a commit may be stored a little later: whatever is stored or asked next finds them there, and a run that
    is killed before comes to them again, since what was paid for is stored at once.
    """

    def open_round(
        self,
        tasks: Sequence[Task],
        whys: Sequence[dict[str, Any]],
        events: Sequence[Event],
        facts: Mapping[str, Any] | None = None,
        stages: Sequence[Mapping[str, dict[str, Any]]] = (),
    ) -> None:
        """Fix what a round will write, with named facts of it, all or nothing.

        Args:
            whys: one object a task: what the policy said of its choice.
            stages: one object a task, as `stages` returns it: what it takes over of another node.
        """

    def save_stage(self, node_id: str, stage: str, payload: dict[str, Any], events: Sequence[Event] = ()) -> None:
        """What a stage of an open node came to, as plain JSON."""

    def save_stages(self, stage: str, payloads: Mapping[str, dict[str, Any]], events: Sequence[Event] = ()) -> None:
        """One stage of several nodes, by id, all or nothing."""

    def stages(self, node_id: str) -> dict[str, dict[str, Any]]:
        """Stage → what it came to, of a node that is not committed yet."""

    def commit(self, nodes: Sequence[Node], events: Sequence[Event]) -> None:
        """Give nodes their place in the journal, all or nothing."""

    def nodes(self) -> list[Node]:
        """Committed nodes in journal order."""

    def stored_nodes(self) -> Iterator[Node]:
        """The same, read as they are asked for: a long journal does not fit into memory with all its texts."""

    def open_tasks(self, *, withdrawn: bool = False) -> list[Task]:
        """Tasks without a committed node, in (round, slot, attempt) order: where a resumed run goes on.

        Args:
            withdrawn: with those whose ticket is gone and whose turn has not come: until then policies count them.
        """

    def rounds(self) -> int:
        """The number after the highest round that was opened."""

    def put_fact(self, key: str, value: Any, events: Sequence[Event] = (), *, can_be_made_again: bool = False) -> None:
        """A named fact of the run (baselines, shared round data, final result): plain JSON.

        Args:
            can_be_made_again: by what is stored behind it, so that it may wait for the next transaction.
        """

    def get_fact(self, key: str) -> Any | None:
        """The fact of that name, or None."""

    def append(self, events: Sequence[Event]) -> None:
        """Store events that come with no fact."""

    def settle(self) -> None:
        """Store what may wait a little, and tell of it."""


WRITING_ROLES = ("code", "refine")
"""Roles of the calls that ask for a program; the others read results or give directions."""
LOOK = "look"
"""Role of the records that hold what a model looked at before it wrote."""
SESSION = "session"
"""Role of the records that hold what an agent asked its models."""
NO_CALLS = (LOOK, SESSION)
"""Roles of records that are no calls of their own: the reply of an agent's session has counted what it asked."""


class CallRecord(BaseModel):
    """One answered call of a model (or of `rules`), as stored. The pair (request_hash, sample) names it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    request_hash: str
    """SHA-256 of the canonical request: provider, model, messages, tools, sampling options; no key, no URL secrets."""
    sample: str
    """Which draw of the same request: `<run seed>/<node id>/<role>/<attempt>`; a function of counters."""
    node_id: str | None = None
    role: str = "code"
    """`code`, `refine`, `feedback`, `ideas`, …"""
    attempt: int = 0
    provider: str = ""
    model: str = ""
    system: str = ""
    user: str = ""
    tool: str = ""
    """Name of the forced tool, or ''."""
    reply: str = ""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    """None where there is no model (`rules`)."""
    completion_tokens: int | None = None
    cost_usd: float | None = None
    """Dollars; 0.0 for a cached reply, None for `rules`."""
    seconds: float = 0.0
    tries: int = 1
    """HTTP attempts."""
    cached: bool = False

    @property
    def can_be_made_again(self) -> bool:
        """True where the same request is answered the same, for nothing."""
        return self.provider == "rules"


class CallLog(Protocol):
    """Where answered calls are kept: in the run's store, in the transaction that precedes their use.

    One that can be made again may be stored a little later.
    """

    def find_call(self, request_hash: str, sample: str) -> CallRecord | None:
        """The answer to this draw of this request, or None if it was never stored."""

    def hold_call(self, name: str, tokens: int, usd: float) -> None:
        """Before a request leaves: the most it can cost, held for good unless one of the next two lets go of it."""

    def drop_hold(self, name: str) -> None:
        """The request is known to have cost nothing."""

    def save_call(self, record: CallRecord, held: str = "", session: Sequence[CallRecord] = ()) -> None:
        """Store the call with its `llm.called` event, and let go of what was held for it under that name.

        Args:
            session: what an agent asked in it, stored with it, so that a session that is asked again left nothing.
        """
