"""Promise 4: kill -9 at any moment, then `resume`, and nothing paid for is lost, repeated or torn.

A run is killed many times over and resumed each time; at the end its journal equals an uninterrupted run's.
`SWARM_EVO_TEST_KILLS` sets the kills a family (3) in the long suites; `make test` has samples of them.
"""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.chat_server import ChatServer
from support.command_line import Cli, toy_words
from support.processes import descendants, eventually, kill_hard, survivors

from core.storage.reader import RunReader
from core.storage.repository import RunStore
from runs.proof.verification import verify_run
from utils.errors import StoreError

KILLS = int(os.environ.get("SWARM_EVO_TEST_KILLS", "3"))

BOUNDARIES = (
    "after:facts:1", "before:round:1", "after:round:1", "before:call:2",
    "after:call:2", "before:stage:1", "after:stage:1", "after:stage:2", "before:commit:1", "after:commit:1",
    "before:round:2", "after:commit:2", "after:fact:active_seconds:1", "after:fact:final_opened:1",
    "before:fact:final:1", "after:fact:final:1",
    "before:end:1", "after:end:1",
)  # fmt: skip
"""The moments of a run, each counted in its own process, in the order in which a run passes them."""


def on(cli: Cli, words: list[str]) -> list[str]:
    """Words to start the run, or to go on with it; one that was killed before it began is started again."""
    if cli.runs and last_seq(cli) == 0:
        shutil.rmtree(cli.run_dir)
    return ["resume", "latest"] if cli.runs else words


def resume(cli: Cli, words: list[str], **environment: str) -> subprocess.Popen[str]:
    return cli.start(*on(cli, words), **environment)


def verdicts(run_dir: Path) -> set[str]:
    """Nodes whose verdict is stored."""
    with RunReader(run_dir) as reader:
        committed = {node.id for node in reader.nodes()}
        return committed | {node for node, stages in reader.open_stages().items() if "execute" in stages}


def last_seq(cli: Cli) -> int:
    try:
        with RunReader(cli.run_dir) as reader:
            return reader.last_seq()
    except (StoreError, ValueError):  # there is no run yet
        return 0


