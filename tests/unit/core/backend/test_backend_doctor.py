"""`doctor --llm`: what a model can do, and what to set where it cannot."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from llmock.scenarios import Fail, Match, Reply
from pydantic import SecretStr
from support.faulty_server import MODELS, FaultyServer

from core.backend.doctor import _check_context, check_models, find_local_servers, silent_servers
from core.backend.settings import ModelSettings, Price


@pytest.fixture(scope="module")
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as running:
        yield running


def settings(server: FaultyServer, provider: str = "openai", **options: object) -> ModelSettings:
    return ModelSettings(
        provider=provider,
        model=MODELS[provider],
        base_url=server.base_url(provider),
        api_key=SecretStr("sk-1"),
        **options,
    )  # type: ignore[arg-type]


@pytest.mark.parametrize("provider", ["openai", "openai-responses"])
def test_a_model_that_can_everything(server: FaultyServer, provider: str) -> None:
    server.reset()
    own = settings(server, provider, price=Price(1, 2), context=8192)
    roles = {"code": own, "feedback": settings(server, provider)}
    checks = check_models(roles)
    assert all(check.ok for check in checks)
    assert [check.name.split()[-1] for check in checks][1:] == ["tools", "schema", "context", "price"]
    assert "honoured" in checks[1].detail
    assert checks[3].detail == "8192 tokens"
    assert "$1 in, $2 out" in checks[4].detail
    assert server.layer.requests == 3, "equal models are asked once"


def test_a_server_that_ignores_tools_is_told_what_to_set(server: FaultyServer) -> None:
    server.reset()
    server.state.scenarios.add(
        Reply(text="Five, I say.", times=None, match=Match(tools=True)),
    )
    checks = {check.name.split()[-1]: check for check in check_models({"code": settings(server)})}
    assert checks["tools"].remedy.startswith("set llm.code.tools=schema")
    server.state.scenarios.add(Reply(text="Five!", times=None))
    checks = {check.name.split()[-1]: check for check in check_models({"code": settings(server)})}
    assert checks["tools"].remedy.startswith("set llm.code.tools=fence")
    assert "set llm.code.tools=fence" in checks["tools"].detail, "seen although nothing failed"
    assert "ignored" in checks["schema"].detail


@pytest.mark.parametrize(("fault", "said"), [(Fail(401, times=None), "401"), (Fail(503, times=None), "503")])
def test_an_unreachable_model_is_not_ok(server: FaultyServer, fault: Fail, said: str) -> None:
    server.reset()
    server.state.scenarios.add(fault)
    (check,) = check_models({"code": settings(server)})
    assert not check.ok
    assert said in check.detail
    assert check.remedy
    assert server.layer.requests == 1


def test_nothing_listens() -> None:
    away = ModelSettings(provider="openai", model="m", base_url="http://127.0.0.1:9/v1")
    (check,) = check_models({"code": away})
    assert not check.ok
    assert "start the server" in check.remedy


def test_a_server_that_is_not_there_is_known_without_a_request(server: FaultyServer) -> None:
    server.reset()
    dead = ModelSettings(provider="openai", model="m", base_url="http://user:secret@127.0.0.1:9/v1")
    away = ModelSettings(provider="openai", model="m", base_url="https://llm.example.org/v1")
    roles = {"code": settings(server), "feedback": dead, "refine": away, "other": ModelSettings()}
    assert silent_servers(roles) == ["http://127.0.0.1:9/v1"]
    assert server.layer.requests == 0


def test_rules_need_no_model() -> None:
    (check,) = check_models({"code": ModelSettings()})
    assert check.ok


def test_servers_on_this_machine_are_offered(server: FaultyServer) -> None:
    server.reset()
    found = find_local_servers([("vllm", server.port, "vllm"), ("ollama", 9, "ollama")], timeout=20)
    assert [one.name for one in found] == ["vllm"]
    assert found[0].base_url == f"http://127.0.0.1:{server.port}/v1"
    assert "gpt-4o-mini" in found[0].models
    assert found[0].offer.startswith(
        f"--llm=vllm --llm.code.base_url=http://127.0.0.1:{server.port}/v1 --llm.code.model="
    )
    assert find_local_servers([("x", server.port, "vllm")], host="example.com") == []


def test_arguments_are_json(server: FaultyServer) -> None:
    server.reset()
    check_models({"code": settings(server)})
    bodies = [json.loads(bill.asked) for bill in server.layer.bills]
    assert [sorted({"tools", "response_format"} & set(body)) for body in bodies] == [[], ["tools"], ["response_format"]]
    assert all(body["max_tokens"] <= 256 for body in bodies)


@pytest.mark.parametrize(("asked", "served", "size"), [("default", 1, 4096), ("m0", 2, 4096), ("default", 2, None)])
def test_a_server_of_one_model_tells_its_context_under_any_name(
    monkeypatch: pytest.MonkeyPatch, asked: str, served: int, size: int | None
) -> None:
    listed = {"data": [{"id": f"m{number}", "meta": {"n_ctx": 4096}} for number in range(served)]}
    monkeypatch.setattr("core.backend.doctor._get_json", lambda url, timeout: listed)
    model = ModelSettings(provider="openai", model=asked, base_url="http://127.0.0.1:9/v1")
    check = _check_context("m", model)
    assert check.detail == (f"{size} tokens" if size else "size not known")
