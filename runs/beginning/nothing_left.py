"""A run that has ended and is taken up again: is there anything left to do?"""

from __future__ import annotations

from typing import Any

from core.storage.begun import begun_steps
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from reports.conclusion import why_ended
from runs.ending.outcome import is_chosen_as_now
from runs.recorded.files import recorded
from runs.search import Search
from utils.config import to_plain
from utils.config_schema import Config


def ended_as_it_is(store: RunStore) -> bool:
    """True where the last process ended the run and recorded its files, and nothing that was proposed is open."""
    with RunReader(store.run_dir) as reader:
        return reader.fact("status") == "finished" and not begun_steps(reader).proposed and recorded(reader)[1]


def nothing_left(store: RunStore, search: Search) -> str:
    """Why a run that has ended would end again at once; '' where there is something to do.

    It would where one of its limits of now is reached, or where nothing is asked of it that was not asked before.
    """
    if search.config.search.ensemble and not _stored_search(store).get("ensemble"):
        return ""  # a blend of the best is wanted now
    if not is_chosen_as_now(search):
        return ""  # the winner would be another choice
    return search.orchestrator.limit() or (_why_ended(store) if _is_as_stored(store, search.config) else "")


def _is_as_stored(store: RunStore, config: Config) -> bool:
    plain, stored = to_plain(config), dict(store.get_fact("config") or {})
    for section in ("project", "logging"):  # where it lies and what is said of it changes nothing
        plain.pop(section, None)
        stored.pop(section, None)
    return plain == stored


def _stored_search(store: RunStore) -> dict[str, Any]:
    return (store.get_fact("config") or {}).get("search") or {}


def _why_ended(store: RunStore) -> str:
    with RunReader(store.run_dir) as reader:
        return why_ended(reader)
