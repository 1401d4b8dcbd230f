"""Recordings: written, read, refused when changed, and answered from without a model."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from core.backend import MemoryLog, ModelClient, ModelSettings
from core.backend.exchange import Message, Request, request_hash
from core.backend.recording import CALLS, RecordedCalls, RecordingError, open_recording, save_recording
from core.contracts import CallRecord
from utils.errors import BackendError, ReplyError

NEWER = '{"format": 99, "models": [], "recorded_at": "", "problem": ""}'
MODEL = ModelSettings(provider="openai", model="some-model", api_key=SecretStr("sk-1"))


def record(node: str, user: str, reply: str) -> CallRecord:
    digest = request_hash(Request("s", (Message("user", user),)), MODEL)
    facts = {"provider": "openai", "model": "some-model", "finish_reason": "stop", "cost_usd": 0.1, "prompt_tokens": 5}
    return CallRecord(request_hash=digest, sample=f"1/{node}/code/0", node_id=node, reply=reply, **facts)


def saved(folder: Path) -> Path:
    rules = CallRecord(request_hash="r", sample="1/x/code/0", provider="rules", model="rules", reply="by rules")
    config = {
        "llm": {"code": {"api_key": "********", "model": "some-model"}},
        "problem": {"editable": ["**"], "protected": "*"},
    }
    calls = [record("b", "two", "second"), rules, record("a", "one", "first")]
    save_recording(folder, calls, problem="competition/ames", recorded_at="2026-01-02T03:04:05+00:00", config=config)
    return folder


def replay(folder: Path, match: str) -> tuple[ModelClient, RecordedCalls, MemoryLog]:
    own = MemoryLog()
    calls = RecordedCalls(open_recording(folder).calls, own, match)  # type: ignore[arg-type]
    drift = {"offline": True, "may_drift": match == "sample"}
    return ModelClient({"code": MODEL}, log=calls, run_seed=1, **drift), calls, own


def test_names_model_and_date_and_drops_rules_and_masks(tmp_path: Path) -> None:
    recording = open_recording(saved(tmp_path))
    assert (recording.model, recording.date, recording.problem) == (
        "openai/some-model",
        "2026-01-02",
        "competition/ames",
    )
    assert [call.reply for call in recording.calls] == ["first", "second"]
    patterns = {"editable": ["**"], "protected": "*"}
    assert recording.config == {"llm": {"code": {"api_key": None, "model": "some-model"}}, "problem": patterns}


def test_answers_without_a_model_and_keeps_what_it_answered(tmp_path: Path) -> None:
    model_client, _, own = replay(saved(tmp_path), "exact")
    assert model_client.bind("code", "a")("s", "one") == "first"
    assert model_client.bind("code", "a")("s", "one") == "first"
    (kept,) = own.records.values()
    assert (kept.cached, kept.cost_usd, kept.tries, kept.prompt_tokens) == (True, 0.0, 0, 5)


def test_exact_refuses_another_prompt_and_sample_takes_the_place(tmp_path: Path) -> None:
    model_client, _, _ = replay(saved(tmp_path), "exact")
    with pytest.raises(BackendError, match="not in the record"):
        model_client.bind("code", "b")("s", "two, but the score is 0.1234567 now")
    model_client, calls, _ = replay(tmp_path, "sample")
    assert model_client.bind("code", "b")("s", "two, but the score is 0.1234567 now") == "second"
    assert calls.drifted == 1
    with pytest.raises(ReplyError, match="not in the record"):  # its node fails, the replay goes on
        model_client.bind("code", "c")("s", "three")


def test_a_changed_recording_is_refused(tmp_path: Path) -> None:
    path = saved(tmp_path) / CALLS
    path.write_text(path.read_text().replace("first", "worst"))
    with pytest.raises(RecordingError, match="was changed") as caught:
        open_recording(tmp_path)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("text", ["", "{}", "not json", NEWER])
def test_a_bad_manifest_is_one_line(tmp_path: Path, text: str) -> None:
    (saved(tmp_path) / "manifest.json").write_text(text)
    with pytest.raises(RecordingError) as caught:
        open_recording(tmp_path)
    assert "\n" not in str(caught.value)


def test_a_manifest_of_the_users_own_is_not_written_over_and_an_earlier_recording_is(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "an extension"}')
    with pytest.raises(RecordingError, match="what lies there is no recording"):
        saved(tmp_path)
    assert [path.read_text() for path in tmp_path.iterdir()] == ['{"name": "an extension"}']
    saved(saved(tmp_path / "recording"))
    assert len(open_recording(tmp_path / "recording").calls) == 2


def test_no_recording_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="no model was asked"):
        save_recording(tmp_path, [], problem="p", recorded_at="", config={})
    with pytest.raises(RecordingError, match="no recording in"):
        open_recording(tmp_path / "none")
