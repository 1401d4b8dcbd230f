from __future__ import annotations

import importlib.util
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import cloudpickle
import pytest

from agents.coder_agent import CoderAgent
from core.contracts import NO_PROGRAM, AgentContext, ExecutionResult
from core.evaluation.isolation import loading
from core.evaluation.isolation.evaluator import EvaluatorRun
from core.state.failure import FailureKind
from core.state.node import Node
from core.state.task import Task
from core.state.text import RETURNED
from problems.block_agent import BlockAgent
from problems.script.evaluator_source import check_evaluator, docstring_of
from problems.script.job import write_harness
from problems.script.problem import Options, ScriptProblem, build
from problems.script.reading import FOREIGN, verdict_of
from problems.script.writer import ScriptWriter, vary
from utils.config import check_config, load_config, to_plain
from utils.errors import ConfigError
from utils.response import parse_response

EXAMPLES = Path(__file__).resolve().parents[4] / "examples" / "openevolve"
CODE = (
    "import math\n# EVOLVE-BLOCK-START\ndef f(x):\n    return 2.0 * x + 1\n\n\n# EVOLVE-BLOCK-END\n"
    "def main():\n    return f(3)\n"
)


def test_workers_that_want_the_first_harness_at_once_all_get_it(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        made = [pool.submit(write_harness, tmp_path / "made", "evaluator.py", {}) for _ in range(200)]
    assert {one.result().read_text() for one in made} == {write_harness(tmp_path, "evaluator.py", {}).read_text()}


@pytest.fixture
def harness(tmp_path, monkeypatch):
    """The harness round an evaluator's text, as a module of this process."""

    def make(text: str | bytes, name: str = "evaluator.py", **options):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "path", list(sys.path))
        monkeypatch.setattr(sys, "modules", dict(sys.modules))
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        (tmp_path / "program.py").write_text("def f(x):\n    return x + 1\n")
        settings = {"thresholds": [0.5, 0.75], "cascade": True, "metric": None, **options}
        file = write_harness(tmp_path / "made", str(path), settings)
        spec = importlib.util.spec_from_file_location("made_harness", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return lambda: module.evaluate(str(tmp_path / "program.py"))

    return make


@pytest.mark.parametrize(
    "text",
    [
        "def evaluate(path):\n    return {'combined_score': 3.0}\n",
        "async def evaluate(path):\n    import asyncio\n    await asyncio.sleep(0)\n"
        "    return {'combined_score': 3.0}\n",
        "def evaluate(path):\n    return 3\n",
        "def evaluate(path):\n    return 3, {}\n",
        "from openevolve.evaluation_result import EvaluationResult\n"
        "def evaluate(path):\n    return EvaluationResult(metrics={'combined_score': 3.0}, artifacts={})\n",
        "class R:\n    metrics = {'combined_score': 3.0}\n    artifacts = None\n"
        "def evaluate(path):\n    return R()\n",
    ],
)  # fmt: skip
def test_every_form_of_result_is_understood(harness, text):
    assert harness(text)() == {"metrics": {"combined_score": 3.0}, "artifacts": {}}


STAGES = (
    "seen = []\n"
    "def evaluate_stage1(path):\n    return {{'combined_score': {one}, 'a': 1.0}}\n"
    "async def evaluate_stage2(path):\n    return {{'combined_score': {two}, 'b': 2.0}}\n"
    "def evaluate_stage3(path):\n    return {{'combined_score': 0.99, 'c': 3.0}}\n"
    "def evaluate(path):\n    return {{'combined_score': -1.0}}\n"
)


@pytest.mark.parametrize(
    ("one", "two", "stage", "score"), [(0.4, 0.9, 1, 0.4), (0.5, 0.6, 2, 0.6), (0.5, 0.8, 3, 0.99)]
)
def test_a_cascade_goes_as_far_as_its_thresholds_allow(harness, one, two, stage, score):
    """And says why it goes no further: the next writer saw `stage: 1`, and no word of a threshold."""
    found = harness(STAGES.format(one=one, two=two))()
    metrics = found["metrics"]
    assert (metrics["stage"], metrics["combined_score"], "b" in metrics) == (stage, score, stage > 1)
    why = f"it ended after stage {stage} of 3: its score {score} is below the threshold {(0.5, 0.75, 0.9)[stage - 1]}"
    assert found["artifacts"] == ({"cascade": why} if stage < 3 else {})


def test_a_threshold_is_for_the_metrics_so_far_and_no_number_passes_it(harness):
    """As OpenEvolve's: the second stage's times alone were taken for its score, and nan for a good one."""
    staged = STAGES.replace("'combined_score': {two}", "'seconds': {two}")
    assert harness(staged.format(one=0.6, two=90.0))()["metrics"]["stage"] == 2, "0.6 is below 0.75"
    assert harness(STAGES.format(one="float('nan')", two=0.9))()["metrics"]["stage"] == 1


def test_a_flag_is_no_number_that_a_threshold_is_compared_with(harness):
    source = (
        "def evaluate_stage1(path):\n    return {'accuracy': 0.4, 'valid': True}\n"
        "def evaluate_stage2(path):\n    return {'accuracy': 0.4}\n"
    )
    assert harness(source)()["metrics"]["stage"] == 1, "with the flag the mean is 0.7"


ERRORS = (
    "def evaluate_stage1(path):\n    return {{'loss': {one}, 'n': 900}}\n"
    "def evaluate_stage2(path):\n    return {{'loss': {two}, 'n': 900}}\n"
    "def evaluate_stage3(path):\n    return {{'loss': 7.0}}\n"
)


@pytest.mark.parametrize(
    ("one", "two", "thresholds", "stage"),
    [
        (0.1, 0.2, [0.5, 0.75], 3), (0.6, 0.1, [0.5, 0.75], 1), (0.5, 0.8, [0.5, 0.75], 2),
        (900.0, 800.0, [None, None], 3), (900.0, 800.0, [1000.0], 2),
    ],
)  # fmt: skip
def test_a_cascade_of_a_minimised_score_goes_on_with_what_is_low(harness, one, two, thresholds, stage):
    settings = {"thresholds": thresholds, "metric": "loss", "lower_is_better": True}
    assert harness(ERRORS.format(one=one, two=two), **settings)()["metrics"]["stage"] == stage


@pytest.mark.parametrize(
    ("direction", "given", "asked"),
    [("max", [0.5, 0.75, 0.9], [0.5, 0.75, 0.9]), ("min", [0.5, 0.75, 0.9], [None] * 3), ("min", [3.0], [3.0])],
)
def test_the_usual_thresholds_bound_no_score_that_is_minimised(tmp_path, monkeypatch, direction, given, asked):
    for name in ("program.py", "evaluator.py"):
        (tmp_path / name).write_text("def evaluate(path):\n    return 1\n")
    told = {}
    monkeypatch.setattr(
        "problems.script.evaluator.ScriptEvaluator", lambda *_, options, **__: told.update(options) or None
    )
    problem = ScriptProblem(
        tmp_path / "program.py", tmp_path / "evaluator.py", Options(cascade_thresholds=given),
        lower_is_better=direction == "min",
    )  # fmt: skip
    problem.evaluator(None)
    assert (told["thresholds"], told.get("lower_is_better", False)) == (asked, direction == "min")


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["problem.options.cascade_thresholds=[0.5,0.75,0.9]"], [0.5, 0.75]),
        ([], [None] * 3),
        (["problem.direction=max", "problem.options.cascade_thresholds=[0.5,0.75,0.9]"], [0.5, 0.75, 0.9]),
    ],
)
def test_thresholds_that_the_user_says_himself_hold_whatever_they_are(tmp_path, monkeypatch, words, asked):
    """And still do when the run is taken up again, from what it stored."""
    files = {"program": "x = 1\n", "evaluator": "def evaluate(path):\n    return 1\n"}
    for name, text in files.items():
        (tmp_path / f"{name}.py").write_text(text)
    told = {}
    monkeypatch.setattr(
        "problems.script.evaluator.ScriptEvaluator", lambda *_, options, **__: told.update(options) or None
    )
    named = [f"problem.{name}={tmp_path / name}.py" for name in files]
    config = load_config(None, ["presets.problem=script", "problem.direction=min", *named, *words])
    for one in (config, lambda: check_config(to_plain(config))):
        build(one() if callable(one) else one, tmp_path).evaluator(None)
        assert told["thresholds"] == asked


