"""A model's few steps are not spent blindly; what the user set stays, and `rules` search as before."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from core.evaluation.function_problem import FunctionProblem
from runs.beginning.fitting import fit_to_problem, fit_to_steps, fit_to_writer, idle_workers
from utils.config import check_config, load_config, to_plain

MODEL = ["llm.code.provider=openai", "llm.code.model=gpt-5-mini"]


def fitted(problem, *words):
    config = load_config(None, list(words), presets={"problem": problem}, env={})
    fit_to_steps(config)
    search = config.search
    return search.batch, search.lag, getattr(search.options, "num_islands", None)


@pytest.mark.parametrize(
    ("problem", "steps", "expected"),
    [
        ("script", 8, (1, 1, 1)),
        ("script", 30, (5, 5, 1)),
        ("script", 50, (8, 8, 2)),
        ("script", 100, (8, 16, 2)),
        ("bin_packing", 10, (1, 1, 1)),
        ("competition", 14, (2, 2, None)),
        ("competition", 50, (2, 4, None)),
    ],
)
def test_batch_lag_and_islands_follow_the_steps_to_come(problem, steps, expected):
    assert fitted(problem, f"search.max_steps={steps}", *MODEL) == expected
    assert fitted(problem, f"search.max_steps={steps}", *MODEL, "search.workers=16") == expected, "never the machine"


@pytest.mark.parametrize(("steps", "share"), [(8, 0.5), (20, 0.5), (100, 0.1)])
def test_where_steps_are_few_the_best_program_has_children(steps, share):
    config = load_config(None, [f"search.max_steps={steps}", *MODEL], presets={"problem": "script"}, env={})
    fit_to_steps(config)
    assert config.search.options.elite_prob == share
    own = load_config(None, ["search.islands.elite_prob=0.2", "search.max_steps=8", *MODEL],
                      presets={"problem": "script"}, env={})  # fmt: skip
    fit_to_steps(own)
    assert own.search.options.elite_prob == 0.2


def test_what_the_user_set_stays():
    words = ["search.max_steps=8", "search.batch=8", "search.islands.num_islands=3", *MODEL]
    assert fitted("script", *words) == (8, 8, 3)
    assert fitted("script", *words, "search.lag=2") == (8, 2, 3)


def test_rules_generations_and_stored_runs_are_left_alone():
    assert fitted("script", "search.max_steps=8") == (8, None, 2)
    assert fitted("connect_four", "search.max_steps=4", *MODEL)[:2] == (2, None), "one builder a question"
    begun = load_config(None, ["search.max_steps=8", *MODEL], presets={"problem": "script"}, env={})
    fit_to_steps(begun)
    stored = check_config(to_plain(begun))
    stored.search.max_steps = 100
    fit_to_steps(stored)
    assert (stored.search.batch, stored.search.lag, stored.search.options.crossover_kin) == (1, 1, False)


BOTH = {"problem": "bin_packing", "llm": "external"}
AGENT = ["llm.code.provider=agent", "llm.code.command=write"]


@pytest.mark.parametrize(
    ("words", "presets", "env"),
    [
        ([], BOTH, {}),
        ([], dict(reversed(BOTH.items())), {}),
        (["presets.llm=external"], {"problem": "bin_packing"}, {}),
        ([], {"problem": "bin_packing"}, {"SWARM_EVO__PRESETS__LLM": "claude-code"}),
        (["llm.code.provider=external"], {"problem": "bin_packing"}, {}),
        (AGENT, {"problem": "bin_packing"}, {}),
    ],
)
def test_a_writer_that_hands_programs_in_has_one_proposal_at_a_time_however_it_is_named(words, presets, env):
    """Named by a key or before the problem, it got bin_packing's 24, and crashes were sent back to it."""

    def made(*more):
        config = load_config(None, [*words, *more], presets=presets, env=env)
        fit_to_writer(config)
        fit_to_steps(config)
        return config.search.batch, config.agent.repairs, config.agent.repair_crashes

    assert made() == (1, 0, False)
    assert made("search.batch=3", "agent.repairs=1", "agent.repair_crashes=true") == (3, 1, True)


def test_a_preset_of_the_users_own_says_what_the_user_set(tmp_path):
    (tmp_path / "mine.yaml").write_text("llm: {code: {provider: external}}\nsearch: {batch: 5}\n")
    for presets in (BOTH, dict(reversed(BOTH.items()))):
        config = load_config(None, [], presets={**presets, "llm": str(tmp_path / "mine.yaml")}, env={})
        fit_to_writer(config)
        assert config.search.batch == 5


def test_other_writers_and_stored_runs_are_not_fitted_to_the_writer():
    config = load_config(None, MODEL, presets={"problem": "bin_packing"}, env={})
    fit_to_writer(config)
    assert (config.search.batch, config.agent.repair_crashes) == (24, True)
    stored = check_config(to_plain(load_config(None, ["search.batch=24"], presets=BOTH, env={})))
    fit_to_writer(stored)
    assert stored.search.batch == 24


