"""Servers whose answers have anything at all in the place of anything: a reply, or an error of ours that names it."""

from __future__ import annotations

import copy
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import SecretStr

from core.backend import Ledger, MemoryLog, ModelClient, ModelSettings
from core.backend.exchange import MOST_TOKENS
from utils.errors import BackendBusyError, ReplyError

REPLIES: dict[str, dict[str, Any]] = {
    "openai": {
        "id": "x", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "def f(): pass", "tool_calls": None},
                     "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
                  "prompt_tokens_details": {"cached_tokens": 2}},
    },
    "openai-responses": {
        "id": "x", "object": "response", "created_at": 1, "model": "m", "status": "completed", "error": None,
        "incomplete_details": None,
        "output": [{"type": "reasoning", "id": "r", "summary": []},
                   {"type": "message", "id": "y", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": "def f(): pass", "annotations": []}]}],
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
                  "input_tokens_details": {"cached_tokens": 2}, "output_tokens_details": {"reasoning_tokens": 3}},
    },
    "anthropic": {
        "id": "x", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": "def f(): pass"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 2},
    },
    "gemini": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": "def f(): pass"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
    },
}  # fmt: skip
ODD = (
    None, 0, -7, 1.5, True, "", "x", [], {}, [None], [7], {"a": 1}, 10**30, -(10**30), float("nan"), "\ud83d", "9" * 50,
)  # fmt: skip


def mutants(good: Any, build: Any = lambda part: part) -> Iterator[Any]:
    """`good` with each of its parts in turn as each odd value, and left out."""
    for odd in ODD:
        yield build(odd)
    places = list(good) if isinstance(good, dict) else range(len(good)) if isinstance(good, list) else ()
    for place in places:
        without = copy.copy(good)
        del without[place]
        yield build(without)

        def around(part: Any, place: Any = place) -> Any:
            changed = copy.copy(good)
            changed[place] = part
            return build(changed)

        yield from mutants(good[place], around)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one packet

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        body: bytes = self.server.body  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as running:
        running.daemon_threads = True
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()


@pytest.mark.filterwarnings("ignore:.*is not a valid FinishReason")  # the SDK's own word
@pytest.mark.parametrize("provider", REPLIES)
def test_any_answer_is_a_reply_or_an_error_that_is_tried_again(
    provider: str, server: ThreadingHTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWARM_EVO_TEST_NO_NETWORK", "1")
    place = f"http://127.0.0.1:{server.server_port}" + ("/v1" if provider.startswith("openai") else "")
    settings = ModelSettings(
        provider=provider, model="m", api_key=SecretStr("sk-0123456789"), base_url=place, attempts=1, stream=False
    )
    client, replies = ModelClient({"code": settings}, log=MemoryLog(), ledger=Ledger()), 0
    try:
        for number, answer in enumerate(mutants(REPLIES[provider])):
            server.body = json.dumps(answer).encode(errors="surrogatepass")  # type: ignore[attr-defined]
            try:
                assert isinstance(client.bind("code", f"n{number}")("You write.", "Write a program."), str)
                replies += 1
            except (BackendBusyError, ReplyError) as error:
                assert "\n" not in str(error), answer
            usage = client.usage_of(f"n{number}")
            told = usage.prompt_tokens or 0, usage.completion_tokens or 0
            assert all(0 <= tokens <= 4 * MOST_TOKENS for tokens in told), answer
    finally:
        client.close()
    assert replies > 30, "much of it does not matter"
