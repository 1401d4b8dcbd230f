"""BaseAgent: what every role shares: templates, the budget of a prompt, and asking again for a usable reply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from agents.templates import load_templates
from core.contracts import Agent, AgentContext, AgentResult, Prompt
from core.state.operators import OPERATORS, OperatorSpec
from utils.errors import CutReplyError, ReplyError
from utils.prompt_builder import PromptBuilder, fill_template
from utils.prompt_text import BYTES_PER_TOKEN, fence, shorten

UNREADABLE = "[unreadable reply] "
"""Begins the text that stands for a reply which the backend could not read; the reason follows."""


PROMPT_TOKENS = 32_000
REPAIRS = 3


class AgentOptions(TypedDict, total=False):
    """What every role takes."""

    prompts_dir: Path | None
    """The user's own templates (`prompts.dir`)."""
    problem_prompts: Sequence[Path]
    """Template folders of the problem."""
    max_tokens: int
    """Budget of one prompt; PROMPT_TOKENS if absent."""
    repairs: int
    """How often an unusable reply goes back to the model with the reason; REPAIRS if absent."""
    answers: bool
    """False: what writes programs is asked for nothing else, and may hand in files in place of a reply (a writer
    outside, a coding agent); True if absent."""
    asks: bool
    """False: standard questions in place of a strategist's; True if absent."""
    by_tool: bool
    """True: questions are asked for by a tool, by whose schema a writer outside is answered; False if absent."""
    operators: Mapping[str, OperatorSpec]
    """What a task may ask for; the built-in operators if absent."""


class BaseAgent(Agent, ABC):
    """A role that writes: `generate` is `prompt`, `reply`, `code` in a row, and each can be run by itself."""

    def __init__(self, **options: Unpack[AgentOptions]) -> None:
        self.operators = options.get("operators") or OPERATORS.all()
        prompts = {spec.template or name: spec.prompt for name, spec in self.operators.items() if spec.prompt}
        self.templates = load_templates(options.get("prompts_dir"), options.get("problem_prompts", ()), prompts)
        self.builder = PromptBuilder(options.get("max_tokens", PROMPT_TOKENS))
        self.repairs = options.get("repairs", REPAIRS)
        self.answers = options.get("answers", True)

    @abstractmethod
    def prompt(self, context: AgentContext) -> Prompt:
        """The two messages for the task, a function of the context alone."""

    @abstractmethod
    def code(self, context: AgentContext, reply: str) -> AgentResult:
        """The program in the reply, or the failure that it is."""

    def fault(self, context: AgentContext, reply: str) -> str | None:
        """Why the reply should be asked for again, in words for the model; None if it is usable or hopeless."""
        return None

    def whole_in(self, context: AgentContext, cut: str) -> str:
        """What of a reply that was cut at `max_tokens` is a whole answer; '' where something may be missing."""
        return ""

    def shorter(self, context: AgentContext) -> str:
        """How a reply that was cut could be shorter, behind the sentence that says so; '' where it is not known."""
        return ""

    def reply(self, context: AgentContext, prompt: Prompt) -> str:
        """Ask, and ask again with the reason while the reply is unusable, at most `repairs` times. The last reply.

        Only the first time the writer may look at something before it writes.
        """
        user, text, toolbox = prompt.user, "", context.toolbox
        for attempt in range(self.repairs + 1):
            look: dict[str, Any] = {"toolbox": toolbox} if toolbox is not None and attempt == 0 else {}
            try:
                text = context.query(prompt.system, user, context=prompt.context, attempt=attempt, **look)
                fault = self.fault(context, text)
            except ReplyError as error:
                whole = self.whole_in(context, error.text) if isinstance(error, CutReplyError) else ""
                fault = None if whole else f"{error}{self.shorter(context) if isinstance(error, CutReplyError) else ''}"
                text = whole or f"{UNREADABLE}{error}"
            if fault is None:
                break
            user = self._again(prompt, fault, "" if text.startswith(UNREADABLE) else text)
        return text

    def generate(self, context: AgentContext) -> AgentResult:
        return self.code(context, self.reply(context, self.prompt(context)))

    def _again(self, prompt: Prompt, reason: str, reply: str) -> str:
        """The prompt with the unusable reply, which may fill what is left of the budget, at least a tenth of it.

        A reply that the backend could not read (cut, empty) is not shown: the reason says all that is known of it.
        """
        budget = self.builder.max_tokens * BYTES_PER_TOKEN
        room = max(budget // 10, budget - len(prompt.user.encode()))
        values = {
            "prompt": prompt.user.strip(),
            "reason": reason,
            "reply": fence(shorten(reply, room)) if reply else "",
        }
        return fill_template(self.templates["repair"], values)
