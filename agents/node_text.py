"""Nodes as prompts show them: what became of a program, said once and in our own words; the rest is data."""

from __future__ import annotations

from functools import lru_cache

from agents.case_scores import beside, case_scores
from core.contracts import AgentContext
from core.state.change import change_of, is_rounding, noise_of
from core.state.node import Node
from core.state.summary import numbers_in, time_told
from utils.direction import Direction, finite
from utils.number_text import short_number, told_apart
from utils.printed_text import without_repeats, without_warnings
from utils.prompt_parts import BOTH, PRINTED, TOLD, Attempt
from utils.prompt_text import shorten
from utils.traceback_text import short_traceback

OUTPUT_SHOWN = 8_000
"""Bytes of what a program printed that stand with it: logs of epochs are no news by the thousand."""
PRINTED_SHOWN = 800
"""Bytes of an output that stand in the memory below the program's code."""
UNTOLD = 8
"""Letters and digits of an output that its node's line may lack."""
MEASURED_SHOWN = 20
"""Numbers of a user's evaluator that a prompt holds."""


def attempt_of(node: Node, context: AgentContext) -> Attempt:
    """A parent as a prompt shows it."""
    printed = shorten(without_repeats(short_traceback(node.term_out)), OUTPUT_SHOWN, head=0.25)
    output = "\n".join([printed, *(f"[{name}]\n{short_traceback(text)}" for name, text in node.artifacts.items())])
    message = message_of(node)
    above = parent_of(node, context)
    cases_of, cases = case_scores(node, above, context)
    return Attempt(
        code=node.code,
        label="" if context.refusal or not node.fingerprint else f"[{node.step}], {node.operator}",
        outcome=outcome_of(node, context),
        message="" if message and message in output else message,
        note=node.message.strip() if node.failure is None else "",
        review=node.analysis,
        plan="\n".join([node.plan, *(f"Repaired: {first.repair}" for first in node.attempts if first.repair)]),
        output_of=PRINTED if not node.artifacts else BOTH if printed.strip() else TOLD,
        output="" if _is_measured(output, node) else output.strip("\n"),
        measured=measured(node, above),
        measured_of=_measured_of(node, above),
        cases_of=cases_of,
        cases=cases,
    )


def remembered(node: Node) -> Attempt:
    """A program whose code stands in the memory, with the end of what it printed, where its line does not hold all.

    Warnings are shown with the program that is to be changed, and not there.
    """
    output = _end_of(node.term_out) if node.failure is None else ""
    return Attempt(code=node.code, label=f"[{node.step}]", output=output)


@lru_cache(maxsize=64)  # most programs of a prompt stood in the one before it
def _end_of(term_out: str) -> str:
    printed = without_repeats(without_warnings(term_out)).strip()
    return "" if _is_told(printed) else shorten(printed, PRINTED_SHOWN, head=0.0)


def _is_told(printed: str) -> bool:
    """True where the node's line holds all of an output but blanks, rulers and a word such as `OK`."""
    told = numbers_in(printed)
    rest = "".join(line for line in printed.splitlines() if line.strip() not in told)
    return sum(map(str.isalnum, rest)) <= UNTOLD


def other_of(node: Node, context: AgentContext) -> Attempt:
    """A program to take ideas from."""
    return Attempt(code=node.code, label=f"[{node.step}], {node.operator}", outcome=score_of(node, context))


def outcome_of(node: Node, context: AgentContext) -> str:
    """What became of a node, in our own words; what it failed with is `message_of`."""
    share = time_told(node, context.time_limit)
    if node.failure is not None:
        return f"failed ({node.failure.value}). {node.failure.advice}{f' It {share}.' if share else ''}"
    if node.metric_value is None:
        return "it ran to its end; nothing has scored it yet" if context.claims_only else "no metric"
    above = parent_of(node, context)
    change = change_of(node, above, Direction(context.lower_is_better), context.deviation) if above else ""
    against = f"against its parent [{above.step}]: {change}" if above and change else ""
    parts = (
        score_of(node, context, above), against, _beaten_by(node, context), f"it {share}" if share else "",
        _nothing_left(node, context),
    )  # fmt: skip
    return "; ".join(filter(None, parts))


def parent_of(node: Node, context: AgentContext) -> Node | None:
    """What the node was made from, where the context has it."""
    return next((other for other in context.grandparents if other.id == node.parent_id), None)


def _beaten_by(node: Node, context: AgentContext) -> str:
    """That somebody changed it already and gained by it; '' where nobody did, or chance may have."""
    child = next((child for child in context.better_children if node.id in child.parent_ids), None)
    change = change_of(child, node, Direction(context.lower_is_better), context.deviation) if child else ""
    return f"a change of it, [{child.step}], is {change}" if child and not change.startswith("no ") else ""


def _nothing_left(node: Node, context: AgentContext) -> str:
    """A word on a score that few metrics can pass; '' for any other."""
    if not context.lower_is_better or node.metric_value != 0:
        return ""
    return "no count, error or time can be below 0: if the metric is one of these, nothing is left to gain"


def score_of(node: Node, context: AgentContext, above: Node | None = None) -> str:
    """The metric with its noise, and what the program itself measured; with so many digits that it is not read as that
    of `above`."""
    if node.metric_value is None:
        return "no metric"
    noise = noise_of(node, context.deviation)
    spread = f", standard error {short_number(noise, 2)}" if noise else ""
    own = ""
    if node.claimed_metric is not None and node.metric_source != "claimed":
        own = f", its own estimate {node.claimed_metric:.7g}"
    score = told_apart(node.metric_value, above.metric_value if above else None)
    return f"metric {score} ({Direction(context.lower_is_better).word} is better{spread}{own})"


def message_of(node: Node) -> str:
    """What a node failed with, which may quote the program or its exception; '' where it did not fail."""
    return node.message.strip() if node.failure is not None else ""


def measured(node: Node, above: Node | None = None) -> str:
    """All that was measured, a line each, and in brackets what it was of the parent `above`, where that is another
    number; '' where there is nothing beside the metric."""
    if len(node.metrics) < 2:
        return ""
    before = above.metrics if above is not None else {}
    lines = [
        f"{name}: {_number(value, before.get(name))}{_was(value, before.get(name))}"
        for name, value in list(node.metrics.items())[:MEASURED_SHOWN]
    ]
    return "\n".join(line[:200] for line in lines)


def _measured_of(node: Node, above: Node | None) -> str:
    """What the lines of `measured` hold: where the metric is the mean of several runs, they are of one."""
    runs = f" in one of its {len(node.repeats)} runs" if len(node.repeats) > 1 else ""
    return f"Everything that was measured{runs}{beside(above) if above and above.metrics else ''}"


def _was(value: object, before: object) -> str:
    now, then = finite(value), finite(before)
    return "" if now is None or then is None or is_rounding(now, then) else f" ({_number(before, value)})"


def _is_measured(output: str, node: Node) -> bool:
    """True where all that was printed are lines `name: number` that stand among what was measured."""
    if not measured(node) or len(node.metrics) > MEASURED_SHOWN:
        return False
    lines = (line.partition(":") for line in output.splitlines() if line.strip())
    return all(_float(value) == _float(node.metrics.get(name.strip())) is not None for name, _, value in lines)


def _float(value: object) -> float | None:
    try:
        return float(str(value))
    except ValueError:
        return None


def _number(value: object, beside: object) -> str:
    return told_apart(value, finite(beside)) if isinstance(value, float) else str(value)
