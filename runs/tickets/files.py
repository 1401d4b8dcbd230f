"""A problem's programs as files: handed to writers who work in folders, taken in again, looked at before they run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from core.contracts import AgentResult, Evaluator, Problem
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from runs.tickets.handed_in import as_reply, prose
from runs.tickets.verdicts import ABOUT_TEXT
from utils.line_numbers import LineNumbers, first_line
from utils.response import parse_response


class ProgramFiles:
    """Implements `WriterDesk`. A program is looked at once `bind` was called."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._journal: Journal | None = None
        self._evaluator: Evaluator | None = None
        self._read: Callable[[str, str], AgentResult] | None = None

    def bind(self, journal: Journal, evaluator: Evaluator, read: Callable[[str, str], AgentResult]) -> None:
        """What rules and duplicates are judged by.

        Args:
            read: (reply, program that it changes) → what the search would make of it.
        """
        self._journal, self._evaluator, self._read = journal, evaluator, read

    @property
    def file(self) -> str:
        """The one file of a program that is no tree."""
        return "program.py" if self._problem.language == "python" else "program.txt"

    @property
    def place(self) -> str:
        """Where a problem is: in the one file, or of a tree said by its text."""
        return "" if self.is_tree else self.file

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
        return f"{prose(plan)}\n\n{code}".lstrip("\n")

    def look(self, files: Mapping[str, str | None], code: str) -> dict[str, Any]:
        tree = self._problem.tree
        text = tree.reply(files) if tree is not None else files.get(self.file) or ""
        return self.looked_at("", text, code)

    def unreadable(self, code: str, start: str, how: str) -> dict[str, Any] | None:
        """Why nobody can tell what a program is meant to be; None where it can be run, or fail by itself.

        Args:
            start: as for `looked_at`.
            how: a program is handed in.
        """
        assert self._read is not None
        found = self._read(self.reply(code, ""), start)
        if self.is_tree and found.failure is FailureKind.NO_CODE:
            return problem(self.place, "reply", f"{found.error}; {how}")
        return problem(self.place, "reply", found.error) if found.failure is FailureKind.REPLY_ERROR else None

    def looked_at(self, node_id: str, code: str, start: str) -> dict[str, Any]:
        """`{ok, problems, warnings}` of a program, or of a tree of what a model would say of it.

        Args:
            start: the program that it changes; '' for the first one.
        """
        if not code.strip():
            return looked([problem(self.place, "empty", "it is empty")])
        assert self._journal is not None and self._evaluator is not None and self._read is not None
        found = self._read(self.reply(code, ""), start)
        lines = self.lines_of(found.node.code if found.node else "", code)
        if found.node is None or not found.success:
            said = lines.in_message(found.error)
            return looked([problem(self.place, (found.failure or FailureKind.REPLY_ERROR).value, said)])
        warnings = [found.node.message] if found.node.message else []
        if (earlier := self._journal.find_duplicate(found.node.code)) is not None:
            same = f"node {earlier[0]} is the same program: write another"
            return looked([problem(self.place, "duplicate", same)], warnings)
        verdict = self._evaluator.check(Node(id=node_id, code=found.node.code))
        if verdict is None:
            return looked([], warnings)
        kind = verdict.failure.value if verdict.failure else "rules"
        return looked([problem(self.place, kind, lines.in_message(verdict.message))], warnings)

    def lines_of(self, run: str, handed: str) -> LineNumbers:
        """Numbers of a program's lines as its writer counts them: in the file handed in, or in the block of a reply.

        Args:
            run: the program as it is run.
        """
        if self.is_tree:
            return LineNumbers(run, run)
        return LineNumbers(run, parse_response(self.reply(handed, ""), self._problem.language)[0] or handed)


def looked(problems: list[dict[str, Any]], warnings: Sequence[str] = ()) -> dict[str, Any]:
    """The answer to who wants a program looked at."""
    return {"ok": not problems, "problems": problems, "warnings": list(warnings)}


def problem(path: str, kind: str, remedy: str) -> dict[str, Any]:
    line = first_line(remedy) if kind in ABOUT_TEXT else None
    return {"path": path, "line": line, "kind": kind, "remedy": remedy}
