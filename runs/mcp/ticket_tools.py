"""The writer's tools: `ask`, `check`, `tell`, `wait`, `give_up` of any run of the project folder."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from core.contracts import FORM
from core.storage.held import is_held
from runs.run_folder import find_run
from runs.tickets.client import ask_the_run
from runs.tickets.folder import left_behind, read_folder, write_folder
from runs.tickets.names import split_ticket
from runs.tickets.words import MCP, MCP_WRITER
from swarm_evo.leases import adopted, new_token
from utils.errors import ConfigError
from utils.mcp_protocol import Call

LONGEST_WAIT = 20.0
"""Seconds of one call: clients give up after a minute, some after less."""
LONGEST = 23.0
"""Seconds after which a call has its answer, whatever had to be started for it."""
_LOOK = 0.1
ENDS = "the run's process is at its last part, the final score: wait without a ticket until `status` is not running"
_BETWEEN = 5.0
"""Seconds between two words of progress."""
Answer = dict[str, Any]


class TicketTools:
    """Thread-safe. A ticket is told as RUN/NODE.TOKEN, so that it needs no other word to be found again.

    Args:
        served: names of the tools that the client has.
    """

    def __init__(self, project_dir: Callable[[], str], served: Collection[str]) -> None:
        self._project_dir = project_dir
        self._surface = MCP if "stop_run" in served else MCP_WRITER
        """Who runs the search may free what another writer holds; a writer frees its own."""
        self._orphans: dict[Path, list[str]] = {}
        """Run's folder → tokens of processes that are gone, whose tickets nobody has got yet."""
        self._lock = threading.Lock()

    def ask(self, arguments: Answer, call: Call) -> Answer:
        """A ticket of a process that was killed, or a new one."""
        if arguments.get("ticket"):
            run_dir, ticket = self._ticket(arguments, "ask for")
            is_another = not split_ticket(ticket)[1]
            mine = {"token": new_token(run_dir)} if is_another else {}  # it is this process's from here on
            again = {"verb": "ask", "ticket": ticket, "holder": _holder(call), **mine}
            return self._laid_out(run_dir, _asked(run_dir, again, call, _end()), arguments)
        run_dir = self._run(arguments)
        with self._lock:
            known = self._orphans[run_dir] = self._orphans.get(run_dir, []) + adopted(run_dir)
        token = new_token(run_dir)
        request = {"verb": "ask", "token": token, "known": known, "holder": _holder(call)}
        request["surface"] = self._surface
        found = _until(run_dir, request, arguments, call, "waiting for a proposal", _has_none)
        with self._lock:
            left = [one for one in self._orphans[run_dir] if not str(found.get("ticket")).endswith(one)]
            unheard = [token] if found.get("state") == "refused" else []  # it may be leased all the same
            self._orphans[run_dir] = left + unheard
        if call.cancelled.is_set() and found.get("ticket"):
            _asked(run_dir, {"verb": "give_up", "ticket": found["ticket"]}, call, _end())
        return self._laid_out(run_dir, found, arguments)

    def check(self, arguments: Answer, call: Call) -> Answer:
        run_dir, ticket = self._ticket(arguments)
        found = _asked(run_dir, {"verb": "check", "ticket": ticket, **_program(arguments)}, call, _end())
        found = _with_folder(found, arguments)
        if "state" in found:  # of the ticket: nothing was looked at
            return _told(found, run_dir)
        return {**found, "next": "tell" if found["ok"] else "check"}

    def tell(self, arguments: Answer, call: Call) -> Answer:
        run_dir, ticket = self._ticket(arguments)
        request = {"verb": "tell", "ticket": ticket, **_program(arguments), "plan": str(arguments.get("note", ""))}
        found = _until(run_dir, request, arguments, call, "the program is being evaluated", _is_running)
        return _told(_with_folder(found, arguments), run_dir)

    def wait(self, arguments: Answer, call: Call) -> Answer:
        run_dir, ticket = self._ticket(arguments)
        request = {"verb": "wait", "ticket": ticket}
        return _told(_until(run_dir, request, arguments, call, "the program is being evaluated", _is_running), run_dir)

    def give_up(self, arguments: Answer, call: Call) -> Answer:
        run_dir, ticket = self._ticket(arguments, "give up")
        return _told(_asked(run_dir, {"verb": "give_up", "ticket": ticket}, call, _end()), run_dir)

    # ------------------------------------------------------------ parts

    def _run(self, arguments: Answer) -> Path:
        return find_run(self._project_dir(), str(arguments.get("run") or "latest"))

    def _ticket(self, arguments: Answer, verb: str = "") -> tuple[Path, str]:
        """(run's folder, the ticket as the run knows it).

        Args:
            verb: what may be done to another's ticket too, by its node's id, unless one writes and does not lead.
        """
        run, _, ticket = str(arguments["ticket"]).rpartition("/")
        run_dir = find_run(self._project_dir(), run or "latest")
        if verb and not split_ticket(ticket)[1] and self._surface == MCP_WRITER:
            raise ConfigError(f"ticket={ticket}: {verb} your own, as ask gave it; others are the user's to free")
        return run_dir, ticket

    def _laid_out(self, run_dir: Path, found: Answer, arguments: Answer) -> Answer:
        if not found.get("ticket"):
            return _told(found, run_dir)
        ticket = {**found, "ticket": f"{run_dir.name}/{found['ticket']}", "prompt": _as_tools_say(found["prompt"])}
        if arguments.get("dir"):
            folder = Path(str(arguments["dir"]))
            write_folder(folder, {**ticket, "prompt": found["prompt"]}, run_dir, MCP)
            names = sorted(ticket.pop("files"))
            ticket |= {"prompt": {}, "task": str(folder / "TASK.md"), "files": dict.fromkeys(names, f"in {folder}")}
        return {"run": run_dir.name, **ticket}


