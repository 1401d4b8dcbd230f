"""`serve` as a user starts it: a token without being asked, and no place taken by connections that say nothing."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from support.command_line import ROOT
from support.dashboard import serve_code

from dashboard.server.serving import _bind
from utils.errors import ConfigError


@contextmanager
def started(*command: str, cwd: Path):
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline(), process
    finally:
        process.kill()
        process.communicate()


def serve(folder: Path, *words: str):
    return started(sys.executable, str(ROOT / "main.py"), "serve", "--port", "0", *words, cwd=folder)


def ask(address: str, path: str, body: object = None, **headers: str) -> int:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://{address}{path}", data, {"content-type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.mark.long
def test_it_makes_a_token_and_says_the_address_to_open(tmp_path):
    tokens = set()
    for _ in range(2):
        with serve(tmp_path) as (said, _process):
            url = urlsplit(said.split()[2])
            (token,) = parse_qs(url.query)["token"]
            tokens.add(token)
            assert len(token) >= 20
            assert ask(url.netloc, "/api/health") == 200
            assert ask(url.netloc, "/api/runs") == 401
            assert ask(url.netloc, "/api/runs", {"problem": "bin_packing", "max_steps": 0}) == 401
            assert ask(url.netloc, "/api/runs", Authorization=f"Bearer {token}") == 200
            opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            try:
                opener.open(said.split()[2], timeout=60).close()
            except urllib.error.HTTPError as error:  # 503 where the page is not built: the cookie is set all the same
                error.close()
            with opener.open(f"http://{url.netloc}/api/runs", timeout=60) as answer:
                assert answer.status == 200, "the page has its cookie"
    assert len(tokens) == 2, "each start has its own"
    assert not any(
        token.encode() in path.read_bytes() for token in tokens for path in tmp_path.rglob("*") if path.is_file()
    )


@pytest.mark.long
@pytest.mark.parametrize("words", [("--token", "none"), ("--dashboard.token=none",)])
def test_to_serve_without_one_is_said_and_told(tmp_path, words):
    with serve(tmp_path, *words) as (said, process):
        address = urlsplit(said.split()[2]).netloc
        assert "token" not in said and "every user of this machine" in process.stdout.readline()
        assert ask(address, "/api/runs") == 200


@pytest.mark.long
def test_without_a_token_only_this_machine_is_served(tmp_path):
    with serve(tmp_path, "--token", "none", "--host", "0.0.0.0") as (said, process):
        assert process.wait(60) == 2 and "needs dashboard.token" in said


@pytest.mark.long
def test_every_address_is_told_as_one_that_a_browser_opens(tmp_path):
    """0.0.0.0 is no address to go to, and in a container the one that a host's port leads to is another."""
    with serve(tmp_path, "--host", "0.0.0.0") as (said, process):
        url = urlsplit(said.split()[2])
        assert url.hostname == "127.0.0.1" and "every address of this machine" in process.stdout.readline()
        (token,) = parse_qs(url.query)["token"]
        asked = {"Authorization": f"Bearer {token}", "Host": "build-box.lan:9000"}
        assert ask(url.netloc, "/api/runs", **asked) == 200


QUICK = "import dashboard.server.prompt_protocol as prompt\nprompt.REQUEST_SECONDS = 1.0\n"
SILENT = {
    "nothing": b"",
    "half a head": b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    "half a body": b"POST /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n"
    b"Content-Type: application/json\r\n\r\n{",
}


@pytest.mark.long
def test_connections_that_do_not_ask_are_dropped(tmp_path):
    before, after = serve_code(tmp_path).split("from dashboard.server.serving")
    code = f"{before}{QUICK}from dashboard.server.serving{after}"
    with started(sys.executable, "-c", code, cwd=tmp_path) as (said, _process):
        address = urlsplit(said.split()[2]).netloc
        host, _, port = address.partition(":")
        waiting = {name: socket.create_connection((host, int(port)), 60) for name in SILENT}
        for name, begun in SILENT.items():
            waiting[name].sendall(begun)
        dripping = socket.create_connection((host, int(port)), 60)
        dripping.sendall(b"GET /api/health HTTP/1.1\r\nHost: ")
        began = time.monotonic()
        with suppress(OSError):
            while True:  # a byte now and then does not buy time
                assert time.monotonic() - began < 60, "dripping"
                time.sleep(0.3)
                dripping.sendall(b"1")
        for name, connection in [*waiting.items(), ("dripping", dripping)]:
            connection.settimeout(60)
            try:
                while connection.recv(4096):  # an error page may come first
                    pass
            except ConnectionError:
                pass
            assert time.monotonic() - began < 60, name
            connection.close()
        assert ask(address, "/api/health") == 200
        polite = http.client.HTTPConnection(host, int(port), timeout=60)
        polite.auto_open = 0  # a dropped connection is not made anew behind our back
        polite.connect()
        for pause in (2, 0):
            polite.request("GET", "/api/health", headers={"Host": "127.0.0.1"})
            answer = polite.getresponse()
            answer.read()
            assert answer.status == 200, "who has asked may stay for a while"
            time.sleep(pause)
        polite.close()


@pytest.mark.parametrize(("host", "key"), [("127.0.0.1", "dashboard.port"), ("192.0.2.1", "dashboard.host")])
def test_an_address_that_cannot_be_had_names_the_key_that_is_wrong(host, key):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ConfigError, match=f"^{key}.*cannot listen on"):
        _bind(host, taken.getsockname()[1])
