"""Recordings: the calls of a run in a folder, to be answered again without a model while programs run live.

manifest.json   models, date, problem, configuration, and the hash of the calls
calls.jsonl     one CallRecord a line
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.contracts import CallLog, CallRecord
from core.state.failed_attempt import REPAIRS_FROM
from utils.errors import BudgetExhausted, ConfigError
from utils.file_utils import in_place_of
from utils.regular_files import DOCUMENT, read_regular
from utils.secrets import MASK

FORMAT = 1
MANIFEST = "manifest.json"
CALLS = "calls.jsonl"


LARGEST = 1 << 30
"""Bytes of the calls of a recording."""


class Manifest(BaseModel):
    """What a recording is of."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    models: tuple[str, ...]
    """provider/model of every real model in it, most calls first."""
    recorded_at: str
    """Date of the run, ISO 8601."""
    problem: str
    """As in JSON: `competition/ames`."""
    config: dict[str, Any] = Field(default_factory=dict)
    """The run's configuration with every secret masked; the demo runs with it."""
    calls: int = 0
    calls_sha256: str = ""
    scores: dict[str, float | None] = Field(default_factory=dict)
    """Node id → what it scored when it was recorded, in the order of the run; {} in older recordings."""
    note: str = ""
    """What the demo says before it starts; written by hand."""


class RecordingError(ConfigError):
    """The folder holds no recording, or one that was changed or cannot be read."""


