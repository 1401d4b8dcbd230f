"""ReviewerAgent: reads a program and its output. Its numbers are claims: an evaluator's score goes before them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Unpack

from pydantic import ValidationError

from agents.base_agent import PROMPT_TOKENS, REPAIRS, AgentOptions
from agents.node_text import attempt_of, score_of
from agents.templates import load_templates
from core.contracts import AgentContext, Review
from core.state.failure import FailureKind
from core.state.node import Node
from utils.errors import ReplyError
from utils.line_diff import line_diff
from utils.printed_text import without_repeats
from utils.prompt_builder import fill_template, findings
from utils.prompt_text import BYTES_PER_TOKEN, fence, shorten
from utils.response import parse_json

REVIEW_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "submit_review",
        "description": "Submit the result of the code review",
        "parameters": {
            "type": "object",
            "properties": {
                "is_bug": {"type": "boolean"},
                "has_csv_submission": {"type": "boolean"},
                "summary": {"type": "string"},
                "metric": {"type": "number"},
                "lower_is_better": {"type": "boolean"},
            },
            "required": ["is_bug", "has_csv_submission", "summary"],
        },
    },
}
LESSON_TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "submit_review",
        "description": "Submit what the run taught",
        "parameters": {
            "type": "object",
            "properties": {
                "learned": {"type": "string"},
                "next": {"type": "array", "items": {"type": "string"}},
                "suspect": {"type": "boolean"},
            },
            "required": ["learned"],
        },
    },
}
"""Where an evaluator gives the score: what the next writer should know."""
IDEAS = 3
"""Next steps of a review that are kept."""
DIFF_LINES = 200
"""Of the change against the parent, shown to the reviewer."""
REVIEW_CHOICE = {"type": "function", "function": {"name": "submit_review"}}


class ReviewerAgent:
    """Asks a model for `submit_review` on a node that has run.

    Args:
        options: as for BaseAgent; half of `max_tokens` is for the code, a quarter for the output, and `repairs` is how
            often arguments that do not fit the schema are asked for again.
    """

    def __init__(self, **options: Unpack[AgentOptions]) -> None:
        self.templates = load_templates(options.get("prompts_dir"), options.get("problem_prompts", ()))
        self.prompt_bytes = options.get("max_tokens", PROMPT_TOKENS) * BYTES_PER_TOKEN
        self.repairs = options.get("repairs", REPAIRS)

    def review(self, context: AgentContext, node: Node) -> Review:
        """The model's reading; where it gives none that can be read, the bare facts of the run."""
        system, user = self._messages(context, node)
        facts = review_facts(node, context.lower_is_better)
        claims = _is_unscored(node, context)
        tool = REVIEW_TOOL if claims else LESSON_TOOL
        ask, reason = user, ""
        for attempt in range(self.repairs + 1):
            try:
                text = context.query(
                    system, ask, tools=[tool], tool_choice=REVIEW_CHOICE, context=facts, attempt=attempt
                )
            except ReplyError as error:  # the backend has already asked in every form it knows
                reason = str(error)
                break
            try:
                return read_review(text) if claims else read_lesson(text, node)
            except ReplyError as error:
                reason = str(error)
                ask = f"{user}\n\nYour last call could not be used: {reason}\nCall the function again."
        return _from_facts(node, f"The reviewer's reply could not be used ({reason}).")

    def _messages(self, context: AgentContext, node: Node) -> tuple[str, str]:
        language = str(context.extras.get("language", "python"))
        parent = context.parents[0] if context.parents else None
        found = attempt_of(node, replace(context, grandparents=context.parents))  # what it was made from
        values = {
            "task": f"## Task\n\n{shorten(context.statement.strip(), self.prompt_bytes // 8, head=0.8)}",
            "parent": _section_of(parent, node, context, self.prompt_bytes // 8) if parent else "",
            "code": fence(shorten(node.code, self.prompt_bytes // 2), language),
            "outcome": "\n\n".join([found.outcome, *findings(found)]),
            "output": fence(shorten(without_repeats(found.output), self.prompt_bytes // 4, head=0.2)),
        }
        template = self.templates["review" if _is_unscored(node, context) else "lesson"]
        return fill_template(self.templates["review_system"], {}), fill_template(template, values)


def _is_unscored(node: Node, context: AgentContext) -> bool:
    """True where the reviewer's reading is the score: nobody else gave one to a program that ran to its end."""
    return context.claims_only or (node.metric_value is None and node.failure is None)


def _section_of(parent: Node, node: Node, context: AgentContext, limit: int) -> str:
    """What the program was made from, and what was changed."""
    change = line_diff(parent.code, node.code, ("parent", "program"), around=1)
    shown = fence(shorten("\n".join(change.lines[:DIFF_LINES]), limit), "diff")
    return "\n\n".join(filter(None, ("## Its parent", score_of(parent, context), shown, change.note)))


def read_review(text: str) -> Review:
    """The arguments of `submit_review` as a Review. Integers count as numbers; NaN and infinity as no metric.

    Raises:
        ReplyError: not an object of the schema's form; the message says what is wrong.
    """
    arguments = parse_json(text)
    if arguments is None:
        raise ReplyError("the arguments of submit_review are not a JSON object")
    if isinstance(arguments.get("metric"), bool):
        arguments["metric"] = None
    try:
        review = Review.model_validate(arguments)
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ReplyError(f"submit_review: {'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error
    metric = review.metric if review.metric is not None and math.isfinite(review.metric) else None
    return review.model_copy(update={"metric": metric})


def read_lesson(text: str, node: Node) -> Review:
    """What a review of a scored run taught, as one text: the lesson, a doubt, next steps.

    Raises:
        ReplyError: not an object of the schema's form.
    """
    arguments = parse_json(text)
    learned = str((arguments or {}).get("learned") or (arguments or {}).get("summary") or "").strip()
    if arguments is None or not learned:
        raise ReplyError("the arguments of submit_review need `learned`, a text")
    ideas = arguments.get("next")
    steps = [str(idea).strip() for idea in ideas if str(idea).strip()][:IDEAS] if isinstance(ideas, list) else []
    doubt = "Suspect." if arguments.get("suspect") is True else ""
    parts = [learned, doubt, f"Next: {'; '.join(steps)}" if steps else ""]
    return _from_facts(node, " ".join(part for part in parts if part))


def review_facts(node: Node, lower_is_better: bool) -> dict[str, Any]:
    """What `rules` may know: exit state, files and traceback; nothing read out of the output."""
    return {
        "operator": "review",
        "failure": node.failure.value if node.failure else None,
        "exc_type": node.exc_type,
        "message": node.message,
        "has_csv_submission": _has_submission(node),
        "lower_is_better": lower_is_better,
    }


def _has_submission(node: Node) -> bool:
    if node.files:
        return any(name.endswith("submission.csv") for name in node.files)
    return node.failure is None or (node.failure is FailureKind.BAD_SUBMISSION)


def _from_facts(node: Node, summary: str) -> Review:
    return Review(is_bug=node.is_buggy, has_csv_submission=_has_submission(node), summary=summary)
