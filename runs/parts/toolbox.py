"""What a model may look at before it writes, with `agent.tools`: it runs code as programs run, and is told no score."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.backend.roles import calls_functions, model_settings
from core.contracts import ExecutionResult, Jobs, Limits, Problem, Toolbox
from core.state.journal import Journal
from core.state.node import Node
from core.state.task import Task, derive_seed
from core.workers.local import script_spec
from runs.tickets.files import ProgramFiles
from runs.tickets.names import MOST_CHECKS
from utils.config_schema import AgentConfig, Config
from utils.errors import ConfigError, JobLost
from utils.printed_text import without_repeats
from utils.prompt_text import shorten

_TEXT = {"type": "string"}
_FILES = {"type": "object", "additionalProperties": _TEXT}


class Looks(Toolbox):
    """The functions for one proposal.

    Args:
        start: the program that is to be changed; '' without a parent.
        before: how many nodes of the journal the prompt could know: later ones are not shown either, so that answers do
            not depend on how fast others are.
        seed: of the programs that it runs.
        inputs: what programs see as `input/`; None where they see nothing.
    """

    def __init__(
        self,
        *,
        jobs: Jobs,
        limits: Limits,
        journal: Journal,
        files: ProgramFiles,
        bounds: AgentConfig,
        inputs: Path | None,
        start: str,
        before: int,
        seed: int,
    ) -> None:
        self.most_calls = bounds.tool_calls
        self.most = {"check": MOST_CHECKS}
        self.seconds = bounds.tool_seconds
        self.tools = _tools(files, inputs is not None, limits, bounds.tool_seconds)
        self._bytes = bounds.tool_kb << 10
        self._jobs, self._limits, self._journal, self._files = jobs, limits, journal, files
        self._inputs, self._start, self._before, self._seed = inputs, start, before, seed

    def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        found = {"run_python": self._run, "read_node": self._read, "check": self._check}[name](arguments, seconds)
        return shorten(found, self._bytes, head=0.3)

    def _run(self, arguments: Mapping[str, Any], seconds: float) -> str:
        most = min(seconds, self._limits.seconds)
        limits = self._limits.model_copy(update={"seconds": most})
        try:
            value = self._jobs.run(
                script_spec(str(arguments["code"]), limits=limits, inputs=self._inputs, seed=self._seed)
            )
        except JobLost as error:
            return f"failed: {error}"
        result = ExecutionResult.model_validate(value["result"])
        ended = f"\n\nfailed ({result.failure.value}): {result.message}" if result.failure else ""
        return (without_repeats(result.term_out) + ended).strip() or "(it ran to its end and printed nothing)"

    def _read(self, arguments: Mapping[str, Any], seconds: float) -> str:
        number, before = int(arguments["number"]), min(self._before, len(self._journal))
        if not 0 <= number < before:
            return f"there is no program [{number}]" + (f"; there are [0] to [{before - 1}]" if before else " yet")
        return _told(self._journal.nodes[number])

    def _check(self, arguments: Mapping[str, Any], seconds: float) -> str:
        files = arguments.get("files") or {self._files.file: arguments.get("program", "")}
        return json.dumps(self._files.look(files, self._start))


def _told(node: Node) -> str:
    """A node as text: our own words first, then what a program or a model wrote."""
    became = f"failed ({node.failure.value}): {node.message}" if node.failure else f"metric {node.metric_value}"
    parts = [f"[{node.step}] {node.operator}: {became}", f"plan:\n{node.plan}", f"program:\n{node.code}"]
    return "\n\n".join([*parts, f"end of its output:\n{without_repeats(node.term_out)[-2000:]}"])


def _tools(files: ProgramFiles, has_inputs: bool, limits: Limits, seconds: float) -> Sequence[Mapping[str, Any]]:
    data = "`input/` holds the data that programs see. " if has_inputs else ""
    program = {"files": _FILES} if files.is_tree else {"program": _TEXT}
    return (
        _tool(
            "run_python",
            f"Run a Python program in the sandbox and read what it prints. {data}No network, "
            f"{limits.memory_mb} MB, a fresh process and folder each time, {seconds:g} s for all that you run "
            "together. It is not scored.",
            {"code": _TEXT},
        ),
        _tool(
            "read_node",
            "Read an earlier program by the number that stands before it, [12] for one: its text, plan, score and "
            "the end of its output.",
            {"number": {"type": "integer"}},
        ),
        _tool(
            "check",
            "Look at the program that you mean to write: does it parse, keep the rules, differ from all before it? "
            f"Never a score. At most {MOST_CHECKS} times.",
            program,
        ),
    )


def _tool(name: str, text: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": dict(arguments),
        "required": list(arguments),
        "additionalProperties": False,
    }
    return {"name": name, "description": text, "parameters": schema}


class Toolboxes:
    """Makes the functions for each proposal of a run; None where `agent.tools` is off."""

    def __init__(
        self, config: Config, problem: Problem, journal: Journal, files: ProgramFiles, jobs: Jobs, limits: Limits
    ) -> None:
        self._parts: dict[str, Any] = {"jobs": jobs, "limits": limits, "journal": journal, "files": files}
        self._parts |= {"bounds": config.agent, "inputs": problem.shown_folder}
        self._wanted = config.agent.tools

    def __call__(self, task: Task, parents: Sequence[Node]) -> Toolbox | None:
        if not self._wanted:
            return None
        start = parents[0].code if parents else ""
        return Looks(
            **self._parts, start=start, before=len(self._parts["journal"]), seed=derive_seed(task.seed, "look")
        )


def check_tools(config: Config) -> None:
    """Raise ConfigError where `agent.tools` is on and who writes cannot call functions."""
    if not config.agent.tools:
        return
    for settings in model_settings(config.llm, plugins=config.plugin_folders)["code"].alternatives:
        if not calls_functions(settings):
            how = f"tools={settings.tools}" if settings.tools != "tool" else f"provider={settings.provider}"
            raise ConfigError(f"agent.tools=true needs a model that calls functions, but there is llm.code.{how}")
