"""Opening a sandbox of the tier that holds on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from core.executor.probe import choose
from core.executor.server import ServerConfig, own_python, private_folder
from core.executor.tiers import CHOICES, make_sandbox
from core.executor.toolchains import toolchains_of
from core.executor.warm import WarmSandbox
from utils.errors import NoSandboxError


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
) -> WarmSandbox:
    """Open a sandbox of the chosen tier. Returns at once: its fork server starts in the background.

    Args:
        choice: `auto`, `warm`, `lite`, `bubblewrap` or `none` (`execution.sandbox`).
        preload: modules to import once.
        python: interpreter of the candidates, None for our own (`execution.python`).
        hide: files and folders of installed packages that programs do not see, as patterns below a folder of packages:
            `sklearn/datasets/data`. No tier but `none` shows them.
        paths: folders of toolchains that programs may read and run (`execution.paths`).
        state_dir: folder of ours, for logs and cached probes.
        accept_unsandboxed: the user's `--i-accept-unsandboxed`.

    Raises:
        NoSandboxError: nothing that holds, or `none` without the flag.
        ConfigError: one of `paths` is no folder of a toolchain.
    """
    toolchains = toolchains_of(paths)
    if choice not in CHOICES:
        raise NoSandboxError(f"execution.sandbox={choice} is not one of {', '.join(CHOICES)}")
    if choice == "none" and not accept_unsandboxed:
        raise NoSandboxError("execution.sandbox=none runs programs unprotected; add --i-accept-unsandboxed to mean it")
    tier = "none" if choice == "none" else choose(choice, python=python, gpus=gpus, state_dir=state_dir)
    config = ServerConfig(
        tier=tier, python=python or own_python(), preload=tuple(preload), state_dir=private_folder(state_dir),
        show=toolchains.shown, environment=toolchains.environment, hide=(*hide, *toolchains.hidden),
    )  # fmt: skip
    return make_sandbox(config, gpus)
