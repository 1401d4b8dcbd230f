"""The problems that come along. One line registers one; a third party's comes by entry point or `problem.plugins`."""

from __future__ import annotations

BUILTIN: dict[str, str] = {
    "competition": "problems.competition.problem",
    "bin_packing": "problems.bin_packing.problem",
    "tsp": "problems.tsp.problem",
    "script": "problems.script.problem",
    "command": "problems.command.problem",
    "connect_four": "problems.connect_four.problem",
    "chess_engines": "problems.chess_engines.problem",
}
"""Kind → module that offers `build(cfg, project_dir) -> Problem`."""
