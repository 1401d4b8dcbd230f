"""Opening a sandbox of the tier that holds on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from core.executor.early import EarlyServer
from core.executor.probe import choose
from core.executor.server import ServerConfig, own_python, private_folder
from core.executor.tiers import CHOICES, TIERS, make_sandbox
from core.executor.toolchains import toolchains_of
from core.executor.warm import WarmSandbox
from utils.errors import NoSandboxError, SandboxError


def open_sandbox(
    choice: str,
    *,
    preload: Sequence[str] = (),
    python: str | None = None,
    gpus: float = 0,
    hide: Sequence[str] = (),
    paths: Sequence[str] = (),
    state_dir: Path,
    accept_unsandboxed: bool = False,
    early: EarlyServer | None = None,
) -> WarmSandbox:
    """Open a sandbox of the chosen tier. Returns at once: its fork server starts in the background.

    Where the tier has to be attacked first, the server of the likely one imports meanwhile. Nothing runs in it before
    its tier has held.

    Args:
        choice: `auto`, `warm`, `lite`, `bubblewrap` or `none` (`execution.sandbox`).
        preload: modules to import once.
        python: interpreter of the candidates, None for our own (`execution.python`).
        hide: files and folders of installed packages that programs do not see, as patterns below a folder of packages:
            `sklearn/datasets/data`. No tier but `none` shows them.
        paths: folders of toolchains that programs may read and run (`execution.paths`).
        state_dir: folder of ours, for logs and cached probes.
        accept_unsandboxed: the user's `--i-accept-unsandboxed`.
        early: a server that was started on a guess, to be used if it is what is asked for.

    Raises:
        NoSandboxError: nothing that holds, or `none` without the flag.
        ConfigError: one of `paths` is no folder of a toolchain.
    """
    toolchains = toolchains_of(paths)
    if choice not in CHOICES:
        raise NoSandboxError(f"execution.sandbox={choice} is not one of {', '.join(CHOICES)}")
    if choice == "none" and not accept_unsandboxed:
        raise NoSandboxError("execution.sandbox=none runs programs unprotected; add --i-accept-unsandboxed to mean it")
    wanted = ServerConfig(
        tier=TIERS[0] if choice == "auto" else choice, python=python or own_python(), preload=tuple(preload),
        state_dir=state_dir, show=toolchains.shown, environment=toolchains.environment,
        hide=(*hide, *toolchains.hidden),
    )  # fmt: skip
    early = None if gpus else early  # one that was started on a guess knows of no devices
    with ExitStack() as opened:
        box: WarmSandbox | None = None
        with suppress(SandboxError):  # that there is no such tier here is told below, with its remedy
            box = _started(wanted, gpus, early)
            opened.callback(box.close)
        if choice != "none":
            wanted = replace(wanted, tier=choose(choice, python=python, gpus=gpus, state_dir=state_dir))
        if box is not None and box.tier == wanted.tier:
            opened.pop_all()
        else:
            box = _started(wanted, gpus, early)
    if choice != "none" and early is not None:
        early.remember(wanted)
    return box


def _started(wanted: ServerConfig, gpus: float, early: EarlyServer | None) -> WarmSandbox:
    """A sandbox with a folder of states of its own below the one that is named."""
    server = early.take(wanted) if early is not None else None
    if server is not None:
        return make_sandbox(server.config, gpus, server)
    own = replace(wanted, state_dir=private_folder(wanted.state_dir))
    try:
        return make_sandbox(own, gpus)
    except SandboxError:
        shutil.rmtree(own.state_dir, ignore_errors=True)
        raise
