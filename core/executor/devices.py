"""GPUs inside the sandbox: device nodes, and what a driver's libraries read. Run on NVIDIA's; AMD's and Intel's are
written from documentation."""

from __future__ import annotations

import glob
import os
import re
import threading
from collections.abc import Iterator
from math import ceil
from pathlib import Path
from typing import NamedTuple

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


class Cards:
    """Deals this machine's GPUs, of those that CHOSEN names, so that all have equally many users. Thread-safe.

    Args:
        gpus: how many a job uses; a part of one is one that others use too.

    Raises:
        NoSandboxError: there are fewer.
    """

    def __init__(self, gpus: float) -> None:
        self.each = ceil(gpus)
        """How many a job gets."""
        self._sharers = int(1 / gpus) if 0 < gpus < 1 else 1
        found = _chosen(_there()) if gpus else []
        if len(found) < gpus:
            told = f"execution.gpus={gpus:g}, but {len(found)} GPU device nodes were found on this machine"
            raise NoSandboxError(told)
        self._users = dict.fromkeys(found, 0)
        """How many use each; whose turn is latest stands last."""
        self._shared = [path for path in _SHARED if os.path.exists(path)] if gpus else []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._users)

    @property
    def places(self) -> int:
        """Jobs at once that leave each what it was promised; 0 without GPUs."""
        return len(self) // self.each * self._sharers if self.each else 0

    def nodes(self) -> list[str]:
        """What the next job gets: nodes of the cards with the fewest users, and those that all cards share."""
        return sorted(self._users, key=self._users.__getitem__)[: self.each] + self._shared

    def take(self) -> list[str]:
        """`nodes`, for a job that gives them back."""
        with self._lock:
            taken = self.nodes()
            for path in taken[: self.each]:
                self._users[path] = self._users.pop(path) + 1
        return taken

    def give_back(self, nodes: list[str]) -> None:
        with self._lock:
            for path in nodes[: self.each]:
                self._users[path] -= 1

    def models(self) -> list[str]:
        """What the cards are called; [] where their driver does not tell."""
        told = {card.node: card.model for card in _told()}
        return sorted({told[path] for path in self._users if path in told})


def shown() -> list[str]:
    """Files and folders that programs with cards read."""
    return [path for pattern in _SHOWN for path in _sorted(pattern)]


def _there() -> list[str]:
    """The nodes of all cards."""
    return next(filter(None, (_sorted(pattern) for pattern in _EACH)), [])


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
    ids = {card.id: card.node for card in _told() if card.node in there}
    found = [node for id_, node in ids.items() if word.startswith("GPU-") and id_.startswith(word)]
    if len(found) == 1:
        return found[0]
    allowed = f"numbers from 0 to {len(there) - 1}" if there else "nothing: no GPU device node is here"
    if ids:
        allowed += f", and {', '.join(ids)}"
    raise NoSandboxError(f"{said}: execution.gpus finds no GPU {word!r}; allowed are {allowed}")


class _Card(NamedTuple):
    id: str
    node: str
    model: str


def _told() -> Iterator[_Card]:
    """Every card of NVIDIA's, as its driver tells of them."""
    for path in sorted(glob.glob(_CARDS)):
        told = dict(re.findall(r"^([^:\n]+):\s*(.*?)\s*$", Path(path).read_text(encoding="utf-8"), re.MULTILINE))
        if "GPU UUID" in told and "Device Minor" in told:
            yield _Card(told["GPU UUID"], f"{_NVIDIA}{told['Device Minor']}", told.get("Model", ""))
