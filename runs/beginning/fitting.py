"""Fits a search to its writer, its problem and a model's steps: fixed when a run begins, and stored with its keys."""

from __future__ import annotations

from core.contracts import Problem
from core.evaluation.function_problem import FunctionProblem
from core.loop.plan import lag_of
from runs.parts.writing import hands_in_programs, uses_models
from utils.config_schema import Config
from utils.config_search import USUAL_WORKERS, SearchConfig
from utils.strategies import POLICIES

BLIND_SHARE = 6
"""Of the steps, at most one part in so many is asked for before anything is known."""
STEPS_OF_AN_ISLAND = 20
"""Fewer teach an island nothing."""
ELITE_STEPS = 10
"""About so many steps, at most half of them, change the best program: where there are few, drawing among all of them
leaves the best without a child."""
GENERATIONS = 3
"""Of a game without a preset: as many as the games that come along have."""
FUNCTION_STEPS = 200
FUNCTION_ISLANDS = {"num_islands": 2, "per_island": 5, "tune_interval": 4}
"""Of one function without a preset: as `tsp`, which comes along, is searched."""
CONTROL_SHARE = 0.1
CONTROL_STEPS = 30
"""From so many steps on, a share of them is drawn without the search: fewer draws would say nothing."""


def fit_to_writer(config: Config) -> None:
    """One proposal at a time, and no second turn for what was handed in, for a writer that works on each for long.

    Nothing that the user set is changed.
    """
    given = config.given
    if given is None or not hands_in_programs(config):
        return
    if "search.batch" not in given:
        config.search.batch = 1
    for key, value in (("repairs", 0), ("repair_crashes", False)):
        if f"agent.{key}" not in given:
            setattr(config.agent, key, value)


def fit_to_problem(config: Config, problem: Problem) -> bool:
    """A problem of one's own that is named by its kind alone is searched as those of its kind that come along are. True
    if that changed something: then the problem is to be made anew.

    It has no preset that says so, and what the default preset says is meant for another problem: a competition's, whose
    programs take long, so that it makes few. Nothing that the user set is changed.
    """
    given, search = config.given, config.search
    if given is None or "search.policy" in given:
        return False
    if problem.family == "arena":
        fitted = _fit_to_game(config, given)
    else:
        fitted = isinstance(problem, FunctionProblem) and _fit_to_function(config, given)
    if fitted:
        for key in ("control", "lag"):  # were fitted to the steps of another search
            if f"search.{key}" not in given:
                setattr(search, key, None)
        fit_to_steps(config)
    return fitted


def _fit_to_game(config: Config, given: frozenset[str]) -> bool:
    """Engines that play each other are searched in generations of a champion and its challengers: no other policy lets
    an engine take the title."""
    search = config.search
    if POLICIES.get(search.policy, config.plugin_folders).whole_rounds:
        return False
    search.choose("generations")
    if "search.max_steps" not in given:
        search.max_steps = None
        if "search.max_generations" not in given:
            search.max_generations = GENERATIONS
    return True


def _fit_to_function(config: Config, given: frozenset[str]) -> bool:
    """One function runs fast, and there are many of it: islands, and hundreds of steps."""
    search = config.search
    if search.policy != SearchConfig().policy:  # a preset that the user named says another
        return False
    search.choose("islands")
    for key, value in FUNCTION_ISLANDS.items():
        _set(config, given, key, value)
    if "search.max_steps" not in given:
        search.max_steps = None if "search.max_generations" in given else FUNCTION_STEPS
    if "search.batch" not in given:
        search.batch = search.options.generation_size or search.batch
    return True


def fit_to_steps(config: Config) -> None:
    """Shrink batch, lag and islands to what the steps to come allow, and set the share of control draws.

    Nothing that the user set is changed.

    Only where a model writes: its calls are dear, and those that are asked together know nothing of each other. `rules`
    have steps enough. Never by workers: the search must not depend on the machine.
    """
    given, search = config.given, config.search
    if given is None:
        return
    whole_rounds = POLICIES.get(search.policy, config.plugin_folders).whole_rounds
    if whole_rounds and "search.batch" not in given and search.options.generation_size:
        search.batch = search.options.generation_size  # whoever writes, one program is no generation
    fits = uses_models(config) and not whole_rounds
    if search.control is None:
        search.control = CONTROL_SHARE if fits and (search.max_steps or CONTROL_STEPS) >= CONTROL_STEPS else 0.0
    if not fits:
        return
    _bound(config, given, "crossover_kin", False)
    if search.max_steps is None:
        return
    _set(config, given, "elite_prob", min(0.5, ELITE_STEPS / max(1, search.max_steps)))
    most = max(1, search.max_steps // BLIND_SHARE)
    if "search.batch" not in given:
        search.batch = min(search.batch, most)
    if "search.lag" not in given:
        search.lag = min(lag_of(search.batch), max(search.batch, most))
    _bound(config, given, "num_islands", max(1, search.max_steps // STEPS_OF_AN_ISLAND))


def idle_workers(config: Config) -> tuple[int, str]:
    """Of more workers than the usual two, those that find no program to run, and the words that keep all busy.

    Generations are left out: the games of one keep any number of workers busy.
    """
    search = config.search
    policy = POLICIES.get(search.policy, config.plugin_folders)
    if policy.whole_rounds or search.workers <= USUAL_WORKERS:
        return 0, ""
    piped = search.schedule == "pipeline"
    under_way = (search.lag or lag_of(search.batch)) if piped else search.batch
    return max(0, search.workers - under_way), f"--search.{'lag' if piped else 'batch'}={search.workers}"


def _bound(config: Config, given: frozenset[str], key: str, most: int | bool) -> None:
    """Bound an option of the chosen policy, where it has that option."""
    value = getattr(config.search.options, key, None)
    if value is not None:
        _set(config, given, key, min(value, most))


def _set(config: Config, given: frozenset[str], key: str, value: float) -> None:
    """Set an option of the chosen policy, where it has that option and the user did not set it."""
    search = config.search
    if hasattr(search.options, key) and f"search.{search.policy}.{key}" not in given:
        search.set_option(key, value)
