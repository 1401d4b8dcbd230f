"""A fork server that is started before anybody has read what a run asks for: it is like the last one for such words.

It imports while the configuration is read. What it was started with is a guess, and nothing runs in it: a run that asks
for exactly the same takes it, any other ends it and starts its own. A guess is of this machine since its start: a
project folder that comes from elsewhere names no module that is imported here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.executor.server import ForkServer, ServerConfig, own_python, private_folder
from utils.errors import SandboxError
from utils.file_utils import write_atomic
from utils.regular_files import read_regular

GUESS = ".sandbox-guess.json"
"""In the folder of states: what sandboxes were started with, by the words that asked for them."""
LAST = "*"
"""Stands for whatever was asked for last."""
_MOST = 16
_BYTES = 1 << 16
_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class EarlyServer:
    """Starts as it is made, where there is something to go by.

    Args:
        state_dir: where the run will probably keep the states of its sandbox.
        about: the words that say what the sandbox is for; where they are not known, it is like the last one.
    """

    def __init__(self, state_dir: Path, about: str = LAST) -> None:
        self._about = about
        self._server: ForkServer | None = None
        guesses = _guesses(state_dir)
        if (guess := guesses.get(about, guesses.get(LAST))) is not None:
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

    def remember(self, config: ServerConfig) -> None:
        """Let the next start with these words and this folder of states begin with a server like this one.

        Only a plain one: our own interpreter, modules by name, no drivers or toolchains. What a user's file names is
        never run before the user's configuration is read.
        """
        plain = ServerConfig(config.tier, own_python(), config.preload, config.state_dir, hide=config.hide)
        known, boot = _guesses(config.state_dir), _boot()
        is_known = known.get(self._about) == known.get(LAST) == config
        if config != plain or not all(map(_is_module, config.preload)) or is_known or not boot:
            return
        others = [item for item in known.items() if item[0] not in (self._about, LAST)][1 - _MOST :]
        told = {name: _plain(one) for name, one in [*others, (self._about, config), (LAST, config)]}
        with suppress(OSError):  # the next start is slower, that is all
            write_atomic(config.state_dir / GUESS, json.dumps({"boot": boot, "guesses": told}))


def _is_module(name: str) -> bool:
    """False for a file, which a server would run."""
    return _MODULE.fullmatch(name) is not None and not name.endswith(".py")


def _plain(config: ServerConfig) -> dict[str, Any]:
    return {"tier": config.tier, "preload": config.preload, "hide": config.hide}


def _boot() -> str:
    """Names the time since this machine was started, to nobody elsewhere; '' where the system does not tell."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _guesses(state_dir: Path) -> dict[str, ServerConfig]:
    """What is remembered; nothing where it is not ours and of now."""
    path = state_dir / GUESS
    try:
        told = json.loads(read_regular(path, _BYTES))
        if path.lstat().st_uid != os.getuid() or not _boot() or told["boot"] != _boot():
            return {}
        return {name: _config(one, state_dir) for name, one in told["guesses"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _config(told: dict[str, Any], state_dir: Path) -> ServerConfig:
    preload, hide = tuple(map(str, told["preload"])), tuple(map(str, told["hide"]))
    if not all(map(_is_module, preload)):
        raise ValueError("a guess that names more than modules")
    return ServerConfig(str(told["tier"]), own_python(), preload, state_dir, hide=hide)
