"""Promise 5: same seed, same run, for any number of workers and across kill -9 and resume."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections import Counter
from contextlib import closing
from hashlib import sha256

import pytest
from support.chat_server import ChatServer

from core.loop.attempt import Attempt
from core.loop.stages import Stages
from core.state.task import Place, Task
from core.storage.begun import begun_steps
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from runs.beside.search_clock import SearchClock
from runs.proof.rerun import cut_off, is_in_order
from utils.errors import UnknownRunError


def test_one_two_and_four_workers_make_the_same_journal(cli_at, toy):
    found = {}
    for workers in (1, 2, 4):
        cli = cli_at(str(workers))
        ended = cli.here(*toy(12, seconds=0.02), f"search.workers={workers}", "search.batch=4")
        assert ended.code == 0, ended.err
        found[workers] = cli.show()
    assert found[1]["journal_sha256"] == found[2]["journal_sha256"] == found[4]["journal_sha256"]
    assert found[1]["nodes"] == found[4]["nodes"]


@pytest.mark.long
def test_the_order_of_a_models_answers_does_not_matter(cli_at, toy):
    """Answers come back in another order in each run: slots are committed in slot order all the same."""

    def run(name, delay):
        def script(request, number):
            text = request["messages"][-1]["content"]
            time.sleep(delay(number))
            return f"```python\nx = {len(text) % 17}.{len(request['messages'][-1]['content']) % 10}\n```"

        with ChatServer(script) as server:
            cli = cli_at(name)
            words = [*server.words(), "search.workers=4", "search.batch=4", "agent.review=never", "llm.cache=false"]
            ended = cli.here(*toy(8), *words)
        assert ended.code == 0, ended.err
        return cli.show()["journal_sha256"]

    assert run("one", lambda n: 0.05 * (n % 4)) == run("two", lambda n: 0.05 * (3 - n % 4))


EXTENDED = {
    "pipeline": (),
    "pipeline of four": ("search.batch=4", "search.workers=4"),
    "rounds": ("search.batch=4", "search.schedule=rounds"),
    "islands": ("search.policy=islands", "search.islands.per_island=2", "search.batch=4", "search.workers=4"),
}


def assert_replays(cli, nodes):
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 0 and f"equal: {nodes} nodes" in ended.out, ended.out + ended.err


@pytest.mark.long
@pytest.mark.parametrize("words", EXTENDED.values(), ids=EXTENDED)
def test_a_run_that_ended_and_was_given_more_replays_as_it_was(cli, toy, words):
    """Twice: what the second end held back does not hide what the first did."""
    assert cli.here(*toy(6), *words).code == 0
    for steps in (9, 21):
        assert cli.here("resume", "latest", f"--search.max_steps={steps}").code == 0
        assert_replays(cli, steps)


def test_a_run_that_was_given_more_generations_replays_as_it_was(cli, toy):
    words = ("search.policy=islands", "search.islands.num_islands=2", "search.islands.per_island=3")
    assert cli.here(*toy(100), *words, "search.max_generations=2").code == 0
    assert cli.here("resume", "latest", "--search.max_generations=4").code == 0
    assert_replays(cli, 24)


def test_a_model_is_told_the_same_steps_left_in_a_replay(cli, toy):
    """A prompt that is not the recorded one would have no answer."""
    with ChatServer(lambda request, number: f"```python\nx = {number}.5\n```") as server:
        words = [*server.words(), "search.batch=2", "search.workers=2", "agent.review=never", "llm.cache=false"]
        assert cli.here(*toy(3), *words).code == 0
        assert cli.here("resume", "latest", "--search.max_steps=6").code == 0
        assert_replays(cli, 6)


@pytest.mark.long
def test_a_replay_tells_each_step_what_it_was_told_then(cli, toy):
    """A resume changed the task's words and limits: prompts before it had others, and each has its recorded answer."""
    changes = (
        ("budget.target=0.001", "search.max_steps=6"),
        ("problem.goal=find it soon", "execution.timeout=77", "search.max_steps=9"),
        ("budget.target=19", "search.max_steps=12"),  # it is reached already
    )
    with ChatServer(lambda request, number: f"```python\nx = {20 + number}.5\n```") as server:
        words = [*server.words(), "search.batch=2", "search.workers=2", "agent.review=never", "llm.cache=false"]
        assert cli.here(*toy(3), *words).code == 0
        for change in changes:
            assert cli.here("resume", "latest", *change).code == 0
            assert_replays(cli, cli.show()["steps"])
    with RunReader(cli.run_dir) as reader:
        prompts = [call.system for call in reader.calls()]
    assert sum("ends at a score of 0.001" in text for text in prompts) == 6
    assert sum("find it soon" in text and "wall clock 77 s" in text for text in prompts) == 3


