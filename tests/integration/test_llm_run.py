"""Whole runs on a real loopback server that fails 30 % of the time: the bill, the cache, kill -9, and the key."""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from llmock.scenarios import Fail, Match, Reply
from pydantic import SecretStr
from support.command_line import Cli, Ended, toy_words
from support.faulty_server import MODELS, FaultyServer

from core.backend import Ledger, MemoryLog, ModelClient, ModelSettings
from core.backend.settings import Price
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from utils.errors import BudgetExhausted

KEY = "sk-planted-4f9a2c71b3"
PRICE = Price(3.0, 15.0)
PROGRAM = "I try number {n}.\n```python\nx = {x}\n```\n"


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


def write_programs(server: FaultyServer, fault_rate: float) -> None:
    """Every request that is not failed is answered with a program of its own."""
    server.chaos(fault_rate, seed=3)
    fail = server.layer.before

    def before(index: int, scope: dict[str, Any]) -> None:
        fail(index, scope)
        program = PROGRAM.format(n=index, x=1 + index / 1000)
        server.state.scenarios.add(Reply(text=program, match=Match(tools=False)))

    server.layer.before = before


def options(server: FaultyServer, steps: int, *more: str, preset: str = "openai", **toy: Any) -> list[str]:
    """Words of a search of the toy problem by this server's model. The key comes by the environment."""
    prefix = "--llm.code"
    return [
        *toy_words(steps, **toy), f"--llm={preset}", f"{prefix}.base_url={server.base_url(preset)}",
        f"{prefix}.model={MODELS[preset]}", f"{prefix}.backoff=0.02", f"{prefix}.attempts=8",
        f"{prefix}.stream=true", f"{prefix}.timeout=240", f"{prefix}.price.input={PRICE.input}",
        f"{prefix}.price.output={PRICE.output}", *more,
    ]  # fmt: skip


def succeeded(ended: Ended) -> Ended:
    assert ended.code == 0, ended.out + ended.err
    return ended


@pytest.mark.parametrize("limited", ["retry", "rate"])
def test_ctrl_c_ends_a_pause_at_once(cli: Cli, server: FaultyServer, eventually: Any, limited: str) -> None:
    """A server that stays busy, or a limit of one request a minute; the resume asks what was not answered."""
    write_programs(server, 0)
    answers, busy = server.layer.before, True

    def before(index: int, scope: dict[str, Any]) -> None:
        if limited == "retry" and busy and index > 2:
            scope["headers"] = [*scope["headers"], (b"x-llmock-force-status", b"429")]
        answers(index, scope)

    server.layer.before, server.layer.bare_429 = before, True
    pause = "--llm.code.backoff=90" if limited == "retry" else "--llm.code.requests_per_minute=1"
    child = cli.start(*options(server, 4, pause), OPENAI_API_KEY=KEY)
    eventually(lambda: server.layer.requests > (2 if limited == "retry" else 0), 60)
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    began = time.monotonic()
    out, err = child.communicate(timeout=240)
    assert child.returncode == 130 and "Traceback" not in err, out + err
    assert time.monotonic() - began < 45, "it waited for the pause"
    busy = False
    faster = "--llm.code.requests_per_minute=6000"
    resumed = succeeded(cli("resume", "latest", faster, "--llm.code.backoff=0.02", OPENAI_API_KEY=KEY))
    assert "4 of 4 steps" in resumed.out + resumed.err and cli.show()["steps"] == 4
    asked = [bill.asked for bill in server.layer.bills]
    assert len(asked) == len(set(asked)) == 4, "each program was asked for once"


def dollars(server: FaultyServer) -> float:
    prompt, completion = server.billed
    return (prompt * PRICE.input + completion * PRICE.output) / 1e6


def test_a_run_by_responses_is_billed_as_the_server_counts(cli: Cli, server: FaultyServer) -> None:
    write_programs(server, 0.3)
    words = options(server, 4, "--agent.review=always", preset="openai-responses")
    ended = succeeded(cli(*words, OPENAI_API_KEY=KEY))
    facts = cli.show()
    assert "4 of 4 steps" in ended.out + ended.err and facts["tokens"] == sum(server.billed) > 0
    assert facts["cost_usd"] == pytest.approx(dollars(server))
    assert {bill.path for bill in server.layer.bills} == {"/v1/responses"} and len(server.layer.bills) == 8
    assert leaks(cli) == []


