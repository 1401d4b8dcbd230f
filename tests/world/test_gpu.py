"""`execution.gpus` on a real card: programs compute on it in every tier, those without it cannot reach it.

`SWARM_EVO_TEST_CUDA_PYTHON` names an interpreter with PyTorch that computes on this machine's first NVIDIA card.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.command_line import Cli

from core.contracts import ExecutionResult, Limits
from core.executor.sandbox import open_sandbox
from utils.errors import NoSandboxError

PYTHON = os.environ.get("SWARM_EVO_TEST_CUDA_PYTHON", "")
LIMITS = Limits(seconds=60, memory_mb=16384, processes=256)
TIERS = ("warm", "lite", "bubblewrap")

pytestmark = pytest.mark.skipif(not PYTHON, reason="SWARM_EVO_TEST_CUDA_PYTHON names no interpreter")

Run = Callable[..., ExecutionResult]

OPENS_THE_CARD = """
import ctypes
try:
    print("cuInit", ctypes.CDLL("libcuda.so.1").cuInit(0))
except OSError as error:
    print("no library:", error)
for path in ("/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm"):
    try:
        open(path, "rb+", buffering=0)
        print("opened", path)
    except OSError as error:
        print(path, error.strerror)
"""
MULTIPLIES = """
import torch
a = torch.randn(2048, 2048, device="cuda", dtype=torch.float64)
b = torch.randn(2048, 2048, device="cuda", dtype=torch.float64)
off = (a @ b - (a.cpu() @ b.cpu()).cuda()).abs().max().item()
assert off < 1e-9, off
pinned = torch.ones(1 << 20).pin_memory().cuda(non_blocking=True).sum().item()
assert pinned == 1 << 20
print("computed on", torch.cuda.get_device_name(0), torch.cuda.device_count())
"""
COMPILES = """
import torch, triton, triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)

x, y = torch.rand(100_003, device="cuda"), torch.rand(100_003, device="cuda")
out = torch.empty_like(x)
add[(triton.cdiv(x.numel(), 1024),)](x, y, out, x.numel(), BLOCK=1024)
assert torch.equal(out, x + y)
print("compiled")
"""
FILLS = """
import time, torch
held = torch.full((1 << 32,), 0x5A, dtype=torch.uint8, device="cuda")
torch.cuda.synchronize()
print("holds", held.sum(dtype=torch.int64).item() >> 32, flush=True)
while HANGS:
    held.add_(0)
"""
LOOKS_FOR_IT = """
import torch
free = torch.cuda.mem_get_info()[0]
found = torch.empty(int(free * 0.9), dtype=torch.uint8, device="cuda")
print("of another:", sum(int(torch.count_nonzero(part == 0x5A)) for part in found.split(1 << 26)))
"""
KERNEL = """
import torch

def softmax(x):
    return torch.exp(x) / torch.exp(x).sum(dim=1, keepdim=True)
"""
TIMES_A_KERNEL = """
import importlib.util, torch
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    x = torch.randn(4096, 1024, device=DEVICE)
    assert torch.allclose(program.softmax(x), torch.softmax(x, 1), atol=1e-6)
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    program.softmax(x)
    end.record()
    torch.cuda.synchronize()
    return {"combined_score": 1 / begin.elapsed_time(end), "on_card": float(DEVICE == "cuda")}
"""
NETWORK = """
import os
import numpy as np, pandas as pd, torch
assert torch.cuda.is_available()
torch.manual_seed(0)
train, test = pd.read_csv("input/train.csv"), pd.read_csv("input/test.csv")
names = [name for name in test if name.startswith("x")]
def tensor(frame, columns):
    return torch.tensor(frame[columns].to_numpy(np.float32), device="cuda")
