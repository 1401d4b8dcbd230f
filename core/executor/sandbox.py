"""Choosing the tier that holds on this machine.

warm         namespaces, Landlock, seccomp; forked from a preloaded interpreter
lite         no namespaces: Landlock and seccomp alone
bubblewrap   namespaces made by `bwrap`, with our filter
none         not isolated at all
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from core.contracts import Sandbox
from core.executor import devices
from core.executor.inside import landlock
from core.executor.probe import choose
from core.executor.server import ServerConfig, own_python, private_folder
from core.executor.warm import WarmSandbox
from utils.errors import NoSandboxError

CHOICES = ("auto", "warm", "lite", "bubblewrap", "none")


def open_sandbox(
    choice: str,
    *,
    preload: Sequence[str] = (),
    python: str | None = None,
    gpus: int = 0,
    state_dir: Path,
    accept_unsandboxed: bool = False,
) -> Sandbox:
    """Open a sandbox of the chosen tier. Returns at once: its fork server starts in the background.

    Args:
        choice: `auto`, `warm`, `lite`, `bubblewrap` or `none` (`execution.sandbox`).
        preload: modules to import once.
        python: interpreter of the candidates, None for our own (`execution.python`).
        state_dir: folder of ours, for logs and cached probes.
        accept_unsandboxed: the user's `--i-accept-unsandboxed`.

    Raises:
        NoSandboxError: nothing that holds, or `none` without the flag.
    """
    if choice not in CHOICES:
        raise NoSandboxError(f"execution.sandbox={choice} is not one of {', '.join(CHOICES)}")
    if choice == "none" and not accept_unsandboxed:
        raise NoSandboxError("execution.sandbox=none runs programs unprotected; add --i-accept-unsandboxed to mean it")
    tier = "none" if choice == "none" else choose(choice, python=python, gpus=gpus, state_dir=state_dir)
    config = ServerConfig(
        tier=tier, python=python or own_python(), preload=tuple(preload), state_dir=private_folder(state_dir)
    )
    return make_sandbox(config, gpus)


def make_sandbox(config: ServerConfig, gpus: int = 0) -> WarmSandbox:
    """The sandbox of a tier, unproven: `open_sandbox` attacks it first."""
    if config.tier == "lite" and not landlock.abi():
        raise NoSandboxError("this kernel has no Landlock, which the tier lite is made of")
    if config.tier == "bubblewrap":
        if os.getuid() == 0:
            raise NoSandboxError("bubblewrap is never run as uid 0")
        if shutil.which("bwrap") is None:
            raise NoSandboxError("bubblewrap is not installed (apt install bubblewrap)")
    nodes, libraries = devices.visible(gpus)
    return WarmSandbox(replace(config, devices=(*config.devices, *nodes), show=(*config.show, *libraries)))
