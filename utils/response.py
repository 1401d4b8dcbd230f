"""Reads what a model wrote: code blocks, the plan in prose, JSON. Never raises; what is not there is None or ''."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from utils.clean_text import clean, one_line, whole
from utils.syntax import parse_shared, source_lines

_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})[ \t]*([\w+#.-]*)[^`]*$")
_THOUGHT_OR_FENCE = re.compile(
    r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)"
    r"|(?P<end>^[ \t]*</think(?:ing)?>)|^[ ]{0,3}(?P<fence>`{3,}|~{3,})[^`\n]*$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
NOTHING_LEFT = "NOTHING LEFT:"
"""Begins the line that a writer gives in place of a program where no program can score better; then the reason."""
_NOTHING_LEFT = re.compile(rf"^[ \t>*_#`-]*{NOTHING_LEFT}[ \t*_`]*(.*)$", re.MULTILINE)
_PLAN_IN_CODE = re.compile(r"\A\s*#\s*Implementation Plan:?[ \t]*\n((?:[ \t]*#.*\n)*)", re.IGNORECASE)
_OTHER_LANGUAGES = frozenset(
    {"bash", "sh", "shell", "console", "text", "txt", "json", "output", "diff", "markdown", "md"}
)
_REMEMBERED = 64
"""A reply is read when it comes, when it is judged and when it becomes a node."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its label in lower case ('' where there is none) and its text without the fences."""

    language: str
    text: str


@lru_cache(maxsize=_REMEMBERED)
def parse_response(text: str, language: str = "python") -> tuple[str | None, str]:
    """(code, plan) of a reply. Code is None where there is no code block; an empty block is '' and counts as code.

    The code is what the model wrote, to the last character, but for a byte-order mark; the plan is cleaned.
    """
    prose, blocks = split_blocks(strip_thinking(text))
    code = extract_code(blocks, language)
    plan = prose.strip()
    if code is not None and not plan:
        plan = _plan_in_code(code)
    return code, clean(plan)


def extract_code(blocks: list[Block], language: str = "python") -> str | None:
    """The program among the blocks: the longest that parses, of those labelled as `language` where there are any."""
    names = {language.lower(), *({"py", "python3"} if language == "python" else ())}
    candidates = [b.text for b in blocks if b.language in names]
    candidates = candidates or [
        b.text for b in blocks if b.language not in _OTHER_LANGUAGES or language in _OTHER_LANGUAGES
    ]
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    sound = [c for c in candidates if language != "python" or syntax_error(c) is None]
    return max(sound or candidates, key=len)


def split_blocks(text: str) -> tuple[str, list[Block]]:
    """(prose outside of the fences, fenced blocks in order). A fence that is never closed runs to the end."""
    prose: list[str] = []
    blocks: list[Block] = []
    body: list[str] = []
    fence, label = "", ""
    for line in source_lines(text):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not found[2]:
                blocks.append(Block(label, _text(body)))
                fence, body = "", []
            else:
                body.append(line)
        elif found:
            fence, label = found[1], found[2].lower()
        else:
            prose.append(line)
    if fence:
        blocks.append(Block(label, _text(body)))
    return "\n".join(prose), blocks


def _text(lines: list[str]) -> str:
    """Of a block. A byte-order mark is of the file that was handed in, not of the program."""
    return "\n".join(lines).removeprefix("\ufeff")


def nothing_left_in(text: str) -> str | None:
    """The reason why nothing is left to gain, of the last line that says so; None where none does."""
    found = _NOTHING_LEFT.findall(strip_thinking(text))
    return one_line(found[-1], 1000).rstrip("*_` ") if found else None


def up_to_last_block(text: str) -> str:
    """A reply up to the end of its last fenced block; '' where it holds none, or one that is never closed."""
    lines = source_lines(text, keepends=True)
    fence, end = "", 0
    for number, line in enumerate(lines, 1):
        found = _FENCE.match(line.rstrip("\r\n"))
        if fence and found and found[1].startswith(fence) and not found[2]:
            fence, end = "", number
        elif not fence and found:
            fence = found[1]
    return "" if fence else "".join(lines[:end])


def strip_thinking(text: str) -> str:
    """The reply without a reasoning model's `<think>` parts. In a fence such words are part of a program.

    Where the model's chat template opens the first part itself, the reply holds but its end, on a line of its own.
    """
    if "think" not in text.lower():
        return text
    kept: list[str] = []
    place = 0
    while found := _THOUGHT_OR_FENCE.search(text, place):
        kept.append(text[place : found.start()])
        place = found.end()
        if found["end"]:
            kept.clear()
        if fence := found["fence"]:
            end = re.compile(rf"^[ ]{{0,3}}{fence}{fence[0]}*[ \t]*$", re.MULTILINE).search(text, place)
            place = end.end() if end else len(text)
            kept.append(text[found.start() : place])
    return "".join([*kept, text[place:]])


def parse_json(text: str) -> dict[str, Any] | None:
    """The first JSON object in the text, fenced or bare, without lone surrogates; None if there is none."""
    text = strip_thinking(text)
    for block in [b.text for b in split_blocks(text)[1]] + [text]:
        found = _first_object(block)
        if found is not None:
            return found
    return None


@lru_cache(maxsize=_REMEMBERED)
def syntax_error(code: str) -> str | None:
    """One line that names the first syntax error of Python `code`; None if it parses."""
    before, nul, _ = code.partition("\0")
    if nul:
        return f"NUL byte at line {len(source_lines(before + nul))}"
    try:
        parse_shared(code)
    except SyntaxError as error:
        line = f": {error.text.strip()[:120]}" if error.text else ""
        return one_line(f"line {error.lineno}: {error.msg}{line}")
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"
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
