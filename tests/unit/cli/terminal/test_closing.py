"""What a run says at its end, from plain facts."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from cli.terminal.closing import closing
from core.state.node import Node
from runs.outcome import Outcome


@pytest.fixture
def outcome(facts_of):
    """How a run of the toy may end."""
    best = Node(id="n1", code="x = 1.5", metric_value=0.5, metric_source="verified", writer="rules")
    final = {"node_id": "n1", "metric": 0.501, "interval": [0.4, 0.6], "message": "", "detail": {}, "claim": None}
    baselines = [{"name": "zero", "metric": 2.0, "final": 2.001}, {"name": "odd", "metric": None}]
    return Outcome(facts_of(), "max_steps: 30 of 30 steps", best, final, baselines)


def of_family(outcome, family, **more):
    problem = SimpleNamespace(family=family, unit="", name="some", claims_only=False, **more)
    outcome.facts = replace(outcome.facts, problem=problem)
    return outcome


def test_how_good_it_is_and_how_we_know(outcome):
    said = "\n".join(closing(outcome))
    assert "best distance: 0.5 on validation (verified: scored by our evaluator, out of the candidate's reach)" in said
    assert "final score: 0.501 on instances the search never saw (95 % 0.4 … 0.6)" in said
    assert "baseline zero: 2, final 2.001" in said and "baseline odd: failed" in said
    assert "best_solution/solution.py (node n1, writer rules)" in said


def test_only_files_that_are_there_are_named(outcome):
    assert "report" not in "\n".join(closing(outcome))
    (outcome.facts.run_dir / "report.html").touch()
    assert "report.html" in "\n".join(closing(outcome))
    outcome.written = [outcome.best_dir / "b.c", outcome.best_dir / "node.json"]
    assert (
        "best program: " in (line := next(x for x in closing(outcome) if x.startswith("best program")))
        and "b.c" in line
    )


def test_a_claim_is_told_word_for_word(outcome):
    outcome.final["claim"] = {"text": "better than zero: the interval is above 0"}
    assert "better than zero: the interval is above 0" in closing(outcome)


def test_a_final_part_that_was_opened_before_says_so(outcome):
    outcome.final["detail"] = {"final_reveals": 2}
    assert any("has now been revealed 2 times" in line for line in closing(outcome))


@pytest.mark.parametrize(
    ("family", "advised"),
    [
        ("heuristic", ["show toy-1", "--llm=openai"]),
        ("competition", ["show toy-1", "export-best toy-1 --refit", '--data.goal="…"', "--llm=openai"]),
        ("arena", ["show toy-1", "arena --problem some", "--llm=openai"]),
    ],
)
def test_what_to_try_next_depends_on_the_family(outcome, family, advised):
    lines = closing(of_family(outcome, family))
    next_lines = lines[lines.index("next:") + 1 :]
    assert len(next_lines) == len(advised)
    assert all(part in line for part, line in zip(advised, next_lines, strict=True))


def test_an_arena_shows_its_last_table(outcome):
    row = {
        "name": "e\x1bvil",
        "elo": 12.0,
        "low": -5.0,
        "high": 30.0,
        "wins": 3,
        "draws": 1,
        "losses": 0,
        "score": 0.875,
    }
    outcome.standings = [row]
    said = "\n".join(closing(of_family(outcome, "arena")))
    assert "+12" in said and "87.5%" in said and "\x1b" not in said


def test_without_a_valid_program_the_commonest_failure_is_told(facts_of):
    lines = closing(Outcome(facts_of(), "stagnation", failures={"runtime": 1, "timeout": 4}))
    assert "no valid program found; commonest failure: timeout (4)" in lines
    assert any(line.startswith("look: python main.py show toy-1") for line in lines)
    assert "no valid program found" in closing(Outcome(facts_of(), "max_steps: 0 of 0 steps"))
