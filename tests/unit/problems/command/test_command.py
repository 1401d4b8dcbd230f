from __future__ import annotations

import os
import random
import re
import subprocess
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.contracts import AgentContext, ExecutionResult, Limits
from core.executor.sandbox import open_sandbox
from core.state.change import change_of
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from core.state.task import Task
from core.workers.local import LocalJobs
from core.workers.pool import JobPool
from problems.command.bundle import join, read_metric, split
from problems.command.evaluator import CommandEvaluator
from problems.command.job import _run_apart, copy_sources, grade, not_graded, plain_files
from problems.command.problem import build
from problems.numbers import NumbersWriter, movable, moved_numbers, with_numbers
from utils.allowance import Allowance
from utils.direction import Direction
from utils.errors import ConfigError
from utils.response import parse_response

DEPS = SimpleNamespace(isolated=True, journal=Journal(), repeats=0, doing=print, allowance=Allowance())


def cfg(**section):
    empty = {
        "source": None,
        "eval": "sh a.sh",
        "metric": "score",
        "grade": None,
        "direction": None,
        "options": {},
        "editable": None,
    }
    return SimpleNamespace(
        problem=SimpleNamespace(**{**empty, **section}),
        execution=SimpleNamespace(runner="local"),
        given=frozenset(),
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "a.sh").write_text("echo score: 3\n")
    (tmp_path / "b.c").write_text("int x = 5;\n")
    return tmp_path


@pytest.mark.parametrize(
    ("output", "value"),
    [
        ("score: 1.5\n", 1.5), ("score = -2e-3", -2e-3), ('{"score": 7, "other": 1}', 7), ("a\nscore:1\nscore: 2\n", 2),
        ("'x' \"score\" : \"3.25\"", 3.25), ("SCORE: .5", 0.5), ("score: +4.", 4), ("best score: 9", 9),
        ("myscore: 3", None), ("score 3", None), ("score: high", None), ("", None), ("score: nan", "nan"),
        ("score: inf", float("inf")), ("score: 1,5", None), ("score: 1,234.5", None), ("score: 1.2.3", None),
        ("score: 1.30x", 1.3), ("score: 93%", 93), ("score: 1.5xy", None), ("score: 1.5ms", None),
        ("score=3,other=5", 3), ('{"score":3,"other":5}', 3), ("score: 12.5, time: 3", 12.5), ("score: 7.\n", 7),
    ],
)  # fmt: skip
def test_the_metric_is_found_in_text_and_json(output, value):
    found = read_metric(output, "score")
    assert found != found if value == "nan" else found == value


def test_files_travel_as_one_text():
    several = {"a.py": "x = 1\n", "b/c.txt": "two\n\n"}
    assert split(join(several), list(several)) == {"a.py": "x = 1\n", "b/c.txt": "two\n"}
    assert join(split(join(several), list(several))) == join(several)
    assert join({"a.py": "x = 1\n"}) == "x = 1\n"
    assert split("anything", ["a.py"]) == {"a.py": "anything"}
    assert split(join(several), ["a.py"]) != several
    assert split("x = 1", ["a.py", "b.py"]) is None
    assert split("=== a.py ===\nx\n=== ../evil ===\ny\n", ["a.py", "b.py"]) is None


def test_a_copy_of_the_folder_with_the_candidates_files(files, tmp_path_factory):
    (files / "link").symlink_to("/etc/passwd")
    target = tmp_path_factory.mktemp("made") / "workspace"
    copy_sources(files, target, {"a.sh": "echo new\n"}, plain_files(files))
    assert sorted(p.name for p in target.iterdir()) == ["a.sh", "b.c"]
    assert (target / "a.sh").read_text() == "echo new\n"
    assert (files / "a.sh").read_text() == "echo score: 3\n"


def test_what_is_too_large_to_go_along_is_told(files, tmp_path_factory):
    """Every program failed for its data, and no word said why."""
    (files / "large.bin").touch()
    os.truncate(files / "large.bin", 65 << 20)
    target = tmp_path_factory.mktemp("made") / "workspace"
    copy_sources(files, target, {"a.sh": "echo new\n"}, plain_files(files))
    assert sorted(p.name for p in target.iterdir()) == ["a.sh", "b.c"]
    problem = build(cfg(source=str(files / "a.sh"), eval="sh a.sh"), files)
    told = "programs do not see what is too large (64 MB are copied beside the sources): large.bin"
    assert problem.note == told


