"""Folders of other frameworks run as they are, by one command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.command_line import ROOT, Cli

from utils.config import load_config
from utils.errors import ConfigError

EXAMPLES = ROOT / "examples"


def search(cli: Cli, folder: Path, *more: str):
    return cli("run", "--problem", "script", f"problem.path={folder}", "logging.view=quiet", *more)


@pytest.mark.long
def test_openevolves_config_is_read_and_what_is_not_is_told(cli: Cli):
    ended = search(cli, EXAMPLES / "openevolve/shell_words")
    assert ended.code == 0, ended.err
    assert "not read: llm.temperature, database.feature_dimensions" in ended.err
    found = cli.show()
    config = found["config"]
    assert config["search"]["max_steps"] == 30 and config["search"]["islands"]["num_islands"] == 2
    options = config["problem"]["options"]
    assert options["evaluation_timeout"] == 20 and options["cascade"] is False and "2026" in options["statement"]
    baseline = next(row for row in found["baselines"] if row["name"] == "your program")
    assert baseline["metric"] == -556 and found["best_metric"] > -556
    best = cli.run_dir / "best_solution"
    assert (best / "solution.sh").is_file()
    assert cli.here("resume", "latest", "search.max_steps=32").code == 0, "nothing of the folder's form is needed again"


def test_openevolves_arguments_reach_the_evaluator_and_one_that_it_does_not_take_is_refused(cli: Cli):
    """From 0.4.1 on; a function of two arguments failed for want of the second."""
    folder = cli.folder / "theirs"
    folder.mkdir()
    (folder / "initial_program.py").write_text("def f():\n    return 3\n")
    (folder / "evaluator.py").write_text(
        "import importlib.util\n"
        "def evaluate(program_path, weight, *, sizes=(1,)):\n"
        "    spec = importlib.util.spec_from_file_location('program', program_path)\n"
        "    program = importlib.util.module_from_spec(spec)\n"
        "    spec.loader.exec_module(program)\n"
        "    return {'combined_score': program.f() * weight + sum(sizes)}\n"
    )
    (folder / "config.yaml").write_text("evaluator: {evaluator_args: {weight: 2.5, sizes: [10, 20]}}\n")
    words = ["run", "--problem", "script", f"problem.path={folder}", "search.max_steps=1", "logging.report=false"]
    ended = cli.here(*words)
    assert ended.code == 0, ended.err
    assert "not read" not in ended.err and cli.show()["baselines"][0]["metric"] == 37.5
    replaced = cli.here(*words, "problem.options.evaluator_args.weight=1")
    assert replaced.code == 0 and cli.show()["baselines"][0]["metric"] == 33, replaced.err
    refused = cli.here(*words, "problem.options.evaluator_args.wieght=1")
    lacks = f"no function of {folder / 'evaluator.py'} takes it; allowed: sizes, weight"
    assert refused.code == 2 and refused.line.endswith(f"problem.options.evaluator_args.wieght: {lacks}")


@pytest.mark.long
def test_what_the_user_says_wins(cli: Cli):
    folder = EXAMPLES / "openevolve/shell_words"
    ended = search(cli, folder, "search.max_steps=2", "problem.options.evaluation_timeout=33")
    assert ended.code == 0, ended.err
    config = cli.show()["config"]
    assert (config["search"]["max_steps"], config["problem"]["options"]["evaluation_timeout"]) == (2, 33)


@pytest.mark.long
def test_shinkas_task(cli: Cli):
    ended = search(cli, EXAMPLES / "shinka/coins", "search.max_steps=24", "search.batch=4")
    assert ended.code == 0, ended.err
    found = cli.show()
    assert next(row for row in found["baselines"] if row["name"] == "your program")["metric"] == -190
    assert found["metric_source"] == "verified", "its evaluator is kept apart from programs"
    assert {"amounts": 5}.items() <= cli.node(found["best_node_id"])["metrics"].items(), "what it calls public"
    failed = [cli.node(n["node_id"]) for n in found["nodes"] if n["failure"] == "bad_submission"]
    assert failed and all(node["message"] == "an amount is not paid" for node in failed)


@pytest.mark.long
def test_shinkas_task_as_the_command_that_it_is_there(cli: Cli):
    """Where more is said than an evaluator's function takes."""
    ended = search(
        cli,
        EXAMPLES / "shinka/coins",
        "search.max_steps=24",
        "search.batch=4",
        "execution.timeout=2",
        "problem.options.repeats=2",
    )
    assert ended.code == 0, ended.err
    found = cli.show()
    assert found["config"]["problem"]["options"] == {"repeats": 2}
    assert next(row for row in found["baselines"] if row["name"] == "your program")["metric"] == -190
    failed = [cli.node(n["node_id"]) for n in found["nodes"] if n["failure"] == "eval_error"]
    assert all("correct==True is required" in node["message"] for node in failed)
    assert failed, "a program that pays the wrong amount has no score"


