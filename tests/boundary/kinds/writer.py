"""Whatever writes programs: a command that reads a prompt and prints a reply, for the evaluator of `script`."""

from __future__ import annotations

from tests.boundary.kinds.kind import STRIKE, Kind
from tests.boundary.kinds.script import SCRIPT

TAIL = """
_strike()
if globals().get("reply"): print(reply)
else: print("A plan.\\n```python\\ndef predict(case):\\n    return", repr(_found), ".get(case, 0)\\n```")
"""


def _program(body: str) -> str:
    strike = "" if "def strike(" in body else "\ndef strike(): pass\n"
    return f"import sys\nprompt = sys.stdin.read()\n{body}\n{strike}{STRIKE}{TAIL}"


WRITER = Kind("writer", SCRIPT.files, _program, limit=SCRIPT.limit)