def test_a_source_that_can_be_run_can_be_run_as_a_candidate(files, tmp_path):
    (files / "a.sh").chmod(0o755)
    copy_sources(files, tmp_path / "workspace", {"a.sh": "echo new\n", "b.c": ""}, plain_files(files))
    assert [os.access(tmp_path / "workspace" / name, os.X_OK) for name in ("a.sh", "b.c")] == [True, False]


def test_a_grader_is_apart_and_nothing_that_it_started_outlives_it(files, eventually):
    """A Ctrl-C was the candidate's failure, and what a script had started went on."""
    code, out, _ = _run_apart(["sh", "-c", "sleep 60 > /dev/null 2>&1 & echo $!"], str(files), 20)
    started = Path(f"/proc/{out.strip()}/status")
    assert code == 0
    eventually(lambda: not started.exists() or "zombie" in started.read_text(), 60)
    with pytest.raises(subprocess.TimeoutExpired):
        _run_apart(["sh", "-c", "sleep 60"], str(files), 0.2)


def test_numbers_beyond_floats_stay_as_they_are():
    code = f"a = 1e308; b = 12; c = {'9' * 5000}"
    assert movable(code) == {1: 12}
    assert all(f"c = {'9' * 5000}" in with_numbers(code, moved_numbers(code, random.Random(n))) for n in range(20))


HIDDEN = {
    "the grader and what it reads": ("sh a.sh", "python3 grade.py", {"answers.json", "grade.py"}),
    "what the command names too": ("sh a.sh < answers.json", "python3 ./grade.py {output}", {"grade.py"}),
    "what the program names too": ("sh a.sh", "python3 grade.py shared.txt", {"answers.json", "grade.py"}),
    "nothing without a grader": ("sh a.sh", None, set()),
    "no program of the system": ("sh a.sh", "cat {output}", set()),
}


@pytest.mark.parametrize(("command", "grader", "hidden"), HIDDEN.values(), ids=HIDDEN)
def test_what_only_the_grading_names_is_hidden(files, command, grader, hidden):
    (files / "a.sh").write_text("cat shared.txt b.c\n")
    (files / "grade.py").write_text('import json\nright = json.load(open("answers.json"))\n')
    for name in ("answers.json", "shared.txt", "notes.txt"):
        (files / name).write_text("1")
    problem = build(cfg(source=str(files / "a.sh"), eval=command, grade=grader), files)
    assert {path.name for path in problem.hidden_files} == hidden
    assert all(name in problem.note for name in hidden) and bool(problem.note) == bool(hidden)


GRADE = {"output": "out.txt", "grade": "cat {output}"}


def test_grading_reads_the_output_outside(files, tmp_path_factory):
    workspace, scratch = tmp_path_factory.mktemp("w"), tmp_path_factory.mktemp("s")
    (workspace / "out.txt").write_text("score: 8\n")
    assert grade({**GRADE, "inputs": str(files)}, workspace, scratch, 5)["output"] == "score: 8\n"
    (workspace / "out.txt").unlink()
    (workspace / "out.txt").symlink_to("/etc/passwd")
    graded = grade({**GRADE, "inputs": str(files)}, workspace, scratch, 5)
    assert graded["code"] is None and "out.txt" in graded["error"] and not graded["output"]
    assert "last argument" not in not_graded(graded)


def test_a_grader_that_opens_the_output_by_its_name_is_told_where_it_is(tmp_path):
    workspace, scratch = tmp_path / "w", tmp_path / "s"
    for folder in (workspace, scratch):
        folder.mkdir()
    (workspace / "out.txt").write_text("8")
    graded = grade(
        {"output": "out.txt", "grade": "sh -c 'cat out.txt'", "inputs": str(tmp_path)}, workspace, scratch, 5
    )
    assert not_graded(graded).endswith("directory (a copy of out.txt is the grader's last argument)")


def test_a_grading_command_that_fails_is_an_evaluation_error(files):
    problem = build(cfg(source=str(files / "a.sh"), grade="cat"), files)
    evaluator = CommandEvaluator(problem.spec, DEPS)
    verdict = evaluator.verdict(ExecutionResult(tier="warm"), {"output": "", "code": 3, "error": "bad\nworse"})
    assert verdict.failure is FailureKind.EVAL_ERROR and "worse" in verdict.message


