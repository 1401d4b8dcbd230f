"""What is wrong with a text that is no YAML, as one line for whoever wrote it."""

from __future__ import annotations


def yaml_fault(error: Exception) -> str:
    """`line 3: expected ',' or ']', but got '<stream end>'`; of an error that knows no line, its first line."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None or not problem:
        return (str(error).splitlines() or [type(error).__name__])[0]
    return f"line {mark.line + 1}: {problem}"
