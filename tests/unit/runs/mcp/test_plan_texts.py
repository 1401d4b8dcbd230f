"""What a client of tools says of a run is text: it names no variable of the environment, but for a secret's own key."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runs.mcp.operator_tools import _words
from utils.config import load_config
from utils.errors import ConfigError

SECRET = {"PLANTED": "sk-planted-0123456789"}
pieces = st.lists(st.sampled_from(["${env:PLANTED}", "${", "}", "\\", "$", "problem.goal", " ", "a"]), max_size=8)


@given(pieces.map("".join).map(lambda text: f"a{text}a"))
@example("a${env:PLANTED}a")
@example("a\\${env:PLANTED}a")
def test_a_text_is_taken_as_it_stands(text: str) -> None:
    words = _words({"problem": "tsp", "goal": text, "settings": {"problem.options": {"note": [text, {"x": text}]}}})
    config = load_config(None, [word for word in words if not word.startswith("--")], env=SECRET)
    assert config.problem.goal == text
    assert config.problem.options["note"] == [text, {"x": text}]


def test_a_secret_is_named_by_its_variable_where_a_secret_belongs() -> None:
    settings = {"llm.code.api_key": "${env:PLANTED}", "llm.code.extra": {"headers": {"X": "${env:PLANTED}"}}}
    words = _words({"problem": "tsp", "settings": settings})
    code = load_config(None, [word for word in words if not word.startswith("--")], env=SECRET).llm.code
    assert code.api_key is not None and code.api_key.get_secret_value() == SECRET["PLANTED"]
    assert code.extra == {"headers": {"X": SECRET["PLANTED"]}}


@pytest.mark.parametrize(
    "settings",
    [
        {"llm.code.api_key": "sk-planted-0123456789"},
        {"llm.code": {"api_key": "sk-planted-0123456789"}},
        {"llm.code.extra": {"extra_headers": {"Authorization": "Bearer sk-planted-0123456789"}}},
    ],
)
def test_a_secret_itself_is_taken_from_nobodys_record(settings) -> None:
    """It stood in the plan's file, and on the command lines of the plan and of the run."""
    with pytest.raises(ConfigError, match=r"name the variable that holds it, \$\{env:NAME\}") as raised:
        _words({"problem": "tsp", "settings": settings})
    assert "planted" not in str(raised.value)
    assert _words({"problem": "tsp", "settings": {"llm.code.extra": {"reasoning_effort": "high"}}})


def test_a_key_holds_no_value_of_its_own() -> None:
    with pytest.raises(ConfigError, match="is no key"):
        _words({"problem": "tsp", "settings": {"problem.goal=${env:PLANTED} ": 1}})