ALL_AGAIN = "proposals, prompts, programs, scores and final scores came out again"
RECORDED = "0 calls of a model; programs"


@pytest.mark.parametrize(
    ("schedule", "batches"),
    [
        ("rounds", (4, 2)),
        ("pipeline", (4, 1)),
        pytest.param("rounds", (1, 5, 2), marks=pytest.mark.long),
        pytest.param("pipeline", (2, 5, 1), marks=pytest.mark.long),
    ],
)
def test_another_batch_in_a_resume_replays_as_it_was(cli, toy, schedule, batches):
    steps = 0
    for batch in batches:
        steps += 7
        words = toy(7, f"search.schedule={schedule}") if steps == 7 else ("resume", "latest")
        assert cli.here(*words, f"--search.max_steps={steps}", f"search.batch={batch}").code == 0
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 0 and ALL_AGAIN in ended.out, ended.out + ended.err


@pytest.mark.parametrize(
    "change", ["search.policy=mcts", pytest.param("search.schedule=rounds", marks=pytest.mark.long)]
)
def test_who_chose_otherwise_then_is_not_asked_again(cli, toy, change):
    assert cli.here(*toy(7, "search.batch=3")).code == 0
    assert cli.here("resume", "latest", "--search.max_steps=14", change).code == 0
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 0 and RECORDED in ended.out, ended.out + ended.err


def answer(request, number):
    """A program by what was shown, now and then a broken one; directions, where these are asked for."""
    text = request["messages"][-1]["content"]
    if "Write no program now" in text:
        return json.dumps({"ideas": [f"try {place + len(text)}" for place in range(9)]})
    return f"```python\nx = {'1 / 0' if len(text) % 4 == 0 else f'{len(text) % 89}.5'}\n```"


@pytest.mark.parametrize(
    ("first", "changes", "found"),
    [
        ((), (("agent.memory=none", "agent.repair_crashes=false"), ("agent.memory_tokens=100",)), ALL_AGAIN),
        (("search.batch=5",), (("search.batch=4",), ("search.batch=2",)), ALL_AGAIN),
        pytest.param((), (("agent.review=always",), ("agent.review=never",)), ALL_AGAIN, marks=pytest.mark.long),
        pytest.param(("search.batch=4",), (("agent.ideas=never",),), ALL_AGAIN, marks=pytest.mark.long),
        pytest.param(("search.batch=4",), (("llm.code.model=another",),), RECORDED, marks=pytest.mark.long),
        pytest.param((), (("agent.prompt_tokens=1000",),), RECORDED, marks=pytest.mark.long),
    ],
)
def test_what_a_resume_changed_of_the_prompts_replays_as_it_was(cli, toy, first, changes, found):
    with ChatServer(answer) as server:
        words = [*server.words(), "agent.review=never", "llm.cache=false"]
        assert cli.here(*toy(9), *words, *first).code == 0
        for steps, change in enumerate(changes, 2):
            assert cli.here("resume", "latest", f"--search.max_steps={9 * steps}", *change).code == 0
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 0 and found in ended.out, ended.out + ended.err


def test_a_policy_that_goes_by_what_calls_cost_chooses_the_same_in_a_replay(cli, toy):
    """There they were free, so that `portfolio` chose other ways."""
    with ChatServer(_by_its_prompt) as server:
        words = [*server.words(), "agent.review=never", "llm.cache=false", "search.policy=portfolio", "search.batch=3"]
        assert cli.here(*toy(14, "project.seed=1", seconds=0.03), *words).code == 0
    ended = cli.here("replay", "latest", "--verify")
    assert ended.code == 0 and ALL_AGAIN in ended.out, ended.out + ended.err


def _by_its_prompt(request, number):
    drawn = int(sha256(request["messages"][-1]["content"].encode()).hexdigest()[:6], 16)
    if drawn % 4 == 0:
        return "```python\nx = 1/0\n```"
    return "no code at all" if drawn % 11 == 0 else f"I do as told.\n```python\nx = {drawn % 40}.5\n```\n"


