"""BaseAgent: what every role shares: templates, the budget of a prompt, and asking again for a usable reply."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from agents.templates import load_templates
from core.contracts import Agent, AgentContext, AgentResult, Prompt
from utils.errors import ReplyError
from utils.prompt_builder import BYTES_PER_TOKEN, PromptBuilder, fence, fill_template, shorten

UNREADABLE = "[unreadable reply] "
"""Begins the text that stands for a reply which the backend could not read; the reason follows."""


class BaseAgent(Agent, ABC):
    """A role that writes: `generate` is `prompt`, `reply`, `code` in a row, and each can be run by itself.

    Args:
        prompts_dir: the user's own templates.
        problem_prompts: template folders of the problem.
        max_tokens: budget of one prompt.
        repairs: how often an unusable reply goes back to the model with the reason.
    """

    def __init__(
        self,
        *,
        prompts_dir: Path | None = None,
        problem_prompts: Sequence[Path] = (),
        max_tokens: int = 16_000,
        repairs: int = 3,
    ) -> None:
        self.templates = load_templates(prompts_dir, problem_prompts)
        self.builder = PromptBuilder(max_tokens)
        self.repairs = repairs

    @abstractmethod
    def prompt(self, context: AgentContext) -> Prompt:
        """The two messages for the task, a function of the context alone."""

    @abstractmethod
    def code(self, context: AgentContext, reply: str) -> AgentResult:
        """The program in the reply, or the failure that it is."""

    def fault(self, context: AgentContext, reply: str) -> str | None:
        """Why the reply should be asked for again, in words for the model; None if it is usable or hopeless."""
        return None

    def reply(self, context: AgentContext, prompt: Prompt) -> str:
        """Ask, and ask again with the reason while the reply is unusable, at most `repairs` times. The last reply."""
        user, text = prompt.user, ""
        for attempt in range(self.repairs + 1):
            try:
                text = context.query(prompt.system, user, context=prompt.context, attempt=attempt)
                fault = self.fault(context, text)
            except ReplyError as error:
                fault = str(error)
                text = UNREADABLE + fault
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