def save_recording(
    folder: Path,
    records: Iterable[CallRecord],
    *,
    problem: str,
    recorded_at: str,
    config: dict[str, Any],
    scores: Mapping[str, float | None] | None = None,
) -> Manifest:
    """Write the answered calls of a run's store into `folder`.

    Args:
        records: all calls of the run, in any order; those of `rules` are left out.
        config: plain JSON with every secret masked (`utils.config.to_plain`).
        scores: of the run's nodes, in its order.
    Raises:
        RecordingError: no real model was asked, so that there is nothing to replay; or files of those names lie there
            and are no recording.
    """
    kept = sorted(
        (record for record in records if record.provider != "rules"), key=lambda r: (r.sample, r.request_hash)
    )
    if not kept:
        raise RecordingError(f"cannot record into '{folder}': no model was asked in this run")
    lines = "".join(record.model_dump_json() + "\n" for record in kept)
    models = Counter(f"{record.provider}/{record.model}" for record in kept)
    manifest = Manifest(
        models=tuple(name for name, _ in models.most_common()),
        recorded_at=recorded_at,
        problem=problem,
        config=config,
        calls=len(kept),
        calls_sha256=sha256(lines.encode()).hexdigest(),
        scores=dict(scores or {}),
    )
    _check_free(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with in_place_of(folder / MANIFEST) as about, in_place_of(folder / CALLS) as calls:
        calls.write_text(lines, encoding="utf-8")
        about.write_text(manifest.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return manifest


def _check_free(folder: Path) -> None:
    """An earlier recording gives way; a manifest of the user's own, as many tools have one, does not."""
    if not any((folder / name).exists() for name in (MANIFEST, CALLS)):
        return
    try:
        load_manifest(folder)
    except RecordingError as error:
        raise RecordingError(f"cannot record into '{folder}': what lies there is no recording ({error})") from error


def load_manifest(folder: Path) -> Manifest:
    """The manifest of a recording. Raises RecordingError (exit 2, one line)."""
    path = folder / MANIFEST
    try:
        manifest = Manifest.model_validate_json(read_regular(path, DOCUMENT))
    except OSError as error:
        why = error.strerror or error
        raise RecordingError(f"no recording in '{folder}': {MANIFEST} cannot be read ({why})") from error
    except ValidationError as error:  # a ValueError, too
        fault = error.errors(include_url=False)[0]
        place = ".".join(map(str, fault["loc"])) or "it"
        raise RecordingError(f"recording '{path}': {place}: {fault['msg']}") from error
    except ValueError as error:
        raise RecordingError(f"recording '{path}': {error}") from error
    if manifest.format > FORMAT:
        raise RecordingError(f"recording '{path}': format={manifest.format} is newer than this version's {FORMAT}")
    return manifest


def load_calls(folder: Path) -> list[CallRecord]:
    """The calls of a recording, checked against its manifest. Raises RecordingError."""
    manifest = load_manifest(folder)
    path = folder / CALLS
    try:
        raw = read_regular(path, LARGEST).encode()
    except (OSError, ValueError) as error:
        raise RecordingError(
            f"recording '{path}' cannot be read ({getattr(error, 'strerror', None) or error})"
        ) from error
    if sha256(raw).hexdigest() != manifest.calls_sha256:
        raise RecordingError(f"recording '{path}' was changed after it was made: its hash is not the manifest's")
    records = []
    for number, line in enumerate(raw.splitlines(), 1):
        try:
            records.append(CallRecord.model_validate_json(line))
        except ValidationError as error:
            fault = error.errors(include_url=False)[0]["msg"]
            raise RecordingError(f"recording '{path}', line {number}: {fault}") from error
    return records


CUT = "the budget's end had cut this off in the recorded run"


class RecordedCalls:
    """A CallLog that answers from recorded calls and keeps in `into` what it answered.

    With `ModelClient(offline=True)` a call that is not in the record is refused; `rules` write it anew.

    Args:
        calls: of a recording, or of another run's store.
        into: the new run's own log.
        match: `exact`: hash and sample agree, as in a replay on the same machine. `sample`: the place in the run is
            enough, because a prompt quotes results that were computed anew and may differ in their last digits. It is
            enough for the repair of a crash, too: what the program had measured until then is not in the record.
        cut: nodes that the budget's end cut off: what the record does not have of them, it cuts off again.
        as_paid: answers tell what they cost then, by which a policy may choose; else nothing, as nothing is paid now.
    """

    def __init__(
        self,
        calls: Iterable[CallRecord],
        into: CallLog,
        match: Literal["exact", "sample"] = "exact",
        cut: Collection[str] = (),
        *,
        as_paid: bool = False,
    ) -> None:
        self._into = into
        self._as_paid = as_paid
        self._cut = cut
        self._exact: dict[tuple[str, str], CallRecord] = {}
        self._by_sample: dict[str, CallRecord] = {}
        for record in calls:
            self._exact[record.request_hash, record.sample] = record
            if match == "sample" or record.attempt >= REPAIRS_FROM:
                self._by_sample[record.sample] = record
        self._lock = threading.Lock()
        self.drifted = 0
        """Answers whose prompt was not the recorded one."""

    def find_call(self, request_hash: str, sample: str) -> CallRecord | None:
        known = self._into.find_call(request_hash, sample)
        if known is not None:
            return known
        found = self._exact.get((request_hash, sample)) or self._drift(sample)
        if found is None and any(f"/{node_id}/" in sample for node_id in self._cut):
            raise BudgetExhausted(CUT)
        if found is None:
            return None
        changes = {"request_hash": request_hash, "cached": True, "tries": 0}
        is_known = self._as_paid or found.cost_usd is None
        answer = found.model_copy(update=changes | ({} if is_known else {"cost_usd": 0.0}))
        self._into.save_call(answer)
        return answer

    def hold_call(self, name: str, tokens: int, usd: float) -> None:
        self._into.hold_call(name, tokens, usd)

    def drop_hold(self, name: str) -> None:
        self._into.drop_hold(name)

    def save_call(self, record: CallRecord, held: str = "", session: Sequence[CallRecord] = ()) -> None:
        self._into.save_call(record, held, session)

    def _drift(self, sample: str) -> CallRecord | None:
        found = self._by_sample.get(sample)
        if found is not None:
            with self._lock:
                self.drifted += 1
        return found


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording, opened: what `demo` names and replays."""

    manifest: Manifest
    calls: tuple[CallRecord, ...]

    @property
    def model(self) -> str:
        """provider/model of all models in it."""
        return ", ".join(self.manifest.models)

    @property
    def date(self) -> str:
        return self.manifest.recorded_at[:10]

    @property
    def problem(self) -> str:
        return self.manifest.problem

    @property
    def config(self) -> dict[str, Any]:
        """The run's configuration; its masked secrets are null, since a replay needs none."""
        plain = _without_masks(self.manifest.config)
        assert isinstance(plain, dict)
        return plain


def open_recording(folder: Path) -> Recording:
    """Read and check a recording. Raises RecordingError (exit 2, one line)."""
    return Recording(load_manifest(folder), tuple(load_calls(folder)))


def _without_masks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_masks(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_masks(item) for item in value]
    is_mask = isinstance(value, str) and len(value) >= len(MASK) and not value.strip("*")  # a pattern `*` is none
    return None if is_mask else value
