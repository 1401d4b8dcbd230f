"""`provider: external`: programs come from outside, by ask and tell. The run's tickets hand out what is asked."""

from __future__ import annotations

from typing import Any

from core.backend.deadline import Deadline
from core.backend.exchange import Reply, Request
from core.backend.provider import ProviderSpec
from core.backend.settings import ModelSettings
from utils.errors import ConfigError


def _connect(settings: ModelSettings) -> None:
    """There is nothing to connect to: writers come to us."""


def _query(client: Any, request: Request, settings: ModelSettings, deadline: Deadline) -> Reply:
    raise ConfigError("provider 'external' writes in a run only: `run --writer=external`, then `ask` and `tell`")


EXTERNAL = ProviderSpec(
    _connect, _query, sends_bills=False, has_tools=False, is_outside=True, model_name=lambda keys: "client"
)
