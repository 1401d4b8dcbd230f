"""What a writer outside hands in, a program and its plan, as the reply of a model that the search takes it for."""

from __future__ import annotations

import re

from utils.diff import has_blocks
from utils.response import NOTHING_LEFT
from utils.syntax import syntax_error


def as_reply(code: str, language: str, plan: str = "") -> str:
    """A program as a model's reply holds it: the plan, and one fenced block that no line of the program closes.

    What is a reply already, because a model was asked the ticket's prompt, stays as it is.
    """
    plan = prose(plan)
    if _is_reply(code, language):
        return f"{plan}\n\n{code}".lstrip("\n")
    longest = max((len(line) - len(line.lstrip("`")) for line in map(str.strip, code.splitlines())), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{plan}\n\n{fence}{language}\n{code.rstrip(chr(10))}\n{fence}\n".lstrip("\n")


def prose(plan: str) -> str:
    """A plan as words and nothing more: it opens no fence, thought or SEARCH that the program would be lost in."""
    plain = re.sub("<(?=/?think)", "< ", plan.replace("`", "'"), flags=re.IGNORECASE)
    return re.sub(r"(~~)~+|(<<<<)<+", r"\1\2", plain).strip()


def _is_reply(text: str, language: str) -> bool:
    """True for blocks of a reply in what is no program by itself, and for what stands for a program."""
    blocks = re.search(r"^[ \t]*```", text, re.MULTILINE) or has_blocks(text) or text.startswith(NOTHING_LEFT)
    return bool(blocks) and not (language == "python" and syntax_error(text) is None)
