"""Proofs of `execution.python` and `execution.gpus`: a small program really runs in the tier and says what it finds.

What it says is checked where that is possible; it is our own program, in the user's interpreter.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from math import ceil
from typing import Any

from core.contracts import Limits
from core.executor import devices
from core.executor.server import ServerConfig, own_python, private_folder
from core.executor.tiers import make_sandbox
from core.executor.warm import WarmSandbox
from utils.check import Check
from utils.errors import JobLost, SandboxError
from utils.scratch_folders import scratch_folder

_LIMITS = Limits(seconds=60, memory_mb=4096, processes=64, output_kb=256)
_PYTHON = """
import json, platform, sys
print(json.dumps([platform.python_implementation(), platform.python_version(), sys.executable, sys.prefix]))
"""
_MODULES = """
import importlib, json
found = {}
for name in NAMES:
    try:
        found[name] = [True, str(getattr(importlib.import_module(name), "__version__", ""))]
    except Exception as error:
        found[name] = [False, f"{type(error).__name__}: {error}"]
print(json.dumps(found))
"""
_DEVICES = """
import ctypes, json, os
def tried(path):
    try:
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
        return ""
    except OSError as error:
        return error.strerror
def loads(name):
    try:
        ctypes.CDLL(name)
        return True
    except OSError:
        return False
def cards():
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    def call(name, *given):
        code = getattr(cuda, name)(*given)
        if code:
            said = ctypes.c_char_p()
            cuda.cuGetErrorString(code, ctypes.byref(said))
            raise RuntimeError(f"{name} answers {code} ({(said.value or b'unknown').decode()})")
    at, found, count = ctypes.byref, [], ctypes.c_int()
    call("cuInit", 0)
    call("cuDeviceGetCount", at(count))
    for number in range(count.value):
        card, context, place, size = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_size_t()
        name, sent = ctypes.create_string_buffer(100), os.urandom(1 << 20)
        back = ctypes.create_string_buffer(len(sent))
        call("cuDeviceGet", at(card), number)
        call("cuDeviceGetName", name, len(name), card)
        call("cuDeviceTotalMem_v2", at(size), card)
        call("cuCtxCreate_v2", at(context), 0, card)
        call("cuMemAlloc_v2", at(place), ctypes.c_size_t(len(sent)))
        call("cuMemcpyHtoD_v2", place, sent, ctypes.c_size_t(len(sent)))
        call("cuMemcpyDtoH_v2", back, place, ctypes.c_size_t(len(sent)))
        call("cuCtxDestroy_v2", context)
        if back.raw != sent:
            raise RuntimeError(f"card {number} gives back other bytes than it got")
        found.append(f"{name.value.decode()}, {size.value / 2**30:.0f} GiB")
    return found
def tried_cards():
    try:
        return cards()
    except (RuntimeError, AttributeError) as error:
        return str(error)
print(json.dumps({
    "nodes": {path: tried(path) for path in NODES}, "libraries": [name for name in LIBRARIES if loads(name)],
    "cuda": tried_cards(),
}))
"""


def prove_python(tier: str, python: str, preload: Sequence[str]) -> Check:
    """Run a program in the user's interpreter, in `tier`: which version it is, what of `preload` it has."""
    name = "execution.python"
    try:
        with _Trial(tier, python, preload) as trial:
            kind, version, executable, prefix = trial.say(_PYTHON)
            modules = trial.say(f"NAMES = {list(preload)!r}\n{_MODULES}")
            preloaded = [module for module in preload if module not in trial.missing]
    except (SandboxError, JobLost, ValueError) as error:
        remedy = "give the path of a Python 3.9 or newer that every user can read and start"
        return Check(name, False, f"{python}: {error}", remedy)
    here = [f"{module} {modules[module][1]}".strip() for module in preloaded if modules[module][0]]
    gone = [f"{module} ({modules[module][1]})" for module in preload if not modules[module][0]]
    detail = f"{kind} {version} ran a program in tier {tier} ({executable}, prefix {prefix})"
    detail += f"; preloads {', '.join(here) or 'nothing'}" + (f"; not there: {', '.join(gone)}" if gone else "")
    return Check(name, True, detail)


