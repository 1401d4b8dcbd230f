"""Azure, Bedrock and Vertex: the SDKs' own clients, pointed at a server on loopback that says what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import SecretStr

from core.backend import MemoryLog, ModelClient, ModelSettings
from utils.errors import ConfigError

KEY = "cloud-key-0123456789"
USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
OPENAI = {
    "id": "1", "object": "chat.completion", "created": 1, "model": "m", "usage": USAGE,
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hello"}}],
}  # fmt: skip
CLAUDE = {
    "id": "1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": None,
    "content": [{"type": "text", "text": "hello"}], "usage": {"input_tokens": 7, "output_tokens": 3},
}  # fmt: skip
GEMINI = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "hello"}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10},
}


class Cloud(ThreadingHTTPServer):
    """Answers by path in the dialect that the path belongs to."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Cloud
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.asked.append((self.path, headers, json.loads(body)))
        reply = CLAUDE if "anthropic" in self.path else GEMINI if "generateContent" in self.path else OPENAI
        text = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the test says what happened."""


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    monkeypatch.setenv("SWARM_EVO_TEST_NO_NETWORK", "1")
    with Cloud() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(cloud: Cloud, provider: str, model: str, **options: Any) -> tuple[str, str, dict[str, str], dict[str, Any]]:
    settings = ModelSettings(
        provider=provider, model=model, api_key=SecretStr(KEY), base_url=cloud.url, attempts=1, **options
    )
    model_client = ModelClient({"code": settings}, log=MemoryLog())
    text = model_client.bind("code", "n")("You write.", "Write.")
    model_client.close()
    assert model_client.usage_of("n").prompt_tokens == 7
    ((path, headers, body),) = cloud.asked
    return text, path, headers, body


def test_azure(cloud: Cloud) -> None:
    text, path, headers, body = ask(cloud, "azure", "my-deployment", api_version="2024-10-21")
    assert text == "hello"
    assert path == "/openai/deployments/my-deployment/chat/completions?api-version=2024-10-21"
    assert headers["api-key"] == KEY
    assert body["max_completion_tokens"] == 8192


@pytest.mark.long
def test_claude_on_bedrock_with_a_bearer_key(cloud: Cloud) -> None:
    model = "anthropic.claude-sonnet-4-6-v1:0"
    text, path, headers, body = ask(cloud, "bedrock", model, region="eu-central-1")
    assert text == "hello"
    assert path.startswith("/model/anthropic.claude-sonnet-4-6")
    assert path.endswith("/invoke")
    assert headers["authorization"] == f"Bearer {KEY}"
    assert [part["text"] for part in body["messages"][0]["content"]] == ["Write."]


@pytest.mark.long
def test_claude_on_vertex(cloud: Cloud) -> None:
    place = {"project": "my-project", "region": "europe-west1"}
    text, path, headers, body = ask(cloud, "vertex", "claude-sonnet-4-6", **place)
    assert text == "hello"
    assert "/projects/my-project/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-6" in path
    assert headers["authorization"] == f"Bearer {KEY}"
    assert [part["text"] for part in body["system"]] == ["You write."]


def test_gemini_on_vertex(cloud: Cloud) -> None:
    place = {"project": "my-project", "region": "europe-west1"}
    text, path, headers, body = ask(cloud, "vertex", "gemini-3.5-flash", **place)
    assert text == "hello"
    assert (
        "projects/my-project/locations/europe-west1/publishers/google/models/gemini-3.5-flash:generateContent" in path
    )
    assert headers["authorization"] == f"Bearer {KEY}"
    assert body["systemInstruction"]["parts"] == [{"text": "You write."}]


def test_bedrock_without_boto3_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.backend.backend_anthropic.is_installed", lambda module: module != "boto3")
    settings = ModelSettings(provider="bedrock", model="anthropic.claude", region="eu-central-1")
    with pytest.raises(ConfigError, match="pip install boto3"):
        ModelClient({"code": settings}, log=MemoryLog()).bind("code")("s", "u")


def test_openai_reasoning_models_take_no_temperature(cloud: Cloud) -> None:
    _, _, _, body = ask(cloud, "openai", "gpt-5-mini", reasoning=True, temperature=0.5, max_tokens=900)
    assert body["max_completion_tokens"] == 900
    assert "temperature" not in body
    assert "max_tokens" not in body


def test_compatible_servers_get_the_common_words(cloud: Cloud) -> None:
    _, path, headers, body = ask(cloud, "openai", "qwen", temperature=0.5, max_tokens=900, extra={"top_k": 40})
    assert (body["max_tokens"], body["temperature"], body["top_k"]) == (900, 0.5, 40)
    assert path == "/chat/completions"
    assert headers["authorization"] == f"Bearer {KEY}"
