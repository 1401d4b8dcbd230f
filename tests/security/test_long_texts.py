"""A megabyte that a program or a writer wrote to be read slowly: the main process reads it with one thread, and nothing
interrupts a pattern, neither a budget nor Ctrl-C.
"""

from __future__ import annotations

import importlib
import re
import signal
import time
from pathlib import Path

import pytest

from core.backend.agent.last_words import plan_of
from core.contracts import ExecutionResult
from core.evaluation.isolation.evaluator import EvaluatorRun
from problems.command.bundle import read_metric
from problems.command.tree.replies import asked_files, edits_of
from problems.command.tree.scores import metrics_of, sources_of
from problems.competition.evaluator import own_estimate
from problems.competition.grader.leaks.decoding import decoded
from problems.competition.grader.tables.amounts import _CELL, _PLAIN
from problems.competition.grader.tables.iso_dates import in_english, shape_of
from problems.script.reading import without_folder
from utils.diff import has_blocks
from utils.genes import split_genes

ROOT = Path(__file__).parents[2]
LONG = 200_000
SECONDS = 2.0
READERS = {
    "output": lambda text: ExecutionResult(term_out=text, exec_time=0.0),
    "estimate": own_estimate,
    "metric": lambda text: read_metric(text, "score"),
    "summary": lambda text: metrics_of(sources_of("output"), "score", text, {}),
    "evaluator": lambda text: without_folder(EvaluatorRun(output=text), "/home/me"),
    "plan": plan_of,
    "edits": edits_of,
    "asked files": asked_files,
    "diff": has_blocks,
    "genes": split_genes,
    "coded": lambda text: list(decoded(text, lambda file: iter(()))),
    "cell": _CELL.fullmatch,
    "number": _PLAIN.fullmatch,
    "date": lambda text: shape_of(in_english(text)),
}
TEXTS = {
    "newlines": "\n" * LONG,
    "blanks": " " * LONG,
    "digits": "1" * LONG + "x",
    "digits of a score": "score: " + "1" * LONG + "x",
    "digits of an estimate": "cv: " + "1" * LONG + "x",
    "digits of a summary": "1" * LONG + " passed in 1.0s",
    "slashes": "/" * LONG,
    "folders": "-/" * (LONG // 2) + "lib/python",
    "folders and a library": "-/" * (LONG // 2) + " /usr/lib/python3.11/x",
    "colons": "a" + ":" * LONG + "x",
    "blocks": "<<<<<<< SEARCH\n" * (LONG // 15),
    "halves": "<<<<<<< SEARCH\n=======\n" * (LONG // 23),
    "a marker": "# [SECTION: a" + " " * LONG + "x",
    "letters": "a" * LONG,
}
RUNS = ("\n", " ", "1", "a", "A", "/", "-/", ".", "_", ":", "=", "#", "`", '"', "\n ", "a/", "1.")
"""What a quadratic pattern looks through again and again."""
PARTS = ("core", "runs", "problems", "agents", "utils", "reports", "dashboard", "cli", "swarm_evo")
OWN = {"runs.sweeps.words._COMMA"}
"""Patterns that read the user's own words on the command line."""
ANYWHERE = r"\.(?:search|sub|subn|findall|finditer|split)\("


class TooSlow(Exception):
    pass


@pytest.fixture
def alarm():
    """An exception in the middle of a pattern, which looks for signals now and then."""

    def ring(*_):
        raise TooSlow

    before = signal.signal(signal.SIGVTALRM, ring)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("reader", READERS)
def test_no_text_is_read_for_long(alarm, reader):
    slow = []
    for name, text in TEXTS.items():
        signal.setitimer(signal.ITIMER_VIRTUAL, 5 * SECONDS)
        began = time.process_time()
        try:
            READERS[reader](text)
        except TooSlow:
            slow.append(name)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if time.process_time() - began > SECONDS:
            slow.append(name)
    assert slow == []


def patterns():
    """`module.NAME` → pattern, of those that are looked for at every place of a text."""
    for path in sorted(path for part in PARTS for path in (ROOT / part).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if "re.compile(" not in source or {"bundled", "engines"} & set(path.parts):
            continue
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for key, value in vars(importlib.import_module(name)).items():
            is_text = isinstance(value, re.Pattern) and isinstance(value.pattern, str)
            if is_text and f"{name}.{key}" not in OWN and re.search(rf"\b{key}{ANYWHERE}", source):
                yield f"{name}.{key}", value


def test_no_pattern_looks_through_a_run_of_one_character_again_and_again(alarm):
    slow, known = set(), dict(patterns())
    assert len(known) > 40
    for name, pattern in known.items():
        for run in RUNS:
            signal.setitimer(signal.ITIMER_VIRTUAL, 2.0)
            began = time.process_time()
            try:
                for _ in pattern.finditer((run * 20_000)[:20_000] + "!"):
                    pass
            except TooSlow:
                slow.add(name)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            if time.process_time() - began > 0.25:
                slow.add(name)
    assert slow == set()
