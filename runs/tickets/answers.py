"""What a run answers to writers outside, by whichever door: JSON for `ask`, `check`, `tell`, `wait`, `give-up`."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, TypeGuard

from core.backend.exchange import Request
from core.backend.schema import SchemaError, find_object, read_arguments
from core.contracts import FORM
from core.state.question import ANSWER, is_question, node_of
from core.storage.ticket_store import Ticket
from reports.winner import OWN, seeded_row
from runs.parts.context_history import FACT as TOLD
from runs.search import Search
from runs.tickets.files import looked, problem
from runs.tickets.names import (
    KEPT,
    MOST_CHECKS,
    TAKEN,
    answered_before,
    budget_left,
    refused,
    split_ticket,
    ticket_name,
    whole,
)  # fmt: skip
from runs.tickets.open_tickets import no_ticket, no_verdict, rows_of
from runs.tickets.queue import TicketQueue
from runs.tickets.verdicts import best_of, verdict_of
from runs.tickets.words import COMMAND_LINE, WORDS, how_to_hand_in, words_of
from utils.clean_text import one_line
from utils.direction import Direction, finite
from utils.errors import ConfigError
from utils.response import NOTHING_LEFT

TOKEN = range(16, 129)
"""Characters of a writer's token."""
LARGEST_PROGRAM = 4_000_000
"""Characters."""
HOLDER = 200
"""Characters of what a writer says of itself."""
MOST_BASELINES = 100
"""Among so many first nodes are those that a search begins with."""