def test_the_cascade_can_be_switched_off(harness):
    assert harness(STAGES.format(one=1, two=1), cascade=False)()["metrics"] == {"combined_score": -1.0}


def test_siblings_and_the_working_folder_are_the_evaluators(harness, tmp_path):
    (tmp_path / "table.txt").write_text("7")
    (tmp_path / "helper_of_mine.py").write_text(
        "def read():\n    with open('table.txt') as file:\n        return float(file.read())\n"
    )
    text = "from helper_of_mine import read\ndef evaluate(path):\n    return {'score': read()}\n"
    assert harness(text)()["metrics"] == {"score": 7.0}


def test_a_function_of_a_notebook_gets_the_path(harness):
    def points(path):
        return float(path.endswith("program.py"))

    assert harness(cloudpickle.dumps(points), "evaluate.pkl")()["metrics"] == {"combined_score": 1.0}
    assert harness(cloudpickle.dumps(points), "evaluate.pkl", metric="points")()["metrics"] == {"points": 1.0}


def test_an_evaluator_without_evaluate_says_so(harness):
    with pytest.raises(AttributeError, match="evaluate"):
        harness("x = 1\n")()


# ---------------------------------------------------------------- verdicts


def said(**fields) -> EvaluatorRun:
    return EvaluatorRun(**{"isolated": True, "seconds": 1.0, **fields})


