"""A metric that is named as an error is not silently made large."""

import pytest

from problems.metric_direction import is_minimised
from problems.registry import build_problem
from problems.script.reading import error_that_steers
from utils.config import load_config
from utils.errors import ConfigError

ERRORS = ["mse", "val_RMSE", "logloss", "test-loss", "run.seconds", "error", "makespan", "mip_gap", "total_tardiness"]


@pytest.mark.parametrize("name", ERRORS)
def test_a_name_of_an_error_needs_a_direction(name):
    with pytest.raises(ConfigError, match=f"problem.metric={name}.*problem.direction=min"):
        is_minimised(None, name)
    assert is_minimised("min", name) and not is_minimised("max", name)
    assert not is_minimised(None, name, begins=False), "a run of before goes on as it began"


@pytest.mark.parametrize("name", [None, "combined_score", "accuracy", "lossless_ratio", "costume", "amse", "gaps"])
def test_other_names_are_to_be_made_large(name):
    assert not is_minimised(None, name)


@pytest.mark.parametrize(
    ("metrics", "metric", "name"),
    [
        ({"loss": 1, "where": "x"}, None, "loss"),
        ({"rmse": 1.0, "mae": 2.0}, None, "rmse, mae"),
        ({"loss": 1, "size": 3}, None, ""),
        ({"loss": 1, "combined_score": 3}, None, ""),
        ({"loss": 1, "size": 3}, "loss", ""),
        ({}, None, ""),
    ],
)
def test_what_steers_without_a_name_of_the_users_is_looked_at_too(metrics, metric, name):
    assert error_that_steers(metrics, metric) == name


WORDS = {
    "an evaluator": ("script", "problem.program=a.py", "problem.evaluator=judge.py"),
    "a command": ("command", "problem.source=a.py", "problem.eval=python3 a.py"),
    "a repository": ("command", "problem.source=.", "problem.editable=a.py", "problem.eval=python3 a.py"),
}


@pytest.mark.parametrize("words", WORDS.values(), ids=WORDS)
def test_the_presets_leave_it_to_the_user(tmp_path, monkeypatch, words):
    """They said `max`, so that a loss was made large without a word."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "judge.py").write_text("def evaluate(path):\n    return {'loss': 1.0, 'score': 1.0}\n")

    def lower(*more):
        config = load_config(overrides=[*words[1:], *more], presets={"problem": words[0]}, env={})
        return build_problem(config).lower_is_better

    with pytest.raises(ConfigError, match=r"problem.metric=loss: is it to be made small\? say problem.direction=min"):
        lower("problem.metric=loss")
    assert lower("problem.metric=loss", "problem.direction=min")
    assert not lower("problem.metric=loss", "problem.direction=max") and not lower("problem.metric=score")


@pytest.mark.parametrize(
    ("metric", "options", "told"),
    [("seconds", (), True), ("run_time_ms", (), True), ("seconds", ("alone=true",), False), ("passed", (), False)],
)
def test_a_time_that_a_repositorys_command_measures_is_told_to_be_measured_beside_others(
    tmp_path, monkeypatch, metric, options, told
):
    """Programs that were slower for what ran beside them were told as worse, with a noise of a quiet minute."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("x = 1\n")
    words = [f"problem.metric={metric}", "problem.direction=min", *(f"problem.options.{option}" for option in options)]
    config = load_config(overrides=[*WORDS["a repository"][1:], *words], presets={"problem": "command"})
    problem = build_problem(config)
    problem.prepare()
    assert ("problem.options.alone=true" in problem.note) is told
