"""What a candidate does to the repository that it is scored in: it fails, or the candidate is void. Never a score."""

from __future__ import annotations

import dataclasses
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.contracts import Evaluation, EvaluatorDeps, ExecutionResult, Limits
from core.executor.sandbox import open_sandbox
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from core.workers.local import LocalJobs
from core.workers.pool import JobPool
from problems.command.tree import kept_builds
from problems.command.tree.base import snapshot
from problems.command.tree.evaluator import Scoring, TreeEvaluator
from problems.command.tree.fresh_folders import fresh_folder
from problems.command.tree.scores import Source, conditions_of
from problems.command.tree.tree import Ground, Tree
from utils.errors import NoSandboxError

HONEST = 1.0
CHEAT = "echo 'echo score: 100'"
ATTACKS = {
    "writes the scorer": f"{CHEAT} > tests/score.sh",
    "makes it writable first": f"chmod -R 777 . ; {CHEAT} > tests/score.sh",
    "puts another in its place": f"rm -f tests/score.sh; {CHEAT} > tests/score.sh",
    "renames over it": f"{CHEAT} > mine; mv -f mine tests/score.sh",
    "renames its folder": f"mv tests was; mkdir tests; {CHEAT} > tests/score.sh",
    "links it elsewhere": f"{CHEAT} > mine; ln -sf ../mine tests/score.sh",
    "hard links and writes": f"ln tests/score.sh other && {CHEAT} > other",
    "truncates what it reads": ": > data/limit 2>/dev/null || sh -c 'echo 100 > data/limit'",
    "replaces the data's folder": "rm -rf data; mkdir data; echo 100 > data/limit",
    "writes, chmods and truncates every file": (
        "find . -type f -exec chmod 666 {} + ; find . -type f | while read f; do echo 100 > \"$f\"; done"
    ),
    "rewrites itself": "echo 'echo score: 100' > src/prog.sh",
    "brings back what is deleted": "echo 100 > data/gone",
}  # fmt: skip


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    folder = tmp_path_factory.mktemp("repository")
    files = {
        "src/prog.sh": "true\n", "src/old.sh": "x\n", "data/limit": "1\n", "data/gone": "7\n", "data/more/x": "y\n",
        "tests/score.sh": 'echo "score: $(cat data/limit)"\nif [ -f data/gone ]; then echo "score: 100"; fi\n',
    }  # fmt: skip
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    base = snapshot(folder, tmp_path_factory.mktemp("bases"))
    return Ground(base, ("src/**", "data/gone"))


@pytest.fixture(scope="module", params=["warm", "lite"])
def evaluator(request, ground, tmp_path_factory):
    root = tmp_path_factory.mktemp("work")
    try:
        sandbox = open_sandbox(request.param, state_dir=root / "state")
    except NoSandboxError as error:
        pytest.skip(str(error))
    jobs = JobPool(LocalJobs(sandbox, 1, scratch=root))
    deps = EvaluatorDeps(
        jobs=jobs, limits=Limits(seconds=30), run_dir=root, work_dir=root, seed=1, journal=Journal(), games=None,
        append=lambda events: None, isolated=True,
    )  # fmt: skip
    yield TreeEvaluator(ground, Scoring("sh src/prog.sh; sh tests/score.sh", "score"), deps)
    jobs.close()
    sandbox.close()


def scored(evaluator, ground, program):
    tree = Tree(ground).with_file("data/gone", None).with_file("src/prog.sh", program + "\n")
    return evaluator.evaluate([Node(code=tree.code())])[0]


def test_an_honest_program_has_its_score(evaluator, ground):
    verdict = scored(evaluator, ground, "echo made > new.txt; mkdir -p src/more && echo x > src/more/y; true")
    assert (verdict.metric, verdict.failure) == (HONEST, None), verdict.message


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_gains_nothing(evaluator, ground, attack):
    before = {p: (ground.base.folder / p).read_bytes() for p in ground.base.files}
    verdict = scored(evaluator, ground, f"( {ATTACKS[attack]} ) 2>/dev/null; true")
    assert (verdict.metric, verdict.failure) in ((HONEST, None), (None, FailureKind.TAMPERED)), verdict.message
    assert before == {p: (ground.base.folder / p).read_bytes() for p in ground.base.files}