@pytest.mark.long
def test_20_steps_with_30_percent_faults_then_a_rerun_for_nothing(cli: Cli, server: FaultyServer) -> None:
    write_programs(server, 0.3)
    words = options(server, 20, "--agent.review=always")
    ended = succeeded(cli(*words, timeout=100, OPENAI_API_KEY=KEY))
    said = ended.out + ended.err
    assert "20 of 20 steps" in said
    run, facts = cli.run_dir, cli.show()
    store = RunStore(run)
    calls = store.calls()
    store.close()
    assert facts["status"] == "finished"
    assert facts["steps"] == 20
    # The bill is the server's count, and no reply was asked twice.
    assert server.layer.requests > len(server.layer.bills) == len(calls) >= 40
    assert {call.role for call in calls} == {"code", "feedback"}
    assert facts["tokens"] == sum(server.billed)
    assert facts["cost_usd"] == pytest.approx(dollars(server))
    assert sum(call.tries for call in calls) == server.layer.requests
    assert "HTTP 429" in (run / "system.log").read_text()
    with RunReader(run) as reader:
        waits = [event.text for event in reader.events(limit=10_000, types=["warning"])]
    assert waits and all(f"warning: {wait}" in said for wait in waits if "next try in" in wait)
    print(f"20 steps: {server.layer.requests} requests, {len(calls)} answers, {sum(server.billed)} tokens")

    asked = server.layer.requests
    succeeded(cli.here(*words, OPENAI_API_KEY=KEY))
    (again,) = {path.name for path in cli.runs} - {run.name}
    rerun = cli.show(again)
    assert server.layer.requests == asked, "a finished run, run again, asks nothing"
    assert rerun["journal_sha256"] == facts["journal_sha256"]
    assert rerun["tokens"] == facts["tokens"]
    assert rerun["cost_usd"] == 0.0

    assert leaks(cli) == []
    assert KEY not in said