def test_what_shinkas_script_and_yaml_say_is_read_and_not_run(tmp_path: Path):
    from problems.neighbours.reading import Told
    from problems.neighbours.shinka import read

    (tmp_path / "initial.go").write_text("package main\n")
    (tmp_path / "evaluate.py").write_text("")
    (tmp_path / "run_evo.py").write_text(
        "raise SystemExit('it was run')\n"
        "search_task_sys_msg = 'Count faster.\\n'\nGENERATIONS = 24\n"
        "job = LocalJobConfig(eval_program_path='evaluate.py', time='00:02:30')\n"
        "evo = EvolutionConfig(num_generations=GENERATIONS, max_api_costs=100.0, **load('shinka_b.yaml'))\n"
    )
    (tmp_path / "shinka_a.yaml").write_text("db_config: {num_islands: 9}\n")
    (tmp_path / "shinka_b.yaml").write_text("db_config: {num_islands: 3, archive_size: 40}\n")
    found = read(tmp_path, Told())
    assert found.keys["problem.options.statement"] == "Count faster." and found.keys["search.max_steps"] == 24
    assert found.keys["execution.timeout"] == 150 and found.keys["search.islands.num_islands"] == 3
    assert "budget.usd" not in found.keys and found.left == ("max_api_costs", "archive_size")
    assert found.hints == ("shinka_b.yaml is read, and not shinka_a.yaml",)
    (tmp_path / "shinka_b.yaml").write_text(
        "report: {time: at noon, num_generations: 7}\ndb_config: {num_islands: 3}\n"
    )
    found = read(tmp_path, Told())
    assert found.left == ("max_api_costs", "report.time", "report.num_generations"), "keys of a section of their own"
    assert found.keys["execution.timeout"] == 150 and found.keys["search.max_steps"] == 24
    (tmp_path / "run_evo.py").write_text(f"x = {'-' * 300_000}1\n")
    assert "search.max_steps" not in read(tmp_path, Told()).keys, "too deep for Python's parser: nothing is said"