def verdict(run: EvaluatorRun, metric: str | None = None, unisolated: str = ""):
    return verdict_of(run, metric=metric, timeout=2.0, unisolated=unisolated)


@pytest.mark.parametrize(
    ("calls", "longest", "call_timeout", "share"),
    [(1, 0.5, 1.0, 0.5), (6, 0.1, 1.0, 0.5), (6, 0.9, 1.0, 0.9), (6, 0.9, None, 0.5)],
)
def test_what_a_program_took_is_told_against_the_limit_that_it_came_nearest_to(calls, longest, call_timeout, share):
    run = said(value=1.0, calls=calls, longest_call=longest)
    found = verdict_of(run, metric=None, timeout=2.0, unisolated="", call_timeout=call_timeout)
    assert found.limit_share == share


@pytest.mark.parametrize(
    ("metric", "metrics", "score"),
    [
        (None, {"combined_score": 2, "x": 100}, 2),
        (None, {"a": 1.0, "b": 3.0, "error": 50.0, "note": "text"}, 2.0),
        ("b", {"combined_score": 9, "b": -1.5}, -1.5),
        (None, {"flag": True, "a": 4}, 4),
    ],
)
def test_which_metric_steers(metric, metrics, score):
    found = verdict(said(value={"metrics": metrics}), metric)
    assert found.metric == score and found.source == "verified" and not found.unisolated_reason


@pytest.mark.parametrize(
    ("own", "metrics", "score", "lacks"),
    [
        (("combined_score", "validity"), {"validity": 0.0, "eval_time": 60.0}, None, "combined_score"),
        (("validity", "combined_score"), {"eval_time": 60.0}, None, "combined_score"),
        (("combined_score",), {"combined_score": 0.5, "eval_time": 60.0}, 0.5, ""),
        (("a", "b"), {"a": 1.0, "b": 2.0, "seconds": 60.0}, 1.5, ""),
        (("a", "b"), {"a": 0.0, "seconds": 60.0}, None, "'b'"),
        (("a", "b"), {"a": 1.0, "b": "inf"}, None, "'b' is not finite"),
        (("runs",), {"runs": 1.0, "combined_score": 7.0}, 7.0, ""),
        ((), {"a": 1.7e308, "b": 1.7e308}, None, "mean of a, b is not finite"),
    ],
)
def test_what_steers_is_the_same_number_of_every_program(own, metrics, score, lacks):
    """An evaluator's answer to a program that failed, or after its first stage, holds other numbers: a time, say."""
    found = verdict_of(said(value={"metrics": metrics}), metric=None, own=own, timeout=2.0, unisolated="")
    assert found.metric == score and lacks in found.message and (found.failure is None) == (score is not None)


@pytest.mark.parametrize(
    ("run", "failure", "named"),
    [
        (said(value={"metrics": {"x": 1}}), FailureKind.EVAL_ERROR, "'score'"),
        (
            said(value={"metrics": {}, "artifacts": {"cascade": "it ended early"}}),
            FailureKind.EVAL_ERROR,
            "ended early; ",
        ),
        (said(value={"metrics": {"score": "nan"}}), FailureKind.NON_FINITE, "nan"),
        (said(value=None), FailureKind.EVAL_ERROR, "none"),
        (said(error="Traceback\nValueError: odd", line="ValueError: odd"), FailureKind.EVAL_ERROR, "ValueError: odd"),
        (said(error="Traceback", line=f"{FOREIGN}app.Odd: no", raised=True), FailureKind.RUNTIME, "app.Odd: no"),
        (said(error="late", line="late", seconds=3.0), FailureKind.EVAL_ERROR, "problem.options.evaluation_timeout=2"),
        (said(program=ExecutionResult(failure=FailureKind.TIMEOUT, message="10 s")), FailureKind.TIMEOUT, "10 s"),
        (said(refused="the answer of f cannot cross", by_program=True), FailureKind.SIGNATURE, "answer of f"),
        (said(refused="it reads the source text", value={"metrics": {"score": 9}}), FailureKind.EVAL_ERROR, "reads"),
    ],
)
def test_what_cannot_be_scored_is_a_failure_with_a_reason(run, failure, named):
    found = verdict(run, "score")
    assert found.failure is failure and named in found.message and found.metric is None