def test_equal_programs_that_crash_come_out_again_from_an_order_that_the_clock_made(cli, toy):
    """Under `async` one was mended while the other was committed as it was: in a replay it was a duplicate of that."""
    third, asked = threading.Event(), Counter()

    def script(request, number):
        kind = "repair" if "1 / 0" in request["messages"][-1]["content"] else "draft"
        asked[kind] += 1
        if kind == "draft":
            if asked[kind] < 3:
                return "```python\nx = 1 / 0\n```"
            third.set()
            return f"```python\nx = {asked[kind]}.5\n```"
        if asked[kind] > 1:
            return "```python\nx = 1 / 0\n```"
        assert third.wait(60), "the other one is committed by then"
        return "```python\nx = 7.5\n```"

    with ChatServer(script) as server:
        words = [*server.words(), "agent.review=never", "llm.cache=false", "search.schedule=async", "search.batch=2"]
        assert cli.here(*toy(4), *words, "search.three_phase.num_drafts=4", "agent.memory=none").code == 0
    assert_replays(cli, 4)


@pytest.mark.long
def test_a_replay_takes_the_time_it_needs(cli, toy):
    """Of a run that its seconds ended, on a machine that has become slower."""
    assert cli.here(*toy(100, seconds=0.1), "budget.seconds=8", "search.batch=1").code == 0
    steps = cli.show()["steps"]
    assert 2 <= steps < 100
    with closing(RunStore(cli.run_dir)) as store:
        config = store.get_fact("config")
        store.put_fact("config", {**config, "budget": {**config["budget"], "seconds": 0.5}})
    assert_replays(cli, steps)


@pytest.mark.long
@pytest.mark.usefixtures("inline")
def test_rules_are_told_in_a_replay_what_they_were_told(cli):
    """What a program of `rules` may take follows from the seconds and steps of the run, which a resume may change."""
    assert cli.here("--problem.name=diabetes", "search.max_steps=1", "budget.seconds=20").code == 0
    assert cli.here("resume", "latest", "search.max_steps=2", "budget.seconds=200").code == 0
    assert_replays(cli, 2)


EVALUATOR = """
import importlib.util
def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"combined_score": -abs(module.f() - 3.0)}
"""


@pytest.mark.long
def test_a_model_is_told_the_same_of_the_program_that_a_search_began_with(cli):
    """It is a node, and no reference beside the search, also once the run has ended and goes on."""
    (cli.folder / "evaluator.py").write_text(EVALUATOR)
    (cli.folder / "program.py").write_text("# EVOLVE-BLOCK-START\ndef f():\n    return 1.0\n# EVOLVE-BLOCK-END\n")
    script = "```python\n# EVOLVE-BLOCK-START\ndef f():\n    return {}.5\n# EVOLVE-BLOCK-END\n```"
    with ChatServer(lambda request, number: script.format(number)) as server:
        words = ["--problem=script", "problem.program=program.py", "problem.evaluator=evaluator.py",
                 *server.words(), "agent.review=never", "llm.cache=false"]  # fmt: skip
        assert cli.here(*words, "search.max_steps=2").code == 0
        assert cli.here("resume", "latest", "--search.max_steps=3").code == 0
        assert_replays(cli, 4)


@pytest.mark.long
def test_a_run_that_was_given_more_and_killed_is_the_one_that_was_not(cli_at, toy):
    """Each kill may leave two rounds staged beyond its commits, so 20 steps could be all staged before the last one."""
    whole, killed = cli_at("whole"), cli_at("killed")
    words, more = ("search.batch=4", "search.workers=4"), "--search.max_steps=60"
    for cli in (whole, killed):
        assert cli.here(*toy(6), *words).code == 0
    assert whole.here("resume", "latest", more).code == 0
    for boundary in ("after:round:2", "after:commit:1", "before:commit:2", "after:stage:3"):
        ended = killed("resume", "latest", more, SWARM_EVO_FAULT=boundary)
        assert ended.code == -signal.SIGKILL, f"{boundary}: {ended.err}"
    assert killed.here("resume", "latest", more).code == 0
    assert killed.show()["nodes"] == whole.show()["nodes"]
    assert killed.show()["journal_sha256"] == whole.show()["journal_sha256"]
    assert_replays(killed, 60)


