"""Which board libraries candidates may import is a matter of the interpreter they run on."""

from __future__ import annotations

import sys

import pytest

from problems.chess_engines.libraries import board_libraries
from problems.chess_engines.problem import build
from utils.config import load_config
from utils.errors import ConfigError


@pytest.fixture
def interpreter(tmp_path):
    """Makes a stand-in for `execution.python` that answers the question with `words`."""

    def make(words: str, code: int = 0) -> str:
        path = tmp_path / "python"
        path.write_text(f"#!/bin/sh\necho {words}\nexit {code}\n")
        path.chmod(0o755)
        return str(path)

    return make


def problem_on(python: str):
    overrides = [f"execution.python={python}"]
    return build(load_config(overrides=overrides, presets={"problem": "chess_engines", "llm": "rules"}), None)


def test_our_own_interpreter_has_rust_chess():
    assert board_libraries(None)[0] == "rust_chess" and board_libraries(sys.executable) == board_libraries(None)


def test_an_interpreter_with_python_chess_lets_candidates_import_it(interpreter):
    problem = problem_on(interpreter("rust_chess chess"))
    extras = problem.prompt_extras()
    assert problem.spec.packages == {"rust_chess", "chess"} and set(problem.preload) == {"rust_chess", "chess"}
    assert extras["allowed_imports"] == "the standard library, chess, rust_chess"
    assert "chess.Board(position.fen)" in extras["sections"]["chess"]


def test_an_interpreter_without_python_chess_does_not(interpreter):
    problem = problem_on(interpreter("rust_chess"))
    assert problem.spec.packages == {"rust_chess"} and "chess" not in problem.prompt_extras()["sections"]


@pytest.mark.parametrize(
    ("words", "code", "said"), [("chess", 0, "pip install rust-chess"), ("", 1, "cannot be asked")]
)
def test_an_interpreter_that_engines_cannot_run_on_is_one_line(interpreter, words, code, said):
    with pytest.raises(ConfigError, match=said) as error:
        problem_on(interpreter(words, code))
    assert "execution.python=" in str(error.value) and "\n" not in str(error.value)


def test_a_missing_interpreter_is_one_line(tmp_path):
    with pytest.raises(ConfigError, match=r"execution\.python="):
        problem_on(str(tmp_path / "none"))
