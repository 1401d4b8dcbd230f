"""Errors of the command line in the words of Python: keyword arguments for options, calls for verbs."""

from __future__ import annotations

import re

_CALLS = {"run": "swarm_evo.start", "show": "swarm_evo.load", "ask": "run.ask", "list-runs": "swarm_evo.runs",
          "export-best": "swarm_evo.export_best", "rm": "swarm_evo.delete"}  # fmt: skip
_SAME = ("resume", "compare", "verify", "replay", "report", "tag", "sweep", "doctor", "fork")
"""Verbs that are called the same here."""
_PROGRAM = r"(?:(?:'[^'`]+'|[^\s'`]+) (?:'[^'`]*main\.py'|[^\s'`]*main\.py|-m swarm_evo)|[^\s'`]*swarm-evo)"
"""As `utils.program` names it, of which nothing may be imported here."""
_VERB = re.compile(rf"`{_PROGRAM}(?: (?P<verb>[a-z-]+))?(?: [^`]*)?`")
_KEY = re.compile(r"(?<![\w-])--(?P<key>[a-z_]+(?:\.[a-z_]+)+)")
_SET = re.compile(r"(?<![\w./-])(?P<key>[a-z_]+(?:\.[a-z_]+)+)=(?P<value>'[^']*'|\[[^]]*\]|[\w./-]+)")
_UNKNOWN = re.compile(r"'[a-z_]+(?:\.[a-z_]+)+'")
"""A key in quotes, as it stands where one is not known."""
_OPTION = re.compile(
    r"(?<![\w-])--(?P<name>problem|llm|writer|out|refit|seeds|notebook|patch|folder|branch|bundle|recording|head|vary|case"
    r"|name|jobs|node|edit|i-trust-this-run|i-accept-unsandboxed)(?![\w-])(?:=| (?=\S+:(?:\s|$)))?"
)
_OTHERWISE = {
    "case": "cases",
    "edit": "code",
    "i-trust-this-run": "trust",
    "i-accept-unsandboxed": "accept_unsandboxed",
}
"""Options that have another name here."""
_SWITCHES = ("refit", "notebook", "trust", "accept_unsandboxed")


def in_python(line: str) -> str:
    """A line of the command line in arguments: `a.b` is the keyword `a__b`, and a limit stands in `budget`."""
    line = _VERB.sub(lambda found: f"`{_call(found['verb'] or 'run')}(…)`", line)
    line = _KEY.sub(lambda found: found["key"].replace(".", "__"), line)
    line = _SET.sub(_argument, line)
    if "unknown key '" in line and "in one word" not in line:  # that is of a file, whose keys have dots
        line = _UNKNOWN.sub(lambda found: found[0].replace(".", "__"), line)
    return _OPTION.sub(_option, line).replace("=:", ":")


def _call(verb: str) -> str:
    return _CALLS.get(verb) or (f"swarm_evo.{verb}" if verb in _SAME else "the command line")


def _option(found: re.Match[str]) -> str:
    name = _OTHERWISE.get(found["name"], found["name"])
    return f"{name}=True" if name in _SWITCHES else f"{name}="


def _argument(found: re.Match[str]) -> str:
    """`search.max_steps=6` is what `budget={"steps": 6}` sets."""
    key, value = found["key"], found["value"]
    if key == "project.dir":
        return f"project_dir={value}"
    name = "steps" if key == "search.max_steps" else key.removeprefix("budget.")
    return f'budget={{"{name}": {value}}}' if name != key else f"{key.replace('.', '__')}={value}"
