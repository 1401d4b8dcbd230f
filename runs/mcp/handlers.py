"""Which function answers which tool. Each is imported when it is first called: a server is ready before."""

from __future__ import annotations

import errno
import sys
import time
import traceback
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any

from runs.mcp.language import spoken
from runs.mcp.tools import ROLES
from utils.clean_text import one_line
from utils.counts import counted
from utils.errors import SwarmEvoError, UnknownNodeError, UnknownRunError
from utils.mcp_protocol import Call, Handler

_ROLE = {tool.name: role for role, tools in ROLES.items() for tool in tools}
_PLACE = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR})
"""What a place is at fault for that the client named."""
LONGEST_ERROR = 2000
"""Characters of an error: most of a longer one is what the client itself has written."""
_LOOK = 1.0
"""Seconds between two looks at a run that somebody waits for."""
_HELP = {
    "ask": ("list_runs", "plan_run"), "wait": ("list_runs", "ask"), "give_up": ("ask",),
    "start_run": ("plan_run",), "stop_run": ("status", "resume_run"), "resume_run": ("status", "plan_run"),
    "note": ("resume_run",), "export_best": ("status", "resume_run"),
    **dict.fromkeys((tool.name for tool in ROLES["reader"]), ("list_runs",)),
}  # fmt: skip
"""Tool → what helps, best first, where it failed for another reason. Of the others the arguments have to be mended."""


def handler_of(project_dir: Callable[[], str], served: Collection[str]) -> Handler:
    """Answers every tool for the runs of a project folder. `next` is one of those that are served, or None.

    Args:
        project_dir: says where it is; asked at the first call, since the configuration takes a moment to read.
        served: names of the tools that the client has.
    """
    folder = lru_cache(project_dir)

    @lru_cache
    def ticket_tools() -> Any:
        from runs.mcp.ticket_tools import TicketTools

        return TicketTools(folder, served)

    def answer(name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        if name == "wait" and "ticket" not in arguments:
            return _wait_for_run(folder(), arguments, call)
        if _ROLE[name] == "writer":
            return dict(getattr(ticket_tools(), name)(arguments, call))
        if _ROLE[name] == "operator":
            from runs.mcp import operator_tools

            return dict(getattr(operator_tools, name)(folder(), arguments, call))
        from runs.mcp import reading_tools

        return dict(getattr(reading_tools, "why_" if name == "why" else name)(folder(), arguments))

    def first(*names: str | None) -> str | None:
        return next((name for name in names if name in served), None)

    def handle(name: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
        try:
            found = answer(name, arguments, call)
        except SwarmEvoError as error:
            return {"error": spoken(one_line(str(error), LONGEST_ERROR)), "next": first(*_help(name, error, folder))}
        except Exception as error:  # noqa: BLE001 - a fault of one call is told to its client, and the server lives on
            if isinstance(error, OSError) and error.errno in _PLACE:
                where = one_line(str(error.filename or ""), 100)
                return {"error": f"{name}: {where} cannot be used ({error.strerror})", "next": first(name)}
            if isinstance(error, RecursionError):
                return {"error": f"{name}: an argument is nested too deep", "next": first(name)}
            traceback.print_exc(file=sys.stderr)
            said = one_line(f"{name} failed inside: {type(error).__name__}: {error}")
            return {"error": said, "next": first("status")}
        return {**found, "next": first(found.get("next"))}

    return handle


def _help(name: str, error: SwarmEvoError, project_dir: Callable[[], str]) -> tuple[str, ...]:
    """The tools to call after `name` failed, best first. Where the project's folder is, is asked for an unknown run
    alone: that it cannot be said may be the error."""
    if isinstance(error, UnknownNodeError):
        return ("top",)
    if isinstance(error, UnknownRunError):
        from runs.run_folder import all_runs

        return ("list_runs", "plan_run") if all_runs(project_dir()) else ("plan_run", "list_runs")
    return _HELP.get(name, (name,))


def _wait_for_run(project_dir: str, arguments: dict[str, Any], call: Call) -> dict[str, Any]:
    """The state of a run, at once when it has ended, else after the time that was asked for."""
    from runs.mcp.reading_tools import status

    until = time.monotonic() + min(20.0, float(arguments.get("wait_s", 20.0)))
    while True:
        found = status(project_dir, arguments)
        if found["status"] != "running" or time.monotonic() >= until or call.cancelled.is_set():
            return found
        call.progress(f"{counted(found['steps'], 'step')}, best {(found['best'] or {}).get('metric')}")
        time.sleep(min(_LOOK, max(0.0, until - time.monotonic())))
