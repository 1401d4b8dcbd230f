"""What a run says at its end, from plain facts."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from cli.terminal.closing import closing
from core.state.node import Node
from reports.choice import Runner
from reports.conclusion import Conclusion
from reports.verdict import Verdict
from reports.winner import Winner
from runs.ending.outcome import Outcome
from utils.errors import ConfigError


@pytest.fixture
def outcome(facts_of):
    """How a run of the toy may end."""
    best = Node(id="n1", code="x = 1.5", metric_value=0.5, metric_source="verified", writer="rules")
    final = {"node_id": "n1", "metric": 0.501, "interval": [0.4, 0.6], "message": "", "detail": {}, "claim": None}
    baselines = [{"name": "zero", "metric": 2.0, "final": 2.001}, {"name": "odd", "metric": None}]
    winner = Winner(
        node_id="n1", name="n1", role="candidate", chosen=True, operator="draft", writer="rules", step=3, metric=0.5,
        interval=None, metric_source="verified", final_metric=0.501, final_interval=(0.4, 0.6),
    )  # fmt: skip
    verdict = Verdict(kind="better", text="Better than zero.", warnings=("only 3 cases",))
    conclusion = Conclusion(winner=winner, best_on_validation=None, verdict=verdict)
    return Outcome(facts_of(), "max_steps: 30 of 30 steps", best, conclusion, final, baselines)


def of_family(outcome, family, **more):
    more = {"check_refit": lambda: None, "claims_only": False, **more}
    problem = SimpleNamespace(family=family, bound=None, unit="", name="some", lower_is_better=True, **more)
    outcome.facts = replace(outcome.facts, problem=problem)
    return outcome


def test_how_good_it_is_and_how_we_know(outcome):
    said = "\n".join(closing(outcome))
    assert "best distance: 0.5 on validation (verified: scored by our evaluator, out of the candidate's reach)" in said
    assert "final score: 0.501 on instances the search never saw (95 % 0.4 … 0.6)" in said
    assert "baseline zero: 2, final 2.001" in said and "baseline odd: failed" in said
    assert "best_solution/solution.py (node n1, step 3, writer rules)" in said


def test_only_files_that_are_there_are_named(outcome):
    assert "report" not in "\n".join(closing(outcome))
    (outcome.facts.run_dir / "report.html").touch()
    assert "report.html" in "\n".join(closing(outcome))
    outcome.written = [outcome.best_dir / "b.c", outcome.best_dir / "node.json"]
    assert (
        "best program: " in (line := next(x for x in closing(outcome) if x.startswith("best program")))
        and "b.c" in line
    )


def test_the_verdict_comes_first_with_its_warnings(outcome):
    assert closing(outcome)[1:4] == [
        "ended: max_steps: 30 of 30 steps",
        "verdict: Better than zero.",
        "note: only 3 cases",
    ]


def test_a_baseline_that_is_better_on_validation_says_why_it_lost(outcome):
    outcome.final["choice"] = [
        {"node_id": "n2", "metric": 0.4, "size": 9, "tie": True},
        {"node_id": "n1", "metric": 0.5, "size": 1, "tie": True},
    ]
    outcome.baselines = [{"name": "ridge", "node_id": "b1", "metric": 0.45, "final": 0.6, "source": "verified"}]
    outcome.conclusion = outcome.conclusion.model_copy(
        update={"winner": outcome.conclusion.winner.model_copy(update={"place": 3})}
    )
    (line,) = (line for line in closing(outcome) if line.startswith("baseline ridge"))
    assert line == (
        "baseline ridge: 0.45, final 0.6; not chosen: a baseline beside the search wins where it is better than every "
        "candidate, and n2 scores 0.4"
    )


def test_the_best_on_validation_is_a_second_fact_with_its_reason(outcome):
    other = Runner(node_id="n2", name="n2", metric=0.4, why_not="the chosen one is simpler")
    outcome.conclusion = outcome.conclusion.model_copy(update={"best_on_validation": other})
    assert "best on validation: 0.4 by n2, not chosen: the chosen one is simpler" in closing(outcome)


@pytest.mark.parametrize(
    ("family", "advised"),
    [
        ("heuristic", ["show toy-1", "resume toy-1 --search.max_steps=60", "--llm=openai"]),
        ("competition", ["show toy-1", "export-best toy-1 --refit", '--data.goal="…"', "resume toy-1", "--llm=openai"]),
        ("arena", ["show toy-1", "arena --problem.kind=toy --plugins=", "resume toy-1", "--llm=openai"]),
    ],
)
def test_what_to_try_next_depends_on_the_family(outcome, family, advised):
    lines = closing(of_family(outcome, family))
    next_lines = lines[lines.index("next:") + 1 :]
    assert len(next_lines) == len(advised)
    assert all(part in line for part, line in zip(advised, next_lines, strict=True))


@pytest.mark.parametrize(
    ("data", "advised"),
    [((), []), (("data.train=a.csv",), ["export-best toy-1 --refit --data.test=FILE"])],
    ids=["others'", "own"],
)
def test_a_refit_that_would_be_refused_is_not_advised(outcome, facts_of, data, advised):
    """Of a table without rows to predict the advice ended with exit code 2."""

    def refused():
        raise ConfigError("nothing to refit for")

    outcome = of_family(outcome, "competition", check_refit=refused)
    outcome.facts = replace(outcome.facts, config=facts_of(*data).config)
    said = [line for line in closing(outcome) if "--refit" in line]
    assert len(said) == len(advised) and all(part in line for part, line in zip(advised, said, strict=True))


def test_who_gave_seconds_is_told_once_what_the_end_took(outcome):
    outcome.reason, outcome.final_seconds = "budget.seconds: 60 of 60 s", 12.3
    said = [line for line in closing(outcome) if "budget.seconds" in line and "resume" not in line]
    more = "choosing and scoring the winner took 12 s more: budget.seconds is for the search"
    assert said == ["ended: budget.seconds: 60 of 60 s", more]
    outcome.reason = "max_steps: 5 of 5 steps"
    assert more not in closing(outcome)


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


def test_a_model_is_advised_for_the_users_own_problem(outcome):
    words = ("run", "--problem", "script", "problem.program=my f.py", "--llm", "rules", "--llm.code.model=x", "--json")
    outcome.facts = replace(outcome.facts, words=words)
    assert (
        "OPENAI_API_KEY=… python main.py --problem script 'problem.program=my f.py' --llm=openai"
        in closing(outcome)[-1]
    )


@pytest.mark.parametrize("words", [(), ("run", "problem.program=/x/evaluate.pkl", "--events")])
def test_no_model_is_advised_where_no_command_of_the_user_says_which_problem(outcome, words):
    """A fork, a run from Python: the bare command would search, and bill, another problem."""
    outcome.facts = replace(outcome.facts, words=words)
    assert not any("OPENAI_API_KEY" in line for line in closing(outcome))


@pytest.mark.parametrize(
    ("limit", "reason", "advised"),
    [
        ("budget.seconds=1", "budget.seconds: 15 of 1 s", "--budget.seconds=30"),
        ("search.max_steps=5", "max_steps: the run has 241 steps, more than the 5 …", "--search.max_steps=482"),
        ("budget.tokens=1000000", "budget.tokens: 1,500,000 of 1,000,000", "--budget.tokens=3000000"),
        ("budget.usd=0.4", "budget.usd: 0.5 of 0.4", "--budget.usd=1"),
        ("search.max_steps=0", "max_steps: 0 of 0 steps", "--search.max_steps=20"),
    ],
)
def test_what_is_advised_goes_beyond_what_was_used(outcome, facts_of, limit, reason, advised):
    outcome.facts, outcome.reason = facts_of(limit), reason
    assert any(advised in line.split() for line in closing(outcome) if " resume " in line)


def test_own_data_are_not_advised_to_bring_their_own_data(outcome, facts_of):
    outcome = of_family(outcome, "competition")
    outcome.facts = replace(outcome.facts, config=facts_of("data.dir=mine").config)
    assert not any("--data.dir=FOLDER" in line for line in closing(outcome))


def test_without_a_valid_program_the_verdict_says_why(facts_of):
    verdict = Verdict(
        kind="none", text="No valid program found in 5 steps; the commonest failure is timeout (4 of them)."
    )
    conclusion = Conclusion(winner=None, best_on_validation=None, verdict=verdict)
    lines = closing(Outcome(facts_of(), "stagnation", None, conclusion))
    assert f"verdict: {verdict.text}" in lines
    assert any(line.startswith("look: python main.py show toy-1") for line in lines)
