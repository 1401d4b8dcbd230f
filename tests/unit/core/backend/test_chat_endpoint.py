"""An address of chat completions, asked over HTTP."""

from __future__ import annotations

import functools
import json
import ssl
import subprocess
import threading
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr
from support.raw_server import RawServer, whole

from core.backend.backend_anthropic import ANTHROPIC
from core.backend.backend_gemini import GEMINI
from core.backend.backend_openai import AZURE, OPENAI, connect, query
from core.backend.chat_endpoint import ServerFault, events, joined
from core.backend.deadline import Deadline
from core.backend.exchange import Message, Request
from core.backend.faults import read_fault
from core.backend.network import is_same_server
from core.backend.settings import ModelSettings
from utils.errors import BackendBusyError, WrongAddressError

REQUEST = Request(system="s", messages=(Message("user", "x"),))
ANSWER = {"choices": [{"index": 0, "message": {"content": "hello"}, "finish_reason": "stop"}]}


class Server(ThreadingHTTPServer):
    """Answers each request alike, or with `stream`, and notes who asked how."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.connections: set[Any] = set()
        self.stream = b""
        self.elsewhere = ""
        self.packed = b""
        """By gzip: answered in place of all else, with the status `status`."""
        self.status = 200

    def handle_error(self, *_: object) -> None:
        """Who asked has heard enough, and hung up."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
        self.server.connections.add(self.client_address)
        if self.server.elsewhere:
            self.send_response(307)
            self.send_header("location", self.server.elsewhere)
            self.send_header("content-encoding", "gzip")
            self.send_header("content-length", str(len(self.server.packed)))
            self.end_headers()
            self.wfile.write(self.server.packed)
            return
        if self.server.packed:
            self.send_response(self.server.status)
            self.send_header("content-encoding", "gzip")
            self.send_header("content-length", str(len(self.server.packed)))
            self.end_headers()
            self.wfile.write(self.server.packed)
            return
        body = self.server.stream if asked.get("stream") else json.dumps(ANSWER).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True).start()
        yield running
        running.shutdown()


def settings_for(server: Server, query: str = "", **options: Any) -> ModelSettings:
    return ModelSettings(
        provider="openai", base_url=f"http://127.0.0.1:{server.server_port}/v1{query}", model="m", **options
    )


def asked(client: Any, settings: ModelSettings) -> str:
    return query(client, Request(system="s", messages=(Message("user", "ü \ud800"),)), settings, Deadline(20.0)).text


def test_a_connection_is_used_again(server: Server) -> None:
    settings = settings_for(server)
    client = connect(settings)
    assert [asked(client, settings) for _ in range(3)] == ["hello"] * 3
    client.close()
    assert len(server.connections) == 1


def test_who_pays_is_told_as_the_environment_has_it(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "")
    settings = settings_for(server, "?token=t", api_key=SecretStr("sk-1"))
    client = connect(settings)
    asked(client, settings)
    client.close()
    ((path, headers),) = server.asked
    assert path == "/v1/chat/completions?token=t"
    assert (headers["authorization"], headers["openai-organization"]) == ("Bearer sk-1", "org-1")
    assert "openai-project" not in headers


@pytest.mark.parametrize("provider", ["openai", "azure", "anthropic", "gemini"])
@pytest.mark.parametrize("place", ["another server", "another path"])
def test_a_key_follows_a_redirect_to_its_own_server_alone(
    server: Server, monkeypatch: pytest.MonkeyPatch, provider: str, place: str
) -> None:
    """Azure's and Google's were handed on: HTTP's client knows one header that holds a key."""
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Login: sk-secret")
    spec = {"openai": OPENAI, "azure": AZURE, "anthropic": ANTHROPIC, "gemini": GEMINI}[provider]
    settings = replace(settings_for(server, api_key=SecretStr("sk-secret")), provider=provider)
    with Server() as other:
        threading.Thread(target=other.serve_forever, args=(0.02,), daemon=True).start()
        client = spec.connect(settings)
        if place == "another server":
            server.elsewhere = f"http://127.0.0.1:{other.server_port}/v2"
            with suppress(ValueError, EOFError):  # an answer in OpenAI's form is none of the others'
                spec.query(client, REQUEST, settings, Deadline(20.0))
            ((_, headers),) = other.asked
            assert "sk-secret" not in str(headers) and "openai-organization" not in headers
        else:
            server.elsewhere = f"http://127.0.0.1:{server.server_port}/v2"
            with pytest.raises(Exception, match=r"redirects|Connection error"):
                spec.query(client, REQUEST, settings, Deadline(20.0))
            assert len(server.asked) > 1 and all("sk-secret" in str(headers) for _, headers in server.asked)
        client.close()
        other.shutdown()


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        ("http://h/v2?x=1", True),
        ("https://H:443/v1", True),
        ("http://h:80", True),
        ("http://h:8080/v1", False),
        ("https://h:8443", False),
        ("http://h.example/v1", False),
        ("http://h:no", False),
    ],
)
def test_a_key_may_go_to_the_same_host_behind_tls(other: str, is_same: bool) -> None:
    assert is_same_server("http://h/v1", other) is is_same
    assert not is_same_server("https://h/v1", "http://h/v1")