x, y = tensor(train, names), tensor(train, ["y"])
middle, spread = y.mean(), y.std()
net = torch.nn.Sequential(torch.nn.Linear(len(names), 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).cuda()
steps = torch.optim.Adam(net.parameters(), 1e-2)
for _ in range(400):
    steps.zero_grad()
    torch.nn.functional.mse_loss(net(x), (y - middle) / spread).backward()
    steps.step()
os.makedirs("submission", exist_ok=True)
with torch.no_grad():
    found = (net(tensor(test, names)) * spread + middle).cpu().numpy()[:, 0]
pd.DataFrame({KEY: test[KEY], "y": found}).to_csv("submission/submission.csv", index=False)
print("trained on", torch.cuda.get_device_name(0))
"""


@pytest.fixture(params=TIERS)
def tier(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def run(tier: str, tmp_path: Path) -> Iterator[Callable[[float], Run]]:
    """`run(gpus)(code)` in a sandbox with so many cards."""
    opened = []

    def box(gpus: float) -> Run:
        folder = tmp_path / f"states-{gpus:g}"
        folder.mkdir()
        try:
            sandbox = open_sandbox(tier, python=PYTHON, gpus=gpus, state_dir=folder)
        except NoSandboxError as error:
            if tier == "bubblewrap":
                pytest.skip(str(error))
            raise
        opened.append(sandbox)

        def program(code: str, **changes: object) -> ExecutionResult:
            workspace = Path(tempfile.mkdtemp(dir=tmp_path))
            return sandbox.run(code, workspace=workspace, limits=LIMITS.model_copy(update=changes))

        return program

    tmp_path.chmod(0o755)
    yield box
    for sandbox in opened:
        sandbox.close()


def used_mib() -> int:
    said = subprocess.run(
        ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits", "--id=0"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(said.stdout)


def test_a_program_computes_on_the_card(run: Callable[[float], Run]) -> None:
    result = run(1)(MULTIPLIES)
    assert result.failure is None, result.term_out
    assert "computed on NVIDIA" in result.term_out


def test_a_kernel_is_compiled_and_run(run: Callable[[float], Run]) -> None:
    result = run(1)(COMPILES)
    assert result.failure is None, result.term_out
    assert "compiled" in result.term_out


def test_without_cards_nothing_of_them_is_reached(run: Callable[[float], Run]) -> None:
    result = run(0)(OPENS_THE_CARD)
    assert result.failure is None, result.term_out
    assert "cuInit 0" not in result.term_out and "opened" not in result.term_out


def test_two_programs_share_a_card(run: Callable[[float], Run]) -> None:
    program, ended = run(0.5), []
    beside = [threading.Thread(target=lambda: ended.append(program(MULTIPLIES))) for _ in range(2)]
    for thread in beside:
        thread.start()
    for thread in beside:
        thread.join()
    assert [result.failure for result in ended] == [None, None], [result.term_out for result in ended]


def test_what_is_stopped_leaves_nothing_on_the_card(run: Callable[[float], Run]) -> None:
    program, before = run(1), used_mib()
    result = program("HANGS = True\n" + FILLS, seconds=20)
    assert "holds 90" in result.term_out and result.failure == "timeout", (result.failure, result.term_out)
    assert used_mib() < before + 1024


def test_no_program_reads_what_another_left_in_the_cards_memory(run: Callable[[float], Run]) -> None:
    program = run(1)
    assert "holds 90" in program("HANGS = False\n" + FILLS).term_out
    result = program(LOOKS_FOR_IT)
    assert result.failure is None, result.term_out
    assert int(result.term_out.rpartition("of another:")[2]) < 1 << 28, result.term_out  # of 4 GiB; by chance a 256th


def test_the_machines_own_memory_is_bounded_beside_the_card(run: Callable[[float], Run]) -> None:
    program = run(1)
    result = program(MULTIPLIES + "held = [bytearray(1 << 28) for _ in range(64)]\n", memory_mb=6144)
    assert "computed on NVIDIA" in result.term_out and result.failure == "memory", (result.failure, result.message)


def test_doctor_computes_on_the_card(cli: Cli, tier: str) -> None:
    done = cli.here("doctor", "--execution.gpus=1", f"--execution.python={PYTHON}", f"--execution.sandbox={tier}",
                    "--problem=bin_packing")  # fmt: skip
    if tier == "bubblewrap" and "bubblewrap" in done.out and "FAIL sandbox" in done.out:
        pytest.skip("bubblewrap does not hold here")
    (line,) = [line for line in done.out.splitlines() if "execution.gpus:" in line]
    assert line.startswith("ok") and "CUDA computes on NVIDIA" in line, done.out


def test_an_evaluator_times_a_kernel_beside_it(cli: Cli, tier: str) -> None:
    """It had no card: what it was loaded in saw none, nor did the programs beside it."""
    (cli.folder / "kernel.py").write_text(KERNEL)
    (cli.folder / "evaluator.py").write_text(TIMES_A_KERNEL)
    ended = cli(
        "--problem", "script", f"problem.program={cli.folder / 'kernel.py'}", "problem.direction=max",
        f"problem.evaluator={cli.folder / 'evaluator.py'}", f"execution.python={PYTHON}", "execution.gpus=1",
        f"execution.sandbox={tier}", "execution.memory_mb=16384", "search.max_steps=0", timeout=400,
    )  # fmt: skip
    if tier == "bubblewrap" and "bubblewrap" in ended.err:
        pytest.skip(ended.err)
    assert ended.code == 0, ended.out + ended.err
    (row,) = cli.show()["nodes"]
    node = cli.node(row["node_id"])
    assert row["metric"] > 0 and node["metrics"]["on_card"] == 1 and "Tensor" in node["unisolated_reason"], node


def test_a_command_is_run_by_the_interpreter_that_is_named(cli: Cli) -> None:
    (cli.folder / "train.py").write_text(MULTIPLIES + "print('score: 1')")
    ended = cli(
        "--problem", "command", f"problem.source={cli.folder / 'train.py'}", "problem.eval=python3 train.py",
        "problem.metric=score", "problem.direction=max", f"execution.python={PYTHON}", "execution.gpus=1",
        "execution.memory_mb=16384", "search.max_steps=0", timeout=100,
    )  # fmt: skip
    assert ended.code == 0 and cli.show()["nodes"][0]["metric"] == 1, ended.out + ended.err


def test_a_competition_is_won_by_a_network_that_learns_on_the_card(cli: Cli, tier: str) -> None:
    draw = np.random.default_rng(3)
    frame = pd.DataFrame(draw.normal(size=(2000, 5)), columns=[f"x{place}" for place in range(5)])
    frame["y"] = np.sin(frame.x0) * 3 + frame.x1 * frame.x2 + draw.normal(0, 0.1, len(frame))
    (cli.folder / "data").mkdir()
    frame.to_csv(cli.folder / "data" / "train.csv", index=False)
    (cli.folder / "net.py").write_text('KEY = "row_id"\n' + NETWORK)
    ended = cli(
        f"data.dir={cli.folder / 'data'}", "data.target=y", "data.metric=rmse", f"execution.python={PYTHON}",
        "execution.gpus=1", f"execution.sandbox={tier}", "execution.memory_mb=16384", "execution.timeout=100",
        "search.max_steps=0", "initial=net.py", timeout=400,
    )  # fmt: skip
    if tier == "bubblewrap" and "bubblewrap" in ended.err:
        pytest.skip(ended.err)
    assert ended.code == 0, ended.out + ended.err
    (row,) = [row for row in cli.show()["nodes"] if cli.node(row["node_id"])["plan"] == "net.py"]
    node = cli.node(row["node_id"])
    assert row["failure"] is None and "trained on NVIDIA" in node["term_out"], node["term_out"]
    (dummy,) = [one["metric"] for one in cli.show()["baselines"] if one["name"] == "dummy"]
    assert row["metric"] < dummy / 2
