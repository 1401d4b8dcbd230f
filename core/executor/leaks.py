"""The self-test: a program in the run's own sandbox looks for the hidden answers, and must find none.

A canary, a random value beside the answers, is looked for as well: it is there even where a problem hides nothing.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from core.contracts import JobContext, JobSpec, Limits
from utils.counts import counted
from utils.errors import SandboxError

_LOOKER = Path(__file__).parent / "inside" / "looker.py"
_LIMITS = Limits(seconds=60, memory_mb=2048, disk_mb=64, output_kb=256)
_CANARY = b"swarm-evo-canary-value-of-a-start:"
_MOST_LINES, _FEWEST_BYTES = 12, 8
_FIELD_END = (b"", b",", b"\r", b"\n")
_MOST_FILES = 64
_MOST_PUBLIC = 16 << 20
_MOST_WHOLE = 64 << 20


@dataclass(frozen=True, slots=True)
class Looked:
    """What the program found and how much it looked at."""

    found: tuple[dict[str, str], ...]
    """`{how, what, where}`: by path, file, copy, package, descriptor, mapping, environment, memory or process."""
    files: int
    memory_mb: float
    descriptors: int
    seconds: float

    @property
    def sentence(self) -> str:
        """One line for people."""
        descriptors = counted(self.descriptors, "descriptor")
        looked = f"{counted(self.files, 'file')}, {self.memory_mb:.0f} MB of memory, {descriptors}"
        if not self.found:
            return f"a program that looked for hidden answers found none ({looked}, {self.seconds:.2f} s)"
        first = self.found[0]
        more = f" and {len(self.found) - 1} more" if len(self.found) > 1 else ""
        what = f"{first['what']} by {first['how']} at {first['where']}{more}"
        return f"a program that looked for hidden answers found them in the sandbox: {what}"


def told_by(value: Any) -> Looked:
    """What a finished job of `search_spec` told."""
    megabytes = value["memory"] / 2**20
    return Looked(tuple(value["found"]), value["files"], megabytes, value["descriptors"], value["seconds"])


@contextmanager
def search_spec(
    place: Path, hidden: Sequence[Path], patterns: Sequence[str], inputs: Path | None, shown: bool = False
) -> Iterator[JobSpec]:
    """The job of one self-test; its canary is there as long as this is open.

    Args:
        place: folder of ours that no candidate sees; the canary is planted in it.
        hidden: files that no candidate may see; missing ones are left out.
        patterns: data of installed packages, as `Problem.hidden_data`.
        inputs: what candidates see as `input/`.
        shown: its tables may hold answers: `Problem.shows_answers`.
    """
    folder = place / f".canary-{os.getpid()}-{os.urandom(4).hex()}"
    value = _CANARY + os.urandom(16).hex().encode()
    folder.mkdir(mode=0o700, parents=True)
    try:
        canary = folder / "canary"
        canary.write_bytes(value)
        canary.chmod(0o600)
        with canary.open("rb"):  # also as a descriptor that somebody may have left open
            plan = make_plan([canary, *hidden], patterns, inputs, value, shown)
            yield JobSpec(
                entry="core.executor.leaks:run_look",
                payload={"plan": plan, "inputs": None if inputs is None else str(inputs)},
                seconds=_LIMITS.seconds + 60,
                memory_mb=_LIMITS.memory_mb,
            )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run_look(payload: dict[str, Any], context: JobContext) -> dict[str, Any]:
    """Job entry of `search_spec`.

    Raises:
        SandboxError: the program ended without an answer.
    """
    code = f"{_LOOKER.read_text(encoding='utf-8')}\nimport json\nmain(json.loads({json.dumps(payload['plan'])!r}))\n"
    workspace = context.scratch / "workspace"
    workspace.mkdir(exist_ok=True)
    inputs = Path(payload["inputs"]) if payload["inputs"] else None
    result = context.sandbox.run(code, workspace=workspace, inputs=inputs, limits=_LIMITS)
    if result.failure is not None:
        raise SandboxError(f"the search for hidden answers ended by itself: {result.message}")
    told = json.loads(result.term_out.strip().splitlines()[-1])
    return {"found": told["found"], "seconds": result.exec_time, **told["looked"]}


# ------------------------------------------------------------ how answers are recognised


def make_plan(
    hidden: Sequence[Path], patterns: Sequence[str], inputs: Path | None, canary: bytes, shown: bool
) -> dict[str, Any]:
    """What the program is told: places, identities, and digests under a key of this search."""
    key = os.urandom(16)
    files = [path for path in hidden if path.is_file() and not _is_public(path, inputs)][:_MOST_FILES]
    public = _public_tables(inputs)
    marks = [(_CANARY, canary, "the canary")]
    marks += [(mark, line, path.name) for path in files[1:] for mark, line in _lines(path, public, shown)]
    return {
        "key": key.hex(),
        "patterns": list(patterns),
        "files": [_identity(path, key) for path in files],
        "marks": [
            {
                "mark": mark.hex(),
                "length": len(line),
                "digest": _digest(line, key),
                "name": name,
                "whole": line is not canary,
            }
            for mark, line, name in marks
        ],
    }


def _is_public(path: Path, inputs: Path | None) -> bool:
    """True for an empty file, and for one that lies in the inputs under the same name: it tells nothing."""
    twin = inputs / path.name if inputs else None
    alike = twin is not None and twin.is_file() and twin.stat().st_size == path.stat().st_size
    return not path.stat().st_size or (alike and twin is not None and twin.read_bytes() == path.read_bytes())


def _identity(path: Path, key: bytes) -> dict[str, Any]:
    status = path.stat()
    told = 16 <= status.st_size <= _MOST_WHOLE  # a few bytes are found anywhere
    return {
        "name": path.name, "path": str(path.resolve()), "device": status.st_dev, "inode": status.st_ino,
        "size": status.st_size, "digest": _digest(path.read_bytes(), key) if told else "",
    }  # fmt: skip


def _lines(path: Path, public: Mapping[str, bytes], shown: bool) -> Iterator[tuple[bytes, bytes]]:
    """(mark, line) of some lines of a table: the mark is their key, which the public files tell as well.

    Lines that the sample submission guesses right tell nothing, nor do those that another table has by chance, and
    where answers are `shown` no line that a table has.
    """
    if not public or path.stat().st_size > _MOST_PUBLIC:
        return
    lines = path.read_bytes().splitlines()[1:]
    known = {name: text for name, text in public.items() if shown or name.startswith("sample")}
    others = [text for name, text in public.items() if name not in known]
    judged: dict[int, bool] = {}
    for number in range(0, len(lines), max(1, len(lines) // _MOST_LINES)):
        head, comma, rest = lines[number].partition(b",")
        mark, line = b"\n" + head + comma, b"\n" + lines[number]
        guessed = any(line in text for text in known.values())
        if not rest or len(line) < _FEWEST_BYTES or guessed or not any(mark in text for text in public.values()):
            continue
        having = [place for place, text in enumerate(others) if _has_field(text, line)]
        for place in having:
            judged.setdefault(place, _tells(others[place], lines))
        if not having or any(judged[place] for place in having):
            yield mark, line


def _has_field(text: bytes, line: bytes) -> bool:
    """Whether it stands there and ends there: `7,3` is not in `7,35`."""
    at = text.find(line)
    return at >= 0 and text[at + len(line) : at + len(line) + 1] in _FIELD_END


def _tells(text: bytes, lines: Sequence[bytes]) -> bool:
    """Whether a table holds the answer of every key that it has.

    A feature beside the key agrees with some answers, of few values even with most.
    """
    table = dict(line.partition(b",")[::2] for line in text.splitlines())
    answers = (line.partition(b",")[::2] for line in lines)
    return all((table[head] + b",").startswith(rest + b",") for head, rest in answers if head in table)


def _public_tables(inputs: Path | None) -> dict[str, bytes]:
    """The tables at the top of the inputs by name, the smallest first, up to a size."""
    found: dict[str, bytes] = {}
    for path in sorted(inputs.glob("*.csv"), key=lambda path: path.stat().st_size) if inputs else []:
        if sum(map(len, found.values())) + path.stat().st_size <= _MOST_PUBLIC:
            found[path.name] = b"\n" + path.read_bytes()
    return found


def _digest(data: bytes, key: bytes) -> str:
    return blake2b(data, digest_size=16, key=key).hexdigest()
