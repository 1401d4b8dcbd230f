"""What a run answers to writers outside, by whichever door: JSON for `ask`, `check`, `tell`, `wait`, `give-up`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

from core.backend.exchange import Request
from core.events import NodeCommitted
from runs.search import Search
from runs.tickets.files import looked, problem
from runs.tickets.names import MOST_CHECKS, refused, split_ticket, ticket_name, warnings_of
from runs.tickets.queue import TicketQueue
from utils.direction import Direction

TOKEN = range(16, 129)
"""Characters of a writer's token."""
LARGEST_PROGRAM = 4_000_000
"""Characters."""


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
                 "close": self.close}  # fmt: skip
        verb = verbs.get(str(request.get("verb")))
        return verb(request) if verb else refused(f"unknown request; allowed: {', '.join(verbs)}")

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Lease the next proposal, or tell one again that a token of `known` has."""
        tokens = [str(token) for token in (*request.get("known", ()), request.get("token", ""))]
        if not all(len(token) in TOKEN and token.isalnum() for token in tokens):
            return refused("token: 16 to 128 letters and digits")
        found = self._queue.ask(tokens, float(request.get("seconds", 0)))
        if found is None:
            over = self._queue.is_over
            message = "the run has ended" if over else "every proposal is with a writer; ask again, or tell yours"
            return {"ticket": None, "message": message, "budget": self._budget(), "next": "stop" if over else "ask"}
        ticket, prompt, token = found
        task = next((task for task in self._search.journal.open_tasks if task.node_id == ticket.node_id), None)
        above = task.parent_ids if task else ()  # a repair within a slot is no proposal of the policy
        parents = [node for i in above if (node := self._search.journal.get_node_by_id(i)) is not None]
        files, editable = self._files.hand_out(_start_of(prompt))
        limits = self._search.deps.limits
        return {
            "ticket": ticket_name(ticket.node_id, token),
            "node_id": ticket.node_id,
            "expires_at": ticket.expires_at,
            "operator": task.operator if task else "debug",
            "prompt": {"system": prompt.system, "user": prompt.user},
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

    def check(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Whether a program parses, keeps the problem's rules and is new: never a score."""
        node_id, token = split_ticket(str(request.get("ticket", "")))
        code, fault = self._program(request)
        state = self._queue.count_check(node_id, token)
        if state == "spent":
            return refused(f"this ticket has used its {MOST_CHECKS} checks; tell the program", "tell")
        if state != "open":
            return self._told(node_id, state, 0)
        if fault:
            return looked([fault])
        asked = self._queue.request_of(node_id)
        return self._files.looked_at(node_id, code, _start_of(asked) if asked else "")

    def tell(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Hand in the program of a ticket; a second time is the first one's verdict."""
        node_id, token = split_ticket(str(request.get("ticket", "")))
        state = self._queue.state(node_id, token)
        if state == "open":
            code, fault = self._program(request)
            asked = self._queue.request_of(node_id)
            if fault is None and asked is not None:
                fault = self._files.unreadable(code, _start_of(asked))
            if fault:
                return refused(f"{fault['path']}: {fault['remedy']}".removeprefix(": "), "tell")
            plan = str(request.get("plan", ""))[:4000]
            reply = self._files.reply(code, plan)
            state = self._queue.tell(node_id, token, reply)
        return self._told(node_id, state, float(request.get("seconds", 0)))

    def wait(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What became of a ticket."""
        node_id, token = split_ticket(str(request.get("ticket", "")))
        return self._told(node_id, self._queue.state(node_id, token), float(request.get("seconds", 0)))

    def give_up(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Free the slot: no step is taken."""
        node_id, token = split_ticket(str(request.get("ticket", "")))
        return self._told(node_id, self._queue.give_up(node_id, token), 0)

    def close(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """End the process that holds the run, in good order; tickets stay open."""
        self._queue.close()
        return {
            "state": "closing",
            "message": "the process ends; the next request takes the run up again",
            "next": "stop",
        }

    # ------------------------------------------------------------ parts of answers

    def _program(self, request: Mapping[str, Any]) -> tuple[str, dict[str, Any] | None]:
        """The program of a request, or what is wrong with it: of a tree, what a model would have replied."""
        files = request.get("files")
        code = request.get("code")
        tree = self._problem.tree
        if code is None and tree is not None and _are_texts(files):
            code = tree.reply(files)
        if code is None and isinstance(files, Mapping) and list(files) == [self._files.file]:
            code = files[self._files.file]
        if not isinstance(code, str):
            return "", problem(
                self._files.file, "files", f"hand in `code`, or `files` with {self._files.file} and nothing else"
            )
        if not code.strip():
            return "", problem(self._files.file, "empty", "it is empty; hand in the program, or `give-up` the ticket")
        if len(code) > LARGEST_PROGRAM:
            return "", problem(self._files.file, "size", f"at most {LARGEST_PROGRAM} characters")
        return code, None

    def _told(self, node_id: str, state: str, seconds: float) -> dict[str, Any]:
        if state == "refused":
            return refused("no such ticket")
        if state in ("expired", "given_up"):
            message = "the ticket was given up" if state == "given_up" else "the ticket has expired"
            return {**self._rest(node_id), "state": "expired", "message": message, "next": "ask"}
        event = self._queue.verdict(node_id, seconds if state == "told" else 0)
        if event is not None:
            return self._verdict(event)
        if self._queue.is_over:
            return {**self._rest(node_id), "state": "over", "message": "the run has ended", "next": "stop"}
        message = "it is being evaluated" if state == "told" else "nothing has been told for this ticket yet"
        return {**self._rest(node_id), "state": "running", "message": message, "next": "wait"}

    def _verdict(self, event: NodeCommitted) -> dict[str, Any]:
        node = self._search.journal[event.node_id]
        return {
            **self._rest(event.node_id),
            "state": "duplicate" if node.duplicate_of else "committed",
            "metric": event.metric,
            "metric_source": event.metric_source,
            "metrics": node.metrics,
            "failure": event.failure.value if event.failure else None,
            "message": event.message,
            "warnings": warnings_of(node.metric_value, event.message),
            "improved": event.is_best,
            "output_tail": node.term_out[-2000:],
            "next": "stop" if self._queue.is_over else "ask",
        }

    def _rest(self, node_id: str) -> dict[str, Any]:
        """What every answer to a ticket holds."""
        empty = dict.fromkeys(("metric", "metric_source", "failure"))
        best = self._search.journal.get_best_node()
        return {
            "state": "", "node_id": node_id, **empty, "metrics": {}, "message": "", "improved": False,
            "best": {"node_id": best.id, "metric": best.metric_value} if best else None,
            "output_tail": "", "budget": self._budget(), "journal_head": self._search.store.journal_head,
        }  # fmt: skip

    def _metric(self) -> dict[str, Any]:
        best = self._search.journal.get_best_node()
        rows = self._search.store.get_fact("baselines") or []
        return {
            "name": self._problem.unit,
            "direction": self._direction.optimum,
            "best": best.metric_value if best else None,
            "baselines": [{"name": row["name"], "metric": row["metric"]} for row in rows],
        }

    def _budget(self) -> dict[str, Any]:
        config, progress = self._search.config, self._search.orchestrator.progress()
        steps, usd = config.search.max_steps, config.budget.usd
        seconds = self._search.deadline.seconds_left()
        return {
            "steps_left": None if steps is None else max(0, steps - progress.steps),
            "usd_left": None if usd is None else max(0.0, usd - progress.usd),
            "seconds_left": round(seconds, 1) if seconds < float("inf") else None,
        }


def _start_of(asked: Request) -> str:
    """The program that a ticket is to change, in a repair the one that was refused; '' where there is none."""
    parents = (asked.context or {}).get("parents") or ()
    return next((str(parent["code"]) for parent in parents), "")


def _are_texts(files: Any) -> TypeGuard[Mapping[str, str | None]]:
    return isinstance(files, Mapping) and all(isinstance(text, str | None) for text in files.values())
