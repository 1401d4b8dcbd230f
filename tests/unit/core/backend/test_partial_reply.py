"""What is heard of an open reply: cleaned, bounded in pace, and no secret in it, also none that came in two pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llmock.scenarios import Reply, StreamFault
from pydantic import SecretStr
from support.faulty_server import MODELS, FaultyServer

from core.backend import MemoryLog, ModelClient, ModelSettings
from core.backend.partial_reply import PAUSE, PartialReply

KEY = "sk-planted-0123456789"


def heard(pieces: list[str], step: float = PAUSE, settings: ModelSettings | None = None) -> list[str | None]:
    """What a listener is told of pieces that come every `step` seconds."""
    told: list[str | None] = []
    now = [0.0]
    partial = PartialReply(lambda node, text: told.append(text), "n1", settings or ModelSettings(), lambda: now[0])
    for piece in pieces:
        now[0] += step
        partial.add(piece)
    return told


def test_a_try_begins_and_its_pieces_follow_cleaned() -> None:
    assert heard(["one ", "two\x1b[2J "]) == [None, "one ", "two\N{REPLACEMENT CHARACTER}[2J "]


def test_many_small_pieces_are_few_tellings() -> None:
    told = heard(["x"] * 1000, step=PAUSE / 50)
    assert len(told) <= 1 + 1000 / 50 and "".join(filter(None, told)) == "x" * sum(map(len, filter(None, told)))


@given(st.integers(1, len(KEY) - 1), st.integers(0, 40))
def test_no_part_of_a_key_is_told_however_it_is_cut(cut: int, after: int) -> None:
    told = heard(
        ["the key is ", KEY[:cut], KEY[cut:], "y" * after, "z" * 40], settings=ModelSettings(api_key=SecretStr(KEY))
    )
    text = "".join(filter(None, told))
    assert text.startswith("the key is") and "planted" not in text and "sk-" not in text


@pytest.mark.parametrize("provider", MODELS)
def test_a_cut_stream_is_asked_again_and_heard_anew(provider: str) -> None:
    told: list[tuple[str, str | None]] = []
    with FaultyServer() as server:
        server.state.scenarios.add(StreamFault("truncate", after_chunks=2))
        server.state.scenarios.add(Reply(text="a whole reply"))
        settings = ModelSettings(
            provider=provider, model=MODELS[provider], base_url=server.base_url(provider), api_key=SecretStr(KEY),
            stream=True, backoff=0.01, attempts=3,
        )  # fmt: skip
        log = MemoryLog()
        client = ModelClient({"code": settings}, log=log, listener=lambda node, text: told.append((node, text)))
        said = client.bind("code", "n1")("s", "u")
        client.close()
        assert len(server.layer.headers_seen) == 2
    assert told.count(("n1", None)) == 2, "a try begins"
    assert [call.reply for call in log.records.values()] == [said]
