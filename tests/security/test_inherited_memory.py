"""A program is forked from a process that has served others before: of those nothing may lie in its memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from core.contracts import Limits, SessionFailure
from core.executor.sandbox import open_sandbox
from core.executor.warm import WarmSandbox

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")

LIMITS = Limits(seconds=60, memory_mb=1024, disk_mb=1_000_000)
"""More disk than the kernel could hold a job to in memory: of jobs in a folder of the host's the files are counted."""
MARK = "of-another-"
"""Followed by a word that says of what; the program that searches has it in two pieces."""
SEARCH = """
import re
def search():
    mark, found = (b"of-ano" + b"ther-"), set()
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps.read().splitlines():
            low, high = (int(part, 16) for part in line.split()[0].split("-"))
            if line.split()[1][:2] != "rw":
                continue
            for place in range(low, high, 1 << 20):
                try:
                    memory.seek(place)
                    text = memory.read(min((1 << 20) + 64, high - place))
                except (OSError, ValueError, OverflowError):
                    continue
                found.update(re.findall(mark + b"([a-z]+)", text))
                del text
    return sorted(word.decode() for word in found)
"""
ENDS = "\nimport time\ntime.sleep(0.5)\ndef search(): return 1\n"
"""Long enough to be looked at."""
OTHERS = {
    "code": f"TEXT = '{MARK}code'\ndef search(): return 1\n",
    "long code": f"TEXT = '{MARK}code'\n" + "x = 1  # a line\n" * 5000 + "def search(): return 1\n",
    "exception": "raise ValueError('of-ano' + 'ther-' + 'exception')\n",
    "names of files": "import os\nfor number in range(50):\n"
    "    os.mkdir('of-ano' + 'ther-' + 'file' * 20 + str(number))" + ENDS,
    "names of attributes": "import os\nfor number in range(50):\n"
    "    os.setxattr('.', 'user.of-ano' + 'ther-' + 'attribute' * 9 + str(number), b'1')" + ENDS,
}


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[WarmSandbox]:
    opened = open_sandbox("auto", state_dir=tmp_path / "state")
    if opened.tier != "warm":
        opened.close()
        pytest.skip(f"tier {opened.tier} here: each program has a process of its own to be forked from")
    yield opened
    opened.close()


def searched(sandbox: WarmSandbox, code: str, seed: int = 0) -> object:
    with sandbox.session(code, limits=LIMITS, seed=seed) as session:
        return session.call("search", [], timeout=60)


def test_the_search_finds_what_is_there(sandbox: WarmSandbox) -> None:
    assert searched(sandbox, f"{SEARCH}\nTEXT = 'of-ano' + 'ther-' + 'word'\n") == ["word"]


@pytest.mark.parametrize("name", OTHERS)
def test_nothing_of_an_earlier_program_is_in_memory(sandbox: WarmSandbox, name: str) -> None:
    for _ in range(3):
        with suppress(SessionFailure):
            searched(sandbox, OTHERS[name])
        (slot, _), *others = sandbox._idle
        assert searched(sandbox, SEARCH) == []
        assert others == [] and sandbox._idle[0][0] is slot  # both were forked from one process
