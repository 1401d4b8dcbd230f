"""Turns a reply into the record that is stored, and a record back into a reply."""

from __future__ import annotations

from dataclasses import dataclass

from core.backend.exchange import Reply, Request
from core.backend.settings import ModelSettings
from core.contracts import CallRecord
from utils.clean_text import whole
from utils.errors import RefusedError, UnwantedPromptError

TOOL = "tool:"
REFUSED = "refused:"
UNWANTED = "unwanted"


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
