"""With PyTorch itself: programs that answer with tensors are scored out of their reach, in forks of their evaluator.

`SWARM_EVO_TEST_TORCH` names an interpreter that has it.
"""

from __future__ import annotations

import json
import os

import pytest
from support.command_line import Cli

from core.storage.reader import RunReader

PYTHON = os.environ.get("SWARM_EVO_TEST_TORCH", "")

pytestmark = pytest.mark.skipif(not PYTHON, reason="SWARM_EVO_TEST_TORCH names no interpreter")

EVALUATOR = """import importlib.util

import torch

X = torch.linspace(-4, 4, 2001)
WANTED = torch.nn.functional.gelu(X)


def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    with torch.no_grad():
        found = program.Activation()(X)
    return {"combined_score": -float(((found - WANTED) ** 2).mean())}
"""
PROGRAM = """# EVOLVE-BLOCK-START
import torch

class Activation(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = torch.nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        return x * torch.sigmoid(self.slope * x)
# EVOLVE-BLOCK-END
"""


def test_a_network_is_scored_apart(cli: Cli) -> None:
    (cli.folder / "program.py").write_text(PROGRAM)
    (cli.folder / "evaluator.py").write_text(EVALUATOR)
    words = ["--problem.kind=script", "--problem.program=program.py", "--problem.evaluator=evaluator.py"]
    words += ["--problem.direction=max", "--search.max_steps=8", f"--execution.python={PYTHON}"]
    ended = cli("run", *words, "--logging.report=false")
    assert ended.code == 0, ended.err
    decided = json.loads((cli.run_dir / "files" / "isolation.json").read_text())
    assert decided["isolation"] == "apart" and decided["forks"], decided["reason"]
    with RunReader(cli.run_dir) as reader:
        sources = [node.metric_source for node in reader.nodes() if node.metric_value is not None]
    assert len(sources) > 2 and {*sources} == {"verified"}
