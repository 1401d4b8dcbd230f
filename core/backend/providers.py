"""Providers by name. Each module offers `connect` (a client, SDK loaded there) and `query` (one attempt)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.backend import backend_openai
from core.backend.deadline import Deadline
from core.backend.exchange import Reply, Request
from core.backend.settings import ModelSettings

PROVIDER_TO_QUERY: dict[str, Callable[[Any, Request, ModelSettings, Deadline], Reply]] = {
    "openai": backend_openai.query,
    "azure": backend_openai.query,
}
PROVIDER_TO_CLIENT: dict[str, Callable[[ModelSettings], Any]] = {
    "openai": backend_openai.connect,
    "azure": backend_openai.connect,
}
PROVIDERS = ("rules", *PROVIDER_TO_QUERY)
