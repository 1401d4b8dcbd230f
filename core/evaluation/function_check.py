"""What a problem of one function says of itself, looked at before anything runs: a slip is one line, told at once."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Protocol

from core.contracts import CaseScore
from core.evaluation.signature import Signature
from core.evaluation.static_check import Imports, check_program
from utils.counts import counted
from utils.errors import ConfigError, SwarmEvoError
from utils.user_code import told_fault


class Checked(Protocol):
    """The parts of `FunctionProblem` that are looked at."""

    name: str
    signature: ClassVar[str]
    start: ClassVar[str]
    driver: ClassVar[str]
    imports: ClassVar[tuple[str, ...]]

    def cases(self, part: Any) -> Sequence[Any]: ...

    def known_cases(self, part: Any) -> list[Any]: ...

    def calls(self, case: Any) -> Sequence[Sequence[Any]]: ...

    def case_name(self, case: Any, number: int) -> str: ...

    def case_score(self, case: Any, number: int, score: float) -> CaseScore: ...


def check_function_problem(problem: Checked) -> None:
    """Raise ConfigError for the first thing that cannot work."""
    if isinstance(problem.imports, str):
        raise _fault(problem, f"imports is the text {problem.imports!r}; a tuple is needed: ({problem.imports!r},)")
    form = _form(problem)
    arguments = _arguments(problem, form)
    cases = problem.known_cases("validation")
    if not cases:
        raise _fault(problem, "cases('validation') is empty: there is nothing to score a program on")
    refused = check_program(
        problem.start, Imports.only(*problem.imports), function=form.name, arguments=len(form.parameters)
    )
    if refused is not None:  # as every program is looked at: none would have a score that is like this one
        raise _fault(problem, f"start, which is to be as signature and imports say: {refused.message}")
    for part in ("validation", "test"):  # of the test part now, not when the search is over and paid for
        _check_same(problem, part)
    if not problem.driver:
        _check_calls(problem, form, arguments, calls_of(problem, cases[0], 1))
    names_of(problem, cases)
    try:
        row = problem.case_score(cases[0], 1, 1.0)
    except Exception:  # noqa: BLE001 - it may rightly refuse a score that no program has
        return
    if not isinstance(row, CaseScore):
        raise _fault(problem, f"case_score returns {type(row).__name__}, not core.contracts.CaseScore(case=…, value=…)")


def _check_same(problem: Checked, part: str) -> None:
    """That a second call of `cases` gives the first of them again."""
    first, again = problem.known_cases(part)[:1], cases_of(problem, part)[:1]
    known, new = ([calls_of(problem, case, 1) for case in some] for some in (first, again))
    if not _same(known, new):
        others = f"cases({part!r}) are others at each call"
        raise _fault(problem, f"{others}; draw them by random.Random(part), not by chance")


def cases_of(problem: Checked, part: str) -> list[Any]:
    """A part's cases, made anew. ConfigError: what the problem's own code raised instead, and where."""
    return _asked(problem, f"cases({part!r})", lambda: problem.cases(part))


def calls_of(problem: Checked, case: Any, number: int) -> list[list[Any]]:
    """The calls of a case, its part's `number`th. ConfigError as above, and for what cannot cross to the sandbox."""
    calls = [
        _asked(problem, f"a call of case {number}", lambda call=call: call)  # type: ignore[misc]
        for call in _asked(problem, f"calls(case {number})", lambda: problem.calls(case))
    ]
    if not _is_plain(calls):
        odd = next((value for call in calls for value in call if not _is_plain(value)), calls)
        kind = f"{type(odd).__module__}.{type(odd).__qualname__}".removeprefix("builtins.")
        what = f"{str(odd)[:60]!r}, of type {kind}"
        need = "numbers, texts, True, None, lists and dicts of them (of NumPy: `.tolist()`)"
        raise _fault(problem, f"calls(case {number}) gives {what}; arguments are plain data: {need}")
    return calls


def names_of(problem: Checked, cases: Sequence[Any]) -> list[str]:
    """What the problem calls each of its validation cases. ConfigError as above, and for what is no text."""
    named = (problem.case_name(case, number) for number, case in enumerate(cases, 1))
    names = _asked(problem, "case_name", lambda: named)
    odd = next((name for name in names if not isinstance(name, str)), None)
    if odd is not None or None in names:
        raise _fault(problem, f"case_name gives {odd!r:.60}, not a text")
    return names


def _asked(problem: Checked, what: str, ask: Callable[[], Iterable[Any]]) -> list[Any]:
    """A list that the user's own code gives."""
    try:
        found = ask()
    except SwarmEvoError:
        raise
    except (Exception, SystemExit) as error:  # a third party's code: whatever it raises is told in one line
        raise _fault(problem, f"{what} raises {_told(problem, error)}") from error
    try:
        return list(found)
    except SwarmEvoError:
        raise
    except (Exception, SystemExit) as error:  # as above, of a generator; or it is no list
        kind = f"is {found!r:.60}, not a list" if isinstance(error, TypeError) else f"raises {_told(problem, error)}"
        raise _fault(problem, f"{what} {kind}") from error


def _told(problem: Checked, error: BaseException) -> str:
    """What was raised, and the last line of the problem's own file that led to it."""
    written = (getattr(part, "__code__", None) for part in (type(problem).cases, type(problem).calls))
    return told_fault(error, {code.co_filename for code in written if code})


def _is_plain(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _same(calls: list[list[Any]], others: list[list[Any]]) -> bool:
    return json.dumps(calls) == json.dumps(others)


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
        raise _fault(problem, f"calls gives {counted(len(wrong), 'argument')}, but {problem.signature} takes {most}")


def _fault(problem: Checked, text: str) -> ConfigError:
    return ConfigError(f"problem {problem.name}: {text}"[:500])
