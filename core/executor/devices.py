"""GPUs inside the sandbox: device nodes and driver libraries. Written from documentation, not tested on hardware."""

from __future__ import annotations

import glob
import os

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


def visible(gpus: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(device nodes, library folders) for the first `gpus` GPUs; empty for 0. NoSandboxError if there are fewer."""
    if gpus <= 0:
        return (), ()
    found = [path for pattern in _EACH for path in sorted(glob.glob(pattern), key=lambda path: (len(path), path))][
        :gpus
    ]
    if len(found) < gpus:
        raise NoSandboxError(f"execution.gpus={gpus}, but {len(found)} GPU device nodes were found on this machine")
    shared = [path for path in _SHARED if os.path.exists(path)]
    return tuple(found + shared), tuple(path for path in _FOLDERS if os.path.exists(path))
