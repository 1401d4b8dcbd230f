"""Where a run ran: for the report and for whoever repeats it."""

from __future__ import annotations

import platform
from typing import Any

from utils.packages import versions
from utils.processors import processors

_PACKAGES = ("swarm-evo", "numpy", "pandas", "scikit-learn", "numba", "httpx2", "anthropic", "google-genai")


def environment() -> dict[str, Any]:
    """System, cores and versions; no host name, no user, no path."""
    return {
        "python": platform.python_version(),
        "system": platform.system(),
        "release": platform.release(),
        "machine": platform.machine(),
        "cores": processors(),
        "packages": versions(_PACKAGES),
    }
