"""Which of what a model wrote is the program, the plan, the JSON object. Never raises; what is absent is None or ""."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

from utils.clean_text import clean, one_line, whole
from utils.fences import Block, split_blocks, strip_thinking
from utils.syntax import parse_shared, source_lines, syntax_error

_FIRST = re.compile(r"\A(\*\*)?1[.)][ \t]+")
_SECOND = re.compile(
    r"^[ \t]*(?:\*\*)?2[.)][^\w\n]*"
    r"(?:(?:\w+ ){0,3}(?:program|code|script|function|file|implementation)\b[^\w\n]*)?$\n*",
    re.MULTILINE | re.IGNORECASE,
)
"""The numbers of the two parts that a prompt asks for, and what stands above the second one's block."""
_ITEMS = re.compile(r"^[ \t]*(?:\*\*)?2[.)]", re.MULTILINE)
NOTHING_LEFT = "NOTHING LEFT:"
"""Begins the line that a writer gives in place of a program where no program can score better; then the reason."""
_NOTHING_LEFT = re.compile(rf"^[ \t>*_#`-]*{NOTHING_LEFT}[ \t*_`]*(.*)$", re.MULTILINE)
_PLAN_IN_CODE = re.compile(r"\A\s*#\s*Implementation Plan:?[ \t]*\n((?:[ \t]*#.*\n)*)", re.IGNORECASE)
_OTHER_LANGUAGES = frozenset(
    {"bash", "sh", "shell", "console", "text", "txt", "json", "output", "diff", "markdown", "md"}
)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BARE = re.compile(r"(?:from|import|def|async def|class) \w|@\w|#|\"{3}|'{3}|\w+ *=[^=]")
"""How a program's first line may begin."""
_BARE_TRIES = 8
_LEFT_OUT = re.compile(
    r"^[ \t]*(?:#|//|--|;|%|/\*)[ \t]*[\[(<]?[ \t]*(?:"
    r"(?:\.{3}|…).*\b(?:code|existing|rest|remain\w*|unchanged|same|previous|before|omitted)\b"
    r"|(?:the[ \t]+)?(?:rest|remainder)[ \t]+(?:of|is|are|stays?|remains?)\b.*\b(?:unchanged|same|before|omitted)\b"
    r"|(?:existing|previous|unchanged|same)[ \t]+(?:code|functions?|imports?|helpers?)\b.*(?:\.{3}|…|here\b|unchanged)"
    r").*$",
    re.IGNORECASE | re.MULTILINE,
)
"""A comment in place of lines: `# ... existing code ...`."""
_REMEMBERED = 64
"""A reply is read when it comes, when it is judged and when it becomes a node."""


@lru_cache(maxsize=_REMEMBERED)
def parse_response(text: str, language: str = "python", like: str = "") -> tuple[str | None, str]:
    """(code, plan) of a reply. Code is None where there is no code block; an empty block is '' and counts as code.

    `like` is a program of the form that is wanted: of several blocks an example of its use is not meant.

    The code is what the model wrote, to the last character, but for a byte-order mark; the plan is cleaned.
    """
    prose, blocks = split_blocks(strip_thinking(text))
    code = extract_code(blocks, language, like)
    plan = _without_numbers(prose.strip())
    if code is not None and not plan:
        plan = _plan_in_code(code)
    return code, clean(plan)


def _without_numbers(plan: str) -> str:
    """A plan without its number as a reply's first part; one that is a list itself keeps all of them."""
    first, rest = _FIRST.match(plan), _SECOND.sub("", plan, count=1)
    if first is None or _ITEMS.search(rest):
        return plan
    return f"{first[1] or ''}{rest[first.end() :]}".strip()


def extract_code(blocks: Sequence[Block], language: str = "python", like: str = "") -> str | None:
    """The program among the blocks: of those that parse the longest that defines most of what `like` does; of those
    labelled as `language` where there are any."""
    candidates = _in_language(blocks, language)
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    sound = [c for c in candidates if language != "python" or syntax_error(c) is None]
    wanted = _defined(like)
    chosen = max(sound or candidates, key=lambda code: (len(wanted & _defined(code)) if wanted else 0, len(code)))
    return _with_imports(chosen, candidates) if chosen in sound and language == "python" else chosen


