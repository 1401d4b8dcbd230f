"""Where a run ran: for the report and for whoever repeats it."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from utils.processors import processors

_PACKAGES = ("swarm-evo", "numpy", "pandas", "scikit-learn", "numba", "openai", "anthropic", "google-genai")


def environment() -> dict[str, Any]:
    """System, cores and versions; no host name, no user, no path."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "cores": processors(),
        "packages": found,
    }