class TicketApi:
    """One run's tickets for outsiders: requests in, answers out. Thread-safe as its queue is."""

    def __init__(self, queue: TicketQueue, search: Search) -> None:
        self._queue = queue
        self._search = search
        self._problem = search.problem
        self._files = search.files
        self._direction = Direction(search.problem.lower_is_better)

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request `{verb, ticket, …}`; what is wrong with a request is an answer too."""
        verbs = {"ask": self.ask, "check": self.check, "tell": self.tell, "wait": self.wait, "give_up": self.give_up,
                 "tickets": self.tickets, "close": self.close}  # fmt: skip
        verb = verbs.get(str(request.get("verb")))
        found = verb(request) if verb else refused(f"unknown request; allowed: {', '.join(verbs)}")
        if "state" in found:
            found = {**self._rest(), **found}
        return whole(found, is_over=self._queue.is_over)

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Lease the next proposal, or tell one again: that of `ticket`, or that of which a token is among `known`.

        A node's id as `ticket` takes the open one of that node over: whoever asked for it before has it no more.
        """
        known = request.get("known")
        tokens = [str(token) for token in (*(known if isinstance(known, list) else ()), request.get("token", ""))]
        node_id, token = split_ticket(str(request.get("ticket", "")))
        if token:
            tokens = [token]
        elif not all(len(token) in TOKEN and token.isalnum() for token in tokens):
            return refused("token: 16 to 128 letters and digits")
        if node_id:
            mine, holder = tokens[-1], _holder(request)
            state = self._queue.state(node_id, token) if token else self._queue.take_over(node_id, mine, holder)
            if state != "open":
                return {**self._late({**request, "verb": "ask"}, node_id, state), "ticket": None}
            tokens = [mine]
        found = self._queue.ask(tokens, _seconds(request), _holder(request))
        if found is None:
            return self._none(request)
        ticket, prompt, token = found
        if prompt.tools:
            return self._question(ticket, prompt, token)
        task = next((task for task in self._search.journal.open_tasks if task.node_id == ticket.node_id), None)
        above = task.parent_ids if task else ()  # a repair within a slot is no proposal of the policy
        parents = [node for i in above if (node := self._search.journal.get_node_by_id(i)) is not None]
        files, editable = self._files.hand_out(_start_of(prompt))
        limits = self._problem.run_limits(self._search.deps.limits)
        return {
            "ticket": ticket_name(ticket.node_id, token),
            "node_id": ticket.node_id,
            "expires_at": ticket.expires_at,
            "operator": task.operator if task else "debug",
            "prompt": {"system": prompt.system, "user": prompt.user, FORM: str((prompt.context or {}).get(FORM, ""))},
            "files": files,
            "editable": editable,
            "parents": [
                {"node_id": n.id, "metric": n.metric_value, "failure": n.failure.value if n.failure else None}
                for n in parents
            ],
            "metric": self._metric(),
            "limits": {"seconds": limits.seconds, "memory_mb": limits.memory_mb, "threads": limits.threads,
                       "gpus": self._search.config.execution.gpus},
            "budget": self._budget(),
            "why": self._search.store.why_of(ticket.node_id),
            "next": "tell",
        }  # fmt: skip

    def _question(self, ticket: Ticket, prompt: Request, token: str) -> dict[str, Any]:
        """A ticket whose file is the answer to a question about a node, as JSON."""
        return {
            "ticket": ticket_name(ticket.node_id, token),
            "node_id": node_of(ticket.node_id),
            "expires_at": ticket.expires_at,
            "operator": prompt.tool.name,
            "prompt": {"system": prompt.system, "user": prompt.user, FORM: ""},
            "schema": prompt.tool.parameters,
            "files": {ANSWER: "{}\n"},
            "editable": [ANSWER],
            "parents": [],
            "metric": self._metric(),
            "limits": {},
            "budget": self._budget(),
            "why": {},
            "next": "tell",
        }

    def tickets(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """The open tickets; see `rows_of`. `between`: whoever waits a moment knows whether the search goes on."""
        between, following = self._queue.is_between, "stop" if self._queue.is_over else "ask"
        return {"tickets": rows_of(self._queue.open_tickets()), "between": between, "next": following}

    def check(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Whether a program parses, keeps the problem's rules and is new: never a score."""
        node_id, token = split_ticket(str(request.get("ticket", "")))
        code, fault = self._program(request)
        state = self._queue.count_check(node_id, token)
        if state == "spent":
            return _unchecked(refused(f"this ticket has used its {MOST_CHECKS} checks; tell the program", "tell"))
        if state != "open":
            return _unchecked(self._late(request, node_id, state))
        asked = self._queue.request_of(node_id)
        fault = fault or _wrong_answer(code, asked)
        if fault or is_question(node_id):
            return looked([fault] if fault else [])
        return self._files.looked_at(node_id, code, _start_of(asked) if asked else "")

    def tell(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Hand in the program of a ticket; a second time is the first one's verdict, and is told so."""
        node_id, token = split_ticket(str(request.get("ticket", "")))
        seconds, state = _seconds(request), self._queue.state(node_id, token)
        code, fault = self._program(request)
        if state == "open":
            asked = self._queue.request_of(node_id)
            fault = fault or _wrong_answer(code, asked)
            if fault is None and asked is not None and not asked.tools:
                fault = self._files.unreadable(code, _start_of(asked), how_to_hand_in(request, self._files.place))
            if fault:
                return refused(f"{fault['path']}: {fault['remedy']}".removeprefix(": "), "tell")
            plan = str(request.get("plan", ""))[:4000]
            reply = code if is_question(node_id) else self._files.reply(code, plan)
            state = self._queue.tell(node_id, token, reply)
        found = self._told(request, node_id, state, seconds)
        same = code if is_question(node_id) else self._files.reply(code, "")
        is_other = state == "told" and not self._queue.told(node_id).endswith(same)
        return answered_before(found, node_id, "tell") if is_other else found

    def wait(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What became of a ticket."""
        node_id, token = split_ticket(str(request.get("ticket", "")))
        return self._told(request, node_id, self._queue.state(node_id, token), _seconds(request))

    def give_up(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Free the slot: no step is taken. A node's id alone frees the ticket of a writer that forgot it."""
        ticket = str(request.get("ticket", ""))
        node_id, token = split_ticket(ticket)
        return self._late(request, node_id, self._queue.give_up(node_id, token if "." in ticket else None))

    def close(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """End the process that holds the run, in good order; tickets stay open."""
        self._queue.close()
        return {
            "state": "closing",
            "message": "the process ends; the next request takes the run up again",
            "next": "stop",
        }

    # ------------------------------------------------------------ parts of answers

    def _none(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """There is no ticket to be had: what is in the way."""
        rows = rows_of(self._queue.open_tickets())
        about: dict[str, Any] = {"ticket": None, "open_tickets": rows, "budget": self._budget()}
        if self._queue.is_over:
            return {**about, **self._over()}
        message = no_ticket(rows, words_of(request), self._search.store.name, _asker(request, _holder(request)))
        return {**about, "message": message, "next": "ask"}

    def _over(self, more: str = "") -> dict[str, Any]:
        """Nothing more is handed out, and why."""
        broke_off = {"broke_off": True} if self._queue.broke_off else {}
        return {"message": f"{self._queue.ended}{more}", **broke_off, "next": "stop"}

    def _program(self, request: Mapping[str, Any]) -> tuple[str, dict[str, Any] | None]:
        """The program of a request, or what is wrong with it: of a tree, what a model would have replied."""
        files = request.get("files")
        code = request.get("code")
        is_answer = is_question(split_ticket(str(request.get("ticket", "")))[0])
        if (reason := request.get("nothing_left")) is not None:
            return self._nothing_left(reason, may=code is None and files is None and not is_answer)
        tree = None if is_answer else self._problem.tree
        place = ANSWER if is_answer else self._files.place
        if code is None and tree is not None and _are_texts(files):
            code = tree.reply(files)
        file = ANSWER if is_answer else self._files.file
        if code is None and isinstance(files, Mapping) and list(files) == [file]:
            code = files[file]
        if not isinstance(code, str):
            return "", problem(place, "files", how_to_hand_in(request, place))
        if not code.strip():
            free = words_of(request).give_up.format(run=self._search.store.name, ticket=request.get("ticket"))
            return "", problem(place, "empty", f"it is empty; hand in the program, or free it with {free}")
        if len(code) > LARGEST_PROGRAM:
            return "", problem(place, "size", f"at most {LARGEST_PROGRAM} characters")
        return code, None

    def _nothing_left(self, reason: Any, *, may: bool) -> tuple[str, dict[str, Any] | None]:
        """In place of a program, as a model would have said it; or what is wrong with that."""
        said = one_line(reason, 1000) if isinstance(reason, str) else ""
        if may and said:
            return f"{NOTHING_LEFT} {said}", None
        wrong = "say why, in a sentence" if may else "it stands for a program, and not beside one or for an answer"
        return "", problem(self._files.place, "nothing_left", wrong)

    def _told(self, request: Mapping[str, Any], node_id: str, state: str, seconds: float) -> dict[str, Any]:
        run = self._search.store.name
        if state == "refused":
            return refused(self._no_such_ticket(request, node_id))
        about = {"node_id": node_of(node_id)}
        if state in ("expired", "given_up"):
            late = "the ticket has expired (llm.ticket_seconds); what was written can be told with another"
            message = "the ticket was given up" if state == "given_up" else late
            return {**about, "state": "expired", "message": message, "next": "ask"}
        if state == "told" and is_question(node_id):
            return {**about, **TAKEN, "next": "stop" if self._queue.is_over else "ask"}
        improved = self._queue.verdict(node_id, seconds if state == "told" else 0)
        is_over = self._queue.is_over
        if improved is None and is_over:  # all verdicts are told before the end is: one may have come between
            improved = self._queue.verdict(node_id, 0)
        if improved is not None:
            return self._verdict(node_id, improved=improved)
        if is_over:
            kept = KEPT if state == "told" else ""
            return {**about, "state": "over", **self._over(kept)}
        if state == "told" and self._queue.asks_about(node_id):
            asked = "it was run; a question about it is a ticket of its own: ask, answer it, then wait for the verdict"
            return {**about, "state": "running", "message": asked, "next": "ask"}
        if state == "told" and self._queue.is_held_up(node_id):
            others = "its verdict waits for a proposal that nobody has asked for: ask, tell it, then wait for this one"
            return {**about, "state": "running", "message": others, "next": "ask"}
        rows = rows_of(self._queue.holds_up(node_id)) if state == "told" else []
        asker = _asker(request, self._queue.holder(node_id))
        message = no_verdict(rows, words_of(request), run, asker) or "it is being evaluated"
        message = message if state == "told" else "nothing has been told for this ticket yet"
        return {**about, "state": "running", "message": message, "open_tickets": rows, "next": "wait"}

    def _no_such_ticket(self, request: Mapping[str, Any], node_id: str) -> str:
        """Why a ticket is refused; who gave the node's id alone hears that it is not the name."""
        run, words = self._search.store.name, words_of(request)
        is_open = any(one.node_id == node_id for one in self._queue.open_tickets())
        if is_open and not split_ticket(str(request.get("ticket", "")))[1]:
            free = words.free.format(run=run, ticket=node_id)
            return f"{node_id} is an open ticket's node; its name, as ask gave it, is longer: {node_id}.… {free}"
        return f"run {run} has no such ticket; the open ones: {words.listed.format(run=run)}"

    def _late(self, request: Mapping[str, Any], node_id: str, state: str) -> dict[str, Any]:
        """The answer to a verb that wants an open ticket, of one that is open no more."""
        found = self._told(request, node_id, state, 0)
        return answered_before(found, node_id, str(request["verb"])) if state == "told" else found

    def _verdict(self, node_id: str, *, improved: bool) -> dict[str, Any]:
        node = self._search.journal[node_id]
        lines = self._files.lines_of(node.code, self._queue.told(node_id))
        following = "stop" if self._queue.is_over else "ask"
        told = self._search.store.get_fact(TOLD) or ()
        return {**verdict_of(node, lines, told), "improved": improved, "next": following}

    def _rest(self) -> dict[str, Any]:
        """What every answer to a ticket holds of the run."""
        best = self._search.journal.get_best_node()
        return {
            "best": best_of(best),
            "budget": self._budget(),
            "journal_head": self._search.store.journal_head,
        }

    def _metric(self) -> dict[str, Any]:
        best = self._search.journal.get_best_node()
        first = islice(self._search.journal, MOST_BASELINES)  # a search that begins with them has them as nodes alone
        given = [seeded_row(node) for node in first if node.operator == "baseline"]
        rows = self._search.store.get_fact("baselines") or given
        return {
            "name": self._problem.unit,
            "direction": self._direction.optimum,
            "best": best.metric_value if best else None,
            "baselines": [{"name": OWN if row.get("own") else row["name"], "metric": row["metric"]} for row in rows],
        }

    def _budget(self) -> dict[str, Any]:
        config, progress = self._search.config, self._search.orchestrator.progress()
        steps, usd = config.search.max_steps, config.budget.usd
        machines = progress.seconds * config.execution.usd_per_hour / 3600
        seconds = self._search.deadline.seconds_left()
        return budget_left(
            None if steps is None else steps - progress.steps,
            None if usd is None else usd - progress.usd - machines,
            seconds if seconds < float("inf") else None,
        )


def _start_of(asked: Request) -> str:
    """The program that a ticket is to change, in a repair the one that was refused; '' where there is none."""
    parents = (asked.context or {}).get("parents") or ()
    return next((str(parent["code"]) for parent in parents), "")


def _wrong_answer(code: str, asked: Request | None) -> dict[str, Any] | None:
    """What is wrong with the answer to a question; None where it follows the schema, or a program is asked for."""
    if asked is None or not asked.tools:
        return None
    try:
        read_arguments(find_object(code), asked.tool.parameters)
    except SchemaError as error:
        return problem(ANSWER, "schema", str(error))
    return None


def _unchecked(found: dict[str, Any]) -> dict[str, Any]:
    """The answer to a `check` that was not made, with what such an answer holds."""
    return {**found, **looked([problem("", "ticket", str(found.get("message", "")))], found.get("warnings", ()))}


def _holder(request: Mapping[str, Any]) -> str:
    return one_line(str(request.get("holder", "")), HOLDER)


def _asker(request: Mapping[str, Any], holder: str) -> str:
    """Who is told, where that is one process; on the command line each call is a process of its own."""
    return holder if words_of(request) is not WORDS[COMMAND_LINE] else ""


def _seconds(request: Mapping[str, Any]) -> float:
    """How long the answer may take. Raises ConfigError for what is no number."""
    given = request.get("seconds", 0)
    seconds = finite(given) if isinstance(given, int | float) else None
    if seconds is None or seconds < 0:
        raise ConfigError(f"seconds={str(given)[:40]}: a number of seconds from 0 on")
    return seconds


def _are_texts(files: Any) -> TypeGuard[Mapping[str, str | None]]:
    return isinstance(files, Mapping) and all(isinstance(text, str | None) for text in files.values())