@pytest.mark.parametrize("llm", ["rules", "external", "claude-code"])
def test_a_generation_has_as_many_engines_whoever_writes_them(llm):
    for words, size in (((), 2), (("search.generations.questions=3",), 3), (("search.batch=1",), 1)):
        config = load_config(None, words, presets={"problem": "connect_four", "llm": llm})
        fit_to_writer(config)
        fit_to_steps(config)
        assert config.search.batch == size, words


@pytest.mark.parametrize(
    ("problem", "words", "idle", "says"),
    [
        ("competition", ["search.workers=16"], 12, "--search.lag=16"),
        ("competition", ["search.workers=16", "search.lag=16"], 0, ""),
        ("competition", ["search.workers=16", "search.schedule=rounds"], 14, "--search.batch=16"),
        ("competition", ["search.workers=2", "search.batch=1"], 0, ""),
        ("connect_four", ["search.workers=64"], 0, ""),
    ],
)
def test_workers_that_would_find_nothing_to_run_are_told(problem, words, idle, says):
    """`docs/scaling.md` asked for 120 workers on eight nodes, of which four would have had a program."""
    found = idle_workers(load_config(None, words, presets={"problem": problem}, env={}))
    assert found[0] == idle and (says in found[1])


def game(*words, family="arena", presets=None):
    """(whether it was fitted, the search) of a problem that is named by its kind alone."""
    config = load_config(None, ["problem.kind=nim", *words], presets=presets, env={})
    fit_to_steps(config)
    return fit_to_problem(config, SimpleNamespace(family=family)), config.search


@pytest.mark.parametrize("words", [[], [*MODEL, "search.max_generations=null"]])
def test_a_game_that_has_no_preset_is_searched_in_generations_as_ours_are(words):
    """What the default preset says is a competition's: no engine took the title in its fourteen drafts."""
    changed, search = game(*words)
    assert changed and (search.policy, search.max_steps, search.batch, search.lag) == ("generations", None, 2, None)
    assert search.control == 0.0, "else it is refused: a generation is asked for as a whole"
    assert search.max_generations == (None if words else 3)


def test_of_such_a_game_what_the_user_set_stays():
    _, search = game("search.max_steps=5", "search.generations.questions=3")
    assert (search.policy, search.max_steps, search.max_generations, search.batch) == ("generations", 5, None, 3)
    _, search = game("search.max_generations=7", "search.batch=4")
    assert (search.max_steps, search.max_generations, search.batch) == (None, 7, 4)
    _, search = game("search.lag=3", "search.control=0.2")
    assert (search.lag, search.control) == (3, 0.2), "refused with what the user set, not silently another search"
    for words in (["search.policy=mcts"], ["search.policy=three_phase"]):
        changed, search = game(*words)
        assert not changed and f"search.policy={search.policy}" == words[0] and search.max_steps == 14


def test_what_is_no_game_or_has_its_preset_is_no_fitted_game():
    assert not game(family="heuristic")[0]
    assert not game(presets={"problem": "connect_four"})[0]
    stored = check_config(to_plain(load_config(None, ["problem.kind=nim"], env={})))
    assert not fit_to_problem(stored, SimpleNamespace(family="arena")) and stored.search.policy == "three_phase"


class Knapsack(FunctionProblem):
    cases = calls = score = lambda self, *_: ()


def function(*words, presets=None):
    """(whether it was fitted, the search) of a function that is searched, named by its kind alone."""
    config = load_config(None, ["problem.kind=knapsack", *words], presets=presets, env={})
    fit_to_steps(config)
    return fit_to_problem(config, Knapsack()), config.search


def test_a_function_that_has_no_preset_is_searched_on_islands_as_ours_are():
    """What the default preset says is a competition's: fourteen drafts and repairs of programs that take long."""
    changed, search = function()
    ours = load_config(None, [], presets={"problem": "tsp"}, env={}).search
    assert changed and search.policy == ours.policy == "islands" and search.options == ours.options
    assert (search.max_steps, search.batch) == (ours.max_steps, ours.batch) and search.control == 0.0
    _, of_a_model = function(*MODEL, "search.max_steps=30")
    assert (of_a_model.batch, of_a_model.options.num_islands, of_a_model.control) == (5, 1, 0.1), "as a preset's are"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["search.max_steps=5", "search.batch=3"], ("islands", 5, 3, 2)),
        (["search.max_generations=7", "search.islands.num_islands=4"], ("islands", None, 20, 4)),
        (["search.policy=three_phase"], ("three_phase", 14, 2, None)),
        (["search.policy=mcts"], ("mcts", 14, 2, None)),
    ],
)
def test_of_such_a_function_what_the_user_set_stays(words, expected):
    _, search = function(*words)
    assert (search.policy, search.max_steps, search.batch, getattr(search.options, "num_islands", None)) == expected


def test_a_preset_that_was_named_and_a_stored_run_are_kept():
    changed, search = function(presets={"problem": "bin_packing"})
    assert not changed and (search.policy, search.batch) == ("islands", 24)
    stored = check_config(to_plain(load_config(None, ["problem.kind=knapsack"], env={})))
    assert not fit_to_problem(stored, Knapsack()) and stored.search.policy == "three_phase"