def assert_nothing_torn(run_dir: Path) -> None:
    metrics = run_dir / "metrics.json"
    if metrics.is_file():
        assert isinstance(json.loads(metrics.read_text()), list)
    with sqlite3.connect(run_dir / "run.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    found = verify_run(run_dir)
    assert found.verdict == "consistent", found.findings


def assert_same(cli: Cli, reference: dict[str, object]) -> None:
    """The resumed run found what the uninterrupted one found, and its files tell the same."""
    found = cli.show()
    for name in ("nodes", "journal_sha256", "best_node_id", "best_metric", "final_metric", "status", "steps"):
        assert found[name] == reference[name], name
    rows = json.loads((cli.run_dir / "metrics.json").read_text())
    if "step" in rows[0]:
        assert [row["node_id"] for row in rows] == [node["node_id"] for node in found["nodes"]]
    with (cli.run_dir / "metrics.csv").open() as file:
        assert len(list(csv.DictReader(file))) == len(rows)
    with RunReader(cli.run_dir) as reader:
        assert [event.seq for event in reader.events(limit=100_000)] == list(range(1, reader.last_seq() + 1))
        told = Counter(event.node_id for event in reader.events(limit=100_000, types=["node.committed"]))
    assert set(told.values()) == {1}


def uninterrupted(cli_at: Callable[[str], Cli], words: list[str]) -> dict[str, object]:
    cli = cli_at("whole")
    ended = cli.here(*words)
    assert ended.code == 0, ended.err
    return cli.show()


@pytest.mark.parametrize(
    "boundaries",
    [pytest.param(BOUNDARIES[2::9], marks=pytest.mark.sample), pytest.param(BOUNDARIES, marks=pytest.mark.long)],
    ids=["some", "all"],
)
def test_killed_at_every_boundary(cli_at, toy, tmp_path, boundaries):
    steps = 200  # more than what waits together at each boundary
    reference = uninterrupted(cli_at, toy(steps))
    cli, log = cli_at("killed"), tmp_path / "evaluations"
    words = toy(steps, evaluations=log)
    killed = []
    for boundary in boundaries:
        known = verdicts(cli.run_dir) if cli.runs else set()
        before = Counter(log.read_text().splitlines()) if log.is_file() else Counter()
        ended = cli(*on(cli, words), SWARM_EVO_FAULT=boundary)
        if ended.code == -signal.SIGKILL:
            killed.append(boundary)
        else:
            assert ended.code == 0, f"{boundary}: {ended.err}"
        again = (Counter(log.read_text().splitlines()) if log.is_file() else Counter()) - before
        assert not {line.split()[0] for line in again} & known, f"{boundary}: evaluated once more"
        if cli.runs:
            assert_nothing_torn(cli.run_dir)
    assert killed == list(boundaries)
    assert cli.here("resume", "latest").code == 0
    assert_same(cli, reference)


def test_that_the_final_part_was_opened_before_is_told(cli, toy):
    """A kill between its opening and its scores being stored left no trace of the first time."""
    assert cli(*toy(3), SWARM_EVO_FAULT="before:fact:final:1").code == -signal.SIGKILL
    told = cli.show()["baselines"]
    assert told and not any(row.get("final") for row in told), "all final scores are stored at once"
    assert cli.here("resume", "latest").code == 0
    assert cli.here("resume", "latest", "--search.max_steps=4").code == 0, "another look, and nothing was lost of it"
    with RunReader(cli.run_dir) as reader:
        told = [event.text for event in reader.events(types=["warning"]) if "opened once more" in event.text]
        assert reader.fact("final")["opened"] == 3
    assert len(told) == 1


@pytest.mark.long
def test_no_answered_call_is_asked_again(cli_at, toy):
    """Batch 1, so that all prompts differ: whatever was stored before a kill never reaches the server again."""

    def script(request: dict, number: int) -> str:
        text = request["messages"][-1]["content"]
        time.sleep(0.05)
        rng = random.Random(text)
        return f"I try.\n```python\nx = {rng.uniform(-9, 9):.4f}\n```\n"

    with ChatServer(script) as server:
        words = [*toy(30, seconds=0.02), "search.batch=1", *server.words(), "llm.cache=false", "agent.review=never"]
        words.append("search.num_drafts=2")
        reference = uninterrupted(cli_at, words)
        asked_at_first = len(server.requests)
        assert asked_at_first == 30
        cli, rng = cli_at("killed"), random.Random(7)
        stored: set[str] = set()
        kills = 0
        while kills < KILLS:
            start = len(server.requests)
            child = resume(cli, words)
            asked = start + rng.choice((0, 0, 1, 1, 2, 3))
            deadline = time.monotonic() + 60
            while len(server.requests) <= asked and child.poll() is None and time.monotonic() < deadline:
                time.sleep(0.005)
            time.sleep(rng.uniform(0, 0.12))
            if child.poll() is not None:
                break
            kill_hard(child)
            kills += 1
            again = {request["messages"][-1]["content"] for request in server.requests[start:]} & stored
            assert not again, f"asked again after kill {kills}"
            if cli.runs:
                with RunReader(cli.run_dir) as reader:
                    stored = {call.user for call in reader.calls()}
        assert kills >= min(KILLS, 3), "the run was over too soon to be killed"
        assert cli.here("resume", "latest").code == 0
        # what is asked more than once was in flight at a kill
        assert len(server.requests) - asked_at_first <= 30 + kills
        assert_same(cli, reference)


@pytest.mark.long
@pytest.mark.parametrize("spare", [pytest.param(-1, marks=pytest.mark.long), 0])
def test_a_call_in_flight_at_a_kill_is_held_against_the_cap(cli, toy, spare):
    """The server may bill it, so it counts at its worst: the cap leaves room for one more such call, or just not."""
    arrived, released = threading.Event(), threading.Event()

    def script(request: dict, number: int) -> str:
        if number == 1:
            arrived.set()
            released.wait(60)
        return f"```python\nx = {number}.5\n```\n"

    with ChatServer(script) as server:
        words = ["search.batch=1", *server.words(), "agent.review=never", "llm.code.max_tokens=500"]
        child = cli.start(*toy(4), *words, "budget.tokens=1000000")
        assert arrived.wait(60)
        kill_hard(child)
        released.set()
        ((tokens, usd),) = held(cli.run_dir)
        assert tokens > 500 and usd == pytest.approx((tokens - 500) * 1e-6 + 500 * 2e-6)
        answered = 110  # what the server counts for a call
        ended = cli.here("resume", "latest", f"budget.tokens={answered + 2 * tokens + spare}")
        assert ended.code == 0, ended.err
        asked = len(server.requests) - 2
    assert asked == (0 if spare < 0 else 1), "the call of the killed process was forgotten, or counted twice"
    assert held(cli.run_dir) == [(tokens, usd)], "an answered call is still held"
    assert cli.show()["tokens"] == answered * (1 + asked)
    assert f"budget.tokens={answered + 2 * tokens + spare} is reached" in ended.out + ended.err


def held(run_dir: Path) -> list[tuple[int, float]]:
    store = RunStore(run_dir)
    try:
        return store.held()
    finally:
        store.close()


@pytest.mark.long
@pytest.mark.parametrize(
    "boundary", ["before:fact:control_offset:1", "after:fact:control_offset:1", "before:round:1", "after:round:1"]
)
def test_a_note_is_told_to_as_many_writers_as_a_round_has(cli, toy, boundary):
    """Whatever moment the run is killed at between the control file and the proposals that have the note."""
    assert cli(*toy(200), SWARM_EVO_FAULT="after:commit:1").code == -signal.SIGKILL
    (cli.run_dir / "control.jsonl").write_text('{"kind": "note", "text": "try two"}\n')
    assert cli("resume", "latest", SWARM_EVO_FAULT=boundary).code == -signal.SIGKILL
    assert cli.here("resume", "latest").code == 0
    with RunReader(cli.run_dir) as reader:
        assert len(reader.events(types=["note.added"])) == 1
        rounds = {event.node_id: event.round for event in reader.events(types=["node.proposed"])}
        told = sorted(rounds[call.node_id] for call in reader.calls() if "try two" in call.user)
    assert len(told) == 2 and told[1] == told[0] + 1, "search.batch is 2"


FAMILIES = {
    "pipeline": toy_words(40, "search.schedule=pipeline", "search.batch=4", "search.workers=4", seconds=0.05),
    "competition": ["--problem.name=diabetes", "--search.max_steps=4", "--search.num_drafts=3"],
    "bin_packing": [
        "--problem=bin_packing", "--problem.name=u120", "--search.max_generations=8", "--search.per_island=4",
    ],
    "connect_four": [
        "--problem=connect_four", "--search.max_generations=2", "--arena.openings=1", "--arena.gauntlet=2",
        "--arena.limit=nodes:50",
    ],
}  # fmt: skip


WRITES = ("round", "stage", "stages", "call", "game", "commit", "events", "facts", "fact:final", "end")
"""What a run stores on its way; every one is a boundary to be killed at, before and after."""


@pytest.mark.long
@pytest.mark.usefixtures("inline")
@pytest.mark.parametrize("family", FAMILIES)
def test_killed_at_random_moments(cli_at, family):
    """Any moment; every second process also has a write at whose boundary it dies, if it comes that far. A run that
    is over makes room for the next, until there were as many kills as asked for."""
    words = FAMILIES[family]
    began = time.monotonic()
    reference = uninterrupted(cli_at, words)
    whole = time.monotonic() - began
    rng = random.Random(f"{family} {KILLS}")
    kills: Counter[str] = Counter()
    runs = 0
    while kills.total() < KILLS:
        runs += 1
        kill_one_run(cli_at(f"killed-{runs}"), words, rng, whole, kills)
        cli = cli_at(f"killed-{runs}")
        ended = cli.here(*on(cli, words))
        assert ended.code == 0, ended.err
        assert_same(cli, reference)
        assert_nothing_torn(cli.run_dir)
        assert set(games_told(cli.run_dir).values()) <= {1}
        assert not (cli.folder / "workspaces" / cli.run_dir.name).exists()
        shutil.rmtree(cli.folder)
    print(f"{family}: {kills.total()} kills ({dict(kills)}) of {runs} runs, all equal to the uninterrupted one")


def kill_one_run(cli: Cli, words: list[str], rng: random.Random, whole: float, kills: Counter[str]) -> None:
    """Kill and resume one run until it ends, or until there were kills enough."""
    known: dict[str, float] = {}
    games: set[str] = set()
    while kills.total() < KILLS:
        fault = rng.random() < 0.5
        boundary = f"{rng.choice(('before', 'after'))}:{rng.choice(WRITES)}:{rng.randint(1, 3)}" if fault else ""
        before = last_seq(cli) if cli.runs else 0
        child = resume(cli, words, SWARM_EVO_FAULT=boundary)
        if rng.random() < 0.8:  # the others die while they start
            eventually(lambda child=child, before=before: last_seq(cli) > before or child.poll() is not None, 60)
        below = watch(child, rng.uniform(0.1, 0.1 + whole / (1 if fault else 6)))
        if child.returncode != -signal.SIGKILL:
            assert child.returncode == 0, child.communicate()[1]
            return
        kills[boundary.rpartition(":")[0] if below.at_boundary else "any moment"] += 1
        assert not survivors(below.pids, 10)  # one that was just being started looks for its parent first
        if last_seq(cli):
            assert_nothing_torn(cli.run_dir)
            found = verdict_seconds(cli.run_dir)
            assert known.items() <= found.items(), "a finished evaluation was lost, or run once more"
            told = games_told(cli.run_dir)
            assert games <= told.keys() and set(told.values()) <= {1}, "a finished game was lost, or played once more"
            known, games = found, set(told)


@dataclass(frozen=True)
class Death:
    """What a killed process had below it, and whether it died at a boundary (or by the test's own signal)."""

    pids: list[int]
    at_boundary: bool


def watch(child: subprocess.Popen[str], seconds: float) -> Death:
    """Look at a run until it ends or that time is over; then kill it."""
    below: set[int] = set()
    deadline = time.monotonic() + seconds
    while child.poll() is None and time.monotonic() < deadline:
        below.update(descendants(child.pid))
        time.sleep(0.02)
    if child.poll() is not None:
        return Death(sorted(below), at_boundary=True)
    return Death(sorted(below.union(kill_hard(child))), at_boundary=False)


def verdict_seconds(run_dir: Path) -> dict[str, float]:
    """Node → how long its evaluation took, in microseconds: run once more, it would take another time."""
    with closing(sqlite3.connect(run_dir / "run.db")) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'nodes'").fetchone():
            return {}  # killed before it began
        stored = connection.execute("SELECT node_id, payload FROM stages WHERE stage = 'execute'").fetchall()
        committed = connection.execute("SELECT id, exec_time FROM nodes").fetchall()
    verdicts = {node: json.loads(payload)["seconds"] for node, payload in stored} | dict(committed)
    return {node: round(seconds, 6) for node, seconds in verdicts.items()}  # as on a committed node


def games_told(run_dir: Path) -> Counter[str]:
    """Game → how often its end was told. A game that was cut off comes back under the same key and another suffix."""
    try:
        with RunReader(run_dir) as reader:
            ended = reader.events(limit=100_000, types=["game.finished"])
    except (StoreError, ValueError):
        return Counter()
    return Counter(event.game_id.partition(".")[0] for event in ended)


@pytest.mark.long
def test_the_candidate_dies_with_the_search(cli):
    """SIGKILL while a candidate sleeps: within a second nothing of it is left."""
    program = "import time\nprint('here', flush=True)\ntime.sleep(60)\n" + "# filler\n" * 8
    with ChatServer(lambda request, number: f"```python\n{program}```") as server:
        child = cli.start("--problem.name=diabetes", *server.words(), "--search.max_steps=2", "agent.review=never")
        eventually(lambda: any(p.read_text() for p in cli.folder.glob("logs/*/live/*.out")), 120)
        below = descendants(child.pid)
        assert len(below) >= 3
        kill_hard(child)
        assert not survivors(below)


@pytest.mark.long
def test_ctrl_c_twice_kills_the_candidate_that_runs(cli):
    program = "import time\nprint('here', flush=True)\ntime.sleep(600)\n" + "# filler\n" * 8
    with ChatServer(lambda request, number: f"```python\n{program}```") as server:
        words = ("--problem.name=diabetes", "--search.max_steps=2", "agent.review=never", "execution.timeout=700")
        child = cli.start(*words, *server.words())
        eventually(lambda: any(p.read_text() for p in cli.folder.glob("logs/*/live/*.out")), 120)
        below = descendants(child.pid)
        child.send_signal(signal.SIGINT)
        assert "once more" in child.stderr.readline() + child.stderr.readline()
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)  # for the candidate it would have to wait longer
        assert child.returncode == 130 and "Traceback" not in err, err
        assert not survivors(below)
    assert cli.show()["status"] == "interrupted"
