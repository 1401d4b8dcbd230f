"""What a writer is told of how a command's score comes about: what to keep, or there is none."""

from __future__ import annotations


def where_from(metric: str, output: str, *, timed: bool, graded: bool, runs: str = "") -> str:
    """Sentences on the metric.

    Args:
        output: the file that is graded.
        runs: `, the median of three runs`, where that is to be said.
    """
    grader = f"A grader that programs do not see reads {output}, which the command has to write, and "
    if timed:
        right = f"\n{grader}refuses what is not right." if graded else ""
        return f"Metric: {metric}, from the command's start to its end, alone on one core{runs}.{right}"
    if graded:
        return f"Metric: {metric}{runs}.\n{grader}tells the metric."
    return f"Metric: {metric}{runs}, a line `{metric}: NUMBER` or a key of JSON in what the command prints."
