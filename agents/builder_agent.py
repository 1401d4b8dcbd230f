"""BuilderAgent: writes one candidate engine that answers one of the strategist's questions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

from agents.base_agent import AgentOptions
from agents.coder_agent import CoderAgent
from agents.strategist_agent import StrategistAgent, tournament_sections
from core.contracts import AgentContext, AgentResult, Prompt
from core.events import BuilderCompleted, Event, GenerationStarted, StrategistQuestion
from utils.prompt_parts import Attempt, Parts

_NAME = re.compile(r"^[ \t]*name = ([\"'])([^\"'\n]*)\1", re.MULTILINE)


QUESTION_REPAIRS = 2


class BuilderAgent(CoderAgent):
    """Sees the champion's whole file, the runner-up's, and the question of its slot; in a repair round the refusal.

    `begin_round` has the strategist ask, or takes its standard questions where nobody answers any. What happens is told
    by `drain_events`: generation.started, strategist.question, builder.completed.

    Args:
        questions: of a generation, one a slot.
        options: as for CoderAgent.
    """

    format_template = "builder_format"
    shows_output = False  # an engine prints in games, which are many

    def __init__(self, *, questions: int = 2, **options: Unpack[AgentOptions]) -> None:
        super().__init__(**options)
        asking: AgentOptions = {**options, "repairs": QUESTION_REPAIRS}
        self.asks = options.get("asks", True)
        self.strategist = StrategistAgent(questions=questions, **asking)
        self._events: list[Event] = []

    def begin_round(self, context: AgentContext) -> dict[str, Any]:
        """The strategist's questions, in slot order."""
        questions = self.strategist.ask(context) if self.asks else self.strategist.standard(context)
        generation = context.task.generation or 0
        ids = [node.id for node in context.parents]
        champion, runner_up = (*ids, None, None)[:2]
        self._events.append(GenerationStarted(generation=generation, champion=champion, runner_up=runner_up))
        for index, asked in enumerate(questions):
            self._events.append(StrategistQuestion(generation=generation, index=index, **asked))
        return {"questions": questions}

    def prompt(self, context: AgentContext) -> Prompt:
        made = super().prompt(context)
        place = {"generation": context.task.generation, "slot": context.task.slot}
        facts = {**made.context, **place, "role": "builder", "question": question_of(context)}
        return replace(made, context=facts)

    def code(self, context: AgentContext, reply: str) -> AgentResult:
        """The engine in the reply; its node keeps the category it was asked for."""
        result = super().code(context, reply)
        if result.node is None:
            return result
        category = question_of(context).get("category")
        metadata = {**result.node.metadata, **({"category": category} if category else {})}
        node = result.node.model_copy(update={"metadata": metadata})
        if result.success:
            generation = context.task.generation or 0
            self._events.append(BuilderCompleted(generation=generation, node_id=node.id, name=name_of(node.code)))
        return replace(result, node=node)

    def drain_events(self) -> list[Event]:
        """What happened since the last call, for the caller to store."""
        events, self._events = self._events, []
        return events

    def _template(self, context: AgentContext) -> str:
        return "builder"

    def _parts(self, context: AgentContext) -> Parts:
        asked = question_of(context)
        question = {"Your question": f"Category: {asked['category']}\n\n{asked['question']}"} if asked else {}
        last = {} if context.refusal else tournament_sections(context)
        return replace(super()._parts(context), asked={**last, **question})

    def _others(self, context: AgentContext) -> tuple[Attempt, ...]:
        """None: champion and runner-up are shown whole."""
        return ()

    def _focus(self, context: AgentContext) -> str:
        """None: the strategist's question is the focus."""
        return ""


def name_of(code: str) -> str:
    """What the engine calls itself: the first `name = "…"` of the file. Untrusted text; '' if there is none."""
    found = _NAME.search(code)
    return " ".join(found[2].split())[:60] if found else ""


def question_of(context: AgentContext) -> dict[str, str]:
    """The question of the context's slot; {} where none was asked."""
    questions = context.shared.get("questions")
    if not isinstance(questions, list) or not questions:
        return {}
    asked = questions[context.task.slot % len(questions)]
    if not isinstance(asked, Mapping):
        return {}
    return {"category": str(asked.get("category", "")), "question": str(asked.get("question", ""))}
