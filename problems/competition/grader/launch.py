"""Entry of every trusted child: `python -I launch.py prepare|judge [PLACE …]`. Frames as in core/evaluation/grading.py.

A PLACE is a folder of packages of another environment: what the code of a competition's author imports and we have not.

The pipes are moved away from descriptors 0 and 1 first, so that a competition's own prints cannot break a frame.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import site
import struct
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

PACKAGE = "swarm_evo_grader"
MEMORY_SHARE = 0.75
"""Of the machine's memory, or of the container's."""


def main() -> int:
    _die_with_parent()
    _limit_memory()
    requests, answers = _private_pipes()
    _load_package()
    for place in sys.argv[2:]:
        site.addsitedir(place)  # behind ours; with its `.pth` files, by which a checkout is installed
    module = importlib.import_module(f"{PACKAGE}.{_module(sys.argv[1])}")
    sys.dont_write_bytecode = True  # beside a competition's files
    handle: Callable[[dict[str, Any]], Any] = module.handler()
    while (request := _read(requests)) is not None:
        try:
            answer: dict[str, Any] = {"ok": handle({**request, "tell": lambda text: _write(answers, {"doing": text})})}
        except Exception as error:  # noqa: BLE001 - code of a competition's author: the reason is told, the child lives on
            traceback.print_exc()
            answer = {"fault": f"{type(error).__name__}: {error}"}
        _write(answers, answer)
    return 0


def _die_with_parent() -> None:
    """As `utils.lifeline`, which cannot be imported here: no orphan goes on preparing for a search that was killed."""
    if sys.platform.startswith("linux"):
        import ctypes
        import signal

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def _limit_memory() -> None:
    """What a table in a stranger's folder, or a submission, may become in memory: beyond it one MemoryError is told,
    where the machine would else end some process, ours or another.
    """
    if sys.platform.startswith("linux"):
        import resource

        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
            with contextlib.suppress(OSError, ValueError):
                whole = min(whole, int(Path(limit).read_text(encoding="ascii")))
        most, hard = int(MEMORY_SHARE * whole), resource.getrlimit(resource.RLIMIT_DATA)[1]
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard < 0 else min(most, hard), hard))


def _module(verb: str) -> str:
    return {"prepare": "prepare", "judge": "grade"}[verb]


def _private_pipes() -> tuple[BinaryIO, BinaryIO]:
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def _load_package() -> None:
    folder = Path(__file__).resolve().parent
    spec = importlib.util.spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)


def _read(pipe: BinaryIO) -> dict[str, Any] | None:
    head = pipe.read(4)
    if len(head) < 4:
        return None
    body: dict[str, Any] = json.loads(pipe.read(struct.unpack(">I", head)[0]))
    return body


def _write(pipe: BinaryIO, answer: dict[str, Any]) -> None:
    data = json.dumps(answer).encode()
    pipe.write(struct.pack(">I", len(data)) + data)
    pipe.flush()


if __name__ == "__main__":
    sys.exit(main())