def _program(arguments: Answer) -> Answer:
    """The files of a call as the run takes them.

    Raises:
        ConfigError: neither or both ways to hand them in.
    """
    ways = [name for name in ("dir", "files", "nothing_left") if name in arguments]
    if len(ways) != 1:
        raise ConfigError("hand in `files`, or the `dir` that ask filled")
    if "nothing_left" in ways:
        return {"nothing_left": arguments["nothing_left"]}
    if "dir" in arguments:
        return {"files": read_folder(Path(str(arguments["dir"])), MCP)}
    return {"files": arguments["files"]}


def _with_folder(found: Answer, arguments: Answer) -> Answer:
    """The answer, with what lies in the folder for nothing."""
    said = left_behind(Path(str(arguments["dir"]))) if "dir" in arguments else []
    return {**found, "warnings": [*found.get("warnings", ()), *said]} if said else found


def _until(
    run_dir: Path, request: Answer, arguments: Answer, call: Call, doing: str, goes_on: Callable[[Answer], bool]
) -> Answer:
    """Ask the same again while nothing has come of it, within the call's time; the client hears that it goes on."""
    until, end = time.monotonic() + min(LONGEST_WAIT, float(arguments.get("wait_s", LONGEST_WAIT))), _end()
    while True:
        left = max(0.0, until - time.monotonic())
        found = _asked(run_dir, {**request, "seconds": min(_BETWEEN, left)}, call, end)
        if found.get("over"):
            return _let_go(run_dir, found, call, until)
        if not goes_on(found) or left <= _BETWEEN or call.cancelled.is_set():
            return found
        call.progress(doing)


def _let_go(run_dir: Path, found: Answer, call: Call, until: float) -> Answer:
    """That the run hands out nothing more, told when its process has let go: so `status` says the same."""
    while is_held(run_dir) and time.monotonic() < until and not call.cancelled.is_set():
        call.progress("the run's last process ends")
        time.sleep(_LOOK)
    if not is_held(run_dir):
        return found
    return {**found, "warnings": [*found.get("warnings", ()), ENDS], "next": "wait"}


def _is_running(found: Answer) -> bool:
    """True while waiting helps: with `next` `ask` it is for a ticket that nobody has asked for."""
    return found.get("state") == "running" and found.get("next") == "wait"


def _has_none(found: Answer) -> bool:
    """True while waiting for a ticket helps."""
    return not found.get("ticket") and found.get("state") != "refused"


def _end() -> float:
    """When a call that comes now has its answer."""
    return time.monotonic() + LONGEST


def _asked(run_dir: Path, request: Answer, call: Call, end: float) -> Answer:
    """The run's answer, in words that a client of ours understands."""
    heard = [time.monotonic()]

    def waiting() -> None:
        if time.monotonic() - heard[0] > 1:
            heard[0] = time.monotonic()
            call.progress("the run is taken up")

    return ask_the_run(run_dir, {"surface": MCP, **request}, seconds=end - time.monotonic(), waiting=waiting)


def _holder(call: Call) -> str:
    """Who asks, as a person recognises it."""
    return f"{call.client or 'an MCP client'} (process {os.getppid()}, in {Path.cwd()})"


def _as_tools_say(prompt: Answer) -> Answer:
    """The prompt of a ticket for who hands in files, with that in place of the form of a reply."""
    form = str(prompt.get(FORM, ""))
    tell = (
        "Hand in by the tool `tell`: the whole text of each file that you changed; its `note` is the plan, a sentence. "
        "Only if no program can score better than the best so far, because it is provably as good as can be, its "
        "`nothing_left` says why, in place of files."
    )
    return {name: text.replace(form, tell) if form else text for name, text in prompt.items() if name != FORM}


def _told(found: Answer, run_dir: Path) -> Answer:
    """The answer with its run and the name of a tool as what comes next; what was refused is an error."""
    following = {"stop": "status" if found.get("broke_off") else "export_best"}.get(
        str(found.get("next")), found.get("next")
    )
    error = {"error": str(found.get("message"))} if found.get("state") == "refused" else {}
    return {**error, "run": run_dir.name, **found, "next": following}