def test_codeevolves_configuration_says_where_all_lies(tmp_path: Path):
    from problems.neighbours import translate

    (tmp_path / "input/src").mkdir(parents=True)
    (tmp_path / "configs").mkdir()
    (tmp_path / "input/judge.py").touch()
    (tmp_path / "input/evaluate.py").touch()
    (tmp_path / "input/src/start.py").touch()
    plain = (
        "SYS_MSG: |\n  Pack well.\nINIT_FILE_DATA: {filename: start.py, language: python}\nEVAL_FILE_NAME: judge.py\n"
        "EVAL_TIMEOUT: 7\nMAX_MEM_BYTES: 1000000000\nENSEMBLE: [{model_name: X}]\n"
        "EVOLVE_CONFIG: {fitness_key: ratio, num_epochs: 9, num_islands: 3, meta_prompting: true}\n"
    )
    (tmp_path / "configs/config_insp.yaml").write_text("EVOLVE_CONFIG: {fitness_key: other}\n")
    (tmp_path / "configs/config.yaml").write_text(plain)

    def read(*more: str) -> Any:
        config = load_config(None, [f"problem.path={tmp_path}", *more], presets={"problem": "script"}, env={})
        translate(config)
        return config

    config = read()
    problem = config.problem
    assert (problem.kind, problem.metric, problem.direction) == ("command", "ratio", "max")
    assert problem.eval == "python3 judge.py src/start.py results.json" and problem.editable == "src/start.py"
    assert problem.options == {"statement": "Pack well."} and problem.metric_from == "json:results.json"
    assert config.search.max_steps == 9 and config.execution.timeout == 7 and config.execution.memory_mb == 953
    own = "def evaluate(program_path: str, results_path: str = None) -> None:\n    pass\n"
    (tmp_path / "input/judge.py").write_text(own)
    problem = read().problem
    assert (problem.kind, problem.metric, problem.direction) == ("script", "ratio", "max")
    assert problem.evaluator == str(tmp_path / "input/judge.py")
    assert problem.options["evaluation_timeout"] == read().execution.timeout == 7
    assert read("problem.metric_from=json:other.json").problem.kind == "command", "it is no function's"
    (tmp_path / "input/src/start.py").write_text("import further\n")
    assert read().problem.kind == "script"
    (tmp_path / "input/src/further.py").touch()
    assert read().problem.kind == "command", "a program of two files"
    (tmp_path / "input/src/start.py").write_text("open('table.csv')\n")
    assert read().problem.kind == "script"
    (tmp_path / "table.csv").touch()
    assert read().problem.kind == "command", "a file above, which a command can be shown"
    (tmp_path / "input/judge.py").write_text(own.replace("pass", "return 3"))
    (tmp_path / "input/src/start.py").touch()
    (tmp_path / "table.csv").unlink()
    assert read().problem.kind == "command", "a score that is returned is one of OpenEvolve's form"
    (tmp_path / "input/src/start.py").unlink()
    with pytest.raises(ConfigError, match=r"names input/src/start\.py, and no such file is in"):
        read()
    (tmp_path / "configs/config.yaml").write_text("EVOLVE_CONFIG: {num_epochs: 9}\n")
    (tmp_path / "input/src/init_program.py").touch()
    with pytest.raises(ConfigError, match=r"EVOLVE_CONFIG\.fitness_key=None"):
        read()
    assert read("problem.metric=mine").problem.metric == "mine"


def test_skydiscovers_evaluator_lies_in_a_folder_of_its_own(tmp_path: Path):
    from problems.neighbours import openevolve
    from problems.neighbours.reading import Told

    (tmp_path / "initial_program.py").touch()
    (tmp_path / "config.yaml").write_text("diff_based_generation: false\n")
    assert not openevolve.recognises(tmp_path)
    (tmp_path / "evaluator").mkdir()
    (tmp_path / "evaluator/evaluator.py").touch()
    found = openevolve.read(tmp_path, Told()).keys
    assert found["problem.evaluator"] == str(tmp_path / "evaluator/evaluator.py")
    assert openevolve.recognises(tmp_path) and found["problem.options.reply"] == "program"


def test_eohs_problem_is_searched_as_it_is(cli: Cli):
    """Program, statement and direction stand in `prob.py`, which imports what lies beside it."""
    folder = cli.folder / "order"
    folder.mkdir()
    (folder / "base.py").write_text("class BaseProblem:\n    pass\n")
    (folder / "prob.py").write_text(
        "from base import BaseProblem\n\n\nclass Order(BaseProblem):\n"
        '    template_program = """\ndef cost(x: float) -> float:\n    return abs(x - 3.0)\n"""\n'
        '    task_description = "Make the cost small."\n\n'
        "    def evaluate_program(self, program_str, callable_func):\n"
        "        return sum(callable_func(x) for x in (1.0, 2.0, 4.0))\n"
    )
    ended = cli.here("run", "--problem", "script", f"problem.path={folder}", "search.max_steps=3", "logging.report=no")
    assert ended.code == 0, ended.err
    found = cli.show()
    assert found["baselines"][0]["metric"] == 4 and found["metric_source"] == "verified" and found["direction"] == "min"
    assert (cli.run_dir / "best_solution" / "solution.py").is_file()
    assert cli.here("resume", "latest", "search.max_steps=4").code == 0


