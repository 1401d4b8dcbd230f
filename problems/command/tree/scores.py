"""What a command told of a repository, as named metrics; and the conditions that they must meet."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

from utils.errors import ConfigError
from utils.number_text import DECIMAL, MARK, WHOLE

Metrics = dict[str, Any]
"""Name → number or text."""
COUNTS = ("passed", "failed", "skipped")
"""Metrics that count tests."""
_LINE = re.compile(
    r"^[ \t\"'{,]*([A-Za-z_][\w.-]*)[\"']?[ \t]*[:=][ \t]*[\"']?([^\s\"',}]+)[\"',}]*[ \t]*$", re.MULTILINE
)
_WORD = re.compile(r"[\w+/%-]+")
"""What a metric that is no number may say: `pass`, `n/a`. A dot or a bracket is of the code that a traceback shows."""
_MARKED = re.compile(rf"({DECIMAL}){MARK}")
_SUMMARY = re.compile(rf"({WHOLE}) (passed|failed|errors?|skipped|xfailed|xpassed)\b")
_PYTEST = re.compile(
    rf"^=*[ ]*({WHOLE} (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?).*) in [\d.:]+", re.M
)
_UNITTEST = re.compile(rf"^Ran ({WHOLE}) tests? in .*\n+(OK|FAILED)(?: \((.*)\))?", re.MULTILINE)
_FAILED = ("failures", "errors", "unexpected successes")
_REQUIRE = re.compile(r"([A-Za-z_][\w.-]*)\s*(==|!=|<=|>=|<|>)\s*(\S+)")
_MOST = 200
_MOST_PARTS = 1_000_000
"""Tags, lists, objects and values of a report: read, they take up to 300 bytes each of the memory that all share."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where metrics are read: `output`, `regex`, `json` or `junit`."""

    kind: str
    what: str = ""
    """A pattern, or a path below the repository."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A metric that a candidate must meet to have a score at all."""

    name: str
    relation: str
    value: str

    def __str__(self) -> str:
        return f"{self.name}{self.relation}{self.value}"

    def unmet(self, metrics: Mapping[str, Any]) -> str:
        """Why it is not met, in one line; '' if it is."""
        if self.name not in metrics:
            return f"{self} is required, and the command told no {self.name}"
        found = metrics[self.name]
        one, other = _number(found), _number(self.value)
        if one is None or other is None:
            met = {"==": str(found) == self.value, "!=": str(found) != self.value}.get(self.relation, False)
        else:
            met = {"==": one == other, "!=": one != other, "<=": one <= other, ">=": one >= other, "<": one < other,
                   ">": one > other}[self.relation]  # fmt: skip
        return "" if met else f"{self} is required, and {self.name} is {found}"


def sources_of(text: str | None) -> list[Source]:
    """`problem.metric_from`: `output`, `regex:PATTERN`, `json:PATH`, `junit[:PATH]`; several with commas between.

    Raises:
        ConfigError: another word, or a pattern that cannot be compiled or has not one group.
    """
    if text and text.startswith("regex:"):
        return [_regex(text.removeprefix("regex:"))]
    found = []
    for word in (text or "output").split(","):
        kind, _, what = word.strip().partition(":")
        if kind not in ("output", "json", "junit") or (kind == "json" and not what):
            allowed = "output, regex:PATTERN, json:PATH, junit, junit:PATH"
            raise ConfigError(f"problem.metric_from={word.strip()}: allowed: {allowed}")
        found.append(Source(kind, what or ("junit.xml" if kind == "junit" else "")))
    return found


def _regex(pattern: str) -> Source:
    try:
        if re.compile(pattern).groups != 1:
            raise ConfigError(f"problem.metric_from=regex:{pattern}: exactly one group (…) holds the number")
    except re.error as error:
        raise ConfigError(f"problem.metric_from=regex:{pattern}: {error}") from error
    return Source("regex", pattern)


def conditions_of(text: str | None) -> list[Condition]:
    """`problem.require`: `tests==pass`, `size<=100`; several with commas between. Raises ConfigError."""
    found = []
    for word in filter(None, (part.strip() for part in (text or "").split(","))):
        match = _REQUIRE.fullmatch(word)
        if match is None:
            raise ConfigError(f"problem.require={word}: write NAME==VALUE, or with !=, <, <=, >, >=")
        found.append(Condition(match[1], match[2], match[3]))
    return found


