"""A fork server that is started before anybody has read what a run asks for: it is like the last one in this place.

It imports while the configuration is read. What it was started with is a guess, and nothing runs in it: a run that asks
for exactly the same takes it, any other ends it and starts its own.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from core.executor.server import ForkServer, ServerConfig, own_python, private_folder
from utils.errors import SandboxError
from utils.file_utils import write_atomic

GUESS = ".sandbox-guess.json"
"""In the folder of states: what the last sandbox was started with."""


class EarlyServer:
    """Starts as it is made, where there is something to go by.

    Args:
        state_dir: where the run will probably keep the states of its sandbox.
    """

    def __init__(self, state_dir: Path) -> None:
        self._server: ForkServer | None = None
        if (guess := _guess(state_dir)) is not None:
            with suppress(OSError, SandboxError):  # the run that asks for it is told
                self._server = ForkServer(replace(guess, state_dir=private_folder(state_dir)))

    def take(self, wanted: ServerConfig) -> ForkServer | None:
        """The server, which is the caller's from now on, with a folder of states of its own; None where it is not what
        is wanted.
        """
        server = self._server
        if server is None or replace(server.config, state_dir=wanted.state_dir) != wanted:
            return None
        self._server = None
        return server

    def close(self) -> None:
        """Where nobody took it, nothing is left of it."""
        if self._server is not None:
            self._server.close()
            shutil.rmtree(self._server.config.state_dir, ignore_errors=True)
            self._server = None


def remember(config: ServerConfig) -> None:
    """Let the next start with this folder of states begin with a server like this one.

    Only a plain one: our own interpreter, modules by name, no devices or toolchains. What a user's file names is never
    run before the user's configuration is read.
    """
    plain = ServerConfig(config.tier, own_python(), config.preload, config.state_dir, hide=config.hide)
    has_files = any(name.endswith(".py") for name in config.preload)
    if config != plain or has_files or config == _guess(config.state_dir):
        return
    told = {"tier": config.tier, "preload": config.preload, "hide": config.hide}
    with suppress(OSError):  # the next start is slower, that is all
        write_atomic(config.state_dir / GUESS, json.dumps(told))


def _guess(state_dir: Path) -> ServerConfig | None:
    """What is remembered; None where it is nothing, or not ours."""
    path = state_dir / GUESS
    try:
        if path.stat().st_uid != os.getuid():
            return None
        told = json.loads(path.read_text(encoding="utf-8"))
        preload, hide = tuple(map(str, told["preload"])), tuple(map(str, told["hide"]))
        return ServerConfig(str(told["tier"]), own_python(), preload, state_dir, hide=hide)
    except (OSError, ValueError, KeyError, TypeError):
        return None
