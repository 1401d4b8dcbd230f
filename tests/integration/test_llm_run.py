"""Whole runs on a real loopback server that fails 30 % of the time: the bill, the cache, kill -9, and the key."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from llmock.scenarios import Fail, Match, Reply
from pydantic import SecretStr

from core.backend import Ledger, MemoryLog, ModelClient, ModelSettings
from core.backend.settings import Price
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from utils.errors import BudgetExhausted

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests/unit/core/backend"))
from faulty_server import MODELS, FaultyServer  # noqa: E402

KEY = "sk-planted-4f9a2c71b3"
PRICE = Price(3.0, 15.0)
PROGRAM = """Predict the mean, shifted by {n}.
```python
from pathlib import Path

import pandas as pd

sample = pd.read_csv("input/sample_submission.csv")
target = sample.columns[-1]
sample[target] = pd.read_csv("input/train.csv")[target].mean() * (1 + {n} / 1000)
Path("submission").mkdir(exist_ok=True)
sample.to_csv("submission/submission.csv", index=False)
print("rows", len(sample))
```
"""


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


def write_programs(server: FaultyServer, fault_rate: float, slow: int = 0) -> None:
    """Every request that is not failed is answered with a program of its own; the `slow`-th takes 5 s to run."""
    server.chaos(fault_rate, seed=3)
    fail = server.layer.before

    def before(index: int, scope: dict[str, Any]) -> None:
        fail(index, scope)
        program = PROGRAM.format(n=index)
        if index == slow:
            program = program.replace("import pandas", "import time; time.sleep(5)\nimport pandas")
        server.state.scenarios.add(Reply(text=program, match=Match(tools=False)))

    server.layer.before = before


def command(project: Path, server: FaultyServer, *arguments: str) -> subprocess.Popen[str]:
    environment = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    environment |= {"OPENAI_API_KEY": KEY, "SWARM_EVO_TEST_NO_NETWORK": "1", "PYTHONPATH": ""}
    environment |= {"SWARM_EVO__LOGGING__REPORT": "false"}  # plots take longer than the rest
    return subprocess.Popen(
        [sys.executable, str(ROOT / "main.py"), *arguments],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def options(server: FaultyServer, steps: int, *more: str) -> list[str]:
    prefix = "--llm.code"
    return [
        "--llm=openai", f"{prefix}.base_url={server.base_url('openai')}", f"{prefix}.model={MODELS['openai']}",
        f"{prefix}.backoff=0.02", f"{prefix}.attempts=8", f"{prefix}.stream=true", f"{prefix}.timeout=60",
        f"{prefix}.price.input={PRICE.input}", f"{prefix}.price.output={PRICE.output}", f"--search.max_steps={steps}",
        *more,
    ]  # fmt: skip


def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    said, _ = process.communicate(timeout=400)
    assert process.returncode == code, said
    return said


def shown(project: Path, server: FaultyServer, run: str) -> dict[str, Any]:
    return dict(json.loads(finish(command(project, server, "show", run, "--json"))))


def only_run(project: Path) -> Path:
    (found,) = (path.parent for path in (project / "logs").glob("*/run.db") if not path.parent.is_symlink())
    return found


def dollars(server: FaultyServer) -> float:
    prompt, completion = server.billed
    return (prompt * PRICE.input + completion * PRICE.output) / 1e6


def test_20_steps_with_30_percent_faults_then_a_rerun_for_nothing(tmp_path: Path, server: FaultyServer) -> None:
    write_programs(server, 0.3)
    words = options(server, 20, "--agent.review=always")
    said = finish(command(tmp_path, server, *words))
    assert "20 of 20 steps" in said
    run = only_run(tmp_path)
    facts = shown(tmp_path, server, run.name)
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
    finish(command(tmp_path, server, *words))
    (again,) = {path.parent.name for path in (tmp_path / "logs").glob("*/run.db")} - {run.name}
    rerun = shown(tmp_path, server, again)
    assert server.layer.requests == asked, "a finished run, run again, asks nothing"
    assert rerun["journal_sha256"] == facts["journal_sha256"]
    assert rerun["tokens"] == facts["tokens"]
    assert rerun["cost_usd"] == 0.0
    assert (facts["cached_tokens"], rerun["cached_tokens"]) == (0, rerun["tokens"])

    leaks = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert leaks == []
    assert KEY not in said


def test_a_refused_key_is_one_line_and_leaves_no_trace(tmp_path: Path, server: FaultyServer) -> None:
    server.state.scenarios.add(Fail(401, times=None, message=f"Incorrect API key provided: {KEY}."))
    said = finish(command(tmp_path, server, *options(server, 4)), code=2)
    assert "HTTP 401" in said.splitlines()[-1]
    assert KEY not in said
    leaks = [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert leaks == []


def test_kill_9_between_reply_and_use_then_resume_asks_nothing_again(tmp_path: Path, server: FaultyServer) -> None:
    write_programs(server, 0.0, slow=2)
    lonely = ("--search.batch=1", "--search.workers=1", "--llm.cache=false", "--agent.review=never")
    process = command(tmp_path, server, *options(server, 4, *lonely))
    run = kill_when_answered(process, tmp_path, calls=2)
    store = RunStore(run)
    answered, committed = store.calls(), len([node for node in store.nodes() if node.operator != "baseline"])
    store.close()
    assert (committed, len(answered)) == (1, 2), "the second reply was there, and not yet used"
    billed = len(server.layer.bills)

    finish(command(tmp_path, server, "resume", run.name))
    store = RunStore(run)
    calls = store.calls()
    store.close()
    assert calls[: len(answered)] == answered
    assert len({(call.request_hash, call.sample) for call in calls}) == len(calls)
    assert len(server.layer.bills) - billed == len(calls) - len(answered)
    assert shown(tmp_path, server, run.name)["steps"] == 4


def kill_when_answered(process: subprocess.Popen[str], project: Path, calls: int) -> Path:
    """kill -9 as soon as the store holds that many answers; the program that the last one brought has yet to run."""
    import sqlite3

    deadline = time.monotonic() + 100
    while time.monotonic() < deadline and process.poll() is None:
        for path in (project / "logs").glob("*/run.db"):
            try:
                with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1) as database:
                    found = database.execute("SELECT count(*) FROM events WHERE type = 'llm.called'").fetchone()[0]
            except sqlite3.Error:
                continue
            if found >= calls:
                process.send_signal(signal.SIGKILL)
                process.communicate(timeout=20)
                return path.parent
        time.sleep(0.002)
    raise AssertionError(f"it ended before {calls} answers: {process.communicate(timeout=20)[0]}")


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