@pytest.mark.long
def test_autoresearchs_three_files(cli: Cli):
    del cli.environment["SWARM_EVO__EXECUTION__TIMEOUT"]
    ended = search(cli, EXAMPLES / "autoresearch/curve", "search.max_steps=10")
    assert ended.code == 0, ended.err
    found = cli.show()
    start = next(row for row in found["baselines"] if row["name"] == "your program")["metric"]
    assert found["direction"] == "min" and found["best_metric"] < start
    assert "val_loss" in found["config"]["problem"]["options"]["statement"]
    assert found["config"]["execution"]["timeout"] == 900


@pytest.mark.long
@pytest.mark.usefixtures("inline")
def test_aides_data_and_text(cli: Cli):
    """No target and no metric is said: both stand in the files, and scores are graded on hidden rows."""
    del cli.environment["SWARM_EVO__EXECUTION__TIMEOUT"]
    ended = search(cli, EXAMPLES / "aide/orchard", "search.max_steps=1", "search.ensemble=false")
    assert ended.code == 0, ended.err
    assert "data.target=harvest_kg, data.metric=rmsle" in ended.err
    found = cli.show()
    config = found["config"]
    assert config["problem"]["kind"] == "competition" and "kilograms of apples" in config["data"]["goal"]
    assert config["search"]["policy"] == "three_phase" and config["execution"]["timeout"] == 300, "not those of script"
    assert found["metric_source"] == "verified" and found["direction"] == "min"
    assert cli.here("resume", "latest", "search.max_steps=2").code == 0, "nothing of the folder's form is needed again"


def test_where_aides_text_leaves_it_open_nothing_is_guessed(cli: Cli):
    folder = cli.folder / "task"
    folder.mkdir()
    (folder / "train.csv").write_text("day,low,high\n" + "".join(f"{i},{i},{i + 1}\n" for i in range(60)))
    (cli.folder / "task.md").write_text("## Goal\nPredict low and high.\n\n## Evaluation\nAs you like.\n")
    ended = cli.here("run", "--problem", "script", f"problem.path={folder}")
    assert ended.code == 2 and "leaves the target and metric open" in ended.err
    assert "give --data.target=COLUMN and --data.metric=NAME (of numbers" in ended.err.splitlines()[-1]


def test_an_option_of_a_policy_that_does_not_search_is_told_as_not_read(tmp_path: Path, capsys: Any):
    from problems.neighbours import translate

    for name, source in {**OPENEVOLVES, "config.yaml": "database: {num_islands: 7}\nmax_iterations: 3\n"}.items():
        (tmp_path / name).write_text(source)
    for policy, left in (("mcts", True), ("islands", False)):
        words = [f"problem.path={tmp_path}", f"search.policy={policy}"]
        config = load_config(None, words, presets={"problem": "script"}, env={})
        translate(config)
        assert ("not read: database.num_islands" in capsys.readouterr().err) == left and config.search.max_steps == 3
    assert config.search.options.num_islands == 7


