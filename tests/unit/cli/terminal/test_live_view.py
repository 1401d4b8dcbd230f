"""The live picture: progress, the best, what is spent, recent nodes, warnings, what runs now."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

import pytest

from cli.terminal.console import VisibleConsole
from cli.terminal.live_view import RECENT, LiveView
from core.contracts import Progress
from core.events import BaselineScored, NodeProposed, Warned


@pytest.fixture
def shown(facts_of):
    """(view, picture of it as text, facts)."""
    facts = facts_of("search.max_steps=10", "budget.usd=2", "budget.seconds=60")
    now = {"progress": Progress(steps=2, seconds=0.0)}
    with redirect_stdout(io.StringIO()):
        view = LiveView()
    view.start(facts, lambda: now["progress"])
    view.close()

    def picture(**progress):
        now["progress"] = Progress(**progress)
        with redirect_stdout(io.StringIO()) as out:
            console = VisibleConsole()
            console.width = 150
            console.print(view._picture())
        return out.getvalue()

    return view, picture, facts


def test_progress_best_and_what_is_spent(shown, committed):
    view, picture, _ = shown
    view.emit(BaselineScored(name="zero", node_id="b", metric=2.0))
    view.emit(BaselineScored(name="odd", node_id="c", failure="timeout"))
    view.emit(committed(4, metric=1.25, best_metric=1.25, is_best=True))
    seen = picture(steps=4, seconds=30.0, tokens=12345, usd=0.5)
    for part in (
        "4/10",
        "best 1.25",
        "zero 2",
        "odd failed",
        "12,345 tokens, $0.5000 of $2",
    ):
        assert part in seen
    assert "step 3  000000 draft 1.25 *best candidate*" in seen
    assert "s left" in seen, "by the pace so far, and within the budget"


def test_recent_nodes_stand_below_their_parents(shown, committed):
    view, picture, _ = shown
    for step in range(RECENT + 5):
        view.emit(committed(step, metric=float(step), parent_ids=[f"{step - 1:012d}"] if step else []))
    lines = [line for line in picture(steps=9).splitlines() if "draft" in line]
    assert len(lines) == RECENT
    depth = [line.index("000") for line in lines]
    assert depth == sorted(set(depth)), "each child one further in"


def test_failures_duplicates_and_warnings_are_told(shown, committed):
    view, picture, _ = shown
    view.emit(committed(1, failure="timeout", is_buggy=True))
    view.emit(committed(2, is_valid=False))
    for number in range(5):
        view.emit(Warned(text=f"wait {number}"))
    seen = picture(steps=2)
    assert "timeout" in seen and "duplicate" in seen
    assert "wait 4" in seen and "wait 1" not in seen, "the newest three"


def test_what_runs_now_is_shown_without_its_controls(shown):
    _, picture, facts = shown
    (facts.run_dir / "live").mkdir()
    (facts.run_dir / "live" / "n1.out").write_text("first\n" * 50 + "epoch 7\x1b[31m of 9\n")
    seen = picture(steps=2)
    assert "epoch 7" in seen and "of 9" in seen and "\x1b" not in seen and seen.count("first") < 10


def test_how_much_of_a_reply_has_come(shown):
    view, picture, facts = shown
    view.emit(NodeProposed(node_id="abcdef123456", round=0, slot=0, operator="draft"))
    (facts.run_dir / "live").mkdir()
    (facts.run_dir / "live" / "abcdef123456.reply").write_text("x" * 400)
    assert "some 100 tokens so far" in picture(steps=2)


def test_before_the_first_step_only_a_limit_of_the_users_is_told(facts_of):
    def told(*words, now=Progress()):  # noqa: B008  # frozen
        with redirect_stdout(io.StringIO()):
            view = LiveView()
            view.start(facts_of(*words), Progress)
            view.close()
        return view._time_left(now, 30)

    assert told() == "", "the default's twelve hours say nothing of a run of half a minute"
    assert told("budget.seconds=60") == "at most 60 s"
    assert told("budget.seconds=60", now=Progress(seconds=61)).startswith("past budget.seconds=60: nothing more")


def test_what_is_copied_out_of_the_end_has_no_breaks_of_ours(facts_of, monkeypatch):
    """In 80 columns the command to go on with stood in two lines, and the shell ran its first."""
    command, words = "  python main.py resume toy-1 --search.max_steps=60", "verdict: " + "better than before " * 5
    monkeypatch.setattr("cli.terminal.live_view.closing", lambda outcome: [words.strip(), command])
    with redirect_stdout(io.StringIO()) as out:
        view = LiveView()
        view._console.width = 30
        view.start(facts_of(), lambda: Progress(steps=2, seconds=0.0))
        view.conclude(None)
        view.interrupted()
    lines = out.getvalue().splitlines()
    assert command in lines and words.strip() not in lines
    assert [line for line in lines if "Go on with: python main.py resume toy-1" in line]
