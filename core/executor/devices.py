"""GPUs inside the sandbox: device nodes, and what a driver's libraries read. Run on NVIDIA's; AMD's and Intel's are
written from documentation."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from math import ceil
from pathlib import Path

from utils.errors import NoSandboxError

_SHARED = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/kfd")
_EACH = ("/dev/nvidia[0-9]*", "/dev/dri/renderD*")
"""Of the first kind that is there: a card of NVIDIA's has a node of the second, too."""
_SHOWN = (
    "/usr/local/cuda", "/opt/rocm", "/usr/local/nvidia", "/run/nvidia", "/sys/class/drm",
    "/sys/module/nvidia", "/sys/module/nvidia_uvm", "/proc/driver/nvidia", "/proc/devices",
    "/sys/devices/system/cpu/online", "/sys/devices/system/memory/block_size_bytes",
    "/sys/devices/system/node/node[0-9]*/cpumap",
)  # fmt: skip
"""Beyond /usr, which is shown anyway. CUDA takes a module whose folder it does not see for one that is not loaded, and
asks for memory nodes."""
_NVIDIA = "/dev/nvidia"
_CARDS = "/proc/driver/nvidia/gpus/*/information"
LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1", "libamdhip64.so", "libhsa-runtime64.so.1", "libze_loader.so.1")
"""What programs load to reach a driver: NVIDIA, AMD, Intel."""


CHOSEN = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
"""Variables that name the GPUs that this process may use, by number or by id: a user sets them, Ray and Slurm do for
their workers."""


def visible(gpus: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(device nodes, files and folders to read) for so many GPUs, the first of those that CHOSEN names; empty for 0.

    Args:
        gpus: a part of one is one that others use too.

    Raises:
        NoSandboxError: there are fewer.
    """
    if gpus <= 0:
        return (), ()
    there: list[str] = next(filter(None, (_sorted(pattern) for pattern in _EACH)), [])
    found = _chosen(there)[: ceil(gpus)]
    if len(found) < gpus:
        raise NoSandboxError(f"execution.gpus={gpus:g}, but {len(found)} GPU device nodes were found on this machine")
    shared = [path for path in _SHARED if os.path.exists(path)]
    return tuple(found + shared), tuple(path for pattern in _SHOWN for path in _sorted(pattern))


def _sorted(pattern: str) -> list[str]:
    """In the order of their numbers."""
    return sorted(glob.glob(pattern), key=lambda path: (len(path), path))


def _chosen(there: list[str]) -> list[str]:
    """Those that the environment leaves to this process."""
    for name in CHOSEN:
        value = os.environ.get(name)
        if value is not None:
            words = [word.strip() for word in value.split(",") if word.strip()]
            return [_named(word, there, f"{name}={value}") for word in words]
    return there


def _named(word: str, there: list[str], said: str) -> str:
    """The node of a number, or of the beginning of an id."""
    if word.isdecimal() and int(word) < len(there):
        return there[int(word)]
    ids = {id_: node for id_, node in _ids() if node in there}
    found = [node for id_, node in ids.items() if word.startswith("GPU-") and id_.startswith(word)]
    if len(found) == 1:
        return found[0]
    allowed = f"numbers from 0 to {len(there) - 1}" if there else "nothing: no GPU device node is here"
    if ids:
        allowed += f", and {', '.join(ids)}"
    raise NoSandboxError(f"{said}: execution.gpus finds no GPU {word!r}; allowed are {allowed}")


def _ids() -> Iterator[tuple[str, str]]:
    """(id, device node) of every card of NVIDIA's, as its driver tells them."""
    for path in sorted(glob.glob(_CARDS)):
        told = dict(re.findall(r"^([^:\n]+):\s*(.*?)\s*$", Path(path).read_text(encoding="utf-8"), re.MULTILINE))
        if "GPU UUID" in told and "Device Minor" in told:
            yield told["GPU UUID"], f"{_NVIDIA}{told['Device Minor']}"
