"""A server on this machine: connections that are kept, ended by it, ended by us, and what it says in a stream."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from core.backend.backend_openai import query
from core.backend.deadline import Deadline
from core.backend.exchange import Message, Request
from core.backend.faults import read_fault
from core.backend.local_server import LocalServer, ServerFault
from core.backend.settings import ModelSettings
from utils.errors import BackendBusyError

ANSWER = {"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}], "usage": None}


class Server(ThreadingHTTPServer):
    """Tells which connections it was asked by; `hangs_up` closes each after its answer, without a word."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked_by: list[int] = []
        self.hangs_up = False
        self.waits = threading.Event()
        self.stream = b""
        self.let_go = threading.Event()


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked_by.append(self.client_address[1])
        if asked.get("model") == "silent":
            self.server.waits.set()
            self.server.let_go.wait(20)
        body = self.server.stream if asked.get("stream") else json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.server.hangs_up

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
        yield running
        running.let_go.set()
        running.shutdown()


def settings_for(server: Server, **options: Any) -> ModelSettings:
    return ModelSettings(
        provider="openai", base_url=f"http://127.0.0.1:{server.server_port}/v1", **{"model": "m", **options}
    )


def asked(client: LocalServer, settings: ModelSettings) -> str:
    request = Request(system="s", messages=(Message("user", "u"),))
    return query(client, request, settings, Deadline(20.0)).text


def test_a_connection_is_used_again(server: Server) -> None:
    settings = settings_for(server)
    client = LocalServer(settings)
    assert [asked(client, settings) for _ in range(3)] == ["hello"] * 3
    client.close()
    assert len(set(server.asked_by)) == 1


def test_a_connection_that_the_server_closed_is_not(server: Server) -> None:
    server.hangs_up = True
    settings = settings_for(server)
    client = LocalServer(settings)
    for _ in range(3):
        assert asked(client, settings) == "hello"
        time.sleep(0.2)  # until the server has closed it
    client.close()
    assert len(server.asked_by) == 3


def test_calls_at_the_same_time_have_a_connection_each(server: Server) -> None:
    settings = settings_for(server)
    client = LocalServer(settings)
    slow = threading.Thread(target=lambda: asked(client, settings_for(server, model="silent")), daemon=True)
    slow.start()
    assert server.waits.wait(20)
    assert asked(client, settings) == "hello"
    server.let_go.set()
    slow.join(20)
    client.close()
    assert len(set(server.asked_by)) == 2


def test_close_ends_a_call_under_way(server: Server) -> None:
    settings = settings_for(server, model="silent")
    client, ended = LocalServer(settings), threading.Event()

    def call() -> None:
        with pytest.raises(OSError):
            asked(client, settings)
        ended.set()

    threading.Thread(target=call, daemon=True).start()
    assert server.waits.wait(20)
    client.close()
    assert ended.wait(10)


@pytest.mark.parametrize("ends", [b"data: [DONE]\n\n", b""])
def test_a_stream_is_read_to_its_end(server: Server, ends: bytes) -> None:
    pieces = [
        {"choices": [{"index": 0, "delta": {"content": "hel"}}]},
        {"choices": [{"index": 0, "delta": {"content": "lo"}, "finish_reason": "stop"}]},
        {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}},
    ]
    server.stream = b": a comment\r\n\r\n" + b"".join(f"data: {json.dumps(one)}\n\n".encode() for one in pieces) + ends
    settings = settings_for(server, stream=True)
    client = LocalServer(settings)
    assert [asked(client, settings) for _ in range(2)] == ["hello"] * 2
    client.close()
    assert len(set(server.asked_by)) == 1


def test_what_a_stream_breaks_off_with_is_told(server: Server) -> None:
    """As llama.cpp and vLLM have it."""
    server.stream = b'data: {"error": {"code": 503, "message": "no slot is free"}}\n\n'
    settings = settings_for(server, stream=True)
    client = LocalServer(settings)
    with pytest.raises(ServerFault) as raised:
        asked(client, settings)
    client.close()
    fault = read_fault(raised.value, settings)
    assert isinstance(fault, BackendBusyError)
    assert "no slot is free" in str(fault)