@pytest.mark.long
def test_a_run_that_ctrl_c_ended_is_resumed_as_the_one_that_was_not(cli_at, toy, eventually):
    whole, stopped = cli_at("whole"), cli_at("stopped")
    words = [*toy(20, seconds=1.0), "search.batch=4", "search.workers=2"]  # seven seconds behind the fifth step
    assert whole.here(*words).code == 0
    child = stopped.start(*words)
    eventually(lambda: stopped.runs and _steps(stopped) >= 5, 60)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert stopped.show()["steps"] < 20, "it came too late"
    assert stopped.here("resume", "latest").code == 0
    assert stopped.show()["nodes"] == whole.show()["nodes"]
    assert stopped.show()["journal_sha256"] == whole.show()["journal_sha256"]
    assert_replays(stopped, 20)


def test_a_limit_in_a_row_that_is_reached_before_a_kill_is_reached_after_it(cli_at, toy):
    """The programs under way then end the row: the resume counted anew, and went on."""
    whole, killed = cli_at("whole"), cli_at("killed")
    words = [*toy(40, seconds=0.05), "budget.repeats=1", "project.seed=2", "search.workers=2"]
    assert whole.here(*words).code == 0
    last = whole.show()["nodes"][-1]
    assert not last["duplicate_of"] and whole.show()["steps"] < 40, "else this shows nothing"
    ended = killed(*words, SWARM_EVO_FAULT="after:fact:reached:1")
    assert ended.code == -signal.SIGKILL, ended.err
    resumed = killed.here("resume", "latest")
    assert resumed.code == 0 and "budget.repeats: the writer has nothing new" in resumed.out, resumed.out + resumed.err
    assert killed.show()["nodes"] == whole.show()["nodes"]
    assert killed.show()["journal_sha256"] == whole.show()["journal_sha256"]
    assert_replays(killed, whole.show()["steps"])
    again = killed.here("resume", "latest")
    assert "has ended already (budget.repeats" in again.out + again.err
    more = killed.here("resume", "latest", "budget.repeats=2")
    assert more.code == 0 and killed.show()["steps"] > whole.show()["steps"], more.err


def _steps(cli):
    path = cli.run_dir / "metrics.json"
    return path.read_text().count('"step"') if path.is_file() else 0


FAMILIES = {
    "competition": ["--problem.name=diabetes", "search.max_steps=4", "search.num_drafts=3", "search.batch=4"],
    "bin_packing": ["--problem=bin_packing", "--problem.name=u120", "search.max_generations=2", "search.per_island=3"],
    "connect_four": [
        "--problem=connect_four", "search.max_generations=1", "search.questions=4", "arena.openings=1",
        "arena.gauntlet=2", "arena.limit=nodes:100",
    ],
    "chess_engines": [
        "--problem=chess_engines", "search.max_generations=1", "search.questions=3", "arena.openings=1",
        "arena.gauntlet=2", "arena.limit=nodes:20",
    ],
}  # fmt: skip
RESULTS = ("nodes", "journal_sha256", "best_node_id", "best_metric", "final_metric", "final_interval")


@pytest.mark.long
@pytest.mark.usefixtures("inline")
@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_with_one_and_four_workers(cli_at, family):
    """Printed with `-s`: the table of the hashes."""
    found = {}
    for workers in (1, 4):
        cli = cli_at(str(workers))
        begin = cli.here if workers == 1 else cli.anew  # with another hash seed
        ended = begin(*FAMILIES[family], f"search.workers={workers}")
        assert ended.code == 0, ended.err
        found[workers] = cli.show()
        scored = sum(node["metric"] is not None for node in found[workers]["nodes"])
        assert scored >= 2, "nothing was judged, so nothing is compared"
        print(f"{family:14s} {workers} workers  {scored:2d} nodes scored  {found[workers]['journal_sha256']}")
    for name in RESULTS:
        assert found[1][name] == found[4][name], name


def _numbers(request, number):
    """A writer of ever new programs."""
    return f"```python\nx = {number}.5\n```"


def _one_is_slow(request, number):
    """The same for `EVALUATOR`; the fourth takes a while."""
    wait = "    import time\n    time.sleep(12)\n" if number == 3 else ""
    return f"```python\ndef f():\n{wait}    return {number}.5\n```"