def test_the_checks_do_not_depend_on_modes(ground, tmp_path):
    """Without a sandbox nothing keeps a program from writing: then all of these are found out."""
    sandbox = open_sandbox("none", state_dir=tmp_path / "state", accept_unsandboxed=True)
    jobs = JobPool(LocalJobs(sandbox, 1, scratch=tmp_path))
    deps = EvaluatorDeps(
        jobs=jobs, limits=Limits(seconds=30), run_dir=tmp_path, work_dir=tmp_path, seed=1, journal=Journal(),
        games=None, append=lambda events: None, isolated=False,
    )  # fmt: skip
    evaluator = TreeEvaluator(ground, Scoring("sh src/prog.sh; sh tests/score.sh", "score"), deps)
    try:
        for attack, program in ATTACKS.items():
            verdict = scored(evaluator, ground, f"( {program} ) 2>/dev/null; true")
            assert verdict.failure is FailureKind.TAMPERED, attack
        assert scored(evaluator, ground, "true").metric == HONEST
    finally:
        jobs.close()
        sandbox.close()


GRADE = "sh -c 'grep -qx 42 \"$0\" && echo score: 2'"
"""Prints a score for the right output, outside of the sandbox."""


def test_what_a_candidate_prints_before_it_fails_is_none_of_the_graders(evaluator, ground):
    """Failing tests are a score where they are counted: a summary of the candidate's own made was one, `verified`."""
    scoring = Scoring("sh src/prog.sh", "passed", grade=GRADE, require=tuple(conditions_of("tests!=none")))
    graded = TreeEvaluator(ground, scoring, evaluator._deps)
    forged = scored(graded, ground, "echo '=== 1 failed, 999999 passed in 0.1s ==='; exit 1")
    assert forged.metric is None and not forged.metrics, forged


def test_what_is_required_is_required_of_every_run(evaluator, ground):
    answers = [{"result": RUN, "touched": [], "reports": {}, "graded": None} for _ in range(3)]
    answers[0] = {**answers[0], "result": {**RUN, "term_out": "tests: fail\nscore: 9\n"}}
    jobs = SimpleNamespace(run=lambda spec: {**answers[-1], "answers": answers, "timing": None})
    scoring = Scoring("sh src/prog.sh", "score", require=tuple(conditions_of("tests==pass")), repeats=3)
    flaky = TreeEvaluator(ground, scoring, dataclasses.replace(evaluator._deps, jobs=jobs))
    assert scored(flaky, ground, "true").metric is None
    answers[0] = answers[1]
    assert scored(flaky, ground, "true").metric == 3.0


RUN = ExecutionResult(term_out="tests: pass\nscore: 3\n", exec_time=0.1, exit_code=0).model_dump(mode="json")


def test_numbers_that_a_candidate_writes_are_none_of_the_graders(evaluator, ground):
    sources = (Source("output"), Source("json", "stats.json"), Source("junit", "junit.xml"))
    scoring = Scoring("sh src/prog.sh", "score", sources, tuple(conditions_of("score<=3")), grade=GRADE)
    graded = TreeEvaluator(ground, scoring, evaluator._deps)
    verdict = scored(graded, ground, """echo 42 > output.txt; echo '{"score": 3}' > stats.json""")
    assert (verdict.metric, verdict.source) == (2.0, "verified"), verdict
    wrong = scored(graded, ground, """echo 41 > output.txt; echo '{"score": 3}' > stats.json""")
    assert wrong.metric is None


