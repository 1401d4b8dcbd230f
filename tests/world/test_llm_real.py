"""A real model on this machine: the protocol and a whole search, not the quality (`make test-llm`).

It takes the first of these that is there:
    SWARM_EVO_TEST_LLM_URL      a running server that speaks OpenAI's chat completions (llama-server, Ollama, vLLM, …)
    .venv-llm                   an environment made as tests/support/llama_server.py says, which is then started
SWARM_EVO_TEST_LLM_MODEL names the model where a server has several.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.faulty_server import REVIEW_CHOICE, REVIEW_TOOL

from core.backend import MemoryLog, ModelClient, ModelSettings, ReplyCache
from core.backend.doctor import check_models
from utils.errors import ReplyError

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-llm/bin/python"
SERVER = ROOT / "tests/support/llama_server.py"
START_SECONDS = 180.0


@pytest.fixture(scope="module")
def model() -> Iterator[ModelSettings]:
    url = os.environ.get("SWARM_EVO_TEST_LLM_URL")
    if url:
        yield settings(url)
        return
    if not PYTHON.is_file():
        pytest.skip("no model: set SWARM_EVO_TEST_LLM_URL, or make .venv-llm as tests/support/llama_server.py says")
    server = subprocess.Popen(
        [str(PYTHON), str(SERVER), "--port", str(free_port())], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    patience = threading.Timer(START_SECONDS, server.kill)
    patience.start()
    try:
        assert server.stdout is not None
        line = server.stdout.readline().decode()
        assert line, f"the server did not start within {START_SECONDS:.0f} s (exit code {server.poll()})"
        patience.cancel()
        yield settings(line.split()[0])
    finally:
        patience.cancel()
        server.kill()
        server.communicate()


def settings(url: str) -> ModelSettings:
    name = os.environ.get("SWARM_EVO_TEST_LLM_MODEL", "default")
    return ModelSettings(provider="openai", model=name, base_url=url, max_tokens=200, timeout=300.0, attempts=1)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


OPENED: list[ModelClient] = []


def model_client(model: ModelSettings, **more: Any) -> ModelClient:
    OPENED.append(ModelClient({"code": model}, log=more.pop("log", None) or MemoryLog(), run_seed=1, **more))
    return OPENED[-1]


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


@pytest.mark.parametrize("stream", [False, True])
def test_text_with_the_servers_own_token_count(model: ModelSettings, stream: bool) -> None:
    used = model_client(replace(model, stream=stream))
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
        text = model_client(model, log=log).bind("feedback", "n")(
            "You review programs.", "print('ok') ran without an error.", tools=[REVIEW_TOOL], tool_choice=REVIEW_CHOICE
        )
    except ReplyError:
        assert len(log.records) == 6
    else:
        assert isinstance(json.loads(text)["is_bug"], bool)
    print(f"function calling took {len(log.records)} exchange(s): {[r.finish_reason for r in log.records.values()]}")


def test_a_rerun_asks_nothing(model: ModelSettings, tmp_path: Path) -> None:
    first = model_client(model, cache=ReplyCache(tmp_path / "c.db"))
    again = model_client(model, cache=ReplyCache(tmp_path / "c.db"), offline=True)

    def said(used: ModelClient) -> str:
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


def test_a_search_is_recorded_and_its_demo_is_the_same_run(model: ModelSettings, cli, cli_at, tmp_path: Path) -> None:
    """Whatever a weak model writes, the search ends in good order, and the demo needs no model."""
    ended = cli(
        "--problem=bin_packing", "llm.code.provider=openai", f"llm.code.base_url={model.base_url}",
        f"llm.code.model={model.model}", "llm.code.max_tokens=300", "llm.cache=false",
        "search.max_steps=2", "search.batch=1", "agent.repairs=1", timeout=900,
    )  # fmt: skip
    assert ended.code == 0, ended.err
    shown = cli.show()
    print([(node["operator"], node["metric"], node["failure"]) for node in shown["nodes"]])
    assert shown["steps"] == 2 and shown["tokens"] > 500 and shown["cost_usd"] == 0.0
    assert cli("export-best", "latest", "--recording", str(tmp_path / "recording")).code == 0
    elsewhere = cli_at("elsewhere")
    played = elsewhere("demo", "--recording", str(tmp_path / "recording"), timeout=300)
    assert played.code == 0, played.err
    assert elsewhere.show()["journal_sha256"] == shown["journal_sha256"]
