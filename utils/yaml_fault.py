"""What is wrong with a text that is no YAML, as one line for whoever wrote it."""

from __future__ import annotations

_REMEDIES = {
    "cannot start any token": " (is it a tab? YAML indents by blanks)",
    "unexpected ':'": " (a blank is needed after it)",
}


def yaml_fault(error: Exception, place: str = "line {}: ") -> str:
    """`line 3: expected ',' or ']', but got '<stream end>'`; of an error that knows no line, its first line.

    Args:
        place: how the line is told; '' for a text of one line.
    """
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    if mark is None or not problem:
        return (str(error).splitlines() or [type(error).__name__])[0]
    said = " ".join(str(problem).split())
    remedy = next((told for words, told in _REMEDIES.items() if words in said), "")
    return f"{place.format(mark.line + 1)}{said}{remedy}"