def test_a_shared_sandbox_is_labelled_with_its_reason():
    found = verdict(said(value={"metrics": {"s": 1.0}}), unisolated="it wants shared objects")
    assert (found.source, found.unisolated_reason) == ("unisolated", "it wants shared objects")


def test_artifacts_are_short_texts():
    artifacts = {"trace": "x" * 10_000 + "ValueError: why", **{str(i): i for i in range(50)}}
    found = verdict(said(value={"metrics": {"s": 1.0}, "artifacts": artifacts}))
    assert len(found.artifacts) == 12 and len(found.artifacts["trace"].encode()) == 4_000
    assert found.artifacts["trace"].endswith("ValueError: why"), "where a log says why"
    long = loading.to_plain({"log": b"\xffa" + b"x" * 1_000_000 + b"ValueError: why"})["log"]
    assert len(long) < RETURNED.text and long.startswith("\ufffda") and long.endswith("ValueError: why")


# ---------------------------------------------------------------- writing


def context(parents: tuple[Node, ...] = (Node(id="p", code=CODE),)) -> AgentContext:
    task = Task(node_id="n", operator="mutate", round=0, slot=0, seed=1, parent_ids=tuple(n.id for n in parents))
    return AgentContext(task=task, statement="s", parents=parents, query=None, extras={"program": CODE})  # type: ignore[arg-type]


DIFF = "Better slope.\n\n<<<<<<< SEARCH\n    return 2.0 * x + 1\n=======\n    return 3.0 * x\n>>>>>>> REPLACE\n"


@pytest.mark.parametrize(
    "reply",
    [DIFF, f"```\n{DIFF}```", DIFF.replace("\n", "\r\n"), f"```\n{DIFF}```".replace("\n", "\r\n"),
     "Better.\n\n```python\n" + CODE.replace("2.0 * x + 1", "3.0 * x") + "```",
     "Better.\n\n```python\ndef f(x):\n    return 3.0 * x\n\n\n```",
     "Better.\n\n" + CODE.replace("2.0 * x + 1", "3.0 * x")],
)  # fmt: skip
def test_diffs_whole_programs_and_bare_blocks_are_read(reply):
    node = BlockAgent(single_function=True).code(context(), reply).node
    assert node is not None and node.failure is None
    assert node.code.split() == CODE.replace("2.0 * x + 1", "3.0 * x").split()


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        (DIFF.replace("2.0 * x", "5.0 * x"), FailureKind.REPLY_ERROR),
        ("I cannot help.", FailureKind.NO_CODE),
        (DIFF.replace("3.0 * x", "3.0 * ("), FailureKind.SYNTAX),
        ("```python\nimport math\ndef f(x):\n    return 1\ndef main():\n    return f(3)\n```", FailureKind.REPLY_ERROR),
    ],
)
def test_replies_that_do_not_fit_are_failures(reply, failure):
    node = BlockAgent(single_function=True).code(context(), reply).node
    assert node is not None and node.failure is failure


def test_of_a_program_that_is_no_python_a_helper_in_python_is_not_taken():
    """The table's generator was put into the frame of the C++ program, and scored."""
    frame = "// EVOLVE-BLOCK-START\nint f();\n// EVOLVE-BLOCK-END\n"
    reply = f"The table comes of\n```python\nprint([1, 2])\n```\n```cpp\n{frame.replace('()', '(int x)')}```\n"
    asked = replace(context((Node(id="p", code=frame),)), extras={"program": frame, "language": "cpp"})
    node = BlockAgent(single_function=True).code(asked, reply).node
    assert node is not None and node.code == frame.replace("()", "(int x)")


def test_a_reply_cannot_change_what_is_outside_of_the_blocks():
    cheat = CODE.replace("return f(3)", "return 10**9")
    node = BlockAgent(single_function=True).code(context(), f"```python\n{cheat}```").node
    assert node is not None and "10**9" not in node.code and "return f(3)" in node.code
    assert node.failure is None and node.message.startswith("lines outside of the block were put back: ")


