"""How much of a request the server reads: it lay in memory whole, three times over, before anybody looked at it."""

from __future__ import annotations

import json

import pytest
from starlette.testclient import TestClient
from support.synthetic_runs import competition

from dashboard.server.app import create_app
from dashboard.server.security import LARGEST_BODY

PAGE = "http://127.0.0.1:8008"
NOTE = json.dumps({"text": "try trees"}).encode()
JSON = {"content-type": "application/json"}


@pytest.fixture
def page(tmp_path):
    """A server of a project with one run, which nobody holds."""
    competition(tmp_path / "logs", 2, run="one").close()
    with TestClient(create_app(tmp_path), base_url=PAGE) as client:
        yield client


def in_parts(much: int):
    """A note that ends long before what is sent does, without a word of how long it is."""
    yield NOTE
    for _ in range(much >> 16):
        yield b" " * (1 << 16)


@pytest.mark.parametrize("content", [NOTE + b" " * LARGEST_BODY, b"x" * (LARGEST_BODY + 1)])
def test_a_request_that_says_that_it_is_too_long_is_not_read(page, content):
    answer = page.post("/api/runs/one/notes", content=content, headers=JSON)
    assert answer.status_code == 413 and answer.json()["detail"] == "a request may have 1,048,576 bytes"
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "much, said", [(LARGEST_BODY * 2, "a request may have"), (LARGEST_BODY // 2, "is not running")]
)
def test_one_that_does_not_say_so_is_read_that_far_and_not_obeyed(page, much, said):
    """The note itself is whole in both."""
    answer = page.post("/api/runs/one/notes", content=in_parts(much), headers=JSON)
    assert "content-length" not in answer.request.headers
    assert said in answer.json()["detail"] and answer.status_code == (413 if "may have" in said else 409)


@pytest.mark.parametrize("length", [b"-1", b"1e3", b"9" * 40, b"\xb2"])
def test_a_length_that_is_none_is_refused(page, length):
    answer = page.get("/api/runs", headers={b"content-length": length})
    assert answer.status_code == 413
