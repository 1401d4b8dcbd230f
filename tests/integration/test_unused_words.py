"""A key or a name that a problem does not read is an error that says what it reads, at the command line."""

import json

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


TOLD = {
    "--problem tsp --search.ensemble=false": "search.ensemble=False: tsp/euclidean does not read it: only compet",
    "--problem tsp --search.repeats=3": "search.repeats=3: tsp/euclidean does not read it: only script and command do",
    "--problem tsp --search.top_k_for_full_eval=3": "only bin_packing does, which has a cheap look",
    "--problem bin_packing --search.smoke=false": "search.smoke=False: bin_packing/weibull_5k does not read it",
    "--problem bin_packing --execution.archive_best=9": "execution.archive_best=9: bin_packing/weibull_5k does not",
    "--problem bin_packing --problem.name=u120 --problem.path=mine.txt": "not read it: problem.path=mine.txt is packed",
    "--problem connect_four --execution.timeout=9": "a move arena.limit and arena.deadline",
    "--problem connect_four --execution.memory_mb=900": "does not read it: an engine has one process of 512",
    "--problem connect_four --arena.limit=movetime:90 --arena.deadline=9": "arena.limit=movetime:90 is a time already",
    "--problem connect_four --search.tune_trials=9": "search.tune_trials=9: connect_four does not read it",
    "--problem.name=ames --search.tune_trials=9": "search.tune_trials=9: competition/ames does not read it",
    "--problem bin_packing --search.policy=mcts --search.max_generations=3": "search.policy=mcts does not read it: it",
    "--problem.name=ames --problem.options.split_seed=3": "problem.options.split_seed=3: competition/ames does not",
    "--problem.name=ames --problem.options.data=there": "problem.options.data=there: competition/ames does not read it",
    "--problem bin_packing --problem.options.solver_seconds=5": "it reads problem.name, problem.path, problem.options.",
}


@pytest.mark.parametrize("words", TOLD)
def test_a_key_that_others_read_is_refused_of_who_does_not(cli, words):
    ended = cli.here("run", "--plan", *words.split())
    assert ended.code == 2 and TOLD[words] in ended.line and "\n" not in ended.line, ended.err
    assert not (cli.folder / "logs").exists()


INSTANCES = "instance,capacity,size\n" + "".join(f"u{k},100,{20 + k * i % 60}\n" for k in range(1, 7) for i in range(9))
CITIES = "x,y\n" + "".join(f"{i},{i * i % 7}\n" for i in range(8))


@pytest.mark.parametrize(
    ("problem", "text", "option"),
    [
        ("bin_packing", INSTANCES, "validation=3"),
        ("bin_packing", INSTANCES, "test=3"),
        ("bin_packing", INSTANCES, "data_seed=3"),
        ("bin_packing", INSTANCES, "solver_seconds=3"),
        ("tsp", CITIES, "solver_seconds=3"),
        ("tsp", CITIES, "cities=9"),
    ],
)
def test_an_option_of_drawn_instances_is_refused_beside_a_file(cli, problem, text, option):
    """Numbers of instances were passed over in silence where a file has its own."""
    (cli.folder / "mine.csv").write_text(text)
    words = (f"--problem={problem}", "--problem.name=mine.csv")
    assert cli.here("run", "--plan", *words).code == 0
    ended = cli.here("run", "--plan", *words, f"--problem.options.{option}")
    assert ended.code == 2 and f"problem.options.{option.partition('=')[0]}" in ended.line
    assert "does not read it; it reads" in ended.line or "allowed: solver" in ended.line


PROGRAM = "# EVOLVE-BLOCK-START\ndef f():\n    return 1\n# EVOLVE-BLOCK-END\n"
EVALUATOR = '"""Twos."""\n\n\ndef evaluate(path):\n    return 1.0\n'
STAGES = EVALUATOR + "\n\ndef evaluate_stage1(path):\n    return 1.0\n\n\nevaluate_stage2 = evaluate_stage1\n"
SCRIPT = ("--problem=script", "--problem.program=p.py", "--problem.evaluator=e.py", "--problem.direction=max")
COMMAND = ("--problem=command", "--problem.source=p.py", "--problem.eval=python3 p.py", "--problem.metric=points")
TREE = (*COMMAND, "--problem.editable=p.py", "--problem.source=.")


