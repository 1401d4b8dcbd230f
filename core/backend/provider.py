"""ProviderSpec: everything that Swarm-Evo has to know of one provider of models, in one place."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from core.backend.deadline import Deadline
from core.backend.exchange import Reply, Request
from core.backend.settings import ModelSettings
from utils.errors import ConfigError
from utils.extras import install_line, installer

Connect = Callable[[ModelSettings], Any]
"""Makes a client. The SDK is imported here, and its own retries are switched off."""

Send = Callable[[Any, Request, ModelSettings, Deadline], Reply]
"""(client, request, settings, deadline) → reply: one try. Errors may be the SDK's own; a cut stream is an EOFError."""


@dataclass(frozen=True, slots=True)
class ProviderSpec:
    """How one provider is asked, and what the checks before a run need to know of it."""

    connect: Connect
    query: Send
    package: str = ""
    """Module that `connect` imports; '' for none beyond the plain install."""
    extra: str = ""
    """Extra of ours that installs it; '' where `pip install <package>` does."""
    key_variables: tuple[str, ...] = ()
    """Environment variables where the key of the provider's own address usually is; () where none is usual."""
    url_variable: str = ""
    """Environment variable where the address usually is."""
    publishers: tuple[str, ...] = ()
    """Names under which `genai-prices` lists the prices of its own address, best first."""
    cache_write: float = 1.0
    """What a token of a prompt costs that the provider writes into its own cache, over any other of it."""
    sends_bills: bool = True
    """False for what runs on the user's own machine: it costs nothing unless a price is set."""
    is_model: bool = True
    """False for `rules`, which is no language model: tokens and cost are null."""
    has_tools: bool = True
    """False where a tool's arguments come as JSON in the reply's text."""
    owns_address: bool = False
    """True if `base_url` is a place of the provider's own, as on a cloud: its usual key and prices hold there too."""
    starts_program: bool = False
    """True if a reply comes from a program of this machine: as a writer it runs in a view of its own."""
    by_session: bool = False
    """True if a reply is the end of a session with costs of its own: its limits are reserved, its counts are taken."""
    grace: float = 0.0
    """Seconds after its time limit in which it still hands in what there is."""
    is_outside: bool = False
    """True if nobody is asked: writers come to the run, by ask and tell."""
    client_per_model: bool = False
    """True if models of one address need different clients."""
    model_name: Callable[[Mapping[str, Any]], str] = lambda keys: ""
    """(keys of the role) → the model's name where the user sets none; '' if one must be set."""
    check: Callable[[ModelSettings], None] = lambda settings: None
    """Raises ConfigError if a model cannot be asked as it is set. Sends nothing."""

    def __post_init__(self) -> None:
        _check_call("connect", self.connect, "settings")
        _check_call("query", self.query, "client", "request", "settings", "deadline")

    def require(self, settings: ModelSettings) -> None:
        """Raise ConfigError, in one line, if this model cannot be asked: a package, address or program is missing."""
        if self.package:
            need_package(settings, self.package, self.extra)
        self.check(settings)


def _check_call(name: str, function: object, *arguments: str) -> None:
    """TypeError: it cannot be called so; raised later, that would be taken for a fault of the server's, and retried."""
    if not callable(function):
        raise TypeError(f"{name}={function!r:.60}: a function is needed")
    try:
        inspect.signature(function).bind(*arguments)
    except ValueError:  # of a function in C, which says nothing of its arguments
        return
    except TypeError as error:
        raise TypeError(f"{name} cannot be called as {name}({', '.join(arguments)}): {error}") from error


def need_package(settings: ModelSettings, module: str, extra: str) -> None:
    """Raise ConfigError with the line that installs it if `module` cannot be imported."""
    if not is_installed(module):
        name = f"llm.{settings.role}.provider={settings.provider}"
        line = install_line(extra) if extra else f"{installer()} {module}"
        raise ConfigError(f"{name} needs the package {module}, which is not installed: {line}")


def is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the parent package is missing
        return False