def test_who_handed_in_nothing_is_told_by_the_reason_whatever_code_it_talked_of():
    words = f"I was about to write\n```python\nx = 1\n```\n{DIFF}"
    said = f"{NO_PROGRAM}it did not end within 8 s (llm.code.timeout)\n\n{words}"
    for agent in (BlockAgent(single_function=True), CoderAgent()):
        node = agent.code(context(), said).node
        assert node is not None and (node.failure, node.code) == (FailureKind.NO_CODE, "")
        assert node.message == "it did not end within 8 s (llm.code.timeout)" and "about to write" in node.plan


@pytest.mark.parametrize("folder", ["minimise", "async_packing", "sibling_table"])
def test_rules_write_programs_that_keep_their_frame(folder):
    code = (EXAMPLES / folder / "initial_program.py").read_text()
    start, end = code.index("# EVOLVE-BLOCK-START"), code.index("# EVOLVE-BLOCK-END")
    seen = set()
    for seed in range(20):
        facts = {"operator": "mutate", "parents": [{"code": code}], "extras": {}}
        new, plan = parse_response(ScriptWriter().write(facts, random.Random(seed)))
        assert new and plan
        assert new.startswith(code[:start]) and code[end:].strip() in new
        compile(new, "p", "exec")
        seen.add(new)
    assert len(seen) > 5


def test_rules_change_a_block_inside_of_a_function():
    head = "class Model:\n    def value(self, x):\n        # EVOLVE-BLOCK-START\n"
    tail = "        # EVOLVE-BLOCK-END\n\n    def other(self):\n        return 1\n"
    code = f"{head}        if x < 3:\n            x = x * 2.5  # more\n\n        return x + 4\n{tail}"
    found = {vary(code, [], random.Random(seed))[0] for seed in range(30)}
    assert len(found) > 10
    for text in found:
        compile(text, "candidate", "exec")
        assert text.startswith(head) and text.endswith(tail) and "# more" in text


def test_rules_leave_a_program_alone_that_is_nested_too_deeply():
    code = f"# EVOLVE-BLOCK-START\nx = {'-' * 300_000}1\n# EVOLVE-BLOCK-END\n"
    assert vary(code, [], random.Random(0)) == (code, "The program does not parse; nothing was changed.")


@pytest.mark.parametrize(
    ("program", "preload"),
    [("def f(): return 1\n", ()), ("import numpy as np\n", ("numpy",)), ("import scipy\n", ("numpy", "scipy"))],
)
def test_what_the_users_program_imports_is_loaded_from_the_start(tmp_path, program, preload):
    path = tmp_path / "program.py"
    path.write_text(program)
    assert ScriptProblem(path, tmp_path / "e.py", Options()).preload == ("math", *preload)


def test_a_program_that_cannot_be_read_is_told_by_the_check(tmp_path):
    (tmp_path / "latin.py").write_bytes(b"import numpy  # \xe9")
    (tmp_path / "e.py").write_text("def evaluate(path): return 1")
    for name in ("missing.py", ".", "latin.py"):
        problem = ScriptProblem(tmp_path / name, tmp_path / "e.py", Options())
        assert problem.preload == ("math",)
        with pytest.raises(ConfigError, match=r"problem\.program="):
            problem.check()


def test_a_configuration_needs_both_files(tmp_path):
    def cfg(**section):
        empty = {"program": None, "evaluator": None, "path": None, "metric": None, "direction": None, "options": {}}
        return SimpleNamespace(
            problem=SimpleNamespace(**{**empty, **section}),
            execution=SimpleNamespace(runner="local"),
            initial=(),
            given=frozenset(),
        )

    with pytest.raises(ConfigError, match=r"problem\.program and problem\.evaluator"):
        build(cfg(program="x.py"), tmp_path)
    with pytest.raises(ConfigError, match=r"problem\.program=.*no such file"):
        build(cfg(program="x.py", evaluator="y.py"), tmp_path).prepare()
    folder = EXAMPLES / "minimise"
    program, evaluator = str(folder / "initial_program.py"), str(folder / "evaluator.py")
    problem = build(cfg(program=program, evaluator=evaluator, direction="min"), tmp_path)
    problem.prepare()
    assert problem.name == "script/minimise" and problem.lower_is_better
    assert [b.name for b in problem.baselines()] == ["initial"]