def metrics_of(sources: Sequence[Source], name: str, output: str, reports: Mapping[str, str]) -> tuple[Metrics, str]:
    """(everything that was told, '') or (…, what is wrong with a report).

    Args:
        name: the metric that steers: what a `regex` finds is called so.
    """
    found: Metrics = _tests_of(output)
    fault = ""
    for source in sources:
        if source.kind == "output":
            lines = ((key, _unmarked(text)) for key, text in _LINE.findall(output))
            told = [(key, text) for key, text in lines if _number(text) is not None or _WORD.fullmatch(text)]
            found = {key: _value(text) for key, text in told[-_MOST:]} | found
        elif source.kind == "regex":
            hits = re.findall(source.what, output)
            found |= {name: _value(hits[-1])} if hits else {}
        elif source.what not in reports:
            fault = fault or f"{source.what}: not written, or no plain file"
        else:
            more, wrong = _report(source.kind, reports[source.what])
            found |= more
            fault = fault or (f"{source.what}: {wrong}" if wrong else "")
    return found, fault


def _tests_of(output: str) -> Metrics:
    """`tests` (pass or fail), `passed`, `failed` of pytest's or unittest's last line of summary; {} without one."""
    lines = _PYTEST.findall(output)
    if lines:
        counts = {word.rstrip("s"): int(number) for number, word in _SUMMARY.findall(lines[-1])}
        failed = counts.get("failed", 0) + counts.get("error", 0)
        return _tests(counts.get("passed", 0), failed)
    ran = _UNITTEST.findall(output)
    if not ran:
        return {}
    count, word, detail = ran[-1]
    told = dict(part.split("=", 1) for part in detail.split(", ") if "=" in part)
    failed = sum(int(number) for kind, number in told.items() if kind in _FAILED and re.fullmatch(WHOLE, number))
    return _tests(int(count) - failed, failed if word == "FAILED" else 0)


def _tests(passed: int, failed: int) -> Metrics:
    return {"tests": "pass" if passed and not failed else "fail", "passed": passed, "failed": failed}


def _report(kind: str, text: str) -> tuple[Metrics, str]:
    """(what a report tells, what is wrong with it)."""
    if max(map(text.count, ",[{" if kind == "json" else "<")) > _MOST_PARTS:
        return {}, f"more than {_MOST_PARTS:,} parts"
    return (_json if kind == "json" else _junit)(text)


def _json(text: str) -> tuple[Metrics, str]:
    """Numbers and texts of an object, inner ones by `outer.inner`."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        return {}, f"no JSON: {error}"
    found: Metrics = {}
    todo = [("", plain)]
    while todo and len(found) < _MOST:
        prefix, value = todo.pop()
        if isinstance(value, dict):
            todo += [(f"{prefix}.{key}" if prefix else str(key), inner) for key, inner in reversed(value.items())]
        elif isinstance(value, list) and prefix:
            todo += [(f"{prefix}.{place}", inner) for place, inner in reversed(list(enumerate(value[:50])))]
        elif isinstance(value, str) and prefix:
            found[prefix[:120]] = value[:200]
        elif isinstance(value, int | float) and prefix and _number(value) is not None:
            found[prefix[:120]] = value
    return found, ""


def _junit(text: str) -> tuple[Metrics, str]:
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return {}, "declares entities, which no report does"
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        return {}, f"no XML: {error}"
    cases = list(root.iter("testcase"))
    bad = sum(1 for case in cases if case.find("failure") is not None or case.find("error") is not None)
    skipped = sum(1 for case in cases if case.find("skipped") is not None)
    seconds = sum(_number(case.get("time")) or 0.0 for case in cases)
    return {**_tests(len(cases) - bad - skipped, bad), "skipped": skipped, "seconds": seconds}, ""


def _unmarked(text: str) -> str:
    """`1.30x` as 1.30, `93%` as 93."""
    marked = _MARKED.fullmatch(text)
    return marked[1] if marked else text


def _value(text: str) -> Any:
    number = _number(text)
    return text[:200] if number is None else number


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
