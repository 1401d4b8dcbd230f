"""What a problem of one function says of itself, looked at before anything runs: a slip is one line, told at once."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

from core.contracts import CaseScore
from core.evaluation.signature import Signature
from core.evaluation.static_check import Imports, check_program
from utils.errors import ConfigError


class Checked(Protocol):
    """The parts of `FunctionProblem` that are looked at."""

    name: str
    signature: ClassVar[str]
    start: ClassVar[str]
    driver: ClassVar[str]
    imports: ClassVar[tuple[str, ...]]

    def cases(self, part: Any) -> Sequence[Any]: ...

    def calls(self, case: Any) -> Sequence[Sequence[Any]]: ...

    def case_score(self, case: Any, number: int, score: float) -> CaseScore: ...


def check_function_problem(problem: Checked) -> None:
    """Raise ConfigError for the first thing that cannot work."""
    form = _form(problem)
    arguments = _arguments(problem, form)
    cases = list(problem.cases("validation"))
    if not cases:
        raise _fault(problem, "cases('validation') is empty: there is nothing to score a program on")
    refused = check_program(
        problem.start, Imports.only(*problem.imports), function=form.name, arguments=len(form.parameters)
    )
    if refused is not None:  # as every program is looked at: none would have a score that is like this one
        raise _fault(problem, f"start, which is to be as signature and imports say: {refused.message}")
    if not problem.driver:
        _check_calls(problem, form, arguments, problem.calls(cases[0]))
    try:
        row = problem.case_score(cases[0], 1, 1.0)
    except Exception:  # noqa: BLE001 - it may rightly refuse a score that no program has
        return
    if not isinstance(row, CaseScore):
        raise _fault(problem, f"case_score returns {type(row).__name__}, not core.contracts.CaseScore(case=…, value=…)")


def _form(problem: Checked) -> Signature:
    try:
        return Signature.read(problem.signature)
    except ValueError as error:
        raise _fault(problem, f"signature: {error}") from error


def _arguments(problem: Checked, form: Signature) -> ast.arguments:
    """Those of the function that is searched, as the first program has it."""
    try:
        body = ast.parse(problem.start).body
    except SyntaxError as error:
        raise _fault(problem, f"start is no Python: {error}") from error
    found = next((part for part in body if isinstance(part, ast.FunctionDef) and part.name == form.name), None)
    if found is None:
        raise _fault(problem, f"start has no function {form.name}, which the signature names")
    return found.args


def _check_calls(problem: Checked, form: Signature, arguments: ast.arguments, calls: Sequence[Sequence[Any]]) -> None:
    known = len(arguments.posonlyargs) + len(arguments.args)
    most = len(form.parameters) if arguments.vararg is None else max(len(form.parameters), known)
    needed = known - len(arguments.defaults)
    wrong = next((call for call in calls if not needed <= len(call) <= most), None)
    if wrong is not None:
        raise _fault(problem, f"calls gives {len(wrong)} arguments, but {problem.signature} takes {most}")


def _fault(problem: Checked, text: str) -> ConfigError:
    return ConfigError(f"problem {problem.name}: {text}"[:500])
