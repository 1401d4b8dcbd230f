"""Turns a reply into the record that is stored, and a record back into a reply."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from core.backend.exchange import Reply, Request
from core.backend.settings import ModelSettings
from core.contracts import LOOK, SESSION, CallRecord
from utils.clean_text import whole
from utils.errors import RefusedError, UnwantedPromptError

TOOL = "tool:"
REFUSED = "refused:"
UNWANTED = "unwanted"
WORDS = "words"
"""Finish reason of the one among them that holds the agent's last words."""
CONVERSATIONS = {"messages", "input", "contents"}
"""Keys of a request that hold what was said so far."""


@dataclass(frozen=True, slots=True)
class CallKey:
    """Where in the run a query is made. With the turn it names one draw of the model."""

    run_seed: int
    node_id: str
    role: str
    attempt: int

    def sample(self, turn: int = 0) -> str:
        """Name of the draw: `<run seed>/<node id>/<role>/<attempt>`; from the second exchange on, `/<turn>`."""
        path = f"{self.run_seed}/{self.node_id}/{self.role}/{self.attempt}"
        return f"{path}/{turn}" if turn else path


def blank_record(digest: str, sample: str, key: CallKey, request: Request, settings: ModelSettings) -> CallRecord:
    """Return a record that holds everything known before the call."""
    return CallRecord(
        request_hash=digest,
        sample=sample,
        node_id=key.node_id or None,
        role=key.role,
        attempt=key.attempt,
        provider=settings.provider,
        model=settings.model,
        system=request.system,
        user=request.user,
        tool=request.forced,
    )


def reply_fields(reply: Reply) -> dict[str, str]:
    """What a record keeps of a reply. With a tool call, the name that was called goes with the finish reason."""
    if reply.tool:
        name = whole(reply.tool)
        return {"reply": whole(reply.arguments), "finish_reason": f"{TOOL}{name}/{reply.finish_reason}"}
    return {"reply": whole(reply.text), "finish_reason": reply.finish_reason}


def session_records(blank: CallRecord, reply: Reply) -> Iterator[CallRecord]:
    """An agent's session, an exchange a record: what it asked that it had not asked before, and what came back.

    They tell no tokens: those are the session's, and stand in its reply's record. The last one holds its last words,
    where the reply holds less of them.
    """
    before: dict[str, Any] = {}
    for number, one in enumerate(reply.exchanges):
        asked = {key: value for key, value in one.body.items() if before.get(key) != value}
        for name in CONVERSATIONS & asked.keys():
            old, new = before.get(name), one.body[name]
            if isinstance(old, list) and isinstance(new, list) and old == new[: len(old)]:
                asked[name] = [f"({len(old)} as before)", *new[len(old) :]]
        before = dict(one.body)
        yield blank.model_copy(update={
            "sample": f"{blank.sample}/session/{number}", "role": SESSION, "model": one.model, "system": "",
            "user": whole(json.dumps(asked, ensure_ascii=False)), "reply": whole(one.reply),
            "finish_reason": str(one.status), "seconds": one.seconds,
        })  # fmt: skip
    if reply.words:
        last = {"sample": f"{blank.sample}/session/{WORDS}", "role": SESSION, "system": "", "user": ""}
        yield blank.model_copy(update={**last, "reply": whole(reply.words), "finish_reason": WORDS})


def look_record(key: CallKey, turn: int, settings: ModelSettings, name: str, arguments: str) -> CallRecord:
    """A call of one of our functions by a model, without its answer."""
    digest = sha256(json.dumps([name, arguments]).encode("utf-8", "surrogatepass")).hexdigest()
    return CallRecord(
        request_hash=digest, sample=f"{key.sample()}/look/{turn}", node_id=key.node_id or None, role=LOOK,
        attempt=key.attempt, provider=settings.provider, model=settings.model, tool=whole(name), user=whole(arguments),
    )  # fmt: skip


def is_refusal(record: CallRecord) -> bool:
    """True where the server refused the request, which a run's own record keeps and no other run is to be told: the
    server may have been set up otherwise since."""
    return record.finish_reason == UNWANTED or record.finish_reason.startswith(REFUSED)


def reply_of(record: CallRecord) -> Reply:
    """The reply that a record holds. Raises RefusedError or UnwantedPromptError again where the server had refused."""
    if record.finish_reason == UNWANTED:
        raise UnwantedPromptError(record.reply)
    if record.finish_reason.startswith(REFUSED):
        raise RefusedError(record.reply, int(record.finish_reason.removeprefix(REFUSED)))
    if record.finish_reason.startswith(TOOL):
        name, _, reason = record.finish_reason.removeprefix(TOOL).rpartition("/")
        return Reply(tool=name, arguments=record.reply, finish_reason=reason)
    return Reply(text=record.reply, finish_reason=record.finish_reason)