@pytest.fixture(scope="module")
def stale(tmp_path_factory):
    """A repository in which an output lies, and a build."""
    folder = tmp_path_factory.mktemp("stale")
    files = {
        "output.txt": "42\n",
        "src/prog.sh": "echo 42 > output.txt\n",
        "src/build.sh": "true\n",
        "stats.json": "{}",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return Ground(snapshot(folder, tmp_path_factory.mktemp("bases")), ("src/**",))


def told(evaluator, ground, scoring, **files):
    tree = Tree(ground)
    for name, text in files.items():
        tree = tree.with_file(f"src/{name}.sh", text)
    return TreeEvaluator(ground, scoring, evaluator._deps).evaluate([Node(code=tree.code())])[0]


@pytest.mark.parametrize("timed", [False, True])
def test_an_output_of_before_is_nobodys_work(evaluator, stale, timed):
    scoring = Scoring("sh src/prog.sh", "score", writable=("output.txt",), grade=GRADE, timed=timed)
    assert told(evaluator, stale, scoring).source == "verified"
    idle = told(evaluator, stale, scoring, prog="true\n")
    assert idle.metric is None and "output.txt: not written" in idle.message
    report = Scoring("sh src/prog.sh", "score", (Source("json", "stats.json"),))
    assert "stats.json: not written" in told(evaluator, stale, report, prog="true\n").message


def test_a_time_whose_work_the_build_may_have_done_is_unisolated(evaluator, stale):
    """So is that of the program it is compared with; a build that reads nothing of what may change is no way ahead."""
    scoring = Scoring("sh src/prog.sh", "seconds", grade=GRADE, timed=True, build="sh src/build.sh")
    ahead = told(evaluator, stale, scoring, build="echo 42 > made\n", prog="cp made output.txt\n")
    assert ahead.metric is not None and ahead.source == "unisolated"
    assert told(evaluator, stale, scoring).source == "unisolated", "scores of one run are of one kind"
    apart = dataclasses.replace(scoring, build_inputs=("native/**",))
    assert told(evaluator, stale, apart, prog="echo 42 > output.txt #1\n").source == "verified"


def test_tests_that_fail_leave_no_score(evaluator, ground):
    strict = TreeEvaluator(
        ground, Scoring("sh src/prog.sh; sh tests/score.sh", "score", require=tuple(conditions_of("tests==pass"))),
        evaluator._deps,
    )  # fmt: skip
    assert scored(strict, ground, "echo '3 passed in 0.1s'").metric == HONEST
    broken = scored(strict, ground, "echo '1 failed, 3 passed in 0.1s'")
    assert broken.metric is None and "tests is fail" in broken.message and broken.metrics["failed"] == 1


def test_a_build_is_made_once_for_equal_inputs(evaluator, ground, tmp_path):
    log = Path(ground.base.folder).parent / "builds"
    shutil.rmtree(log, ignore_errors=True)
    scoring = Scoring(
        "sh src/prog.sh; cat made; cat built/n", "score", build="mkdir -p built; cat src/prog.sh | wc -c > built/n; "
        "echo score: $(cat built/n) > made", build_inputs=("src/prog.sh",),
    )  # fmt: skip
    building = TreeEvaluator(ground, scoring, evaluator._deps)
    first = scored(building, ground, "true #1")
    assert first.metric == 8.0, first
    count = len(list(log.iterdir()))
    tree = Tree(ground).with_file("src/prog.sh", "true #1\n").with_file("src/more.sh", "x\n")
    assert building.evaluate([Node(code=tree.code())])[0].metric == 8.0
    assert len(list(log.iterdir())) == count
    assert scored(building, ground, "true #longer").metric == 13.0
    assert len(list(log.iterdir())) == count + 1
    failing = TreeEvaluator(ground, Scoring("true", "score", build="echo no; exit 3"), evaluator._deps)
    verdict = scored(failing, ground, "true")
    assert verdict.failure is FailureKind.EXIT and verdict.message.startswith("problem.build:")


def test_a_build_that_a_worker_uses_is_not_taken_away(tmp_path, monkeypatch):
    """In whatever process it does: while it is used, others are made, and only the newest is kept."""
    monkeypatch.setattr(kept_builds, "MOST_BUILDS", 1)

    def make(name: str, *, then: str = "") -> None:
        (fresh := tmp_path / f".fresh-{name}").mkdir()
        (fresh / "made").write_text(name)
        with kept_builds.kept(fresh, tmp_path / name) as place:
            assert (place / "made").read_text() == name
            if then:
                make(then)
                assert (place / "made").read_text() == name, "in use"

    make("one", then="two")
    with kept_builds.in_use(tmp_path / "one") as is_there:
        assert is_there
        command = [sys.executable, "-c", _MAKES, str(tmp_path)]
        subprocess.run(command, cwd=Path(__file__).parents[2], check=True)
        assert (tmp_path / "one" / "made").read_text() == "one"
    make("four")
    assert [path.name for path in tmp_path.iterdir()] == ["four"], "and nothing is left of what was taken away"
    with kept_builds.in_use(tmp_path / "one") as is_there:
        assert not is_there
    make("four")
    assert [path.name for path in tmp_path.iterdir()] == ["four"], "the second of two equal ones is not kept"


def test_what_a_killed_worker_left_beside_the_builds_goes_with_the_next(tmp_path):
    """But not what another fills at this moment."""
    for name in (".fresh-dead", ".old-dead"):
        (tmp_path / name / "below").mkdir(parents=True)
    with fresh_folder(tmp_path) as others, fresh_folder(tmp_path) as mine:
        with kept_builds.kept(mine, tmp_path / "one") as place:
            assert place == tmp_path / "one"
        assert {path.name for path in tmp_path.iterdir()} == {"one", others.name}
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


def test_what_a_killed_process_left_of_a_snapshot_goes_with_the_next(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a.py").write_text("x = 1\n")
    base = snapshot(tmp_path / "mine", tmp_path / "bases")
    (tmp_path / "bases" / ".fresh-dead").mkdir()
    assert snapshot(tmp_path / "mine", tmp_path / "bases").id == base.id
    assert [path.name for path in (tmp_path / "bases").iterdir()] == [base.id]


_MAKES = """
import sys
from pathlib import Path
from problems.command.tree import kept_builds
kept_builds.MOST_BUILDS = 1
folder = Path(sys.argv[1])
(folder / ".fresh").mkdir()
with kept_builds.kept(folder / ".fresh", folder / "three"):
    pass
"""


def test_what_a_build_makes_can_be_run(evaluator, ground):
    scoring = Scoring("./out/tool score: 7", "score", build="mkdir -p out; cp /bin/echo out/tool")
    verdict = scored(TreeEvaluator(ground, scoring, evaluator._deps), ground, "true")
    assert verdict.metric == 7.0, verdict


def test_files_keep_their_mode_a_new_script_runs_and_what_is_writable_is_written(evaluator, ground):
    """What is not writable is refused where programs are another user (as for root), else told."""
    tree = Tree(ground).with_file("src/tool.sh", "#!/bin/sh\necho score: 3\n")

    def after(further: str) -> Evaluation:
        command = f"src/tool.sh && echo 5 > data/limit{further}; cat data/limit"
        scoring = Scoring(command, "score", writable=("data/limit",))
        return TreeEvaluator(ground, scoring, evaluator._deps).evaluate([Node(code=tree.code())])[0]

    verdict, written = after(""), after(" && echo y2 >> data/more/x")
    assert verdict.metric == 3.0 and "\n5\n" in verdict.term_out, verdict
    refused = "it changed files while it was scored: data/more/x"
    assert written.metric == 3.0 if os.getuid() == 0 else written.message == refused, written
    assert evaluator.evaluate([Node(code=Tree(ground).code())])[0].term_out.startswith("score: 1"), "nothing is left"
