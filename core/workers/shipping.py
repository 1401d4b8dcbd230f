"""Jobs as bytes for another machine: the spec, the folders it reads, the files it writes. Zip and JSON."""

from __future__ import annotations

import io
import json
import os
import stat
import threading
import zipfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from core.contracts import JobContext, JobSpec, Sandbox
from core.executor.workspace import remove_tree
from core.workers.local import run_job
from utils.errors import ConfigError, JobLost

READS = "inputs"
"""Payload key of a host folder that the job reads: it is shipped, once a machine."""
WRITES = "keep_dir"
"""Payload key of a host folder that the job writes: its files come back."""
SPOOL = "spool"
"""Payload key of a host file that the job appends to while it runs: what is added is sent as it comes."""
NEWS_SECONDS = 0.25
"""What is new is sent so often."""
MOST_NEWS = 1 << 20
"""Characters of output that wait to be sent; what comes beyond them is told with the result alone."""

_WRITTEN = "\0"
"""Stands in an answer for the folder that its job wrote into. JSON holds no such character as it is, whatever a program
printed."""
MOST_BYTES = 256 << 20
"""A user's folder may hold this much to be shipped as it is."""


class News(NamedTuple):
    """What a job says while it runs."""

    output: str
    """What the candidate printed since the last."""
    spooled: str
    """What was appended to its SPOOL."""


class Answer(NamedTuple):
    """What a job came to."""

    text: str
    """Fields of JobResult as JSON: `value`, or `error` for a fault of ours, with `lost` where a retry may work."""
    files: bytes
    """Zip of what it wrote."""


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


def pack_folder(folder: Path, *, links: bool = False) -> tuple[str, bytes]:
    """(name by content, zip) of a folder's regular files and folders; with `links` also of those that stay in it."""
    buffer = io.BytesIO()
    digest = blake2b(digest_size=12)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(folder.rglob("*")):
            mode = path.lstat().st_mode
            name, data = path.relative_to(folder).as_posix(), _content(path, mode, folder)
            if data is None or (stat.S_ISLNK(mode) and not links):
                continue
            digest.update(f"{name}\0{len(data)}\0{mode:o}\0".encode())
            digest.update(data)
            info = zipfile.ZipInfo(f"{name}/" if stat.S_ISDIR(mode) else name)
            info.external_attr = mode << 16
            archive.writestr(info, data)
    return digest.hexdigest(), buffer.getvalue()


def _content(path: Path, mode: int, folder: Path) -> bytes | None:
    """A file's bytes, where a link leads, b"" for a folder; None for what is not shipped."""
    if stat.S_ISLNK(mode):
        leads = os.readlink(path)
        inside = not os.path.isabs(leads) and Path(os.path.normpath(path.parent / leads)).is_relative_to(folder)
        return os.fsencode(leads) if inside else None
    return path.read_bytes() if stat.S_ISREG(mode) else b"" if stat.S_ISDIR(mode) else None


def unpack_folder(data: bytes | memoryview, folder: Path, *, links: bool = False) -> None:
    """Write a zip's files below `folder`; a name that leads out of it is refused, and so is a link unless `links`."""
    leading: list[tuple[Path, str]] = []
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            parts = PurePosixPath(info.filename).parts
            if not parts or ".." in parts or PurePosixPath(info.filename).is_absolute():
                raise ValueError(f"a shipped file is called {info.filename!r}")
            path, mode = folder.joinpath(*parts), info.external_attr >> 16
            path.parent.mkdir(parents=True, exist_ok=True)
            if stat.S_ISLNK(mode):
                if not links:
                    raise ValueError(f"{info.filename!r} is a link")
                leading.append((path, os.fsdecode(archive.read(info))))
            elif info.is_dir():
                path.mkdir(exist_ok=True)
                path.chmod(stat.S_IMODE(mode) | 0o700)
            else:
                path.write_bytes(archive.read(info))
                path.chmod(0o755 if mode & 0o100 else 0o644)
    for path, leads in leading:  # last: nothing was written through one
        path.symlink_to(leads)


def serve(spec_text: str, inputs: Path | None, sandbox: Sandbox, state_dir: Path) -> Iterator[News | Answer]:
    """Worker's side: run the job; what it says meanwhile, and at last its answer.

    Args:
        inputs: what the job reads, unpacked here (`core.workers.node_folder`).
    """
    spec = JobSpec.model_validate_json(spec_text)
    scratch = state_dir / f"job-{blake2b(spec_text.encode(), digest_size=8).hexdigest()}"
    remove_tree(scratch)
    written = scratch / f"written-{os.urandom(8).hex()}"  # what a program prints cannot be taken for it
    spool = scratch / "spool"
    written.mkdir(parents=True)
    here = {READS: inputs, WRITES: written, SPOOL: spool}
    paths = {key: str(path) for key, path in here.items() if path is not None and spec.payload.get(key)}
    said = _Said(spool)
    context = JobContext(sandbox, scratch, on_output=said.hear)
    with ThreadPoolExecutor(1, thread_name_prefix="job") as thread:
        running = thread.submit(_answer, spec.model_copy(update={"payload": spec.payload | paths}), context)
        while not wait([running], NEWS_SECONDS).done:
            yield from said.news()
    yield from said.news()
    _, files = pack_folder(written)
    remove_tree(scratch)
    yield Answer(json.dumps(running.result()).replace(json.dumps(str(written))[1:-1], _WRITTEN), files)


def _answer(spec: JobSpec, context: JobContext) -> dict[str, Any]:
    try:
        return {"value": run_job(spec, context)}
    except JobLost as error:
        return {"error": str(error), "lost": True}
    except Exception as error:  # noqa: BLE001 - told to the one who waits
        return {"error": f"{type(error).__name__}: {error}"}


class _Said:
    """What a job has said and nobody was sent yet."""

    def __init__(self, spool: Path) -> None:
        self._spool, self._offset = spool, 0
        self._output: list[str] = []
        self._waiting = 0
        self._lock = threading.Lock()

    def hear(self, text: str) -> None:
        with self._lock:
            if self._waiting < MOST_NEWS:
                self._output.append(text)
                self._waiting += len(text)

    def news(self) -> Iterator[News]:
        """What is new, if anything is."""
        with self._lock:
            output, self._output, self._waiting = "".join(self._output), [], 0
        found = News(output, self._appended())
        if any(found):
            yield found

    def _appended(self) -> str:
        """The whole lines that the spool has grown by."""
        if not self._spool.is_file():
            return ""
        with self._spool.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        return whole.decode()


def tell(news: News, spec: JobSpec, on_output: Callable[[str], None] | None) -> None:
    """Our side: pass on what a job says, as if it ran here."""
    if news.output and on_output is not None:
        on_output(news.output)
    spool = spec.payload.get(SPOOL)
    if news.spooled and spool:
        with Path(spool).open("a", encoding="utf-8") as file:
            file.write(news.spooled)


def land(answer: Answer, spec: JobSpec) -> dict[str, Any]:
    """Our side: put what came back where the payload wanted it; the answer's fields, with our paths."""
    keep = spec.payload.get(WRITES)
    if keep:
        Path(keep).mkdir(parents=True, exist_ok=True)
        unpack_folder(answer.files, Path(keep))
    fields: dict[str, Any] = json.loads(answer.text.replace(_WRITTEN, json.dumps(str(keep or ""))[1:-1]))
    return fields