@pytest.mark.parametrize(("graded", "source"), [(True, "verified"), (False, "unisolated")])
def test_only_a_graded_score_is_verified(files, graded, source):
    problem = build(cfg(source=str(files / "a.sh"), grade="cat" if graded else None), files)
    evaluator = CommandEvaluator(problem.spec, DEPS)
    report = {"output": "score: 4", "code": 0, "error": ""} if graded else None
    verdict = evaluator.verdict(ExecutionResult(term_out="score: 1000" if graded else "score: 4", tier="warm"), report)
    assert (verdict.metric, verdict.source) == (4, source), (
        "what the candidate prints does not count where it is graded"
    )


@pytest.mark.parametrize(
    ("output", "failure"), [("nothing", FailureKind.EVAL_ERROR), ("score: nan", FailureKind.NON_FINITE)]
)
def test_no_metric_is_a_failure(files, output, failure):
    evaluator = CommandEvaluator(
        build(cfg(source=str(files / "a.sh")), files).spec,
        SimpleNamespace(isolated=True, journal=Journal(), repeats=0, doing=print, allowance=Allowance()),
    )
    verdict = evaluator.verdict(ExecutionResult(term_out=output), None)
    assert verdict.failure is failure and verdict.metric is None and "score" in verdict.message


def test_a_timed_command_needs_the_right_direction(files):
    with pytest.raises(ConfigError, match=r"problem\.direction=min"):
        build(cfg(source=str(files / "a.sh"), options={"timed": True}, direction="max"), files)


def test_a_timed_command_needs_no_name_of_its_metric(files):
    """As README says it: the time is the score."""
    problem = build(cfg(source=str(files / "a.sh"), options={"timed": True}, direction="min", metric=None), files)
    assert (problem.unit, problem.lower_is_better, problem.spec.timed) == ("seconds", True, True)
    with pytest.raises(ConfigError, match=r"problem\.metric is needed"):
        build(cfg(source=str(files / "a.sh"), metric=None), files)


@pytest.mark.long
def test_a_timed_command_is_scored_by_the_timing_lane(files, tmp_path_factory):
    """Whatever it prints: the seconds are measured outside, alone, on one core, several times, with an interval."""
    here = tmp_path_factory.mktemp("state")
    code = "import os, time\ntime.sleep({})\nprint('score: 0.000001', os.sched_getaffinity(0))\n"
    code += "open('output.txt', 'w').write('{}')\n"
    (files / "a.py").write_text(code.format(0.1, "right"))
    grade = "grep -q right"
    section = {"options": {"timed": True}, "direction": "min", "grade": grade, "eval": "python3 a.py"}
    problem = build(cfg(source=str(files / "a.py"), **section), files)
    sandbox = open_sandbox("auto", state_dir=here)
    pool = JobPool(LocalJobs(sandbox, 2, scratch=here))
    try:
        deps = SimpleNamespace(
            jobs=pool,
            limits=Limits(seconds=20),
            seed=1,
            isolated=True,
            journal=Journal(lower_is_better=True),
            repeats=0,
            doing=print,
        )
        evaluator = CommandEvaluator(problem.spec, deps)
        found = evaluator.evaluate([Node(id="n", code=problem.code)])[0]
        assert found.failure is None, found.message
        low, high = found.interval
        assert 0.1 < low <= found.metric <= high < 5 and found.source == "verified"
        assert found.limit_share == round(found.metric / 20, 4), "one run of many is told against the limit of one"
        assert len(found.metadata["samples"]) >= 9 and found.term_out.count("}") == 1 and "," not in found.term_out
        quick = evaluator.evaluate([Node(id="n", code=code.format(0, "wrong"))])[0]
        assert quick.failure is FailureKind.EVAL_ERROR
    finally:
        pool.close()
        sandbox.close()


