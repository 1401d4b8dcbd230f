"""GPUs inside the sandbox: device nodes and driver libraries. Written from documentation, not tested on hardware."""

from __future__ import annotations

import glob
import os
from math import ceil

from utils.errors import NoSandboxError

_SHARED = ("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia-modeset", "/dev/kfd")
_EACH = ("/dev/nvidia[0-9]*", "/dev/dri/renderD*")
_FOLDERS = (
    "/usr/local/cuda",
    "/opt/rocm",
    "/usr/local/nvidia",
    "/run/nvidia",
    "/sys/class/drm",
    "/sys/module/nvidia",
)
"""Beyond /usr, which is shown anyway."""
LIBRARIES = ("libcuda.so.1", "libnvidia-ml.so.1", "libamdhip64.so", "libhsa-runtime64.so.1", "libze_loader.so.1")
"""What programs load to reach a driver: NVIDIA, AMD, Intel."""


CHOSEN = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
"""Variables that name by number the GPUs that this process may use: a user sets them, Ray does for its workers."""


def visible(gpus: float) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(device nodes, library folders) for so many GPUs, the first of those that CHOSEN names; empty for 0.

    Args:
        gpus: a part of one is one that others use too.

    Raises:
        NoSandboxError: there are fewer.
    """
    if gpus <= 0:
        return (), ()
    there = [path for pattern in _EACH for path in sorted(glob.glob(pattern), key=lambda path: (len(path), path))]
    found = _chosen(there)[: ceil(gpus)]
    if len(found) < gpus:
        raise NoSandboxError(f"execution.gpus={gpus:g}, but {len(found)} GPU device nodes were found on this machine")
    shared = [path for path in _SHARED if os.path.exists(path)]
    return tuple(found + shared), tuple(path for path in _FOLDERS if os.path.exists(path))


def _chosen(there: list[str]) -> list[str]:
    """Those that the environment leaves to this process."""
    for name in CHOSEN:
        value = os.environ.get(name)
        if value is None:
            continue
        numbers = [word.strip() for word in value.split(",") if word.strip()]
        if not all(number.isdecimal() and int(number) < len(there) for number in numbers):
            allowed = f"numbers from 0 to {len(there) - 1}" if there else "nothing: no GPU device node is here"
            raise NoSandboxError(f"{name}={value}: execution.gpus finds GPUs by their numbers; allowed are {allowed}")
        return [there[int(number)] for number in numbers]
    return there
