"""A search whose programs come from you: `run = swarm_evo.open(…)`, `run.ask()`, `run.tell(ticket, code=…)`.

The search itself is a child process, which outlives this one for a while and is taken up again by whoever asks next.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from swarm_evo.arguments import (
    CALL,
    Files,
    StoredRun,
    Ticket,
    checked_path,
    checked_seconds,
    end_of,
    located,
    program_request,
    seconds_left,
    shown,
    ticket_name,
)
from swarm_evo.child import ask
from swarm_evo.errors import SearchError
from swarm_evo.kept import KeptFiles
from swarm_evo.leases import adopted, new_token
from swarm_evo.result import Best, Result, read_result
from swarm_evo.run_process import LOCK, SOCKET, call, is_held, started
from swarm_evo.words import check_kept, config_words, keys, problem_words, rights

SETTLES = 10.0
"""Seconds at most until a search that has judged all it was told has a proposal, or has ended."""
FIRST = 1.0
"""Seconds after which who waits for a ticket or a verdict hears what for."""
_LOG = logging.getLogger("swarm_evo")


class ExternalRun:
    """One run that is written from outside. Any number of processes may ask and tell the same run.

    Whatever cannot be asked (a wrong type, a closed run) is a SearchError in one line; what is wrong with a ticket or a
    program is an answer. It can be pickled: the process that it is sent to asks and tells the same run.

    Args:
        folder: `logs/<run>`.
    """

    def __init__(self, folder: Path, process: subprocess.Popen[bytes] | None = None) -> None:
        self.folder = folder
        self._process = process
        self._is_closed = False
        self._orphans: list[str] = []
        """Tokens of processes that have died, and of asks that were interrupted: their tickets may be open."""

    def __enter__(self) -> ExternalRun:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ExternalRun({self.name!r}{', closed' if self._is_closed else ''})"

    def __reduce__(self) -> tuple[Any, ...]:
        return ExternalRun, (self.folder,)

    @property
    def name(self) -> str:
        """The run's id."""
        return self.folder.name

    def ask(self, seconds: float | None = None) -> dict[str, Any] | None:
        """Lease the next proposal as a ticket, that of a process that has died before any new one.

        None once the run has ended, or after `seconds` without a free one.

        Args:
            seconds: None waits until there is one. With all proposals leased (`search.batch`, 1 unless set, says how
                many there are) that is until somebody tells or gives up, or a ticket expires (`llm.ticket_seconds`);
                `tickets` says who holds them.
        Raises:
            SearchError: the run broke off, because its evaluator or we did; or it refused to answer, and says why.
        """
        token, end = new_token(self.folder), end_of(seconds)
        try:
            return self._ask_with(token, end)
        except BaseException:  # the stop button: what is leased to this ask from now on goes to the next
            self._orphans.append(token)
            raise

    def _ask_with(self, token: str, end: float | None) -> dict[str, Any] | None:
        known = self._orphans
        told: list[str] | None = None
        while True:
            known += adopted(self.folder)
            left = min(FIRST if told is None else CALL, seconds_left(end))
            request = {"verb": "ask", "token": token, "known": known, "seconds": left, "holder": _holder()}
            found = self._taken(request)
            if found.get("ticket") is not None:
                self._orphans = [one for one in known if not found["ticket"].endswith(one)]
                return found
            if found.get("over"):
                self._gone()
                if found.get("broke_off"):
                    raise SearchError(f"swarm-evo: run {self.name}: {found['message']}")
                return None
            if end is not None and time.monotonic() >= end:
                return None
            told = self._say_who(found, told, "no ticket yet")

    def _say_who(self, found: Mapping[str, Any], told: list[str] | None, what: str) -> list[str]:
        """Who waits without an end hears for which open tickets, once: their nodes."""
        in_the_way = [row["node_id"] for row in found.get("open_tickets", ())]
        if in_the_way and in_the_way != told:
            _LOG.warning("run %s: %s: %s", self.name, what, found["message"])
        return in_the_way

    def check(self, ticket: Ticket | str, code: str | None = None, *, files: Files | None = None) -> dict[str, Any]:
        """`{ok, problems}`: does it parse, keep the rules and differ from all before it? At most 5 times a ticket."""
        return self._request({"verb": "check", "ticket": ticket_name(ticket), **program_request(code, files)})

    def tell(
        self,
        ticket: Ticket | str,
        code: str | None = None,
        *,
        files: Files | None = None,
        plan: str = "",
        nothing_left: str | None = None,
        wait: bool = True,
    ) -> dict[str, Any]:
        """Hand in the program; returns the verdict. Telling again returns the first one's.

        `running` with `next` `ask`: the verdict waits for proposals that nobody has asked for; `wait` has it later.
        While it waits for tickets that are open, whose they are is a warning of the logger `swarm_evo`.

        Args:
            files: `{name: text}` with the names of the ticket's `editable`, in place of `code`.
            plan: what it tries, in a sentence; later prompts show it.
            nothing_left: in place of a program: why no program can score better than the best so far.
            wait: False returns at once with `state` `running`; `wait` has the verdict later.
        """
        if not isinstance(plan, str):
            raise SearchError(f"plan={shown(plan)}: a sentence, as text")
        if nothing_left is None:
            told: dict[str, Any] = {**program_request(code, files), "plan": plan}
        elif code is None and files is None and isinstance(nothing_left, str):
            told = {"nothing_left": nothing_left}
        else:
            raise SearchError(f"nothing_left={shown(nothing_left)}: a sentence, as text, in place of a program")
        request = {"verb": "tell", "ticket": ticket_name(ticket), **told}
        return self._judged(request, None if wait else 0)

    def wait(self, ticket: Ticket | str, seconds: float | None = None) -> dict[str, Any]:
        """The verdict on a told ticket, when it is there; `running` after `seconds` without it, or as in `tell`."""
        return self._judged({"verb": "wait", "ticket": ticket_name(ticket)}, seconds)

    def _judged(self, request: Mapping[str, Any], seconds: float | None) -> dict[str, Any]:
        """The answer to `request` once it is a verdict, or no waiting helps, or `seconds` are over."""
        end = end_of(seconds)
        told: list[str] | None = None
        while True:  # telling twice is telling once
            left = min(FIRST if told is None else CALL, seconds_left(end))
            found = self._request({**request, "seconds": left})
            is_late = end is not None and time.monotonic() >= end
            if not _is_judged_later(found) or is_late or found["message"].startswith("nothing"):
                return found
            told = self._say_who(found, told, "no verdict yet")

    def give_up(self, ticket: Ticket | str) -> dict[str, Any]:
        """Hand a ticket back: its slot is free again, and no step is taken.

        Args:
            ticket: as `ask` gave it, or the `node_id` of one that its holder forgot (`tickets`).
        """
        return self._request({"verb": "give_up", "ticket": ticket_name(ticket)})

    def tickets(self) -> list[dict[str, Any]]:
        """The open tickets, the oldest first: `node_id`, `holder`, `since`, `age_s`, `expires_at`, `left_s`, `checks`.

        `since` and `expires_at` are seconds since the epoch. While all proposals are with writers, `ask` waits for one
        of these.
        """
        return list(self._taken({"verb": "tickets"})["tickets"])

    # ------------------------------------------------------------ looking

    @property
    def facts(self) -> dict[str, Any]:
        """What `show RUN --json` prints."""
        return self._ask("show")

    @property
    def best(self) -> Best | None:
        """The best program so far; once the search is over, the final choice, which is waited for."""
        return self.result().best

    def result(self) -> Result:
        """The run as `swarm_evo.search` returns it. Behind the verdict that ended the search its final score is waited
        for; before, `status` is `running` and there is none."""
        self._await_end()
        return read_result(self.folder, self.facts)

    def _await_end(self) -> None:
        """Wait for the end of a search that is over, or may be: a verdict is told before it is known to be the last."""
        until = time.monotonic() + SETTLES
        while not self._is_closed and (found := call(self.folder, {"verb": "tickets"})) is not None:
            if found.get("over"):
                return self._gone()
            if not found.get("between") or time.monotonic() > until:
                return None
            time.sleep(0.02)

    def nodes(self) -> list[dict[str, Any]]:
        """`node_id`, `parent_ids`, `operator`, `metric` and `failure` of every program, in the order of the journal."""
        return list(self.facts["nodes"])

    def close(self) -> None:
        """End the process that holds the run, in good order; `swarm_evo.open(run=…)` goes on with it.

        From here on this object only looks: `best`, `nodes()`, `result()`, `facts`.
        """
        self._is_closed = True
        call(self.folder, {"verb": "close"})
        self._gone()

    def _gone(self, seconds: float = 600.0) -> None:
        """Wait until the process has let go of the run: a search that ends scores its winner once more, and reports."""
        until = time.monotonic() + seconds
        while (self.folder / SOCKET).exists() and time.monotonic() < until:
            if call(self.folder, {"verb": "hello"}) is None:  # it was killed and left its socket
                break
            time.sleep(0.05)
        while is_held(self.folder / LOCK) and time.monotonic() < until:  # its last words come behind the socket's end
            time.sleep(0.02)
        if self._process is not None:
            self._process.wait()

    # ------------------------------------------------------------ plumbing

    def _request(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """By the run's socket; where no process answers there, by the command line, which starts one if it must."""
        if self._is_closed:
            raise SearchError(f"run {self.name} was closed here; swarm_evo.open(run='{self.name}') goes on with it")
        spoken = {**request, "surface": "python"}
        found = call(self.folder, spoken)
        if found is None:
            found = self._ask("ask", "--request=-", said=json.dumps(spoken))
        return {**found, "then": _then(found)} if found.get("next") else found

    def _taken(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """As `_request`, where what is refused is an error: no waiting helps, and no ticket is at fault."""
        found = self._request(request)
        if found.get("state") == "refused":
            raise SearchError(f"swarm-evo: run {self.name}: {found['message']}")
        return found

    def _ask(self, verb: str, *words: str, said: str = "") -> dict[str, Any]:
        place = f"project.dir={self.folder.parent.parent}"
        found: dict[str, Any] = ask(verb, self.name, "--json", *words, place, said=said)
        return found


def open(  # a run is opened, as a file is
    problem: str | Path | Mapping[str, Any] | None = None,
    *,
    run: StoredRun | None = None,
    program: str | Path | None = None,
    evaluate: Callable[[str], Any] | str | Path | None = None,
    direction: str | None = None,
    config: str | Path | None = None,
    budget: Mapping[str, Any] | None = None,
    writer: str = "external",
    project_dir: str | Path = ".",
    seed: int | None = None,
    idle: float = 600.0,
    trust: bool = False,
    accept_unsandboxed: bool = False,
    **settings: Any,
) -> ExternalRun:
    """Start a run that waits for your programs, or go on with one.

    Args:
        problem, program, evaluate, direction, config, budget, project_dir, seed, settings: as for `swarm_evo.start`.
        run: an existing run (its id, `latest`, its folder), to go on with; its limits and settings are its own but for
            `budget` and `settings`, which are given to it as `resume` does. What it searches cannot be changed.
        writer: `external`; others write by themselves: `swarm_evo.search`.
        idle: seconds without a request after which the run's process ends; the next request takes it up again.
        trust, accept_unsandboxed: as for `swarm_evo.start`.

    Raises:
        SearchError: with the one line that the command line would print.
    """
    if run is not None:
        fixed = {"problem": problem, "program": program, "evaluate": evaluate, "direction": direction, "seed": seed}
        fixed["config"] = config
        name, place = located(run, project_dir)
        more = keys(budget or {}, KeptFiles(place), {}, settings)
        more += rights(trust=trust, accept_unsandboxed=accept_unsandboxed)
        return _opened(name, fixed, more, place / "logs", idle)
    kept = KeptFiles(checked_path("project_dir", project_dir))
    if writer != "external":
        raise SearchError(f"open(writer={writer!r}): only 'external' is written from outside; see swarm_evo.search")
    with kept.dropped_on_error():
        words = [
            "run",
            f"--writer={writer}",
            f"--idle={checked_seconds('idle', idle):g}",
            *problem_words(problem, program, evaluate, kept),
            *config_words(config),
        ]
        words += keys(budget or {}, kept, {"problem.direction": direction, "project.seed": seed}, settings)
        words += rights(trust=False, accept_unsandboxed=accept_unsandboxed)
        name, process = started(words)
    kept.let_go()
    return ExternalRun(kept.project_dir / "logs" / name, process)


def _opened(name: str, fixed: Mapping[str, Any], more: list[str], logs: Path, idle: float) -> ExternalRun:
    """A run that is there already; taken up at once where it is given more.

    Args:
        fixed: arguments that a new run alone takes.
        more: keys to go on with; the project's folder is always among them.
    """
    check_kept("open", fixed)
    name = str(ask("show", name, "--json", f"project.dir={logs.parent}")["run"])
    if len(more) == 1:
        return ExternalRun(logs / name)
    words = ["resume", name, f"--idle={checked_seconds('idle', idle):g}", *more]
    return ExternalRun(logs / name, started(words)[1])


def _is_judged_later(found: Mapping[str, Any]) -> bool:
    """True while waiting helps: with `next` `ask` it is for a ticket that nobody has asked for."""
    return bool(found["state"] == "running" and found["next"] == "wait")


def _then(found: Mapping[str, Any]) -> str:
    """What to do next as a call: `next` names a verb, and at the run's end none."""
    calls = {"tell": "run.tell(ticket, …)", "wait": "run.wait(ticket)"}
    calls["stop"] = "run.facts" if found.get("broke_off") else "run.best"
    return calls.get(str(found["next"]), "run.ask()")


def _holder() -> str:
    """Who asks, as a person recognises it."""
    return f"Python process {os.getpid()} ({Path(sys.argv[0]).name or 'interactive'})"