def test_what_is_taken_from_a_folder_is_told_before_the_run_begins(cli: Cli):
    """It went into a log that was not open yet."""
    folder = cli.folder / "theirs"
    folder.mkdir()
    for name, source in {**OPENEVOLVES, "config.yaml": "max_iterations: 3\nevaluator: {timeout: 7}\n"}.items():
        (folder / name).write_text(source)
    words = ["run", "--problem", "script", f"problem.path={folder}"]
    said = "OpenEvolve's config.yaml is read: max_iterations → search.max_steps, evaluator.timeout → problem.options."
    assert any(said in line for line in cli.here(*words, "--plan").json["warnings"])
    ended = cli.here(*words)
    assert ended.code == 0 and f"NOTE: {said}evaluation_timeout\n" in ended.out, ended.err
    assert "is read: " not in cli.here("resume", "latest", "search.max_steps=4").out, "the run has its own keys by now"


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (["data.target=low"], ("low", "mae")),
        (["data.target=low", "data.metric=rmse"], ("low", "rmse")),
        (["data.target=low", "problem.metric=rmse"], ("low", "rmse")),
        ([], (None, None)),
    ],
)
def test_what_the_user_says_of_aides_task_is_taken_with_what_its_text_says(tmp_path: Path, given: list[str], read: Any):
    """A target that he gave was told to be missing, and the metric that the text names went lost with it."""
    from problems.neighbours import translate

    (tmp_path / "task").mkdir()
    rows = "".join(f"{i},{i},{i + 1}\n" for i in range(60))
    (tmp_path / "task" / "train.csv").write_text(f"day,low,high\n{rows}")
    (tmp_path / "task.md").write_text("## Goal\nPredict low and high.\n\n## Evaluation\nBy mean absolute error.\n")
    config = load_config(None, [f"problem.path={tmp_path / 'task'}", *given], presets={"problem": "script"}, env={})
    translate(config)
    assert (config.data.target, config.data.metric) == read


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Root-Mean-Squared-Error (RMSE) between the logarithm of the predicted and the observed value", "rmsle"),
        ("scored by RMSE", "rmse"),
        ("scored by RMSE; log your runs, and hand in the log file", "rmse"),
        ("RMSE between log(predicted) and log(observed)", "rmsle"),
        ("RMSE of the log of the price", "rmsle"),
        ("area under the ROC curve between the predicted probability and the target", "auc"),
        ("Submissions are scored on mean absolute error.", "mae"),
        ("quadratic weighted kappa, which measures agreement", "qwk"),
        ("multi-class logarithmic loss (logloss)", "logloss"),
        ("macro F1", "f1_macro"),
        ("Classification accuracy", "accuracy"),
        ("whatever a map of the top shows", None),
    ],
)
def test_a_metric_in_words(text: str, name: str | None):
    from problems.neighbours.aide import metric_in

    found = metric_in(text)
    assert (found.name if found else None) == name


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"x.py": ""}, "no folder of a form that is known: OpenEvolve's has initial_program.*"),
        ({"initial_program.py": "x = 1\n", "evaluator.py": "evaluate = 1\n", "config.yaml": "a: [b"}, "read as YAML"),
        ({"initial_program.py": "x = 1\n", "evaluator.py": "evaluate = 1\n", "config.yaml": "- a"}, "a mapping"),
        ({"prepare.py": "", "train.py": "", "program.md": "Make it good."}, "names no val_… metric"),
        ({"x.py": ""}, "anything else is scored by an evaluator.py with evaluate(program_path)"),
        ({"task.toml": "", "instruction.md": ""}, "a task of Harbor, whose container an agent works in"),
        ({"task.yaml": "", "tests/test.py": ""}, "a task of terminal-bench"),
        ({"evaluators/evaluator_modular.py": ""}, "a task of ThetaEvolve"),
    ],
)
def test_what_cannot_be_read_is_one_line(cli: Cli, files: dict[str, str], says: str):
    folder = cli.folder / "theirs"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    ended = cli.here("run", "--problem", "script", f"problem.path={folder}")
    assert ended.code == 2 and says in ended.line and not cli.runs


def test_a_kernel_that_is_timed_on_a_gpu_is_told_how_to_be_scored(cli: Cli):
    kernel = cli.folder / "1_product.py"
    kernel.write_text("class Model:\n    pass\n\n\ndef get_inputs():\n    pass\n\n\ndef get_init_inputs():\n    pass\n")
    ended = cli.here("run", "--problem", "script", f"problem.path={kernel}")
    assert ended.code == 2 and "KernelBench" in ended.line and "--execution.gpus=1" in ended.line and not cli.runs