def leaks(cli: Cli) -> list[Path]:
    """Files that hold the key."""
    return [path for path in cli.folder.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_a_refused_key_is_one_line_and_leaves_no_trace(cli: Cli, server: FaultyServer) -> None:
    server.state.scenarios.add(Fail(401, times=None, message=f"Incorrect API key provided: {KEY}."))
    ended = cli.here(*options(server, 4), OPENAI_API_KEY=KEY)
    assert ended.code == 2
    assert "HTTP 401" in ended.line
    assert KEY not in ended.out + ended.err
    assert leaks(cli) == []


def test_a_run_that_a_refused_key_broke_off_says_how_far_it_came(cli: Cli, server: FaultyServer) -> None:
    def before(index: int, scope: dict[str, Any]) -> None:
        ends = index > 1
        server.state.scenarios.add(Fail(401, times=None) if ends else Reply(text=PROGRAM.format(n=1, x=1.5)))

    server.layer.before = before
    ended = cli.here(*options(server, 4, "--search.batch=1", "--agent.review=never"), OPENAI_API_KEY=KEY)
    assert ended.code == 2 and "HTTP 401" in ended.line
    told = next(line for line in (cli.run_dir / "system.log").read_text().splitlines() if "failed: openai" in line)
    assert "1 step, best 0.5 of" in told and "no valid program" not in told
    shown = cli.show()
    assert "after 1 step: " in shown["verdict"]["text"] and "HTTP 401" in shown["verdict"]["text"]


@pytest.mark.long
def test_kill_9_between_reply_and_use_then_resume_asks_nothing_again(cli: Cli, server: FaultyServer) -> None:
    write_programs(server, 0.0)
    lonely = (
        "--search.schedule=rounds",
        "--search.batch=1",
        "--search.workers=1",
        "--llm.cache=false",
        "--agent.review=never",
    )
    process = cli.start(*options(server, 4, *lonely, seconds=1.0), OPENAI_API_KEY=KEY)
    kill_when_answered(process, cli, calls=2)
    run = cli.run_dir
    store = RunStore(run)
    answered, committed = store.calls(), len([node for node in store.nodes() if node.operator != "baseline"])
    store.close()
    assert (committed, len(answered)) == (1, 2), "the second reply was there, and not yet used"
    billed = len(server.layer.bills)

    succeeded(cli.here("resume", run.name, OPENAI_API_KEY=KEY))
    store = RunStore(run)
    calls = store.calls()
    store.close()
    assert calls[: len(answered)] == answered
    assert len({(call.request_hash, call.sample) for call in calls}) == len(calls)
    assert len(server.layer.bills) - billed == len(calls) - len(answered)
    assert cli.show()["steps"] == 4


def kill_when_answered(process: subprocess.Popen[str], cli: Cli, calls: int) -> None:
    """kill -9 as soon as the store holds that many answers; the program that the last one brought is being judged."""
    import sqlite3

    deadline = time.monotonic() + 200
    while time.monotonic() < deadline and process.poll() is None:
        for run in cli.runs:
            try:
                with sqlite3.connect(f"file:{run / 'run.db'}?mode=ro", uri=True, timeout=1) as database:
                    found = database.execute("SELECT count(*) FROM events WHERE type = 'llm.called'").fetchone()[0]
            except sqlite3.Error:
                continue
            if found >= calls:
                process.send_signal(signal.SIGKILL)
                process.communicate(timeout=60)
                return
        time.sleep(0.002)
    raise AssertionError(f"it ended before {calls} answers: {process.communicate(timeout=60)[0]}")


def test_the_bill_never_passes_the_cap_with_4_workers(server: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Replies of random size up to the largest allowed, over real HTTP; the server's own count is what is judged."""
    monkeypatch.setenv("SWARM_EVO_TEST_NO_NETWORK", "1")
    rng = random.Random(5)
    server.layer.before = lambda index, scope: server.state.scenarios.add(Reply(text="word " * rng.randint(1, 300)))
    cap = 0.05
    model = ModelSettings(
        provider="openai", model="m", api_key=SecretStr(KEY), base_url=server.base_url("openai"), price=PRICE,
        max_tokens=400, backoff=0.01,
    )  # fmt: skip
    model_client = ModelClient({"code": model}, log=MemoryLog(), ledger=Ledger(usd=cap))

    def write(node: int) -> bool:
        try:
            model_client.bind("code", str(node))("You write.", f"Write program {node}.")
        except BudgetExhausted:
            return False
        return True

    with ThreadPoolExecutor(4) as workers:
        answered = sum(workers.map(write, range(120)))
    model_client.close()
    assert 5 < answered < 120
    assert dollars(server) <= cap
    assert model_client.ledger.spent.usd == pytest.approx(dollars(server))
    # Not given up early either: what is left is less than one more call could have cost.
    assert cap - dollars(server) < 400 * PRICE.output / 1e6 + 700 * PRICE.input / 1e6


@pytest.mark.long
def test_a_command_that_hangs_is_not_asked_again_beyond_the_budget(cli: Cli) -> None:
    """Its pauses once went on for a quarter of an hour behind `budget.seconds`."""
    words = ["llm.code.provider=command", "llm.code.command=sleep 99", "llm.code.timeout=1", "llm.code.backoff=60"]
    began = time.monotonic()
    ended = cli(*toy_words(3, "budget.seconds=20", "search.batch=1"), *words, timeout=100)
    said = ended.out + ended.err
    assert "budget.seconds: it ends before a model can be asked again: command/sleep" in said, said
    assert "no complete reply within 1 s" in said and "next try in" not in said
    assert time.monotonic() - began < 60, "one pause would have been a minute"
    assert ended.code == 1 and cli.show()["status"] == "failed" and cli.show()["steps"] == 0, "nothing was searched"


@pytest.mark.parametrize("listens", [False, True])
def test_a_run_whose_server_never_answered_ends_with_no_success(cli: Cli, listens: bool) -> None:
    """It ended in good order by its time, with exit code 0 and the score of what was there before."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        if not listens:
            taken.close()
        words = ["--llm=openai", f"--llm.code.base_url=http://127.0.0.1:{port}/v1", "--llm.code.model=m"]
        words += ["--llm.code.price.input=0", "--llm.code.price.output=0", "--llm.code.backoff=60"]
        ended = cli(*toy_words(3, "budget.seconds=20", "search.batch=1"), *words, "llm.code.timeout=1")
    why = "no complete reply within 1 s" if listens else "(no connection)"
    assert ended.code == 1 and why in ended.err and "it has not answered once" in ended.err, ended.out + ended.err
    assert cli.show()["status"] == "failed"


@pytest.mark.long
def test_a_reply_that_was_cut_behind_its_program_is_not_paid_twice(cli: Cli, server: FaultyServer) -> None:
    cut = PROGRAM.format(n=1, x=1.5) + "\nThis program takes the middle of what"
    server.state.scenarios.add(Reply(text=cut, finish_reason="length", times=None, match=Match(tools=False)))
    words = options(server, 1, "llm.code.stream=false", "search.batch=1", "agent.review=never")
    succeeded(cli(*words, timeout=240, OPENAI_API_KEY=KEY))
    node = cli.show()["nodes"][-1]
    found = cli.here("show", "latest", node["node_id"], "--json").json
    assert (found["metric"], found["plan"], len(found["calls"])) == (0.5, "I try number 1.", 1)
    assert cli.here("replay", "latest", "--verify").code == 0
