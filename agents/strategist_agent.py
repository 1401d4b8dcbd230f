"""StrategistAgent: looks at the champion and says what the builders of a generation should try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from typing import Any, Unpack

from agents.base_agent import PROMPT_TOKENS, REPAIRS, AgentOptions
from agents.coder_agent import facts, interface_of
from agents.node_text import attempt_of
from agents.templates import load_templates
from core.contracts import AgentContext, Prompt
from core.state.findings import TournamentResult
from utils.clean_text import clean
from utils.counts import counted
from utils.errors import BudgetExhausted, ReplyError
from utils.prompt_builder import PromptBuilder, fill_template
from utils.prompt_parts import Attempt, Parts
from utils.prompt_text import fence, fenced_data, shorten
from utils.response import parse_json

CATEGORIES = ("search", "evaluation", "book", "time")
GAMES_TITLE = "Games of the last tournament that champion or runner-up did not win ({own score/depth} behind its moves)"
FIRST_ATTEMPT = 1000
"""The strategist's calls are numbered from here, so that none shares its identity with a builder's."""

_STANDARD = {
    "search": "How can the search see further, or see the important lines, at the same cost?",
    "evaluation": "Which feature of a position does the evaluation miss or weigh wrongly?",
    "book": "Which positions that games pass through early deserve a prepared answer?",
    "time": "How should the engine spend its limit over the game?",
}
"""Asked where no model is, or its reply cannot be read."""


class StrategistAgent:
    """Asks `questions` questions a generation, each of one category.

    Args:
        questions: how many; one candidate is built for each.
        options: as for BaseAgent.
    """

    def __init__(self, *, questions: int = 2, **options: Unpack[AgentOptions]) -> None:
        self.questions = questions
        self._by_tool = options.get("by_tool", False)
        self.repairs = 0 if self._by_tool else options.get("repairs", REPAIRS)
        self._builder = PromptBuilder(options.get("max_tokens", PROMPT_TOKENS))
        self._templates = load_templates(options.get("prompts_dir"), options.get("problem_prompts", ()))

    def prompt(self, context: AgentContext) -> Prompt:
        """The two messages: the champion's file, the last standings, what was tried."""
        parts = Parts(
            task=context.statement,
            memory=context.memory,
            programs=tuple(Attempt(node.code, f"[{node.step}]") for node in context.remembered),
            interface=interface_of(context.extras),
            limits=context.limits,
            extra={str(k): str(v) for k, v in dict(context.extras.get("sections") or {}).items()},
            attempts=tuple(attempt_of(node, context) for node in context.parents[:1]),
            notes=context.notes,
            steps_left=context.steps_left,
            generations_left=context.generations_left,
            format=f'Answer with JSON and nothing else: {{"questions": [{{"category": "…", "question": "…"}}, …]}}, '
            f"exactly {self.questions} of them. Categories: {', '.join(categories_of(context))}.",
            asked=tournament_sections(context),
        )
        templates = self._templates["strategist_system"], self._templates["strategist"]
        system, user = self._builder.build_messages(*templates, parts)
        return Prompt(system, user, {**facts(context), "role": "strategist", "count": self.questions})

    def ask(self, context: AgentContext) -> list[dict[str, str]]:
        """`questions` objects `{category, question}`, untrusted text; the standard ones if the reply is unreadable."""
        prompt = self.prompt(context)
        user, categories = prompt.user, categories_of(context)
        tools = [questions_tool(self.questions, categories)] if self._by_tool else None
        for attempt in range(self.repairs + 1):
            reply = ""
            try:
                reply = context.query(
                    prompt.system, user, tools=tools, context=prompt.context, attempt=FIRST_ATTEMPT + attempt
                )
                return read_questions(reply, self.questions, categories)
            except BudgetExhausted:  # the builders, who are asked next, end the run in good order
                break
            except ReplyError as error:
                values = {"prompt": prompt.user.strip(), "reason": str(error), "reply": fence(shorten(reply, 4000))}
                user = fill_template(self._templates["repair"], values)
        return self.standard(context)

    def standard(self, context: AgentContext) -> list[dict[str, str]]:
        """What is asked without a model."""
        asked = islice(cycle(categories_of(context)), self.questions)
        return [{"category": category, "question": _STANDARD[category]} for category in asked]


def categories_of(context: AgentContext) -> tuple[str, ...]:
    """What may be asked for: without what openings and limit of the game make worthless, where it says so."""
    told = context.extras.get("categories")
    return tuple(name for name in CATEGORIES if name in told) if isinstance(told, list | tuple) else CATEGORIES


def questions_tool(count: int, categories: Sequence[str] = CATEGORIES) -> dict[str, Any]:
    """The form of an answer for who fills in a schema."""
    question = {
        "type": "object",
        "properties": {"category": {"type": "string", "enum": list(categories)}, "question": {"type": "string"}},
        "required": ["category", "question"],
    }
    listed = {"type": "array", "items": question, "minItems": count}
    parameters = {"type": "object", "properties": {"questions": listed}, "required": ["questions"]}
    function = {"name": "ask_questions", "description": "Ask the builders of a generation", "parameters": parameters}
    return {"type": "function", "function": function}


def read_questions(reply: str, count: int, categories: Sequence[str] = CATEGORIES) -> list[dict[str, str]]:
    """The first `count` questions of a reply. One of no such category is one about the search.

    Raises:
        ReplyError: no JSON, or fewer questions than `count`.
    """
    found = parse_json(reply) or {}
    listed = found.get("questions")
    questions = []
    for item in listed if isinstance(listed, list) else []:
        text = clean(str(item.get("question") or "")).strip() if isinstance(item, Mapping) else ""
        if text:
            category = str(item.get("category") or "").strip().lower()
            questions.append({"category": category if category in categories else "search", "question": text[:2000]})
    if len(questions) < count:
        raise ReplyError(f'expected {{"questions": [...]}} with {counted(count, "question")}, found {len(questions)}')
    return questions[:count]


def tournament_sections(context: AgentContext) -> dict[str, str]:
    """The last tournament as sections of a prompt: title → text. Names of engines and their moves are data."""
    found = context.tournament
    if found is None:
        return {"Last standings": ""}
    games = "\n\n".join(found.games)
    times = "\n".join(found.times)
    return {
        "Last standings": fenced_data(standings_text(found)),
        "Time of moves": fenced_data(times),
        GAMES_TITLE: fenced_data(games),
    }


def standings_text(found: TournamentResult) -> str:
    """A line an engine: its games of this tournament, its Elo over all its games, its results against each other."""
    names = {row.get("node_id"): str(row["name"]) for row in found.standings}
    met: dict[str, list[str]] = {}
    for row in found.crosstable:
        for player, other, wins, losses in (
            (row["a"], row["b"], "wins", "losses"),
            (row["b"], row["a"], "losses", "wins"),
        ):
            met.setdefault(player, []).append(f"{row[wins]}-{row['draws']}-{row[losses]} {names.get(other, other)}")
    lines = []
    for row in found.standings:
        elo = f"Elo {row['elo']}" if row["elo"] is not None else "no Elo"
        low, high = row.get("low"), row.get("high")
        range_ = f" (95 % {low:.0f} to {high:.0f})" if None not in (low, high) and low != high else ""
        against = f"; against {', '.join(met[row['node_id']])}" if row.get("node_id") in met else ""
        lines.append(
            f"{row['name']}: {row['wins']} won, {row['draws']} drawn, {row['losses']} lost, {elo}{range_}{against}"
        )
    return "\n".join(lines)