def _in_language(blocks: Sequence[Block], language: str) -> list[str]:
    names = {language.lower(), *({"py", "python3"} if language == "python" else ())}
    labelled = [b.text for b in blocks if b.language in names]
    return labelled or [b.text for b in blocks if b.language not in _OTHER_LANGUAGES or language in _OTHER_LANGUAGES]


def further_programs(text: str, code: str, language: str = "python") -> int:
    """How many programs a reply holds beside `code`, which was taken: other blocks at least half as long, that define
    some of what it defines. An example of its use is none."""
    blocks = _in_language(split_blocks(strip_thinking(text))[1], language)
    others = [block for block in blocks if block.strip() not in code and 2 * len(block) >= len(code)]
    wanted = _defined(code) if others else set()
    return sum(not wanted or bool(wanted & _defined(block)) for block in others)


def _with_imports(code: str, blocks: Sequence[str]) -> str:
    """The program behind the blocks before it that are imports and nothing else: its writer parted the two."""
    before = blocks[: blocks.index(code)]
    heads = [block.strip() for block in before if _is_imports(block) and block.strip() not in code]
    return "\n".join([*heads, code]) if heads and "__future__" not in code else code


def _is_imports(code: str) -> bool:
    """True for code that parses and only imports."""
    body = parse_shared(code).body if syntax_error(code) is None else []
    return bool(body) and all(isinstance(one, (ast.Import, ast.ImportFrom)) for one in body)


def _defined(code: str) -> set[str]:
    """Functions and classes at the top level of Python code; none of what does not parse."""
    if not code or syntax_error(code) is not None:
        return set()
    return {one.name for one in parse_shared(code).body if isinstance(one, _DEFINITIONS)}


def left_out(code: str, known: Iterable[str]) -> str:
    """The first comment of a program that stands for lines that its writer left out; '' for none.

    Args:
        known: programs that were shown: a comment that stands there already is one like any other.
    """
    shown = "\n".join(known)
    comments = (found[0].strip() for found in _LEFT_OUT.finditer(code))
    return next((comment for comment in comments if comment not in shown), "")


def bare_program(reply: str, like: str = "") -> tuple[str, str]:
    """(Python program, plan) of a reply without fences that is a program, or ends in one; ('', '') for any other.

    What is found so parses to the end of the reply, and defines something of `like`, or something at all.
    """
    lines = source_lines(reply)
    wanted = _defined(like)
    begins = (n for n, line in enumerate(lines) if _BARE.match(line))
    for place in islice(begins, _BARE_TRIES):
        code = "\n".join(lines[place:])
        if (found := _defined(code)) and (not wanted or wanted & found):
            return code, clean("\n".join(lines[:place]).strip())
    return "", ""


def nothing_left_in(text: str) -> str | None:
    """The reason why nothing is left to gain, of the last line that says so; None where none does."""
    found = _NOTHING_LEFT.findall(strip_thinking(text))
    return one_line(found[-1], 1000).rstrip("*_` ") if found else None


def parse_json(text: str) -> dict[str, Any] | None:
    """The first JSON object in the text, fenced or bare, without lone surrogates; None if there is none."""
    text = strip_thinking(text)
    for block in [b.text for b in split_blocks(text)[1]] + [text]:
        found = _first_object(block)
        if found is not None:
            return found
    return None


def _first_object(text: str) -> dict[str, Any] | None:
    decoder = json.JSONDecoder()
    start = text.find("{")
    for _ in range(50):  # a bound, so that a reply of ten thousand braces costs no quadratic time
        if start < 0:
            return None
        try:
            value, _end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            plain: dict[str, Any] = json.loads(whole(json.dumps(value, ensure_ascii=False)))
            return plain
        start = text.find("{", start + 1)
    return None


def _plan_in_code(code: str) -> str:
    """The seed's form: a block of comments under `# Implementation Plan` at the top of the program."""
    found = _PLAN_IN_CODE.match(code + "\n")
    if not found:
        return ""
    lines = [line.strip().lstrip("#").strip() for line in found[1].splitlines()]
    if lines and lines[-1].lower() == "code":
        lines.pop()
    return "\n".join(lines).strip()
