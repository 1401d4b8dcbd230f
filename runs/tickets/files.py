"""A problem's programs as files: handed to writers who work in folders, taken in again, looked at before they run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.contracts import Evaluator, Problem
from core.state.journal import Journal
from core.state.node import Node
from runs.tickets.queue import as_reply
from utils.response import syntax_error


class ProgramFiles:
    """Implements `WriterDesk`. Until `bind` is called, only a program's form is looked at."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._journal: Journal | None = None
        self._evaluator: Evaluator | None = None

    def bind(self, journal: Journal, evaluator: Evaluator) -> None:
        """What rules and duplicates are judged by."""
        self._journal, self._evaluator = journal, evaluator

    @property
    def file(self) -> str:
        """The one file of a program that is no tree."""
        return "program.py" if self._problem.language == "python" else "program.txt"

    @property
    def is_tree(self) -> bool:
        """True if a program is a tree of files."""
        return self._problem.tree is not None

    def hand_out(self, code: str) -> tuple[dict[str, str], list[str]]:
        tree = self._problem.tree
        if tree is not None:
            return tree.files(code), list(tree.editable)
        start = code or str(self._problem.prompt_extras().get("program", ""))
        return {self.file: start}, [self.file]

    def take_in(self, files: Mapping[str, str | None], plan: str) -> str:
        """The reply of a model that wrote the same."""
        tree = self._problem.tree
        return self.reply(tree.reply(files) if tree is not None else files.get(self.file) or "", plan)

    def reply(self, code: str, plan: str) -> str:
        """A program, or of a tree what a model would say of it, with the plan before it."""
        if self._problem.tree is None:
            return as_reply(code, self._problem.language, plan)
        return f"{plan.strip()}\n\n{code}".lstrip("\n")

    def problems(self, files: Mapping[str, str | None], code: str) -> list[dict[str, Any]]:
        tree = self._problem.tree
        if tree is not None:
            return self.faults("", tree.reply(files), code)
        text = files.get(self.file) or ""
        return self.faults("", text, code) if text.strip() else [problem(self.file, "empty", "it is empty")]

    def faults(self, node_id: str, code: str, start: str) -> list[dict[str, Any]]:
        """What is wrong with a program, or of a tree with what a model would say of it.

        Args:
            start: the program that it changes; '' for the first one.
        """
        tree = self._problem.tree
        if tree is not None:
            try:
                code = tree.read(code, start)
            except ValueError as fault:
                return [problem("", "reply", str(fault))]
        if self._problem.language == "python" and (error := syntax_error(code)) is not None:
            return [problem(self.file, "syntax", error)]
        if self._journal is None or self._evaluator is None:
            return []
        if (earlier := self._journal.find_duplicate(code)) is not None:
            return [problem(self.file, "duplicate", f"node {earlier[0]} is the same program: write another")]
        verdict = self._evaluator.check(Node(id=node_id, code=code))
        if verdict is None:
            return []
        return [problem(self.file, verdict.failure.value if verdict.failure else "rules", verdict.message)]


def problem(path: str, kind: str, remedy: str) -> dict[str, Any]:
    return {"path": path, "line": None, "kind": kind, "remedy": remedy}
