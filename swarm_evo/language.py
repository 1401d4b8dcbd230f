"""Errors of the command line in the words of Python: keyword arguments for options, calls for verbs."""

from __future__ import annotations

import re

_CALLS = {"run": "swarm_evo.start", "resume": "swarm_evo.resume", "show": "swarm_evo.load", "ask": "run.ask",
          "list-runs": "swarm_evo.runs"}  # fmt: skip
_PROGRAM = r"(?:(?:'[^'`]+'|[^\s'`]+) (?:'[^'`]*main\.py'|[^\s'`]*main\.py|-m swarm_evo)|[^\s'`]*swarm-evo)"
"""As `utils.program` names it, of which nothing may be imported here."""
_VERB = re.compile(rf"`{_PROGRAM}(?: (?P<verb>[a-z-]+))?(?: [^`]*)?`")
_KEY = re.compile(r"(?<![\w-])--(?P<key>[a-z_]+(?:\.[a-z_]+)+)")
_SET = re.compile(r"(?<![\w./-])(?P<key>[a-z_]+(?:\.[a-z_]+)+)=(?P<value>'[^']*'|\[[^]]*\]|[\w./-]+)")
_UNKNOWN = re.compile(r"'[a-z_]+(?:\.[a-z_]+)+'")
"""A key in quotes, as it stands where one is not known."""
_OPTION = re.compile(r"(?<![\w-])--(?P<name>problem|llm|writer)\b=?")


def in_python(line: str) -> str:
    """A line of the command line in arguments: `a.b` is the keyword `a__b`, and a limit stands in `budget`."""
    line = _VERB.sub(lambda found: f"`{_CALLS.get(found['verb'] or 'run', 'the command line')}(…)`", line)
    line = _KEY.sub(lambda found: found["key"].replace(".", "__"), line)
    line = _SET.sub(_argument, line)
    if "unknown key '" in line and "in one word" not in line:  # that is of a file, whose keys have dots
        line = _UNKNOWN.sub(lambda found: found[0].replace(".", "__"), line)
    return _OPTION.sub(lambda found: f"{found['name']}=", line).replace("=:", ":")


def _argument(found: re.Match[str]) -> str:
    """`search.max_steps=6` is what `budget={"steps": 6}` sets."""
    key, value = found["key"], found["value"]
    if key == "project.dir":
        return f"project_dir={value}"
    name = "steps" if key == "search.max_steps" else key.removeprefix("budget.")
    return f'budget={{"{name}": {value}}}' if name != key else f"{key.replace('.', '__')}={value}"
