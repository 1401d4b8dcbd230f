"""A key or a name that a problem does not read is an error that says what it reads, at the command line."""

import pytest

from cli.parser import main
from cli.read_keys import ONLY, check_keys
from problems.registry import build_problem
from runs.beginning.unused_words import check_words
from utils.config import load_config
from utils.errors import ConfigError

UNUSED = {
    "--problem tsp --problem.path=mine": "problem.path=mine: tsp/euclidean does not read it; it reads problem.name",
    "--problem tsp --data.dir=mine": "data.dir=mine: tsp/euclidean does not read it",
    "--problem connect_four --problem.name=big": "problem.name=big: connect_four does not read it; it reads arena",
    "--problem connect_four --problem.options.cities=3": "problem.options.cities=3: connect_four does not read it",
    "--problem bin_packing --arena.games=4": "arena.games=4: bin_packing/weibull_5k does not read it",
    "--problem bin_packing --problem.metric=bins": "problem.metric=bins: bin_packing/weibull_5k does not read it",
    "--problem.name=ames --data.target=price": "data.target=price: competition/ames does not read it",
    "--problem.name=ames --problem.direction=max": "problem.direction=max: competition/ames does not read it",
}


@pytest.mark.parametrize("words", UNUSED)
def test_an_unused_word_is_refused_and_says_what_is_read(tmp_path, capsys, words):
    assert main([*words.split(), f"--project.dir={tmp_path}"]) == 2
    told = capsys.readouterr().err
    assert UNUSED[words] in told and len(told.strip().splitlines()) == 1
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize("preset", ["competition", "bin_packing", "tsp", "connect_four", "chess_engines"])
def test_every_preset_says_only_what_its_problem_reads(preset, tmp_path):
    config = load_config(None, [f"project.dir={tmp_path}"], presets={"problem": preset})
    check_words(config, build_problem(config))


def test_own_data_do_not_also_name_a_competition(tmp_path):
    (tmp_path / "train.csv").write_text("a,b\n1,2\n")
    words = [f"data.dir={tmp_path}", "data.target=b", "data.metric=rmse", "problem.name=ames"]
    config = load_config(None, words)
    with pytest.raises(ConfigError, match=r"problem\.name=ames: competition/.* does not read it; it reads data"):
        check_words(config, build_problem(config))


@pytest.mark.parametrize("verb", [verb for verb, keys in ONLY.items() if keys == ("project.dir",)])
def test_a_verb_that_only_looks_at_runs_refuses_other_keys(verb):
    with pytest.raises(ConfigError, match=rf"llm\.code\.key=…: `{verb}` does not read it; it reads project\.dir$"):
        check_keys(verb, ["project.dir=here", "llm.code.key=secret"])


def test_the_command_line_refuses_a_key_that_the_verb_does_not_read(capsys):
    assert main(["list-runs", "--search.max_steps=3"]) == 2
    assert "search.max_steps=…: `list-runs` does not read it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("sweep show policies --vary search.batch=1,2", "--vary"),
        ("sweep show policies --seeds 1..3", "--seeds"),
        ("sweep show policies --case search.batch=1", "--case"),
        ("sweep show policies --problem tsp", "--problem"),
        ("sweep show policies --name other", "--name"),
        ("sweep show policies --jobs 2", "--jobs"),
        ("doctor --evaluator e.py --problem tsp", "--problem"),
        ("doctor --evaluator e.py --llm", "--llm"),
        ("replay latest --verify --speed 3", "--speed"),
        ("step latest --dry-run --until code", "--until"),
        ("run --plan --problem=tsp --events", "--events"),
        ("export-best latest --patch p --notebook", "--notebook"),
        ("ask latest --list --dir there", "--dir"),
        ("ask latest --request {} --list", "--list"),
        ("show latest 1 --diff --files", "--diff"),
    ],
)
def test_an_option_that_says_nothing_there_is_refused_not_passed_over(cli, words, option):
    ended = cli.here(*words.split())
    assert ended.code == 2 and option in ended.line and ("does not read" in ended.line or "one of them" in ended.line)


@pytest.mark.parametrize("verb", ["resume", "step", "replay", "export-best"])
def test_a_run_keeps_the_programs_that_it_began_with(verb, capsys):
    words = [verb, "some-run", "--initial=other.py", *(["--verify"] if verb == "replay" else [])]
    assert main([*words, *(["--out", "there"] if verb == "export-best" else [])]) == 2
    assert "initial=…: " in (told := capsys.readouterr().err) and "fork RUN --node ID --edit FILE" in told


@pytest.mark.parametrize("value", ["inf", "nan", "-1"])
@pytest.mark.parametrize(
    ("problem", "option"),
    [("script", "evaluation_timeout"), ("tsp", "solver_seconds"), ("script", "cascade_thresholds")],
)
def test_options_take_numbers_that_are_some(problem, option, value, tmp_path):
    (tmp_path / "program.py").write_text("def f():\n    return 1\n")
    (tmp_path / "evaluator.py").write_text("def evaluate(path):\n    return 1.0\n")
    if option == "cascade_thresholds":
        value = f"[0.5,{value}]" if value != "-1" else "[0.5,.nan]"
    own = {
        "script": [f"problem.program={tmp_path / 'program.py'}", f"problem.evaluator={tmp_path / 'evaluator.py'}"],
        "tsp": ["problem.name=TSPLIB.tsp"],
    }[problem]
    words = [f"project.dir={tmp_path}", *own, f"problem.options.{option}={value}", "problem.direction=max"]
    with pytest.raises(ConfigError, match=rf"problem\.options\.{option}"):
        build_problem(load_config(None, words, presets={"problem": problem}))
