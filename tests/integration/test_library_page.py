"""docs/library.md: every block is a whole program that runs as it stands. The seeds' own examples run as well."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from support.chat_server import ChatServer
from support.command_line import ROOT

PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
SECTIONS = {
    title: re.findall(r"```python\n(.*?)```", body, flags=re.DOTALL)
    for title, body in re.findall(r"\n## ([^\n]+)\n(.*?)(?=\n## |\Z)", PAGE, flags=re.DOTALL)
}
SCRIPTS = ROOT.parent / "shared" / "findings" / "seeds"

PRIME = """I sieve.
```python
# {number} is the attempt
sieve = bytearray([1]) * 10_000_000
for n in range(2, 3163):
    if sieve[n]:
        sieve[n * n :: n] = bytes(len(sieve[n * n :: n]))
print(sieve.rindex(1))
```"""


def python(code, folder, **environment):
    """What the program prints, in a folder of its own, with the checkout on the path."""
    (folder / "program.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    return done.stdout


@pytest.mark.long
def test_a_whole_search(tmp_path):
    (code,) = SECTIONS["A whole search"]
    out = python(code, tmp_path)
    assert "def " in out and "max_steps: 20 of 20 steps" in out
    assert len(list((tmp_path / "logs").glob("*/run.db"))) == 1, "the second call went on with the same run"


@pytest.mark.long
def test_a_search_by_hand(tmp_path):
    (code,) = SECTIONS["A search by hand"]
    assert len([line for line in code.splitlines() if line.strip()]) <= 25
    with ChatServer(
        lambda request, number: PRIME.format(number=number) if number else "```python\n1 / 0\n```"
    ) as server:
        out = python(code, tmp_path, OPENAI_API_KEY="k", OPENAI_BASE_URL=server.url)
        assert len(server.requests) >= 6
    assert "sieve.rindex" in out
    told = "\n".join(message["content"] for request in server.requests[1:] for message in request["messages"])
    assert "largest prime" in told and "sieve" in told, "parents are shown to the writer"


@pytest.mark.long
def test_what_an_installed_copy_uses(tmp_path):
    search, evolved, step, parts = SECTIONS["In an installed copy"]
    assert "def " in python(search, tmp_path)
    assert "your program" in python(evolved, tmp_path)
    assert "winner/solution.py" in python(step, tmp_path)
    assert re.fullmatch(r"[0-9a-f]+\n", python(parts, tmp_path))


@pytest.mark.skipif(not SCRIPTS.is_dir(), reason="the seeds' examples lie beside the project")
class TestSeedExamples:
    """Scripts that a user of the seeds would write. What the house has renamed since is said here, and nothing else."""

    RENAMED = (
        ("QueryDesk", "ModelClient"),
        ("ThreePhasePolicy(num_drafts=2, debug_prob=.5)", "ThreePhasePolicy()"),
        ("LLMSection", "LLMConfig"),
    )

    def run(self, name, folder, server=None):
        code = (SCRIPTS / name).read_text()
        for old, new in self.RENAMED:
            code = code.replace(old, new)
        if server is not None:
            code = code.replace("http://127.0.0.1:18731/v1", server.url)
        return python(code, folder)

    def test_imports(self, tmp_path):
        out = self.run("api1.py", tmp_path)
        for line in (
            "from core.backend import query",
            "from core.state import Node, Journal",
            "from core.state import Task",
            "from core.executor import Interpreter, WorkspaceManager",
            "from agents import BaseAgent, CoderAgent",
            "from core import Orchestrator",
            "from core.search import ThreePhasePolicy",
        ):
            assert f"OK   {line}" in out

    def test_parts(self, tmp_path):
        failed = [line for line in self.run("api2.py", tmp_path).splitlines() if line.startswith("FAIL")]
        assert [line.split(":")[0] for line in failed] == [
            "FAIL node.metric_value = 0.5 (seed's _review_node sets fields)",
            "FAIL node.visits += 1",
        ], "nodes are replaced by copies, never edited"

    def test_a_lone_parent_is_kept(self, tmp_path):
        assert "stored parent_id a" in self.run("parent.py", tmp_path)

    def test_the_store(self, tmp_path):
        out = self.run("store.py", tmp_path)
        assert "Error" not in out and "e without fitness saved" in out

    def test_a_bound_query_serves_an_agent(self, tmp_path):
        with ChatServer(lambda request, number: PRIME.format(number=number)) as server:
            assert self.run("partial.py", tmp_path, server).strip() == "True"

    def test_a_search_by_hand(self, tmp_path):
        review = {"is_bug": False, "has_csv_submission": True, "summary": "It ran.", "metric": 7}
        with ChatServer(lambda request, n: review if request.get("tools") else PRIME.format(number=n)) as server:
            server.reviews = True
            out = self.run("hand.py", tmp_path, server)
        assert "3 | " in out and "ZeroDivisionError" in out