@pytest.mark.parametrize(
    ("words", "evaluator", "told"),
    [
        ((*SCRIPT, "--problem.options.cascade_thresholds=0.1,0.2"), EVALUATOR, "no stages of e.py are called"),
        ((*SCRIPT, "--problem.options.cascade_thresholds=0.1,0.2"), STAGES, ""),
        ((*SCRIPT, "--problem.options.shows=p.py", "--problem.options.isolation=apart"), EVALUATOR, "runs as you"),
        ((*SCRIPT, "--problem.options.shows=p.py"), EVALUATOR, ""),
        ((*SCRIPT, "--problem.options.first_program=x = 1"), EVALUATOR, "problem.program names the first one"),
        ((*COMMAND, "--problem.options.output=out.json"), EVALUATOR, "only problem.grade does, and there is none"),
        ((*COMMAND, "--problem.options.output=out.json", "--problem.grade=python3 e.py"), EVALUATOR, ""),
        ((*TREE, "--problem.options.build_inputs=p.py"), EVALUATOR, "there is no problem.build"),
        ((*TREE, "--problem.options.repeats=3"), EVALUATOR, ""),
        ((*TREE, "--problem.options.repeats=3", "--problem.options.timed=true", "--problem.direction=min"), EVALUATOR,
         "the median of several runs, each alone"),
    ],
)  # fmt: skip
def test_an_option_that_another_leaves_nothing_to_say_is_refused(cli, words, evaluator, told):
    (cli.folder / "p.py").write_text(PROGRAM)
    (cli.folder / "e.py").write_text(evaluator)
    ended = cli.here("run", "--plan", *words)
    assert (ended.code, told in ended.err) == (2 if told else 0, True), ended.err


def test_a_file_may_have_the_options_of_several_policies_and_runners(cli):
    """They are told, not refused: one of them is chosen by a word."""
    (cli.folder / "mine.yaml").write_text("search: {mcts: {num_drafts: 3}, selectors: {softmax: {temperature: 1}}}\n"
                                          "execution: {ray: {num_cpus: 2}}\n")  # fmt: skip
    words = ("--config=mine.yaml", "--problem.name=diabetes", "--search.max_steps=2")
    found = json.loads(cli.here("run", "--plan", *words).out)["warnings"]
    assert [note for note in found if "not read here" in note] == [
        "execution.ray.num_cpus: not read here, but with execution.runner=ray",
        "search.mcts.num_drafts: not read here, but with search.policy=mcts",
        "search.selectors.softmax.temperature: not read here, but with search.islands.selection=softmax",
    ]
    words = words[1:]
    tuned = cli.here("run", "--plan", "--problem=tsp", "--search.tune_trials=9", "--search.islands.tune_interval=0")
    assert "search.tune_trials: not read here, but with search.islands.tune_interval=N" in tuned.out
    assert "not read here" not in cli.here("run", "--plan", "--problem=tsp", "--search.tune_trials=9").out
    generations = ("--search.policy=mcts", "--search.max_generations=3")
    assert "but with a policy of generations" in cli.here("run", "--plan", "--problem=tsp", *generations).out
    chosen = json.loads(cli.here("run", "--plan", *words, "--search.mcts.num_drafts=2", "--search.policy=mcts").out)[
        "warnings"
    ]
    assert not [note for note in chosen if "mcts.num_drafts" in note]
    older = json.loads(cli.here("run", "--plan", *words, "--search.num_drafts=2").out)["warnings"]
    assert not [note for note in older if "not read here" in note]


def test_what_a_file_for_many_runs_holds_is_told_of_who_does_not_read_it(cli):
    (cli.folder / "mine.yaml").write_text("execution: {memory_mb: 900}\nsearch: {ensemble: false}\n")
    plan = cli.here("run", "--plan", "--config=mine.yaml", "--problem=connect_four", SWARM_EVO__SEARCH__SMOKE="false")
    found = [note for note in json.loads(plan.out)["warnings"] if "connect_four does not read it" in note]
    assert [note.partition(":")[0] for note in found] == [
        "execution.memory_mb=900", "execution.timeout=20.0", "search.ensemble=False", "search.smoke=False",
    ], "that time is in the environment of all these tests"  # fmt: skip
    tools = ("--execution.memory_mb=900", "--agent.tools=true", "--llm=openai", "--llm.code.model=gpt-5-mini")
    asked = cli.here("run", "--plan", "--problem=connect_four", *tools, OPENAI_API_KEY="no key")
    assert asked.code == 0, "what a model tries before it writes is bounded by it"


def test_a_resume_refuses_what_nobody_reads_too(cli):
    words = ("--problem=tsp", "--problem.options.cities=8", "--problem.options.instances=2", "--logging.report=false")
    assert cli.here("run", *words, "--search.max_steps=2", "--logging.view=quiet").code == 0
    for word in ("--search.ensemble=false", "--search.repeats=3"):
        ended = cli.here("resume", "latest", "--search.max_steps=4", word)
        assert ended.code == 2 and "tsp/euclidean does not read it: only" in ended.line
    assert cli.here("resume", "latest", "--search.max_steps=4", "--logging.view=quiet").code == 0