class _EndsBehindTheSlowOne:
    """Ends `budget.seconds=6` once a program that was proposed behind the slow one has its verdict, however quick the
    machine is; until then three seconds are left."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.slow: Task | None = None
        self._judged: list[Place] = []
        execute, seconds = Stages.execute, SearchClock.seconds

        def watched(stages: Stages, attempt: Attempt) -> None:
            if "sleep" in attempt.node.code:
                self.slow = attempt.task
            execute(stages, attempt)
            self._judged.append((attempt.task.round, attempt.task.slot))

        def told(clock: SearchClock) -> float:
            return max(seconds(clock), 6.0) if self._is_over else min(seconds(clock), 3.0)

        monkeypatch.setattr(Stages, "execute", watched)
        monkeypatch.setattr(SearchClock, "seconds", told)

    @property
    def _is_over(self) -> bool:
        return self.slow is not None and any(place > (self.slow.round, self.slow.slot) for place in self._judged)


@pytest.mark.long
def test_what_the_budgets_end_cut_off_is_cut_off_again(cli, monkeypatch):
    """One program was slow: what stood behind it became nodes, and a replay wanted a node in its place.

    Once more after a resume, in which that one came at last, behind the others.
    """
    (cli.folder / "evaluator.py").write_text(EVALUATOR)
    (cli.folder / "program.py").write_text("# EVOLVE-BLOCK-START\ndef f():\n    return 1.0\n# EVOLVE-BLOCK-END\n")
    with ChatServer(_one_is_slow) as server:
        words = ["--problem=script", "problem.program=program.py", "problem.evaluator=evaluator.py",
                 "problem.options.reply=program", *server.words(), "search.workers=4", "search.batch=4",
                 "agent.review=never", "llm.cache=false"]  # fmt: skip
        with monkeypatch.context() as patched:
            end = _EndsBehindTheSlowOne(patched)
            ended = cli.here(*words, "search.max_steps=200", "budget.seconds=6")
        assert ended.code == 0, ended.err
        nodes = len(cli.show()["nodes"])
        with RunReader(cli.run_dir) as reader:
            assert end.slow.node_id in cut_off(reader.journal(), reader.tasks(), [])
        assert_replays(cli, nodes)
        ended = cli.here("resume", "latest", "--budget.seconds=1000", f"--search.max_steps={nodes + 8}")
        assert ended.code == 0, ended.err
        with RunReader(cli.run_dir) as reader:
            assert not is_in_order(reader.journal(), reader.tasks())
        assert_replays(cli, len(cli.show()["nodes"]))


def _stored_nodes(cli) -> int:
    try:
        with RunReader(cli.run_dir) as reader:
            return len(reader.journal())
    except (UnknownRunError, IndexError, ValueError):  # not begun yet
        return 0


@pytest.mark.long
@pytest.mark.parametrize("policy", ["three_phase", "mcts", "islands", "portfolio"])
def test_what_a_resume_withdrew_since_nobody_had_begun_it_is_withdrawn_in_a_replay(cli, toy, eventually, policy):
    """What was asked for behind it knew nothing of it; policies count what is under way."""
    words = (f"search.policy={policy}", "search.batch=4", "search.workers=2")
    child = cli.start(*toy(1000, seconds=0.2), *words)
    eventually(lambda: _stored_nodes(cli) >= 8, 60)
    child.send_signal(signal.SIGINT)
    assert child.wait(30) == 130
    with RunReader(cli.run_dir) as reader:
        begun = begun_steps(reader)
    assert len(begun.waiting) > 1
    least = begun.done + begun.open
    for more in (least, least + 12):
        ended = cli.here("resume", "latest", f"search.max_steps={more}")
        assert ended.code == 0 and ("withdrawn" in ended.out) == (more == least), ended.err
        assert_replays(cli, more)


@pytest.mark.long
def test_constants_that_were_tuned_in_vain_are_so_again(cli):
    assert cli.here("--problem=tsp", "search.max_steps=60", "problem.options.cities=12").code == 0
    assert any(node["operator"] == "tune" and node["duplicate_of"] for node in cli.show()["nodes"])
    assert_replays(cli, 61)


@pytest.mark.long
def test_a_run_whose_writer_changed_in_a_resume_is_replayed_with_each_ones_programs(cli, toy):
    with ChatServer(_numbers) as server:
        words = [*server.words(), "agent.review=never", "llm.cache=false"]
        assert cli.here(*toy(3), *words).code == 0
    rules = ("--llm.code.provider=rules", "--llm.code.model=rules")
    assert cli.here("resume", "latest", *rules, "--search.max_steps=6").code == 0
    with RunReader(cli.run_dir) as reader:
        assert {call.provider for call in reader.calls()} == {"openai", "rules"}
    assert_replays(cli, 6)