@pytest.mark.parametrize(("diffs", "reply"), [("true", "diff"), ("false", "program")])
def test_of_two_keys_that_say_one_thing_the_one_that_openevolve_goes_by_is_read(tmp_path: Path, diffs: str, reply: str):
    """`allow_full_rewrites` behind it turned it round, though OpenEvolve reads no such key any more."""
    from problems.neighbours import openevolve
    from problems.neighbours.reading import Told

    (tmp_path / "initial_program.py").touch()
    (tmp_path / "config.yaml").write_text(f"diff_based_evolution: {diffs}\nallow_full_rewrites: {diffs}\n")
    found = openevolve.read(tmp_path, Told())
    assert found.keys["problem.options.reply"] == reply and found.left == ("allow_full_rewrites",)


def test_every_key_of_the_table_is_one_of_ours(tmp_path: Path):
    """Their key is said in ours where the configuration takes it: a misspelt target would be an error for its user."""
    from problems.neighbours import translate
    from problems.neighbours.openevolve import TABLE

    values = {
        "problem.options.statement": "s", "problem.options.cascade_thresholds": [0.5],
        "problem.options.evaluator_args": {"size": 64},
    }  # fmt: skip
    for theirs, word in TABLE.items():
        ours = word.ours
        section, _, name = theirs.rpartition(".")
        value = values.get(ours, True if word.kind is bool else 64)
        text = f"{section}:\n  {name}: {value}\n" if section else f"{name}: {value}\n"
        (tmp_path / "config.yaml").write_text(text)
        (tmp_path / "initial_program.py").write_text("x = 1\n")
        (tmp_path / "evaluator.py").write_text("def evaluate(path): return 1\n")
        config = load_config(None, ["problem.kind=script", f"problem.path={tmp_path}", "search.policy=islands"])
        translate(config)
        *words, last = ours.split(".")
        part: Any = config
        for word in words:
            part = getattr(part, word)
        found = part[last] if isinstance(part, dict) else getattr(part, last)
        assert found in (64, True, "s", [0.5], {"size": 64}, "diff", "program"), theirs


LAUGHS = "a0: &a0 [1, 2, 3]\n" + "".join(
    f"a{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}, r: *a{n - 1}}}\n" for n in range(1, 25)
)
"""Three to the 24th lists in a kilobyte."""
OPENEVOLVES = {"initial_program.py": "x = 1\n", "evaluator.py": "def evaluate(path): return 1\n"}


