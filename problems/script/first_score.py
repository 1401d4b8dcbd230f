"""What makes the score of the user's own program another than he may take it for."""

from __future__ import annotations

from collections.abc import Iterator

from core.contracts import Evaluation
from problems.script.harness import CASCADE
from problems.script.reading import ERROR_CHARS, mean_of
from utils.prompt_text import shorten

MEAN_SHOWN = 6
"""Names of metrics that a warning holds."""


def doubts_of(verdict: Evaluation, metric: str | None) -> Iterator[str]:
    """One text each, to be told before the search goes by that score.

    Args:
        metric: name of the one that steers; None: `combined_score`, else the mean of all numbers.
    """
    if names := mean_of(verdict.metrics, metric):
        shown = ", ".join(names[:MEAN_SHOWN]) + f" and {len(names) - MEAN_SHOWN} more" * (len(names) > MEAN_SHOWN)
        text = f"the evaluator returns no combined_score, so the score is the mean of {shown}; "
        yield f"{text}--problem.metric=NAME takes one of them"
    if why := verdict.artifacts.get(CASCADE, ""):  # others are compared with a stage's score until they pass it
        yield f"your own program's evaluation, {why}; problem.options.cascade_thresholds sets the thresholds"
    said = verdict.metrics.get("error")
    if isinstance(said, str) and said.strip():  # many evaluators give 0 and say why
        yield f"the evaluator scores your own program, and says an error of it: {shorten(said, ERROR_CHARS)}"
