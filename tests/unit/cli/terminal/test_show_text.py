"""What `show` prints of a run: texts of users and models, which are no markup."""

from __future__ import annotations

import re
import sys

import pytest

from cli.terminal.show_text import print_diff, print_node, print_run, print_why

RUN = {
    "run": "r", "problem": "p", "unit": "ms [/op]", "direction": "min", "status": "finished", "writer": "w",
    "verdict": {"text": "none", "warnings": []}, "warnings": [], "winner": None, "best_node_id": None, "final": {},
    "problem_note": "",
    "final_metric": None, "final_interval": None, "best_on_validation": None, "best_of_search": None,
    "control": {"text": ""}, "effort": "", "steps": 1, "failures": {}, "tokens": None, "cached_tokens": 0,
    "cost_usd": None, "machine_usd": None, "sandbox": {}, "journal_sha256": "", "journal_head": "", "baselines": [],
    "title": "", "tags": [], "note": "", "started_at": None, "config": {}, "limits": "", "elapsed": 65.0,
    "held_usd": 0.0, "held_calls": 0,
}  # fmt: skip
NODE = {
    "against_parent": "",
    "node_id": "a1", "step": 1, "operator": "[mine]", "parent_ids": [], "metric": 1.0, "failure": None,
    "duplicate_of": None, "nothing_left": False,
}  # fmt: skip


def test_brackets_of_a_unit_and_of_an_operator_are_printed(capsys):
    print_run({**RUN, "nodes": [NODE], "title": "[mine]"})
    told = capsys.readouterr().out
    assert re.search(r"^title +\[mine\]$", told, re.M) and re.search(r"^search time +1 min 05 s$", told, re.M)
    assert told.count("ms [/op]") == 2 and "[mine]" in told


def test_what_was_said_of_the_scores_at_the_start_is_still_there(capsys):
    """Which class counts as positive stood on the terminal that began the run, and nowhere afterwards."""
    print_run({**RUN, "nodes": [NODE], "problem_note": f"amounts: {'a, ' * 50}; the metric counts 'no' as 1"})
    assert re.search(r"^ +the metric counts 'no' as 1 *$", capsys.readouterr().out, re.M)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"metric": 1.0}, ""),
        ({}, "not scored in full"),
        ({"failure": "timeout"}, "timeout"),
        ({"duplicate_of": "b2"}, "duplicate of b2"),
        ({"nothing_left": True}, "nothing left"),
    ],
)
def test_a_node_without_a_score_says_why(capsys, more, told):
    """More than half of a bin packing run's nodes were a dash and nothing beside it."""
    print_run({**RUN, "nodes": [{**NODE, "metric": None, **more}]})
    row = next(line for line in capsys.readouterr().out.splitlines() if "a1" in line)
    assert row.split("│")[-2].strip() == told


def test_brackets_of_a_models_name_are_printed(capsys):
    call = {"role": "code", "provider": "openai", "model": "llama[/free]", "reply": "[red]a[/red]"}
    more = {
        "metric_source": None,
        "claimed_metric": None,
        "writer": "w",
        "scores": 1,
        "noise": None,
        "against_parent": "8 % better (6 to 10 %), measured by turns",
        "visits": 0,
        "metrics": {},
    }
    texts = {"artifacts": {}, "plan": "", "analysis": "", "term_out": "", "message": "", "code": "x = 1\n"}
    print_node({**NODE, **more, **texts, "calls": [call]})
    told = capsys.readouterr().out
    assert "openai/llama[/free]" in told and "[red]a[/red]" in told
    assert "None" not in told and "[]" not in told and "\nx = 1\n" in told
    assert "against parent 8 % better (6 to 10 %), measured by turns\n" in told


WHOLE = {
    **RUN, "journal_head": "0123456789abcdef" * 4,
    "nodes": [{**NODE, "node_id": "0123456789ab", "parent_ids": ["ba9876543210", "a" * 12], "metric": 0.115163,
               "failure": "bad_submission"}],
}  # fmt: skip


@pytest.mark.parametrize("columns", ["", "40", "70"])
def test_no_id_and_no_score_is_cut(capsys, monkeypatch, columns):
    """On narrow terminals ids and scores were; in a pipe the hash that `verify --head` takes was."""
    monkeypatch.setenv("COLUMNS", columns)
    print_run(WHOLE)
    print_why({"best": {"rule": "the best one", "top": [{"node_id": "a" * 12, "why": "long " * 60}]}})
    told = capsys.readouterr().out
    lines = told.splitlines()
    assert "…" not in told
    for part in ("0123456789ab", "ba9876543210", "0.115163", "bad_submission"):
        assert re.search(rf"(?<!\w){part}(?!\w)", told), part
    if columns:
        assert WHOLE["journal_head"] in told, "in one piece, to be copied"
        assert all(len(line) <= int(columns) for line in lines if "long" not in line and "journal_head" not in line)
    else:
        assert f"journal_head  {WHOLE['journal_head']}" in lines and "long " * 59 in told
        assert not any(line.endswith(" ") for line in lines) and max(map(len, lines[:3])) <= 80
        assert max(len(line) for line in lines if "─ why" in line) == 80


DIFF = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-\tx\n+\treturn " + " + ".join(f"term{number}" for number in range(40)) + "\n"


@pytest.mark.parametrize("terminal", [False, True])
def test_a_difference_keeps_its_long_lines(capsys, monkeypatch, terminal):
    """They were cut at the width of a terminal, which a file does not have."""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    print_diff([], DIFF)
    told = capsys.readouterr().out
    assert "term39" in told and (told == DIFF) is not terminal


def test_two_scores_that_differ_do_not_read_the_same_and_a_nodes_measurements_have_all_digits(capsys):
    """Steps of a record that grew by its eighth digit stood in a row as 1.50529."""
    scores = [2.0, 1.505293971, 1.505293968, 1.505293968, None]
    print_run({**RUN, "nodes": [{**NODE, "metric": score} for score in scores]})
    told = capsys.readouterr().out
    assert [told.count(text) for text in ("1.505293971", "1.505293968", " 2 ")] == [1, 2, 1]
    more = {
        "metric_source": None,
        "claimed_metric": None,
        "writer": "w",
        "scores": 1,
        "noise": None,
        "visits": 0,
        "calls": [],
    }
    texts = {"artifacts": {}, "plan": "", "analysis": "", "term_out": "", "message": "", "code": "x = 1\n"}
    print_node({**NODE, **more, **texts, "metrics": {"min_area": 0.036529889880030}})
    assert "0.03652988988003" in capsys.readouterr().out