@pytest.mark.parametrize(
    ("text", "key", "allowed"),
    [
        ("max_iterations: many", "max_iterations='many'", "integer"),
        ("max_iterations: -5", "max_iterations=-5", "greater than or equal to 0"),
        ("max_iterations: 2.5", "max_iterations=2.5", "integer"),
        ("max_iterations: true", "max_iterations=True", "number"),
        ("evaluator: {timeout: abc}", "evaluator.timeout='abc'", "number"),
        ("evaluator: {timeout: .nan}", "evaluator.timeout=nan", "greater than 0"),
        ("evaluator: {parallel_evaluations: -2}", "evaluator.parallel_evaluations=-2", "greater than or equal to 1"),
        ("evaluator: {memory_limit_mb: lots}", "evaluator.memory_limit_mb='lots'", "integer"),
        ("evaluator: {cascade_thresholds: [high]}", "evaluator.cascade_thresholds=['high']", "number"),
        ("evaluator: {evaluator_args: 3}", "evaluator.evaluator_args=3", "dictionary"),
        ("evaluator: 5", "evaluator=5", "a mapping"),
        ("database: {num_islands: x}", "database.num_islands='x'", "integer"),
        ("early_stopping_patience: soon", "early_stopping_patience='soon'", "integer"),
        ("diff_based_evolution: maybe", "diff_based_evolution='maybe'", "boolean"),
        ("system_message: [1, 2]", "system_message=[1, 2]", "string"),
        ("evaluator: {timeout: .inf}", "evaluator.timeout=inf", "less than or equal to 2000000"),
        ("prompt: {system_message: {a: 1}}", "prompt.system_message: a value", "not a mapping with a"),
        ("when: 2026-99-99", "", "read as YAML"),
        ("a: &a {b: *a}", "", "read as YAML"),
        (LAUGHS, "", "with its aliases it holds more than 100000 values"),
        (f"{LAUGHS}max_iterations: *a24\n", "", "with its aliases it holds more than 100000 values"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--plan",)])
def test_openevolves_wrong_value_is_told_with_its_file_before_anything_runs(
    cli: Cli, text: str, key: str, allowed: str, more: tuple[str, ...]
):
    folder = cli.folder / "theirs"
    folder.mkdir()
    for name, source in {**OPENEVOLVES, "config.yaml": text}.items():
        (folder / name).write_text(source)
    ended = cli.here("run", "--problem", "script", f"problem.path={folder}", *more)
    assert ended.code == 2 and not cli.runs
    assert f"{folder / 'config.yaml'}: {key}" in ended.line and allowed in ended.line


@pytest.mark.parametrize(
    ("files", "key", "allowed"),
    [
        (
            {"shinka.yaml": "evo_config: {num_generations: -1}"},
            "shinka.yaml: evo_config.num_generations=-1",
            "or equal",
        ),
        ({"shinka.yaml": "db_config: {num_islands: 0}"}, "shinka.yaml: db_config.num_islands=0", "or equal to 1"),
        ({"shinka.yaml": "job_config: {time: soon}"}, "shinka.yaml: job_config.time='soon'", "00:05:00"),
        ({"shinka.yaml": "job_config: {time: '1000:00:00'}"}, "shinka.yaml: job_config.time='1000:00:00'", "2000000"),
        ({"shinka.yaml": "job_config: {time: '00:00:00'}"}, "shinka.yaml: job_config.time='00:00:00'", "than 0"),
        ({"run_evo.py": "EvolutionConfig(num_generations='9x')\n"}, "run_evo.py: num_generations='9x'", "integer"),
        ({"run_evo.py": f"JobConfig(time='{'9' * 400}:00')\n"}, "run_evo.py: time='999", "than or equal to 2000000"),
        ({"run_evo.py": f"JobConfig(time='{':'.join('1' * 400)}')\n"}, "run_evo.py: time='1:1", "equal to 2000000"),
        ({"run_evo.py": "search_task_sys_msg = 5\n"}, "run_evo.py: task_sys_msg=5", "string"),
    ],
)
def test_shinkas_wrong_value_too(cli: Cli, files: dict[str, str], key: str, allowed: str):
    folder = cli.folder / "theirs"
    folder.mkdir()
    for name, source in {"initial.py": "x = 1\n", "evaluate.py": "", **files}.items():
        (folder / name).write_text(source)
    ended = cli.here("run", "--problem", "script", f"problem.path={folder}")
    assert ended.code == 2 and not cli.runs and key in ended.line and allowed in ended.line


def test_what_a_neighbour_may_say_is_what_our_key_takes():
    """Their bounds are ours: a number that is let in is one that the configuration would have taken itself."""
    from pydantic import TypeAdapter, ValidationError

    from problems.neighbours import openevolve, shinka
    from utils.errors import ConfigError

    def theirs(kind: Any, value: int) -> bool:
        try:
            TypeAdapter(kind).validate_python(value)
        except ValidationError:
            return False
        return True

    def ours(key: str, value: int) -> bool:
        try:
            load_config(None, [f"{key}={value}"])
        except ConfigError:
            return False
        return True

    for word in (*openevolve.TABLE.values(), *shinka.TABLE.values()):
        if word.ours.startswith("problem.options."):
            continue
        for value in (-1, 0, 1, 63, 64, 10_000, 10_001, 2_000_000, 2_000_001, 10**9, 10**9 + 1):
            assert theirs(word.kind, value) == ours(word.ours, value), (word.ours, value)
