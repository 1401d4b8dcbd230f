"""A sandbox of one named tier, as the configuration asks for it and unproven.

warm         namespaces, Landlock, seccomp; forked from a preloaded interpreter
lite         no namespaces: Landlock and seccomp alone
bubblewrap   namespaces made by `bwrap`, with our filter
none         not isolated at all
"""

from __future__ import annotations

import os
import shutil
from dataclasses import replace

from core.executor import devices
from core.executor.inside import landlock
from core.executor.server import ForkServer, ServerConfig
from core.executor.warm import WarmSandbox
from utils.errors import NoSandboxError

TIERS = ("warm", "lite", "bubblewrap")
"""Those that isolate, in the order in which `auto` tries them."""
CHOICES = ("auto", *TIERS, "none")


def make_sandbox(config: ServerConfig, gpus: float = 0, server: ForkServer | None = None) -> WarmSandbox:
    """The sandbox of a tier. `open_sandbox` attacks the tier first, this does not.

    Args:
        server: one that runs already and was started with `config`.

    Raises:
        NoSandboxError: something that the tier is made of is not there.
    """
    if config.tier == "lite" and not landlock.abi():
        raise NoSandboxError("this kernel has no Landlock, which the tier lite is made of")
    if config.tier == "bubblewrap":
        if os.getuid() == 0:
            raise NoSandboxError("bubblewrap is never run as uid 0")
        if shutil.which("bwrap") is None:
            raise NoSandboxError("bubblewrap is not installed (apt install bubblewrap)")
    if gpus:
        config = replace(config, show=(*config.show, *devices.shown()))
    return WarmSandbox(config, server, devices.Cards(gpus))
