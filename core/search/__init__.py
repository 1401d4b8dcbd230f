"""Policies: what is written next, from scores alone."""

from __future__ import annotations

from utils.doors import door

__getattr__, __dir__ = door(
    __name__,
    {
        "GenerationsOptions": "core.search.generations",
        "GenerationsPolicy": "core.search.generations",
        "IslandsOptions": "core.search.islands",
        "IslandsPolicy": "core.search.islands",
        "MCTSOptions": "core.search.mcts",
        "MCTSPolicy": "core.search.mcts",
        "PortfolioOptions": "core.search.portfolio",
        "PortfolioPolicy": "core.search.portfolio",
        "ThreePhaseOptions": "core.search.three_phase",
        "ThreePhasePolicy": "core.search.three_phase",
    },
)
