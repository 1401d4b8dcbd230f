"""Roles that write and review: prompts in, programs out; they never run code."""

from __future__ import annotations

from utils.doors import door

__getattr__, __dir__ = door(
    __name__,
    {
        "AgentContext": "core.contracts",
        "AgentResult": "core.contracts",
        "BaseAgent": "agents.base_agent",
        "BuilderAgent": "agents.builder_agent",
        "CoderAgent": "agents.coder_agent",
        "ReviewerAgent": "agents.reviewer_agent",
        "StrategistAgent": "agents.strategist_agent",
    },
)