def test_of_many_modules_beside_it_a_prompt_shows_some(tmp_path):
    """Forty of them took the room of the task, which no prompt held any more."""
    for number in range(9):
        (tmp_path / f"m{number}.py").write_text(f"x = {number}\n" + "# more\n" * 420 * (number > 0))
    (tmp_path / "program.py").write_text("".join(f"import m{number}\n" for number in range(9)))
    (tmp_path / "evaluator.py").write_text("def evaluate(path):\n    return 1.0\n")
    problem = ScriptProblem(tmp_path / "program.py", tmp_path / "evaluator.py", Options())
    told = problem.prompt_extras()["sections"]["What it imports from beside it"]
    assert told.count("```") == 2 * 7 and "m8.py (2,946 characters, not shown)" in told and len(told) < 22_000


def test_what_an_async_evaluator_says_of_itself_is_heard(tmp_path):
    (tmp_path / "e.py").write_text('"""Above."""\nasync def evaluate(path):\n    """Within."""\n    return 1.0\n')
    assert docstring_of(tmp_path / "e.py") == "Above.\n\nWithin."


STAGED = "def evaluate(path, weight):\n    return 1\ndef evaluate_stage1(path, *, size=1):\n    return 1\n"


@pytest.mark.parametrize(
    ("text", "cascade", "refused"),
    [
        ("def evaluate(path, weight=1):\n    return 1\n", True, ["size"]),
        ("def evaluate(path, **more):\n    return 1\n", True, []),
        ("from elsewhere import evaluate\n", True, []),
        (STAGED, True, ["weight"]),  # `evaluate` is not called
        (STAGED, False, ["size"]),
    ],
)
def test_an_argument_that_no_called_function_takes_is_refused(tmp_path, text, cascade, refused):
    path = tmp_path / "evaluator.py"
    path.write_text(text)
    for name in ("weight", "size"):
        with pytest.raises(ConfigError, match=f"{name}: no function of") if name in refused else nullcontext():
            check_evaluator(path, [name], cascade=cascade)


@pytest.mark.parametrize(
    ("stages", "cascade", "told"),
    [
        ("def evaluate_stage1(path):\n    return 1\nif __name__ == '__main__':\n    evaluate('a')\n", True, True),
        ("def evaluate_stage1(path):\n    return 1\n", False, False),
        ("def evaluate_stage1(path):\n    return evaluate(path)\n", True, False),
        ("def evaluate_stage1(path):\n    return 1\ndef evaluate_stage2(path):\n    return 1\n", True, False),
        ("", True, False),
    ],
)
def test_an_evaluate_that_its_one_stage_keeps_from_being_called_is_told(tmp_path, stages, cascade, told):
    """The stage alone scored every program, 1 for all of them, and nothing said so."""
    (tmp_path / "program.py").write_text("x = 1\n")
    (tmp_path / "evaluator.py").write_text(f"def evaluate(path):\n    return 2\n{stages}")
    note = ScriptProblem(tmp_path / "program.py", tmp_path / "evaluator.py", Options(cascade=cascade)).note
    assert ("evaluate() is not called (--problem.options.cascade=false" in note) is told and bool(note) is told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def evaluate(path: return 1\n", "does not parse"),
        (f"x = {'-' * 300_000}1\n", "does not parse as Python: it is nested too deeply"),
        ("def score(path):\n    return 1\n", "no function evaluate"),
        ("def evaluate(path):\n    return 1\n", None),
        ("def evaluate_stage1(path):\n    return 1\n", None),
        ("from elsewhere import judge as evaluate\n", None),
        ("from elsewhere import *\n", None),
        ("if True:\n    evaluate = lambda path: 1\n", None),
    ],
)
def test_an_evaluator_that_can_judge_nothing_is_refused_before_anything_runs(tmp_path, text, message):
    (tmp_path / "program.py").write_text(CODE)
    (tmp_path / "evaluator.py").write_text(text)
    problem = ScriptProblem(tmp_path / "program.py", tmp_path / "evaluator.py", Options())
    if message is None:
        problem.prepare()
        return
    with pytest.raises(ConfigError, match=message) as caught:
        problem.prepare()
    assert "problem.evaluator=" in str(caught.value) and "\n" not in str(caught.value)


def test_a_score_that_no_float_holds_is_not_finite():
    run = EvaluatorRun(value={"metrics": {"combined_score": 10**400}}, isolated=True)
    verdict = verdict_of(run, metric=None, timeout=1.0, unisolated="")
    assert (verdict.failure, verdict.metric) == (FailureKind.NON_FINITE, None)
