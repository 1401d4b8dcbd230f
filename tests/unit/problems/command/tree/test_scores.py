"""What commands print about repositories, as metrics and conditions."""

from __future__ import annotations

import pytest

from problems.command.tree.scores import Source, conditions_of, metrics_of, sources_of
from utils.errors import ConfigError

PYTEST = "....F\n=== 1 failed, 4 passed, 2 warnings in 0.12s ===\n"
UNITTEST = "...\n----\nRan 3 tests in 0.001s\n\nOK\n"
JUNIT = (
    '<?xml version="1.0"?><testsuites><testsuite tests="3"><testcase time="0.5"/><testcase time="0.25">'
    "<failure>x</failure></testcase><testcase><skipped/></testcase></testsuite></testsuites>"
)


def read(words, output="", reports=None, name="score"):
    return metrics_of(sources_of(words), name, output, reports or {})


def test_lines_of_output():
    found, fault = read(None, 'score: 1.5\n  "size": 3,\nname = ab-c\nnot a metric: here it is\nscore: 2\n')
    assert (found, fault) == ({"score": 2.0, "size": 3.0, "name": "ab-c"}, "")


def test_a_number_may_have_a_mark_that_makes_it_no_other():
    assert read(None, "speedup: 1.30x\ncoverage = 93.5%\ntime: 12.5ms\n")[0] == {"speedup": 1.3, "coverage": 93.5}


def test_code_in_a_traceback_is_no_metric():
    traceback = (
        "Traceback (most recent call last):\n    module = self._get(name)\n    x = a.b\nNameError: name\nmode: fast\n"
    )
    assert read(None, traceback)[0] == {"NameError": "name", "mode": "fast"}


@pytest.mark.parametrize(
    ("output", "tests"),
    [
        (PYTEST, {"tests": "fail", "passed": 4, "failed": 1}),
        ("4 passed in 0.1s\n", {"tests": "pass", "passed": 4, "failed": 0}),
        ("=== 2 passed, 1 error in 3.21s (0:00:03) ===", {"tests": "fail", "passed": 2, "failed": 1}),
        ("=== no tests ran in 0.01s ===", {}),
        (UNITTEST, {"tests": "pass", "passed": 3, "failed": 0}),
        ("Ran 3 tests in 0.1s\n\nFAILED (failures=1, errors=1)\n", {"tests": "fail", "passed": 1, "failed": 2}),
        ("Ran 10 tests in 0.1s\n\nOK (skipped=1, expected failures=2)\n", {"tests": "pass", "passed": 10, "failed": 0}),
        (
            "Ran 10 tests in 0.1s\n\nFAILED (failures=1, expected failures=2)\n",
            {"tests": "fail", "passed": 9, "failed": 1},
        ),
        ("Ran 10 tests in 0.1s\n\nFAILED (unexpected successes=1)\n", {"tests": "fail", "passed": 9, "failed": 1}),
        ("Ran 0 tests in 0.1s\n\nOK\n", {"tests": "fail", "passed": 0, "failed": 0}),
    ],
)
def test_summaries_of_tests(output, tests):
    assert read(None, output)[0] == tests


def test_a_line_says_nothing_against_a_summary():
    assert read(None, f"tests: pass\n{PYTEST}")[0]["tests"] == "fail"


def test_a_pattern_gives_the_metric_its_last_hit():
    assert read(r"regex:took (\d+) ms", "took 5 ms\ntook 7 ms\n", name="speed") == ({"speed": 7.0}, "")


def test_reports():
    json = '{"mean": 1.5, "stats": {"p95": 2, "name": "x", "all": [4, 5]}, "ok": true}'
    found, fault = read("json:out.json,junit", reports={"out.json": json, "junit.xml": JUNIT})
    assert fault == ""
    assert found["mean"] == 1.5 and found["stats.p95"] == 2 and found["stats.all.1"] == 5 and found["ok"] is True
    assert (found["tests"], found["passed"], found["failed"], found["seconds"]) == ("fail", 1, 1, 0.75)


@pytest.mark.parametrize(
    ("words", "reports", "says"),
    [
        ("json:a.json", {}, "a.json: not written"),
        ("json:a.json", {"a.json": "{"}, "a.json: no JSON"),
        ("junit", {"junit.xml": "<a"}, "junit.xml: no XML"),
        ("junit", {"junit.xml": "<a>" * 1_000_001}, "junit.xml: more than 1,000,000 parts"),
        ("json:o.json", {"o.json": f"[{'{},' * 1_000_001}0]"}, "o.json: more than 1,000,000 parts"),
        ("junit", {"junit.xml": '<!DOCTYPE a [<!ENTITY x "y">]><a/>'}, "entities"),
        ("json:a.json", {"a.json": "[" * 100_000}, "no JSON"),
    ],
)
def test_reports_that_cannot_be_read_are_told(words, reports, says):
    assert says in read(words, reports=reports)[1]


@pytest.mark.parametrize(
    ("text", "metrics", "unmet"),
    [
        ("tests==pass", {"tests": "pass"}, ""),
        ("tests==pass", {"tests": "fail"}, "tests==pass is required, and tests is fail"),
        ("tests==pass", {}, "told no tests"),
        ("size<=100", {"size": 100.0}, ""),
        ("size<100", {"size": 100.0}, "size is 100.0"),
        ("n==3", {"n": 3.0}, ""),
        ("mode!=slow", {"mode": "slow"}, "mode is slow"),
        ("size<100", {"size": "many"}, "size is many"),
        ("x>=0.5", {"x": float("nan")}, "x is nan"),
    ],
)
def test_conditions(text, metrics, unmet):
    [condition] = conditions_of(text)
    why = condition.unmet(metrics)
    assert unmet in why if unmet else why == ""


@pytest.mark.parametrize("text", ["regex:(", "regex:none", "regex:(a)(b)", "json:", "xml", "json"])
def test_sources_that_mean_nothing(text):
    with pytest.raises(ConfigError, match="metric_from"):
        sources_of(text)
    assert sources_of("junit:a/b.xml") == [Source("junit", "a/b.xml")]
    assert conditions_of(None) == [] and [str(c) for c in conditions_of("a==b, c<1")] == ["a==b", "c<1"]


@pytest.mark.parametrize(
    "output", ["9" * 5000 + " passed in 1.0s\n", "Ran " + "9" * 5000 + " tests in 1.0s\n\nOK\n",
               "1 passed, " + "9" * 5000 + " failed in 1.0s\n"],
)  # fmt: skip
def test_a_count_of_thousands_of_digits_is_none(output):
    found, _ = read(None, output)
    assert found.get("passed", 0) <= 1 and found.get("failed", 0) == 0


def test_a_whole_number_that_no_float_holds_is_no_metric():
    assert read("json:a", reports={"a": f'{{"score": {10**400}, "size": 2}}'}) == ({"size": 2}, "")
    (condition,) = conditions_of("size<=2")
    assert condition.unmet({"size": 10**400})
