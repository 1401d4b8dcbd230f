"""A tool as clients of the Model Context Protocol are told of it, and what is wrong with the arguments of a call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from utils.clean_text import one_line
from utils.counts import counted

LONGEST_TEXT = 30_000
"""Characters of an argument that is a text: Linux hands over no word of 128 KiB to another program."""
LARGEST_NUMBER = 2**53
"""Whole numbers up to it are floats as well; whatever counts steps, seconds or dollars is far below."""
_SHOWN = 80
"""Characters of what a client wrote that an answer quotes."""


@dataclass(frozen=True, slots=True)
class Tool:
    """What a client is told of a tool. `arguments` and `answer` are the properties of two JSON schemas."""

    name: str
    text: str
    arguments: Mapping[str, Any]
    answer: Mapping[str, Any]
    needed: tuple[str, ...] = ()
    given_by: Mapping[str, str] = field(default_factory=dict)
    """Argument → the tool whose answer holds it."""
    reads: bool = False
    """True if it changes nothing."""
    repeats: bool = False
    """True if a second call with the same arguments changes nothing more."""

    def listed(self) -> dict[str, Any]:
        schema = {"type": "object", "properties": dict(self.arguments), "additionalProperties": False}
        return {
            "name": self.name,
            "description": self.text,
            "inputSchema": {**schema, "required": list(self.needed)} if self.needed else schema,
            "outputSchema": {"type": "object", "properties": dict(self.answer)},
            "annotations": {
                "readOnlyHint": self.reads,
                "destructiveHint": False,
                "idempotentHint": self.reads or self.repeats,
                "openWorldHint": False,
            },
        }


def shown(value: Any) -> str:
    """What a client wrote, as an answer quotes it; of a list or an object, of any depth, which of the two."""
    return one_line(str(value) if isinstance(value, str | int | float) else type(value).__name__, _SHOWN)


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "object": (dict,), "array": (list,)
}  # fmt: skip


def wrong(tool: Tool, arguments: Any) -> str:
    """What is wrong with a call's arguments, as one sentence for the model that wrote them; '' if nothing is."""
    if not isinstance(arguments, dict):
        return f"{tool.name}: arguments are an object"
    missing = [name for name in tool.needed if name not in arguments]
    if missing:
        return f"{tool.name}: {', '.join(missing)} is missing"
    for name, value in arguments.items():
        schema = tool.arguments.get(name)
        if schema is None:
            return f"{tool.name}: there is no argument '{shown(name)}'; there are {', '.join(tool.arguments) or 'none'}"
        kind = schema["type"]
        is_flag = isinstance(value, bool) and kind != "boolean"
        if is_flag or not isinstance(value, _TYPES[kind]):
            return f"{tool.name}: {name} is to be of type {kind}"
        if "enum" in schema and value not in schema["enum"]:
            return f"{tool.name}: {name}={shown(value)}; allowed: {', '.join(schema['enum'])}"
        if isinstance(value, int | float) and not abs(value) <= LARGEST_NUMBER:
            return f"{tool.name}: {name} is no number that a computer counts with; allowed: at most {LARGEST_NUMBER}"
        if "minimum" in schema and not value >= schema["minimum"]:
            return f"{tool.name}: {name}={value}; allowed: {schema['minimum']} or more"
        if isinstance(value, str) and (fault := _unfit(value, schema.get("maxLength", LONGEST_TEXT))):
            return f"{tool.name}: {name} {fault}"
    return ""


def _unfit(text: str, most: int) -> str:
    """Why no file, name or note can be this text; '' if nothing is wrong."""
    if len(text) > most:
        return f"has {counted(len(text), 'character')}; allowed: at most {most}"
    odd = next((char for char in text if char == "\0" or "\ud800" <= char <= "\udfff"), None)
    return f"holds the character U+{ord(odd):04X}, which is no text: leave it out" if odd else ""
