"""The tickets of a run in the process that holds it: their queue, and the socket on which they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from core.backend.providers import spec_of
from core.backend.roles import model_settings
from core.storage.repository import RunStore
from runs.interrupts import Interrupts
from runs.parts.deadline import Deadline
from runs.search import Search
from runs.tickets.answers import TicketApi
from runs.tickets.queue import Stops, TicketQueue
from runs.tickets.server import TicketServer
from utils.config_schema import Config


def open_queue(
    config: Config,
    store: RunStore,
    interrupts: Interrupts,
    deadline: Callable[[], Deadline],
    idle: float | None,
    awake: Callable[[], float],
) -> TicketQueue | None:
    """The queue where programs come from outside; None where a model or `rules` is asked.

    Args:
        deadline: of the search, asked for once it waits.
        idle: seconds without a call after which the process ends.
        awake: seconds in which this process ran.
    """
    if not spec_of(model_settings(config.llm, plugins=config.plugin_folders)["code"]).is_outside:
        return None
    stops = Stops(interrupts.finish, interrupts.now, lambda: deadline().seconds_left(), idle, lambda: deadline().limit)
    return TicketQueue(store, stops, config.llm.ticket_seconds, steady=awake)


def serve(queue: TicketQueue, search: Search, run_dir: Path, store: RunStore, stack: ExitStack) -> None:
    """Answer for the queue on the run's socket until `stack` is closed; then all waiting ends."""
    queue.waits_for = search.orchestrator.waits_for
    store.sinks.append(queue)
    server = TicketServer(run_dir, TicketApi(queue, search).answer)
    stack.callback(server.close)
    stack.callback(queue.end)
