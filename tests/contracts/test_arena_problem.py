"""Both games as problems: built from their presets, with sound engines of their own."""

from __future__ import annotations

import pytest

from core.arena.match import load_game
from core.arena.validator import engine_name, static_refusal
from core.contracts import AgentBuilder
from core.state.node import Node
from problems.chess_engines.problem import build as build_chess
from problems.connect_four.problem import build as build_four
from utils.config import load_config
from utils.errors import ConfigError

PROBLEMS = {"connect_four": build_four, "chess_engines": build_chess}


def make(name, *overrides):
    return PROBLEMS[name](load_config(overrides=overrides, presets={"problem": name, "llm": "rules"}), None)


@pytest.fixture(params=list(PROBLEMS))
def problem(request):
    return make(request.param)


def test_it_is_what_the_design_says(problem):
    assert (problem.family, problem.unit, problem.lower_is_better) == ("arena", "Elo", False)
    assert problem.seeds_search and not problem.claims_only and not problem.single_function
    assert [b.name for b in problem.baselines()] == ["alpha-beta", "greedy", "random"]
    assert load_game(problem.spec.entry).name in ("connect_four", "chess")


def test_all_engines_of_ours_pass_the_static_check_and_have_names(problem):
    for baseline in (*problem.baselines(), *problem.spec.gauntlet):
        assert static_refusal(baseline.code, problem.spec.packages) is None, baseline.name
        assert engine_name(baseline.code)


def test_the_gauntlet_never_plays_for_selection(problem):
    ours = {baseline.code for baseline in problem.baselines()}
    assert len(problem.spec.gauntlet) >= 2 and not ours & {b.code for b in problem.spec.gauntlet}


def test_prompts_name_the_limit_and_the_imports(problem):
    extras = problem.prompt_extras()
    assert extras["limit"].startswith("nodes:") and "select_move(position, time_left_ms)" in extras["signature"]
    assert "standard library" in extras["allowed_imports"]


def test_agents_ask_as_many_questions_as_configured():
    problem = make("connect_four", "search.questions=3")
    agents = problem.agents(AgentBuilder(None, False, {"repairs": 2}))
    assert agents["*"].strategist.questions == 3 and agents["*"].repairs == 2
    config = load_config(overrides=["search.questions=3"], presets={"problem": "connect_four", "llm": "rules"})
    assert config.search.batch == 3 and config.search.policy == "generations"


def test_export_writes_one_file(problem, tmp_path):
    node = Node(id="n", code=problem.spec.anchor.code)
    (path,) = problem.export(node, tmp_path, tmp_path)
    assert path.name == "engine.py" and "_speak_uci" in path.read_text()


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("arena.games=3", "even"),
        ("arena.limit=long", "nodes:N"),
        ("arena.promotion=best", "argmax"),
        ("arena.games=1", "2"),
    ],
)
def test_a_wrong_setting_is_one_line(override, said):
    with pytest.raises(ConfigError, match=said):
        make("connect_four", override)


def test_adjudication_and_limits_reach_the_arena():
    problem = make("chess_engines", "arena.resign_adjudication=true", "arena.limit=clock:5000+50", "arena.deadline=3")
    assert problem.settings.adjudication.resign and not problem.settings.adjudication.draw
    assert str(problem.settings.limit) == "clock:5000+50" and problem.settings.deadline == 3
