"""An error that reaches a client of ours speaks of arguments and tools, whoever wrote it for a shell."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from support.command_line import ROOT

from runs.mcp.language import ARGUMENTS, spoken
from runs.mcp.operator_tools import _KEYS
from runs.mcp.tools import OPERATOR
from utils.key_docs import key_docs


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("--llm: unknown preset 'bard'", "writer: unknown preset 'bard'"),
        ("search.max_steps=-1: too small", "steps=-1: too small"),
        (
            "no runs in '/x/my.logs'; start one with `python main.py`",
            "no runs in '/x/my.logs'; start one with plan_run",
        ),
        ("`resume r` goes on", "the tool resume_run goes on"),
        ("say --problem.direction=min or max", "say direction=min or max"),
        ("say --data.train=FILE", "say data.train=FILE (a name with dots is a key of plan_run's `settings`)"),
        ("--out /x: cannot be written", "dir /x: cannot be written"),
        (
            "execution.sandbox=none runs programs unprotected; add --i-accept-unsandboxed to mean it",
            "execution.sandbox=none runs programs unprotected; only a person can allow that, on the command line "
            "(--i-accept-unsandboxed)",
        ),
        ("a.py: no such file; see /r/system.log", "a.py: no such file; see /r/system.log"),
    ],
)
def test_options_become_arguments_and_verbs_tools(typed, told):
    assert spoken(typed) == told


def raised_texts(path: Path) -> list[str]:
    """What the file's `raise` statements say; `X` for what is put in."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and node.exc is not None:
            for part in ast.walk(node.exc):
                if isinstance(part, ast.JoinedStr):
                    found.append("".join(str(p.value) if isinstance(p, ast.Constant) else "X" for p in part.values))
                elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                    found.append(part.value)
    return found


def test_no_error_of_ours_reaches_a_client_with_an_option_in_it():
    files = [
        path
        for part in ("runs", "utils", "problems", "core", "reports", "cli")
        for path in ROOT.glob(f"{part}/**/*.py")
    ]
    texts = {text for path in files for text in raised_texts(path) if "--" in text and "--- " not in text}
    assert len(texts) > 30, "the scan sees them"
    left = {text for text in texts if re.search(r"(?<!\w)--(?!i-)[a-z]", spoken(text))}
    assert not left


def test_the_arguments_are_those_of_the_tool_and_the_keys_exist():
    planned = next(tool for tool in OPERATOR if tool.name == "plan_run")
    assert set(_KEYS) <= set(planned.arguments)
    assert set(ARGUMENTS) <= {doc.key for doc in key_docs()}
