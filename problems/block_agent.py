"""Reads replies that change a part of a program: SEARCH/REPLACE blocks, a whole program, or only the evolving block."""

from __future__ import annotations

from dataclasses import replace

from agents.coder_agent import CoderAgent, Found, nothing_in
from core.contracts import AgentContext
from core.state.failure import FailureKind
from problems.blocks import BlockError, graft, put_back
from utils.diff import DiffError, apply_diff, has_blocks, parse_diff
from utils.fences import strip_thinking, unlisted


class BlockAgent(CoderAgent):
    """CoderAgent whose replies may be diffs, and which never lets a reply change what is outside of the blocks."""

    kind = "script"

    def _read(self, context: AgentContext, reply: str) -> Found:
        said = ""
        if (nothing := nothing_in(reply)) is not None:
            return nothing
        frame = context.parents[0].code if context.parents else str(context.extras.get("program", ""))
        text = unlisted(strip_thinking(reply))
        if has_blocks(text):
            plan = text[: text.index("<<<<<")].strip().removesuffix("```").strip()
            try:
                new = apply_diff(frame, parse_diff(text))
            except DiffError as error:
                return Found("", plan, FailureKind.REPLY_ERROR, str(error))
        else:
            found = super()._read(context, reply)
            if found.failure is FailureKind.NO_CODE or not found.code:
                return found
            new, plan, said = found.code, found.plan, found.note
        try:
            whole = graft(frame, new) if frame else new
        except BlockError as error:
            return Found(new, plan, FailureKind.REPLY_ERROR, str(error))
        found = self._judge(context, whole.rstrip() + "\n", plan, whole=False)
        return replace(found, note="; ".join(filter(None, (said, put_back(whole, new)))))
