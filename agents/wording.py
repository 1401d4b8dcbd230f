"""Sentences of a prompt that depend on the run: who scores the program, and how large a step is wanted."""

from __future__ import annotations

from core.contracts import AgentContext

FEW_STEPS = 20
"""With so many steps left or fewer, a writer is asked for bold changes."""

EVALUATED = (
    "Only what the evaluator measures counts. Do not print a made-up score, and do not try to read hidden data or the "
    "evaluator."
)
CLAIMED = (
    "No evaluator knows the answers. Hold out a part of the labelled rows, or cross-validate, score your predictions "
    "on them in the metric of the task, and print that as the last line, `score: NUMBER`. A reviewer reads the "
    "program's score there, so it must be honest: what was fitted to the held-out rows is worth nothing."
)
PRINTING = (
    "- What a program prints is shown to whoever writes next: a few short lines of numbers that tell what to try are "
    "worth printing, the most telling last."
)
SIMPLE_START = "Keep it simple: one sound method, no ensembles, no large search over parameters."
STRONG_START = "The search has few steps: make it as strong as the limits allow."
ATOMIC = "Make the one change that promises most, and only that one, so that its effect can be measured."
BOLD = "The search has few steps: make the changes that promise most, together; name each in the plan."


def scoring(context: AgentContext) -> str:
    """Who scores the program, and what it must print for that."""
    return CLAIMED if context.claims_only else EVALUATED


def boldness(context: AgentContext) -> str:
    """How large a step is wanted: with few steps to plan with, there is no time to try one thing after the other."""
    few = context.steps_left is not None and context.steps_left <= FEW_STEPS
    if not context.parents:
        return STRONG_START if few else SIMPLE_START
    return BOLD if few else ATOMIC
