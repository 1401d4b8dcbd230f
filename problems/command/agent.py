"""Reads replies that change several files."""

from __future__ import annotations

from agents.coder_agent import CoderAgent, Found, nothing_in
from core.contracts import AgentContext
from core.state.failure import FailureKind
from utils.diff import DiffError, apply_diff, parse_diff
from utils.response import strip_thinking


class FilesAgent(CoderAgent):
    """Reads SEARCH/REPLACE blocks over all files, or the whole text in one block."""

    kind = "script"

    def _read(self, context: AgentContext, reply: str) -> Found:
        text = strip_thinking(reply)
        changes = parse_diff(text)
        if not changes or nothing_in(reply) is not None:
            return super()._read(context, reply)
        base = context.parents[0].code if context.parents else str(context.extras.get("program", ""))
        plan = text[: text.index("<<<<<")].strip()
        try:
            return self._judge(context, apply_diff(base, changes), plan, whole=False)
        except DiffError as error:
            return Found("", plan, FailureKind.REPLY_ERROR, str(error))