def test_who_answers_in_another_servers_place_is_told(server: Server) -> None:
    """A key that was not sent on was told to be wrong."""
    with RawServer(lambda request: whole({"error": {"message": "no key"}}, 401)) as other:
        server.elsewhere = f"{other.url}/v1/chat/completions?secret=1"
        settings = settings_for(server, api_key=SecretStr("sk-secret"))
        with closing(connect(settings)) as client, pytest.raises(ServerFault) as raised:
            asked(client, settings)
    fault = str(read_fault(raised.value, settings))
    assert f"HTTP 401: no key, says {other.url}/v1/chat/completions, to which it sends us on" in fault
    assert "llm.code.base_url: set that" in fault and "api_key" not in fault and "secret" not in fault


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
def test_a_server_on_this_machine_may_have_a_certificate_of_ones_own(
    server: Server, provider: str, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What the environment trusts was not looked at there, since its proxies are not asked."""
    key, certificate = own_certificate(tmp_path_factory.getbasetemp())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    spec = {"openai": OPENAI, "anthropic": ANTHROPIC, "gemini": GEMINI}[provider]
    address = f"https://localhost:{server.server_port}"
    settings = replace(settings_for(server, api_key=SecretStr("sk-1")), provider=provider, base_url=address)
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    for trusted in (False, True):
        if trusted:
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with closing(spec.connect(settings)) as client, suppress(ValueError, EOFError):
            try:
                spec.query(client, REQUEST, settings, Deadline(20.0))
            except OSError as error:
                assert not trusted and isinstance(read_fault(error, settings), WrongAddressError)
            except Exception as error:  # noqa: BLE001  # each client has its own
                assert isinstance(read_fault(error, settings), WrongAddressError) is not trusted
        assert bool(server.asked) is trusted


@functools.cache
def own_certificate(folder: Path) -> tuple[Path, Path]:
    """(key, certificate) of localhost that nobody signed."""
    key, certificate = folder / "own_key.pem", folder / "own_certificate.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*words, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    return key, certificate


def test_what_a_stream_breaks_off_with_is_told(server: Server) -> None:
    """As llama.cpp and vLLM have it."""
    server.stream = b'data: {"error": {"code": 503, "message": "no slot is free"}}\n\n'
    settings = settings_for(server, stream=True)
    client = connect(settings)
    with pytest.raises(ValueError, match="no slot is free") as raised:
        asked(client, settings)
    client.close()
    assert isinstance(read_fault(raised.value, settings), BackendBusyError)


@pytest.mark.parametrize(
    ("base", "address"),
    [
        ("https://h/v1", "https://h/v1/p"),
        ("https://h/v1/", "https://h/v1/p"),
        ("http://u:p@h:8/v1?k=1#f", "http://u:p@h:8/v1/p?k=1&api-version=2"),
        ("https://h", "https://h/p"),
        ("https://h/v1/p", "https://h/v1/p"),
        ("https://h/v1/p/", "https://h/v1/p"),
    ],
)
def test_a_path_below_an_address(base: str, address: str) -> None:
    assert joined(base, "p", "api-version=2" if "k=1" in base else "") == address


SAID = st.lists(st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\n\r"), max_size=9), max_size=4)


@given(SAID, st.sampled_from(["\n", "\r\n"]), st.integers(1, 7))
def test_events_are_what_was_said_wherever_the_pieces_are_cut(said: list[str], end: str, size: int) -> None:
    told = [json.dumps({"t": text}, ensure_ascii=False) for text in said]
    sent = f": a comment{end}{end}" + "".join(f"event: x{end}data: {text}{end}{end}" for text in told)
    sent += f"data: [DONE]{end}{end}data: late{end}{end}"
    raw = sent.encode()
    pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
    assert [event.decode() for event in events(pieces)] == told


def test_an_event_that_is_cut_off_is_none() -> None:
    assert list(events([b"data: 1\n\ndata: 2\n"])) == [b"1"]
    assert list(events([b"data: a\ndata: b\n\n"])) == [b"a\nb"]


def test_a_line_without_an_end_is_not_read_for_ever() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * (1 << 20)

    with pytest.raises(ValueError, match="a line of more than"):
        list(events(endless()))


def packed(piece: bytes, times: int) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return b"".join([*(packer.compress(piece) for _ in range(times)), packer.flush()])


def asked_once(settings: ModelSettings, seconds: float) -> str:
    with closing(connect(settings)) as client:
        return query(client, REQUEST, settings, Deadline(seconds)).text


@functools.cache
def gigabyte() -> bytes:
    """Seconds of work, which a worker that runs other tests does not do."""
    return packed(b" " * (1 << 20), 1024)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_that_unpacks_to_more_than_any_reply_is_not_unpacked(server, status, stream):
    server.packed, server.status = gigabyte(), status
    settings = settings_for(server, stream=stream)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="15 MB"):
            asked_once(settings, 30)
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()


def test_what_a_server_says_that_sends_us_elsewhere_is_not_read(server):
    with Server() as other:
        threading.Thread(target=other.serve_forever, args=(0.02,), daemon=True).start()
        server.elsewhere, server.packed = f"http://127.0.0.1:{other.server_port}/v1/chat/completions", gigabyte()
        settings = settings_for(server)
        tracemalloc.start()
        try:
            assert asked_once(settings, 30) == "hello"
            assert tracemalloc.get_traced_memory()[1] < 50 << 20
        finally:
            tracemalloc.stop()
        other.shutdown()


def test_a_stream_of_nothing_but_comments_ends_with_its_time(server):
    server.packed = packed(b": I am still here, wait for me\n\n" * 32768, 256)
    settings = settings_for(server, stream=True)
    began = time.process_time()
    with pytest.raises(TimeoutError):
        asked_once(settings, 0.05)
    assert time.process_time() - began < 2, "the whole of it takes more"


@pytest.mark.parametrize("provider", ["anthropic", "gemini"])
def test_an_sdk_does_not_unpack_more_than_any_reply_either(server, provider):
    server.packed = gigabyte()
    spec = {"anthropic": ANTHROPIC, "gemini": GEMINI}[provider]
    address = f"http://127.0.0.1:{server.server_port}"
    settings = ModelSettings(provider=provider, base_url=address, model="m", api_key=SecretStr("k"))
    client = spec.connect(settings)
    tracemalloc.start()
    try:
        with pytest.raises(Exception) as raised:
            spec.query(client, REQUEST, settings, Deadline(30))
        assert "15 MB" in str(read_fault(raised.value, settings))
        assert tracemalloc.get_traced_memory()[1] < 200 << 20
    finally:
        tracemalloc.stop()
        client.close()


@pytest.mark.parametrize(
    ("base_url", "reasoning", "word"),
    [("", False, "max_completion_tokens"), ("", True, "max_completion_tokens"),
     ("http://models.example/v1", False, "max_tokens"), ("http://models.example/v1", True, "max_completion_tokens")],
)  # fmt: skip
def test_only_who_surely_knows_it_is_told_the_newer_word_for_a_replys_length(base_url, reasoning, word):
    """OpenAI's models that reason refuse the older one, and servers that speak like it mostly know no other."""
    sent = []

    class Endpoint:
        def post(self, body: dict[str, Any], deadline: Deadline) -> bytes:
            sent.append(body)
            return json.dumps(ANSWER).encode()

    settings = ModelSettings(
        provider="openai", model="m", base_url=base_url, reasoning=reasoning, max_tokens=77, stream=False
    )
    assert query(Endpoint(), REQUEST, settings, Deadline(5.0)).text == "hello"
    assert {name: value for name, value in sent[0].items() if "tokens" in name} == {word: 77}
