"""autoresearch's own three files, unmodified: to the writer's first call, and to what its program lacks here.

They are looked for where `AUTORESEARCH` says (a checkout), else fetched from GitHub; nothing of them is kept. The
program trains a model on a CUDA GPU, with kernels and data from the network: where these are missing, its own
failure is told, and no score.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.chat_server import ChatServer
from support.command_line import Cli

SOURCE = "https://github.com/karpathy/autoresearch"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.environ.get("AUTORESEARCH") or tmp_path_factory.mktemp("autoresearch"))
    if "AUTORESEARCH" not in os.environ:
        try:
            words = ["git", "clone", "-q", "--depth=1", SOURCE, str(folder)]
            subprocess.run(words, check=True, capture_output=True, timeout=120)
        except (OSError, subprocess.SubprocessError):
            pytest.skip(f"{SOURCE} cannot be fetched here; name a checkout in AUTORESEARCH")
    return folder


def test_its_writer_is_shown_all_of_it_and_its_own_failure_is_told(checkout: Path, cli: Cli):
    train = (checkout / "train.py").read_text()
    line = next(line for line in train.splitlines() if re.match(r"DEPTH *=", line))

    def script(request: dict[str, Any], number: int) -> str:
        """Two changes of the depth for each program that fails (it may be repaired once), then a locked file."""
        if number > 2:
            return "prepare.py\n```python\nTIME_BUDGET = 3000\n```\n"
        return f"Other layers.\n\ntrain.py\n<<<<<<< SEARCH\n{line}\n=======\nDEPTH = {9 + number}\n>>>>>>> REPLACE\n"

    with ChatServer(script) as server:
        words = ["run", "--problem", "script", f"--problem.path={checkout}", "search.max_steps=2", "search.batch=1"]
        ended = cli(*words, "logging.view=quiet", "budget.usd=1", *server.words(), timeout=600)
        asked = server.requests[0]["messages"]
    assert ended.code in (0, 3), ended.err
    prompt = "\n".join(str(message["content"]) for message in asked)
    assert train.rstrip().splitlines()[-1] in prompt and train.splitlines()[0] in prompt, "train.py, to its end"
    assert "get the lowest val_bpb" in prompt, "program.md is the goal"
    found = cli.show()
    assert found["config"]["problem"]["metric"] == "val_bpb" and found["direction"] == "min"
    first, second = (cli.node(node["node_id"]) for node in found["nodes"] if node["operator"] != "baseline")
    assert second["failure"] == "tampered" and "prepare.py is locked" in second["message"]
    if first["failure"]:
        assert first["failure"] == "exit", first["message"]
        pytest.skip(f"train.py does not get along here: {first['message'][:200]}")
    assert first["metric"] > 0
