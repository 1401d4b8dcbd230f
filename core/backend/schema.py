"""Checks a tool call's arguments against the part of JSON Schema that tools use."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "boolean": (bool,), "number": (int, float),
    "integer": (int,), "null": (type(None),),
}  # fmt: skip
_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*?)```", re.DOTALL)


class SchemaError(ValueError):
    """The arguments do not follow the schema; the text says where and what is allowed."""


def read_arguments(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object in `text`, checked. A null where a value is optional counts as left out.

    Raises:
        SchemaError: not JSON, not an object, or not as the schema says.
    """
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise SchemaError(f"it is not valid JSON ({str(error)[:120]})") from error
    if not isinstance(value, dict):
        raise SchemaError(f"it is a JSON {type(value).__name__}, not an object")
    required = schema.get("required", ())
    value = {key: item for key, item in value.items() if item is not None or key in required}
    _check(value, schema, "arguments", 0)
    return value


def find_object(text: str) -> str:
    """The JSON object in a reply: in a fence, or from the first brace to the last; '' if there is none."""
    for block in _FENCE.findall(text):
        if block.strip().startswith("{"):
            return str(block.strip())
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else ""


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _check(value: Any, schema: Mapping[str, Any], place: str, depth: int) -> None:
    if depth > 20:
        raise SchemaError(f"{place} is nested too deeply")
    if not _is_of(value, schema.get("type")):
        raise SchemaError(f"{place} must be {_wanted(schema['type'])}, not {_shown(value)}")
    if "enum" in schema and value not in schema["enum"]:
        raise SchemaError(f"{place} must be one of {json.dumps(schema['enum'])}, not {_shown(value)}")
    if isinstance(value, dict):
        _check_object(value, schema, place, depth)
    elif isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            raise SchemaError(f"{place} must hold {schema['minItems']} or more, not {len(value)}")
        for index, item in enumerate(value):
            _check(item, schema.get("items") or {}, f"{place}[{index}]", depth + 1)


def _check_object(value: dict[str, Any], schema: Mapping[str, Any], place: str, depth: int) -> None:
    properties: Mapping[str, Any] = schema.get("properties") or {}
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        raise SchemaError(f"{place} lacks {', '.join(missing)}")
    unknown = [name for name in value if name not in properties]
    further = schema.get("additionalProperties")
    if unknown and further is False:
        raise SchemaError(f"{place} has unknown {', '.join(map(str, unknown))}")
    if isinstance(further, Mapping):
        for name in unknown:
            _check(value[name], further, f"{place}[{_shown(name)}]", depth + 1)
    for name, inner in properties.items():
        if name in value:
            _check(value[name], inner, f"{place}.{name}", depth + 1)


def _is_of(value: Any, wanted: Any) -> bool:
    if wanted is None:
        return True
    names = wanted if isinstance(wanted, list) else [wanted]
    return any(_is_one(value, str(name)) for name in names)


def _is_one(value: Any, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    if name == "integer" and isinstance(value, float):
        return value.is_integer()
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return isinstance(value, _TYPES.get(name, (object,)))


def _wanted(kind: Any) -> str:
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _shown(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else text[:60] + "…"