def test_a_timed_program_is_measured_by_turns_with_its_parent(files, tmp_path_factory):
    """The parent's time is of a quieter hour: its quicker child was called worse by seconds alone, with the noise of
    the parent's own quiet looks."""
    here = tmp_path_factory.mktemp("state")
    code = "import time\ntime.sleep({})\n"
    (files / "a.py").write_text(code.format(0.1))
    problem = build(
        cfg(source=str(files / "a.py"), options={"timed": True}, direction="min", eval="python3 a.py"), files
    )
    journal = Journal(lower_is_better=True)
    quiet = journal.append(Node(id="p", code=problem.code, metric_value=0.001, interval=(0.0009, 0.0011)))
    with closing(open_sandbox("auto", state_dir=here)) as sandbox:
        with closing(JobPool(LocalJobs(sandbox, 1, scratch=here))) as pool:
            deps = SimpleNamespace(
                jobs=pool, limits=Limits(seconds=20), seed=1, isolated=True, journal=journal, repeats=0, doing=print
            )
            child = Node(id="c", code=code.format(0.02), parent_id="p", parent_ids=("p",))
            found = CommandEvaluator(problem.spec, deps).evaluate([child])[0]
    ratio, low, high = found.beside_parent
    assert low <= ratio <= high < 1 and found.metric > 0.02
    scored = child.model_copy(
        update={"metric_value": found.metric, "beside_parent": found.beside_parent, "lower_is_better": True}
    )
    told = change_of(scored, quiet, Direction(lower_is_better=True))
    assert re.fullmatch(r"\d+ % better \(\d+ to \d+ %\), measured by turns", told)
    assert " worse" in change_of(scored.model_copy(update={"beside_parent": None}), quiet, Direction(True))


def test_missing_keys_and_files_are_named(files):
    with pytest.raises(ConfigError, match=r"problem\.source is needed"):
        build(cfg(), files)
    with pytest.raises(ConfigError, match=r"no\.py.*no such file"):
        build(cfg(source=str(files / "no.py")), files).prepare()
    (files / "sub").mkdir()
    (files / "sub" / "z.sh").write_text("")
    with pytest.raises(ConfigError, match="one folder"):
        build(cfg(source=f"{files / 'a.sh'},{files / 'sub' / 'z.sh'}"), files).prepare()


def test_a_writer_is_told_where_the_score_comes_from_and_what_lies_beside(files):
    """Which line to print, which file to write, what is timed: a writer who does not know it may leave it out."""
    (files / "corpus.txt").write_text("a b\n" * 500)
    (files / "grade.py").write_text("open('answers.txt')")
    (files / "answers.txt").write_text("3")

    def told(**section):
        problem = build(cfg(source=str(files / "a.sh"), **section), files)
        return problem.statement(), problem.prompt_extras()["sections"]["Beside them"]

    printed, beside = told()
    assert printed.endswith("Metric: score, a line `score: NUMBER` or a key of JSON in what the command prints.")
    assert "corpus.txt (2,000 bytes)" in beside and "a.sh" not in beside
    graded, beside = told(grade="python3 grade.py")
    assert graded.endswith(
        "A grader that programs do not see reads output.txt, which the command has to write, and tells the metric."
    )
    assert "answers.txt" not in beside and "grade.py" not in beside
    timed = {"metric": None, "direction": "min", "options": {"timed": True}}
    assert told(**timed)[0].endswith("to its end, alone on one core, the median of several runs.")
    assert told(**timed, grade="python3 grade.py")[0].endswith(
        "which the command has to write, and refuses what is not right."
    )


def test_a_writer_learns_why_a_grader_refused_whichever_stream_it_said_it_on(files):
    (files / "output.txt").write_text("x")
    for stream, said in (("stdout", "line 3 is wrong"), ("stderr", "line 3 is wrong"), ("", "exit code 1")):
        say = f"print('graded:\\nline 3 is wrong', file=sys.{stream})" if stream else "0"
        (files / "grade.py").write_text(f"import sys\n{say}\nsys.exit(1)")
        payload = {"output": "output.txt", "grade": "python3 grade.py", "inputs": str(files)}
        assert not_graded(grade(payload, files, files, 20)) == f"grading failed: {said}"


def test_rules_move_numbers_in_any_language(files):
    problem = build(cfg(source=f"{files / 'a.sh'},{files / 'b.c'}"), files)
    seen = set()
    for seed in range(20):
        facts = {"operator": "mutate", "parents": [{"code": problem.code}], "extras": problem.prompt_extras()}
        code, plan = parse_response(NumbersWriter().write(facts, random.Random(seed)), "text")
        assert plan and code is not None
        assert set(split(code, problem.spec.names) or {}) == {"a.sh", "b.c"}
        seen.add(code)
    assert len(seen) > 4


