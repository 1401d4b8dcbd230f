"""Jobs as bytes for another machine: the spec, the folders it reads, the files it writes. Zip and JSON."""

from __future__ import annotations

import io
import json
import zipfile
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any

from core.contracts import JobContext, JobSpec, Sandbox
from core.executor.workspace import remove_tree
from core.workers.local import run_job
from utils.errors import ConfigError, JobLost

READS = "inputs"
"""Payload key of a host folder that the job reads: it is shipped, once a worker."""
WRITES = "keep_dir"
"""Payload key of a host folder that the job writes: its files come back."""

MOST_BYTES = 256 << 20
"""A user's folder may hold this much to be shipped as it is."""


def check_shippable(folder: Path, key: str) -> None:
    """Refuse a folder that was surely not meant to be sent to every worker, such as a home folder. Raises ConfigError.

    Args:
        key: the configuration's key that names a file of it.
    """
    total = 0
    for path in folder.rglob("*"):
        total += path.stat().st_size if path.is_file() and not path.is_symlink() else 0
        if total > MOST_BYTES:
            raise ConfigError(
                f"problem.{key}: its folder {folder} is sent to workers elsewhere and holds more than "
                f"{MOST_BYTES >> 20} MB; give it and the files it needs a folder of their own"
            )


def pack_folder(folder: Path) -> tuple[str, bytes]:
    """(name by content, zip) of a folder's regular files."""
    buffer = io.BytesIO()
    digest = blake2b(digest_size=12)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink()):
            name, data = path.relative_to(folder).as_posix(), path.read_bytes()
            digest.update(f"{name}\0{len(data)}\0".encode())
            digest.update(data)
            info = zipfile.ZipInfo(name)
            info.external_attr = path.stat().st_mode << 16
            archive.writestr(info, data)
    return digest.hexdigest(), buffer.getvalue()


def unpack_folder(data: bytes, folder: Path) -> None:
    """Write a zip's files below `folder`; a name that leads out of it is refused."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            parts = PurePosixPath(info.filename).parts
            if not parts or ".." in parts or PurePosixPath(info.filename).is_absolute():
                raise ValueError(f"a shipped file is called {info.filename!r}")
            path = folder.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(info))
            if info.external_attr >> 16 & 0o100:
                path.chmod(0o755)


def serve(spec_text: str, inputs: tuple[str, bytes] | None, sandbox: Sandbox, state_dir: Path) -> tuple[str, bytes]:
    """Worker's side: run the job; (answer as JSON, zip of what it wrote).

    The answer holds fields of JobResult: `value`, or `error` for a fault of ours, with `lost` where a retry may work.
    """
    spec = JobSpec.model_validate_json(spec_text)
    payload = dict(spec.payload)
    if inputs is not None:
        payload[READS] = str(_inputs_folder(inputs, state_dir))
    scratch = state_dir / f"job-{blake2b(spec_text.encode(), digest_size=8).hexdigest()}"
    remove_tree(scratch)
    written = scratch / "written"
    written.mkdir(parents=True)
    if payload.get(WRITES):
        payload[WRITES] = str(written)
    try:
        value = run_job(spec.model_copy(update={"payload": payload}), JobContext(sandbox, scratch))
        answer: dict[str, Any] = {"value": value}
    except JobLost as error:
        answer = {"error": str(error), "lost": True}
    except Exception as error:  # noqa: BLE001 - told to the one who waits
        answer = {"error": f"{type(error).__name__}: {error}"}
    _, files = pack_folder(written)
    remove_tree(scratch)
    return json.dumps(answer).replace(json.dumps(str(written))[1:-1], "@written@"), files


def land(answer_text: str, files: bytes, spec: JobSpec) -> dict[str, Any]:
    """Our side: put what came back where the payload wanted it; the answer with our paths."""
    keep = spec.payload.get(WRITES)
    if keep:
        Path(keep).mkdir(parents=True, exist_ok=True)
        unpack_folder(files, Path(keep))
    answer: dict[str, Any] = json.loads(answer_text.replace("@written@", json.dumps(str(keep or ""))[1:-1]))
    return answer


def _inputs_folder(inputs: tuple[str, bytes], state_dir: Path) -> Path:
    name, data = inputs
    folder = state_dir / "inputs" / name
    if not folder.is_dir():
        fresh = state_dir / "inputs" / f".{name}"
        remove_tree(fresh)
        fresh.mkdir(parents=True)
        unpack_folder(data, fresh)
        fresh.rename(folder)
    return folder
