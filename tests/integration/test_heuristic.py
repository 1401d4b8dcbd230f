"""The heuristic family from the command line, in the real sandbox."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import Cli

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "openevolve"
PACKING = (
    "run", "--problem", "bin_packing", "--problem.name=u120", "--problem.options.validation=10",
    "--problem.options.test=10", "--search.per_island=4", "--search.batch=12", "--search.tune_interval=2",
    "--search.tune_trials=6", "--search.migration_interval=2", "--logging.view=quiet",
)  # fmt: skip


def summary(cli: Cli, *words: str) -> dict:
    ended = cli.here(*words)
    assert ended.code == 0, ended.err + ended.out
    return cli.show()


@pytest.mark.long
def test_one_and_two_workers_and_a_killed_run_search_alike(cli_at: Callable[[str], Cli]):
    one, two, broken = cli_at("one"), cli_at("two"), cli_at("broken")
    steps = "--search.max_steps=60"
    ended = one(*PACKING, steps, "--search.workers=1", timeout=400)
    assert ended.code == 0, ended.err + ended.out
    first = one.show()
    second = summary(two, *PACKING, steps, "--search.workers=2")
    child = broken.start(*PACKING, steps)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and child.poll() is None:
        if broken.runs and _committed(broken.runs[0]) > 30:
            break
        time.sleep(0.02)
    child.send_signal(signal.SIGKILL)
    child.wait()
    third = summary(broken, "resume", "latest", "--logging.view=quiet")
    assert first["steps"] == second["steps"] == third["steps"] == 60
    assert first["journal_sha256"] == second["journal_sha256"] == third["journal_sha256"]
    operators = {node["operator"] for node in first["nodes"]}
    assert {"baseline", "generate", "mutate", "crossover", "tune"} <= operators
    assert first["best_metric"] <= min(n["metric"] for n in first["nodes"] if n["operator"] == "baseline")
    assert first["metric_source"] == "verified"


def _committed(run: Path) -> int:
    import sqlite3

    try:
        with sqlite3.connect(f"file:{run / 'run.db'}?mode=ro", uri=True) as db:
            return int(db.execute("select count(*) from nodes").fetchone()[0])
    except sqlite3.Error:
        return 0


@pytest.mark.long
def test_a_finished_run_leaves_a_program_that_prints_its_test_score(cli: Cli):
    shown = summary(cli, *PACKING, "--search.max_generations=4", "logging.report=true")
    solution = cli.run_dir / "best_solution" / "solution.py"
    done = subprocess.run([sys.executable, "-I", str(solution)], capture_output=True, text=True, timeout=240)
    assert done.stdout.strip() == f"test excess: {shown['final_metric']:.6f}"
    low, high = shown["final_interval"]
    assert low <= shown["final_metric"] <= high
    rows = json.loads((cli.run_dir / "metrics.json").read_text())
    assert [row["generation"] for row in rows] == list(range(len(rows))) and len(rows) >= 4
    assert all(row["lower_is_better"] and row["num_candidates"] for row in rows)
    assert (cli.run_dir / "evolution.png").stat().st_size > 1000


@pytest.mark.long
def test_hostile_rules_are_failures_and_the_run_goes_on(cli: Cli, tmp_path: Path):
    """Programs that the user hands in as first nodes stand for what a model may write."""
    programs = {
        "exit": "def score_bin(item, remaining_capacity):\n    __builtins__['__import__']('os')._exit(0)\n",
        "hang": "def score_bin(item, remaining_capacity):\n    while True:\n        pass\n",
        "grow": "def score_bin(item, remaining_capacity):\n    return len([0] * (1 << 28))\n",
        "import": "import socket\ndef score_bin(item, remaining_capacity):\n    return 0\n",
        "nan": "def score_bin(item, remaining_capacity):\n    return float('nan')\n",
    }
    paths = []
    for name, code in programs.items():
        paths.append(tmp_path / f"{name}.py")
        paths[-1].write_text(code)
    words = ("--search.max_steps=6", "--execution.timeout=5", "--execution.memory_mb=256")
    shown = summary(cli, *PACKING, *words, f"--initial={','.join(map(str, paths))}")
    users = [node["failure"] for node in shown["nodes"] if node["operator"] == "user"]
    assert len(users) == 5 and users[1] == "timeout" and users[2] == "memory"
    assert users[3:] == ["import_blocked", "non_finite"]
    assert users[0] in ("exit", "runtime", "signal")
    assert shown["steps"] == 6 and shown["best_metric"] is not None


@pytest.mark.long
@pytest.mark.parametrize("folder", ["minimise", "async_packing", "sibling_table"])
def test_evaluators_in_openevolves_form_run_unmodified(cli: Cli, folder: str):
    words = ("run", "--problem", "script", f"--problem.path={EXAMPLES / folder}", "--search.max_steps=8")
    shown = summary(cli, *words, "--logging.view=quiet")
    assert shown["metric_source"] == "verified"
    (initial,) = [node["metric"] for node in shown["nodes"] if node["operator"] == "baseline"]
    assert initial is not None and shown["best_metric"] >= initial
    if folder != "async_packing":
        node = cli.node(shown["nodes"][0]["node_id"])
        assert node["artifacts"]


def test_an_evaluator_that_shares_objects_falls_back_with_the_reason(cli: Cli, tmp_path: Path):
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / "initial_program.py").write_text("def run(callback):\n    return callback(3) + 1.5\n")
    (folder / "evaluator.py").write_text(
        "import importlib.util\n\ndef evaluate(path):\n"
        "    spec = importlib.util.spec_from_file_location('p', path)\n"
        "    p = importlib.util.module_from_spec(spec)\n    spec.loader.exec_module(p)\n"
        "    return {'combined_score': p.run(lambda x: x * 2)}\n"
    )
    words = ("run", "--problem", "script", f"--problem.path={folder}", "--search.max_steps=3", "--logging.view=quiet")
    shown = summary(cli, *words)
    assert shown["nodes"][0]["metric"] == 7.5
    assert shown["metric_source"] == "unisolated"
    assert cli.node(shown["nodes"][0]["node_id"])["unisolated_reason"]


@pytest.mark.long
@pytest.mark.parametrize("graded", [False, True])
def test_any_command_in_any_language(cli: Cli, tmp_path: Path, graded: bool):
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "a.sh").write_text('X=3\nY=5\necho "score: $((100 - (X-7)*(X-7) - (Y-2)*(Y-2)))"\necho $X $Y > out.txt\n')
    (folder / "grade.py").write_text(
        "import sys\nx, y = map(int, open(sys.argv[1]).read().split())\nprint('score:', 100 - (x-7)**2 - (y-2)**2)\n"
    )
    words = [
        "run", "--problem", "command", f"--problem.source={folder / 'a.sh'}", "--problem.eval=sh a.sh",
        "--problem.metric=score", "--search.max_steps=8", "--logging.view=quiet",
    ]  # fmt: skip
    if graded:
        words += [f"--problem.grade={sys.executable} grade.py {{output}}", "--problem.options.output=out.txt"]
    shown = summary(cli, *words)
    assert shown["nodes"][0]["metric"] == 75
    assert shown["metric_source"] == ("verified" if graded else "unisolated")
    assert re.match(r"X=", (cli.run_dir / "best_solution" / "a.sh").read_text())


@pytest.mark.long
@pytest.mark.parametrize(
    ("evaluator", "said"),
    [
        ("import nosuchmodule\ndef evaluate(path):\n    return {'score': 1.0}\n", "No module named 'nosuchmodule'"),
        (
            "import time\ndef evaluate(path):\n    time.sleep(60)\n",
            "did not end in time (problem.options.evaluation_timeout=2)",
        ),
        (
            "def evaluate(path):\n    return {'combined_score': '0.5'}\n",
            "metric 'combined_score' is '0.5', a text; the evaluator has to return a number",
        ),
        ("def evaluate(path):\n    return {'combined_score': True}\n", "is True, a bool; the evaluator has to"),
        ("def evaluate(path):\n    return {'cost': '0.5'}\n", "returned no number: {'cost': '0.5'}"),
        ("def evaluate(path):\n    return {'combined_score': float('inf')}\n", "is not finite: 'inf'"),
    ],
)
def test_an_evaluator_that_cannot_judge_the_users_program_ends_the_search(cli: Cli, tmp_path: Path, evaluator, said):
    (tmp_path / "evaluator.py").write_text(evaluator)
    (tmp_path / "program.py").write_text("def f(x):\n    return x\n")
    words = [f"--problem.program={tmp_path}/program.py", f"--problem.evaluator={tmp_path}/evaluator.py"]
    if "evaluation_timeout" in said:
        words.append("--problem.options.evaluation_timeout=2")
    ended = cli.here("--problem=script", *words, "--search.max_steps=50")
    assert ended.code == 2 and said in ended.line and "nothing was searched" in ended.line
    assert cli.runs == [], "a run that was refused before its first step leaves nothing behind"


@pytest.mark.parametrize(
    ("command", "said"), [("nosuch_program a.txt", "cannot be run"), ("echo hello", "no `cost: value` in the output")]
)
def test_a_command_that_cannot_judge_the_users_files_ends_the_search(cli: Cli, tmp_path: Path, command, said):
    (tmp_path / "a.txt").write_text("1\n")
    words = [f"--problem.source={tmp_path}/a.txt", f"--problem.eval={command}", "--problem.metric=cost"]
    words.append("--problem.direction=min")
    ended = cli.here("--problem=command", *words, "--search.max_steps=50")
    assert ended.code == 2 and said in ended.line and "nothing was searched" in ended.line


def test_a_tree_whose_command_prints_its_number_in_a_form_of_its_own_is_told_the_key(cli: Cli, tmp_path: Path):
    """ReEvo's evaluators print `[*] Average:` and the number on the next line."""
    folder = tmp_path / "tree"
    folder.mkdir()
    (folder / "a.txt").write_text("1\n")
    (folder / "score.sh").write_text("echo '[*] Average:'; cat a.txt\n")
    words = [f"--problem.source={folder}", "--problem.editable=a.txt", "--problem.eval=sh score.sh"]
    words += ["--problem.metric=Average", "--problem.direction=min", "--search.max_steps=1"]
    ended = cli.here("--problem=command", *words)
    assert (
        ended.code == 2 and "let it print `Average: NUMBER`, or `--problem.metric_from='regex:PATTERN'`" in ended.line
    )
    asked = "--problem.metric_from=regex:Average:\\s+([\\d.]+)"
    assert cli.here("--problem=command", *words, asked).code == 0 and cli.show()["baselines"][0]["metric"] == 1


