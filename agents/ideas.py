"""Ideas: one call gives each of several writers a direction of its own."""

from __future__ import annotations

from dataclasses import replace

from core.contracts import AgentContext, Prompt
from utils.clean_text import one_line
from utils.errors import BudgetExhausted, ReplyError, UnrecordedError
from utils.prompt_parts import Attempt
from utils.prompt_text import fence
from utils.response import parse_json

ROLE = "ideas"
"""Of the call: it is counted by itself, and asks the model of `llm.code`."""
LONGEST = 600
"""Characters of a direction that are kept."""


def asked_ideas(context: AgentContext, prompt: Prompt, count: int) -> list[str]:
    """At most `count` different directions; none where the call cannot be paid for or its reply not be read.

    The writers then have the usual foci, so that it is not asked again.
    """
    try:
        reply = context.query(prompt.system, prompt.user, context=prompt.context, role=ROLE)
    except (BudgetExhausted, ReplyError, UnrecordedError):
        return []
    return read_ideas(reply, count)


def read_ideas(reply: str, count: int) -> list[str]:
    """The first `count` different lines of text of a reply's `ideas`; [] if it holds none."""
    listed = (parse_json(reply) or {}).get("ideas")
    texts = [one_line(item, LONGEST) for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
    return list(dict.fromkeys(filter(None, texts)))[:count]


def first_start(attempt: Attempt) -> Attempt:
    """A parent as the call shows it: one of those that writers start from."""
    return replace(attempt, label=f"{attempt.label}; one that writers start from")


def idea_of(context: AgentContext) -> str:
    """The direction that this task was given; '' for none."""
    ideas = context.shared.get("ideas")
    place = (context.task.round + context.task.slot) % context.ideas if context.ideas else 0
    return str(ideas[place]) if isinstance(ideas, list) and place < len(ideas) else ""


def told_given(context: AgentContext) -> str:
    """The directions that writers are at work on while the next are asked for; '' where nobody is."""
    given = context.shared.get("ideas")
    listed = "\n".join(f"- {idea}" for idea in given) if isinstance(given, list) else ""
    if not listed:
        return ""
    return (
        "Others are at work on these directions now, and what came of them is not known yet. Give none of them again:"
        f"\n\n{fence(listed)}"
    )


def told_idea(idea: str) -> str:
    """The sentences that give a writer its direction."""
    return (
        "Several writers are asked at the same time, each for another direction. Yours was proposed after a look at "
        f"the results of then:\n\n{fence(idea)}\n\nLeave it only for what clearly promises more."
    )
