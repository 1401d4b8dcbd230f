"""Errors of the command line in the words of a client of ours: arguments and settings for options, tools for verbs.

The rest of the program says what a person types. Whoever has tools only would look for a shell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from utils.program import SPOKEN

ARGUMENTS: Mapping[str, str] = {
    "problem.program": "program", "problem.evaluator": "evaluator", "data.dir": "data", "data.target": "target",
    "problem.direction": "direction", "problem.goal": "goal", "search.max_steps": "steps", "budget.seconds": "seconds",
    "budget.usd": "usd",
}  # fmt: skip
"""Configuration key → the argument of `plan_run` that sets it."""
_OPTIONS = {"--llm": "writer", "--writer": "writer", "--problem": "problem", "--out": "dir"}
"""Option of a verb → argument of a tool."""
_TOOLS = {
    "run": "plan_run", "resume": "resume_run", "show": "node", "list-runs": "list_runs", "export-best": "export_best",
    "give-up": "give_up", **{name: name for name in ("ask", "check", "tell", "wait")},
}  # fmt: skip
"""Verb → the tool that does it."""
_BY_A_PERSON = "only a person can allow that, on the command line ({})"
_PERMISSION = re.compile(r"(?:add |needs )?(--i-(?:accept|trust)-[\w-]+)(?: to mean it)?")
_PROGRAM = re.compile(rf"`{SPOKEN}(?: [^`]*)?`")
_VERB = re.compile(rf"`(?:{SPOKEN} )?(?P<verb>[a-z-]+)(?P<rest> [^`]*)?`")
_OPTION = re.compile(r"(?<![\w-])--(?P<name>[a-z][\w-]*)(?![\w.-])(?:[= ](?=[A-Z]))?")
_KEY = re.compile(r"(?<![\w./-])(?:--)?(?P<key>[a-z_]+(?:\.[a-z_]+)+)(?![\w.]*\()")
_ASKED = re.compile(r"--([a-z_]+(?:\.[a-z_]+)+)")
_SETTINGS = " (a name with dots is a key of plan_run's `settings`)"


def spoken(text: str) -> str:
    """An error of the command line, or a hint, for who has our tools."""
    text = _PERMISSION.sub(lambda found: _BY_A_PERSON.format(found[1]), text)
    is_setting = any(key not in ARGUMENTS for key in _ASKED.findall(text))
    text = _VERB.sub(_tool, text)
    text = _PROGRAM.sub("plan_run", text)
    text = _KEY.sub(lambda found: ARGUMENTS.get(found["key"], found["key"]), text)
    text = _OPTION.sub(_argument, text)
    return text + (_SETTINGS if is_setting else "")


def _tool(found: re.Match[str]) -> str:
    tool = _TOOLS.get(found["verb"])
    return found[0] if tool is None else f"the tool {tool}"


def _argument(found: re.Match[str]) -> str:
    option = f"--{found['name']}"
    if option.startswith("--i-"):
        return found[0]
    name = _OPTIONS.get(option)
    return f"{name}=" if name and found[0][-1] in "= " else name or found["name"]