def test_the_small_problem_to_copy(cli: Cli):
    words = ("--problem.options.cities=20", "--problem.options.instances=3", "--search.tune_trials=5")
    shown = summary(cli, "run", "--problem", "tsp", *words, "--search.max_steps=60", "--logging.view=quiet")
    (nearest,) = [node["metric"] for node in shown["nodes"] if node["operator"] == "baseline"]
    assert shown["best_metric"] < nearest
    assert any(node["operator"] == "tune" for node in shown["nodes"])


@pytest.mark.long
def test_a_seed_style_configuration_runs(cli: Cli):
    """Its own keys, with ours on the command line in front."""
    config = Path(__file__).resolve().parents[2] / "examples" / "bin_packing" / "seed_style.yaml"
    small = ("--search.max_generations=1", "--problem.options.validation=2", "--problem.options.test=2")
    shown = summary(cli, "run", "--config", str(config), "--project.dir=.", *small, "--logging.view=quiet")
    assert shown["problem"] == "bin_packing/weibull_5k"
    assert shown["config"]["project"]["name"] == "binpacking_demo_001"
    assert shown["config"]["search"]["top_k_for_full_eval"] == 10


PLANE = """
from core.evaluation.function_problem import FunctionProblem

class Plane(FunctionProblem):
    name, unit = "plane", "distance"
    signature = "f(x: float, y: float, z: float) -> float"
    start = "def f(x, y=2.0, z=3.0):\\n    return x + y + z\\n"

    def cases(self, part):
        return [1, 2, 3] if part == "validation" else ()

    def calls(self, case):
        return [(case,), (case, 5.0)]

    def score(self, case, answers):
        return abs(answers[0] - 2 * case) + abs(answers[1] - case)

def build(cfg, project_dir):
    return Plane()
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "num_islands: many\ncandidates_per_generation: 12",
            "num_islands='many': must be a whole number of at least 1",
        ),
        ("num_islands: 0\ncandidates_per_generation: 12", "num_islands=0: must be a whole number of at least 1"),
        ("candidates_per_generation: null", "candidates_per_generation=None: must be a whole number of at least 1"),
        ("evaluator: {capacity: [100]}", "evaluator.capacity=[100]: allowed: 100 (weibull_5k)"),
        ("llm_providers: [fake]", "llm_providers=\"['fake']\": must be a list of mappings with provider_id"),
        (
            "llm_providers: [{provider_id: a, provider_type: fake}, {provider_id: b, temprature: 1}]",
            "unknown key 'llm_providers.temprature' (did you mean 'temperature'?); allowed: provider_id, provider_type",
        ),
        (
            "llm_providers: [{provider_id: a, provider_type: openai, max_retries: often}]",
            "llm_providers.max_retries='often': must be a whole number of at least 0",
        ),
    ],
)
def test_what_is_wrong_in_a_seed_style_file_is_one_line(cli: Cli, text: str, said: str):
    (cli.folder / "seed.yaml").write_text(f"run_id: a\n{text}\n")
    ended = cli.here("run", "--config", "seed.yaml")
    assert ended.code == 2 and said in ended.line


def test_calls_may_leave_out_arguments_that_have_defaults(cli: Cli):
    """Some calls, or all of them: `rules` learns the scale of a parameter from the calls that give it."""
    (cli.folder / "plane.py").write_text(PLANE)
    words = ("--problem.kind=plane", "--plugins=.", "--search.max_steps=6", "--logging.view=quiet")
    shown = summary(cli, "run", *words)
    assert shown["steps"] == 6 and shown["best_metric"] is not None


FALTERS = """