def prove_gpus(tier: str, gpus: float, python: str | None) -> Check:
    """Use the cards from inside `tier`: open their nodes, load the driver's libraries, with CUDA write and read memory.

    As many programs one after the other as it takes until each card has been used. Not ok where a node cannot be
    opened, where CUDA does not compute on as many cards as are wanted, or where there is no library of a driver.
    """
    name = "execution.gpus"
    try:
        devices.Cards(gpus)
    except SandboxError as error:
        return Check(name, False, str(error), "set execution.gpus=0, or install the GPU and its driver")
    try:
        with _Trial(tier, python or own_python(), (), gpus) as trial:
            cards = trial.sandbox.cards
            tried = [_tried(trial, cards.nodes()) for _ in range(ceil(len(cards) / cards.each))]
    except (SandboxError, JobLost, ValueError) as error:
        return Check(name, False, str(error), "see the check `sandbox`")
    opened = {path: why for found in tried for path, why in found["nodes"].items()}
    refused = {path: why for path, why in opened.items() if why}
    libraries = tried[0]["libraries"]
    seen = ", ".join(path for path in opened if path not in refused) or "no device node"
    detail = f"inside tier {tier}: {seen}; {', '.join(libraries) or 'no driver library'}"
    detail += "".join(f"; {path}: {why}" for path, why in refused.items())
    computed = [found["cuda"] for found in tried]
    works = bool(libraries)
    if any(path.startswith("/dev/nvidia") for path in opened):
        works = all(isinstance(said, list) and len(said) == cards.each for said in computed)
        detail += "".join(f"; CUDA{said}" for said in dict.fromkeys(map(_told_of_cuda, computed)))
    else:
        detail += " (not NVIDIA's: this path was never run on such a card of ours)"
    remedy = "see whether the same works outside (nvidia-smi), and report what is told here"
    if refused:
        remedy = "let every user read and write the device nodes"
    elif not libraries:
        remedy = "install the driver's libraries below /usr, and run ldconfig where they lie elsewhere"
    return Check(name, works and not refused, detail, remedy)


def _tried(trial: _Trial, nodes: list[str]) -> dict[str, Any]:
    """What a program that gets `nodes` says of them."""
    names = {"NODES": nodes, "LIBRARIES": list(devices.LIBRARIES)}
    said: dict[str, Any] = trial.say("\n".join(f"{key} = {value!r}" for key, value in names.items()) + _DEVICES)
    return said


def _told_of_cuda(said: list[str] | str | None) -> str:
    """Cards that it computed on, or what it answered; None for no library."""
    if isinstance(said, list):
        return f" computes on {'; '.join(said) or 'no card'}"
    return f": {said or 'libcuda.so.1 cannot be loaded'}"


class _Trial:
    """A sandbox of the tier for a few small programs."""

    def __init__(self, tier: str, python: str, preload: Sequence[str], gpus: float = 0) -> None:
        self._tier, self._python, self._preload, self._gpus = tier, python, tuple(preload), gpus

    def __enter__(self) -> _Trial:
        with ExitStack() as opened:
            self._root = opened.enter_context(scratch_folder("swarm-evo-proof-"))
            self._root.chmod(0o755)
            config = ServerConfig(self._tier, self._python, self._preload, private_folder(self._root))
            self.sandbox: WarmSandbox = make_sandbox(config, self._gpus)
            opened.callback(self.sandbox.close)
            self.missing = self.sandbox.ready().missing
            self._closers = opened.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self._closers.close()

    def say(self, code: str) -> Any:
        """The JSON that a program prints last. SandboxError with its last words if it fails."""
        workspace = self._root / "workspace"
        workspace.mkdir(exist_ok=True)
        result = self.sandbox.run(code, workspace=workspace, limits=_LIMITS)
        if result.failure is not None:
            raise SandboxError(f"a small program failed: {result.message} {result.term_out.strip()[-300:]}")
        return json.loads(result.term_out.strip().splitlines()[-1])
