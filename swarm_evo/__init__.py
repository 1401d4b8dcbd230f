"""Swarm-Evo from Python: `swarm_evo.search(problem="bin_packing", budget={"seconds": 60})`.

The search runs in a child process; the result is read from its store. Nothing of ours but this package is importable in
yours.
"""

from __future__ import annotations

from swarm_evo.result import Best, Result
from swarm_evo.search import SearchError, search

__all__ = ["Best", "Result", "SearchError", "search"]
__version__ = "0.1.0"
