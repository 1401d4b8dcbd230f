"""Arguments of a tool call: what is accepted, and what the model is told where it is not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.backend.messages import build_request
from core.backend.schema import SchemaError, find_object, read_arguments
from utils.errors import ConfigError

SCHEMA = {
    "type": "object",
    "properties": {
        "is_bug": {"type": "boolean"},
        "metric": {"type": "number"},
        "kind": {"type": "string", "enum": ["a", "b"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "count": {"type": "integer"},
        "note": {"type": ["string", "null"]},
        "files": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["is_bug"],
}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"is_bug": true}', {"is_bug": True}),
        ('{"is_bug": false, "metric": 3}', {"is_bug": False, "metric": 3}),
        ('{"is_bug": false, "metric": null}', {"is_bug": False}),
        ('{"is_bug": false, "count": 3.0, "more": 1}', {"is_bug": False, "count": 3.0, "more": 1}),
        ('{"is_bug": false, "tags": ["x"]}', {"is_bug": False, "tags": ["x"]}),
        ('{"is_bug": false, "files": {"a.py": "x"}}', {"is_bug": False, "files": {"a.py": "x"}}),
    ],
)  # fmt: skip
def test_accepts(text: str, value: dict[str, object]) -> None:
    assert read_arguments(text, SCHEMA) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{not json", "not valid JSON"),
        ("[1]", "not an object"),
        ("{}", "lacks is_bug"),
        ('{"is_bug": "yes"}', "arguments.is_bug must be boolean"),
        ('{"is_bug": 1}', "must be boolean"),
        ('{"is_bug": true, "metric": true}', "must be number"),
        ('{"is_bug": true, "metric": NaN}', "NaN is not JSON"),
        ('{"is_bug": true, "kind": "c"}', "must be one of"),
        ('{"is_bug": true, "tags": ["x", 2]}', r"tags\[1\] must be string"),
        ('{"is_bug": true, "count": 1.5}', "must be integer"),
        ('{"is_bug": true, "files": {"a.py": "x", "b.py": 5}}', r'arguments.files\["b.py"\] must be string, not 5'),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_refuses_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(SchemaError, match=reason):
        read_arguments(text, SCHEMA)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), values))
def test_a_schema_without_demands_accepts_every_object(value: dict[str, object]) -> None:
    found = read_arguments(json.dumps(value), {"type": "object"})
    assert found == {key: item for key, item in value.items() if item is not None}


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read_arguments(find_object(text), SCHEMA)
    except SchemaError:
        pass


@pytest.mark.parametrize(
    "text",
    ['Sure:\n```json\n{"a": 1}\n```\nDone {x}', 'prose {"a": 1} more', '{"a": 1}', '```\n{"a": 1}\n```'],
)
def test_finds_the_object_in_a_reply(text: str) -> None:
    assert json.loads(find_object(text)) == {"a": 1}


def test_tool_choice_in_every_usual_form() -> None:
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}, {"name": "g", "input_schema": {}}]
    forms = [{"type": "function", "function": {"name": "g"}}, {"type": "tool", "name": "g"}, "g"]
    assert {build_request("s", "u", tools, form).forced for form in forms} == {"g"}
    assert build_request("s", "u", tools, "auto").forced == ""
    assert build_request("s", "u", tools, "none").mode == "text"
    with pytest.raises(ConfigError, match="names 'h'"):
        build_request("s", "u", tools, "h")


def test_a_system_message_alone_becomes_the_users() -> None:
    request = build_request("do it", None)
    assert (request.system, request.user) == ("", "do it")
    with pytest.raises(ConfigError):
        build_request(None, "")