class Falters:
    def __init__(self, writer):
        self.writer = writer

    def write(self, context, rng):
        if rng.random() < 0.7:
            raise KeyError("auto")
        return self.writer.write(context, rng)


class Faltering(Plane):
    def rules(self):
        return Falters(super().rules())


def build(cfg, project_dir):
    return Faltering()
"""


def test_a_problems_own_writer_that_fails_on_a_step_ends_no_run(cli: Cli):
    """It is a fault in it: the step is drawn anew, or fails and says where. A resume came back to the same place."""
    (cli.folder / "faltering.py").write_text(PLANE + FALTERS)
    words = ("--problem.kind=faltering", "--plugins=.", "--search.max_steps=12", "--logging.view=quiet")
    shown = summary(cli, "run", *words)
    assert shown["steps"] == 12 and shown["best_metric"] is not None
    failed = [node for node in shown["nodes"] if node["failure"] == "reply_error"]
    assert 0 < len(failed) < 12
    said = cli.here("show", "latest", failed[0]["node_id"]).out
    assert "the problem's own writer failed: KeyError: 'auto' (faltering.py, line 28)" in " ".join(said.split()), said
    replayed = cli.here("replay", "latest", "--verify")
    assert replayed.code == 0, replayed.err


def test_the_knapsack_of_the_docs_runs_as_a_plug_in(cli: Cli):
    """The example as `docs/heuristics.md` starts it: found in a folder, searched, judged, exported."""
    examples = Path(__file__).resolve().parents[2] / "examples"
    source = (examples / "problems" / "knapsack.py").read_text()
    assert len(source.split('"""')[2].strip().splitlines()) <= 36
    words = ("--problem.kind=knapsack", f"--plugins={examples}", "--search.max_steps=25", "--logging.view=quiet")
    shown = summary(cli, "run", *words)
    (start,) = [row for row in shown["baselines"] if row["name"] == "start"]
    assert shown["problem"] == "knapsack" and shown["metric_source"] == "verified"
    (config,) = cli.folder.glob("logs/*/config.yaml")
    assert "policy: islands" in config.read_text(), "as every heuristic that comes along, though it has no preset"
    assert shown["best_metric"] < start["metric"] and shown["final_metric"] < start["final"]
    low, high = shown["final_interval"]
    assert low < shown["final_metric"] < high
    (solution,) = cli.folder.glob("logs/*/best_solution/solution.py")
    names: dict = {}
    exec(solution.read_text(), names)  # the rules' own text
    assert isinstance(names["priority"](3, 5, 100), int | float)