MARKED = """\
int f(int x) {
  // EVOLVE-BLOCK-START
  return x + 2;
  // EVOLVE-BLOCK-END
}
int main(void) { return (f(2) - 4) * (f(2) - 4); }
"""


def test_what_is_outside_of_the_marks_stays_whoever_writes(files):
    (files / "m.c").write_text(MARKED)
    problem = build(cfg(source=str(files / "m.c")), files)
    assert "Change only what is between EVOLVE-BLOCK-START" in problem.statement()
    extras = problem.prompt_extras()
    seen = set()
    for seed in range(20):
        facts = {"operator": "mutate", "parents": [{"code": MARKED}], "extras": extras}
        code, _ = parse_response(problem.rules().write(facts, random.Random(seed)), "text")
        assert code.splitlines()[3:] == MARKED.splitlines()[3:]
        seen.add(code.splitlines()[2])
    assert len(seen) > 1
    (agent,) = problem.agents(SimpleNamespace(options={}, prompts_dir=None)).values()
    task = Task(node_id="n", operator="mutate", round=0, slot=0, seed=1, parent_ids=("p",))
    context = AgentContext(
        task=task, statement="", parents=(Node(id="p", code=MARKED),), query=None, extras=extras
    )  # fmt: skip
    cheat = MARKED.replace("(f(2) - 4) * (f(2) - 4)", "-9").replace("x + 2", "x + 3")
    node = agent.code(context, f"Better.\n\n```c\n{cheat}```\n").node
    assert node.code == MARKED.replace("x + 2", "x + 3")


def test_a_diff_may_touch_any_of_the_files(files):
    problem = build(cfg(source=f"{files / 'a.sh'},{files / 'b.c'}"), files)
    (agent,) = problem.agents(SimpleNamespace(options={}, prompts_dir=None)).values()
    parent = Node(id="p", code=problem.code)
    task = Task(node_id="n", operator="mutate", round=0, slot=0, seed=1, parent_ids=("p",))
    context = AgentContext(task=task, statement="", parents=(parent,), query=None, extras=problem.prompt_extras())
    reply = "Six.\n\n<<<<<<< SEARCH\nint x = 5;\n=======\nint x = 6;\n>>>>>>> REPLACE\n"
    node = agent.code(context, reply).node
    assert node.failure is None
    assert split(node.code, problem.spec.names)["b.c"] == "int x = 6;\n"
    assert CommandEvaluator(problem.spec, DEPS).check(node) is None
    assert (
        CommandEvaluator(problem.spec, DEPS).check(Node(id="q", code="=== a.sh ===\nx\n")).failure
        is FailureKind.REPLY_ERROR
    )


class Shell:
    """Jobs that answer as the program `echo score: -(x - 40)^2` would."""

    def __init__(self) -> None:
        self.runs = 0

    def run(self, spec) -> dict:
        self.runs += 1
        x = movable(spec.payload["files"]["a.sh"])[0]
        result = ExecutionResult(term_out=f"score: {-((x - 40) ** 2)}", tier="warm")
        return {"result": result.model_dump(mode="json"), "graded": None}


@pytest.mark.parametrize(("x", "better"), [("30", True), ("40", False)])
def test_tune_moves_the_numbers_of_any_language(files, x, better):
    problem, jobs, journal = build(cfg(source=str(files / "a.sh")), files), Shell(), Journal(lower_is_better=False)
    deps = SimpleNamespace(
        isolated=True,
        jobs=jobs,
        journal=journal,
        limits=Limits(seconds=1),
        seed=0,
        tune_trials=30,
        repeats=0,
        doing=print,
    )
    code = f"# a comment stays\nx={x}  # so does this\n"
    journal.append(Node(id="p", code=code, metric_value=-((int(x) - 40) ** 2)))
    node = Node(id="t", code=code, operator="tune", parent_ids=("p",))
    verdict = CommandEvaluator(problem.spec, deps).tune(node, "t", seed=1)
    assert jobs.runs >= 30
    if better:
        assert verdict.metric == max(verdict.metric, -4.0) and verdict.metadata["tune"]["start"] == -100
        assert verdict.code == with_numbers(code, [repr(value) for value in movable(verdict.code).values()]) != code
    else:
        assert verdict.duplicate_of == "p" and verdict.metric is None
