"""Runs side by side: the numbers of the page, and the settings in which they differ."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.synthetic_runs import competition

from cli.parser import main
from cli.terminal.compare_text import OUTCOME
from dashboard.server.catalog import RunCatalog
from dashboard.server.overview import detail
from runs.stored.comparison import differing


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    for run, seed in (("one", 1), ("two", 2)):
        made = competition(folder / "logs", 6, run=run, seed=seed)
        made.store.put_fact("config", {"project": {"seed": seed}, "search": {"policy": "three_phase", "batch": 2}})
        made.finish()
    return folder


def test_what_differs_is_told_key_by_key():
    configs = [{"a": {"b": 1, "c": True}, "d": [1], "e": ""}, {"a": {"b": 1, "c": 1}, "d": [], "e": None}, {"a": {}}]
    assert differing(configs[:2]) == {"d": [[1], None]}
    assert differing(configs) == {"a.b": [1, 1, None], "a.c": [True, 1, None], "d": [[1], None, None]}
    assert differing(configs[:1]) == {}


def test_options_of_a_policy_are_compared_where_it_is_used():
    """A run by `islands` and one by `mcts` differed in what the other's policy would have been told."""
    both = {"islands": {"size": 9}, "mcts": {"c": 1}, "selectors": {"best": {"k": 1}}}
    configs = [{"search": {"policy": policy, **both}} for policy in ("mcts", "islands", "islands")]
    configs[0]["search"]["selectors"] = {"best": {"k": 2}}
    configs[0]["search"]["islands"] = {"size": 5}
    policies = ["mcts", "islands", "islands"]
    assert differing(configs) == {"search.policy": policies, "search.selectors.best.k": [2, 1, 1]}
    configs[1]["search"] = {**both, "policy": "islands", "islands": {"size": 8}}
    assert differing(configs)["search.islands.size"] == [None, 8, 9]


def test_the_terminal_compares_by_the_numbers_of_the_page(project, capsys):
    assert main(["compare", "one", "two", "one", "--json", f"project.dir={project}"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["settings"] == {"project.seed": [1, 2]} and [run["run"] for run in told["runs"]] == ["one", "two"]
    for run in told["runs"]:
        page = json.loads(detail(RunCatalog(project), run["run"]).model_dump_json())
        assert {name: page[name] for name in run if name != "final_interval"} == {
            name: value for name, value in run.items() if name != "final_interval"
        }
        assert run["final_interval"] == page["winner"]["final_interval"] and run["limits"] != ""
    assert main(["compare", "two", "one", f"project.dir={project}"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == ["┃", "┃", "two", "┃", "one", "┃"]
    assert {line.split("│")[1].strip() for line in lines if line.count("│") == 4} >= {"best", "budget", "project.seed"}
    assert "configuration: 1 difference" in lines


@pytest.mark.parametrize(
    ("words", "said"),
    [(["one"], "name two runs or more; that is one, one"), (["--tag=none"], "that is none"), ([], "which runs?"),
     (["one", "nosuch"], "unknown run 'nosuch'")],
)  # fmt: skip
def test_what_cannot_be_compared_is_said(project, capsys, words, said):
    assert main(["compare", *words, f"project.dir={project}"]) == 2
    assert said in capsys.readouterr().err


def test_a_configuration_that_a_stranger_made_ends_nothing(tmp_path, capsys):
    for run, config in (("a", [1]), ("b", {"search": "x", "project": None})):
        made = competition(tmp_path / "logs", 2, run=run)
        made.store.put_fact("config", config)
        made.finish()
    assert main(["compare", "a", "b", "--json", f"project.dir={tmp_path}"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"] == {"search": [None, "x"]}
    assert main(["show", "b", f"project.dir={tmp_path}"]) == 0


def test_who_shows_two_runs_is_told_what_does(project, capsys):
    assert main(["show", "one", "two", f"project.dir={project}"]) == 2
    assert "'two' is a run, no node; side by side: `compare one two`" in capsys.readouterr().err
    assert main(["show", "one", "nosuch", f"project.dir={project}"]) == 2
    assert "no node and no step 'nosuch'" in capsys.readouterr().err


def test_scores_of_other_problems_are_told_apart(capsys):
    from cli.terminal.compare_text import print_comparison

    texts = ("run", "title", "unit", "best_is", "writer", "policy", "limits", "verdict_words", "status")
    run = dict.fromkeys(texts, "x")
    run |= dict.fromkeys(("best_metric", "final_metric", "final_interval", "gain", "against", "seed", "seconds"))
    run |= {"cost_usd": 1.5, "steps": 3, "tags": ["a"], "lower_is_better": True}
    print_comparison({"runs": [{**run, "problem": "tsp"}, {**run, "problem": "chess"}], "settings": {}})
    told = capsys.readouterr().out
    assert "These runs search different problems (tsp, chess): their values do not compare." in told
    assert "The configurations are the same." in told and "$1.50" in told
    assert "gain" not in told and "gain" in OUTCOME, "what no run has is left out"
    settings = {"a.b": [True, None], "a.c": [5.0, [0.25, "x"]]}
    print_comparison({"runs": [{**run, "problem": "tsp"}] * 2, "settings": settings})
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "│ a." in line]
    assert rows == [["│", "a.b", "│", "true", "│", "–", "│"], ["│", "a.c", "│", "5", "│", "0.25,", "x", "│"]]


def test_where_a_run_lies_and_what_is_said_of_it_is_no_setting_of_the_search():
    """A sweep's run and the same by hand differed in `logging.view` and in how the folder was named."""
    by_hand = {"project": {"dir": ".", "seed": 1}, "logging": {"view": "auto"}, "notify": {"command": "true"}}
    swept = {"project": {"dir": "/here", "seed": 2}, "logging": {"view": "quiet"}, "tracking": {"mlflow": "http://x"}}
    assert differing([by_hand, swept]) == {"project.seed": [1, 2]}
