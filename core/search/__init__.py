"""Policies: what is written next, from scores alone."""

from __future__ import annotations

from utils.doors import door

__getattr__, __dir__ = door(
    __name__,
    {
        "GenerationsPolicy": "core.search.generations",
        "IslandsPolicy": "core.search.islands",
        "MCTSPolicy": "core.search.mcts",
        "ThreePhasePolicy": "core.search.three_phase",
    },
)
