"""A node led by hand: one stage at a time, each stored, so that the next command goes on from there."""

from __future__ import annotations

from typing import Any

from core.contracts import Evaluation, Prompt, Store
from core.loop.attempt import Attempt
from core.loop.stages import Stages, prompt_of, stored_reply
from core.state.node import Node


class ByHand:
    """Does the stages of an attempt one by one (`step --until STAGE`) and says what each came to, as text."""

    def __init__(self, stages: Stages, store: Store) -> None:
        self._stages = stages
        self._store = store

    def run(self, attempt: Attempt, stage: str) -> str:
        """Do `prompt`, `reply`, `code` or `execute`. What is stored of a stage already is not done again."""
        known = {"prompt": self._prompt, "reply": self._reply, "code": self._code}
        return known.get(stage, self._execute)(attempt)

    def _prompt(self, attempt: Attempt) -> str:
        prompt = self._asked(attempt)
        asked = {"system": prompt.system, "user": prompt.user, "context": dict(prompt.context)}
        self._stages.keep(attempt, "prompt", asked)
        return f"{prompt.system}\n\n{prompt.user}"

    def _reply(self, attempt: Attempt) -> str:
        stored = self._store.stages(attempt.task.node_id)
        reply = stored_reply(stored)
        if reply is None:
            agent = self._stages.agent(attempt.task.operator)
            reply = agent.reply(attempt.context, self._asked(attempt))
        self._stages.keep(attempt, "reply", {**stored.get("reply", {}), "text": reply})
        return reply

    def _code(self, attempt: Attempt) -> str:
        self._stages.write(attempt)
        assert attempt.node is not None
        if attempt.verdict is not None:
            return _said(attempt.verdict)
        node = attempt.node
        self._stages.keep(attempt, "code", code_stage(node))
        return node.code

    def _execute(self, attempt: Attempt) -> str:
        if attempt.is_alive:
            self._stages.execute(attempt)
        verdict = attempt.verdict
        if verdict is None:
            return ""
        return f"{verdict.term_out}\n{_said(verdict) if verdict.metric is None else f'metric {verdict.metric:.6g}'}"

    def _asked(self, attempt: Attempt) -> Prompt:
        agent = self._stages.agent(attempt.task.operator)
        return prompt_of(self._store.stages(attempt.task.node_id), agent, attempt.context)


def _said(verdict: Evaluation) -> str:
    return f"{verdict.failure}: {verdict.message}" if verdict.failure else verdict.message


def code_stage(node: Node) -> dict[str, Any]:
    """What the stage `code` keeps of a program."""
    return {"code": node.code, "plan": node.plan, "genes": node.genes, "writer": node.writer}
