"""Runs the server in the foreground: `serve`, and `replay --serve`."""

from __future__ import annotations

import errno
import secrets
import socket as sockets
from collections.abc import Callable, Sequence
from pathlib import Path

import uvicorn

from dashboard.server.app import create_app
from dashboard.server.page import DIST, not_built
from dashboard.server.prompt_protocol import PromptProtocol
from dashboard.server.replay import FASTEST, SLOWEST
from dashboard.server.schemas.runs import ReplayAt
from dashboard.server.security import LOOPBACK
from utils.errors import ConfigError, UnknownRunError

SHUTDOWN_SECONDS = 3
"""How long open answers may take after Ctrl-C; sockets are closed at once."""
SEND_BUFFER = 256 * 1024
"""Bytes that the kernel keeps for a client that does not read; what is beyond waits in our queue, which is bounded."""
NO_TOKEN = "none"
"""What is given as the token to serve without one."""
_ANY = frozenset({"0.0.0.0", "::", ""})


def tell(text: str) -> None:
    """Print at once: who reads the address from a pipe waits for it."""
    print(text, flush=True)


def token_of(given: str | None) -> str | None:
    """The token to serve with: the one that is given, none for `none`, and a fresh one where nothing is said."""
    return secrets.token_urlsafe(18) if not given else None if given == NO_TOKEN else given


def serve(
    project_dir: Path,
    host: str,
    port: int,
    token: str | None = None,
    *,
    replay: ReplayAt | None = None,
    plugins: Sequence[str] = (),
    say: Callable[[str], None] = tell,
) -> int:
    """Serve until Ctrl-C or SIGTERM and return 0.

    Args:
        port: 0 for any free one; the address is told through `say`.
        plugins: as for `create_app`.
    Raises:
        ConfigError: an address other than loopback without a token, or one that cannot be bound.
    """
    if host not in LOOPBACK and not token:
        raise ConfigError(
            f"dashboard.host={host}: an address other than 127.0.0.1 needs dashboard.token, since everyone who"
            " reaches it could start programs"
        )
    app = create_app(project_dir, token, hosts=None if host in _ANY else (host,), replay=replay, plugins=plugins)
    listener = _bind(host, port)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        http=PromptProtocol,
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        ws_max_size=64 * 1024,
        ws_ping_interval=20,
        ws_ping_timeout=60,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        server_header=False,
    )
    shown = "127.0.0.1" if host in _ANY else f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    say(f"Swarm-Evo dashboard: {address}{f'?token={token}' if token else ''}   (Ctrl-C to stop)")
    if host in _ANY:
        say("served on every address of this machine: in place of 127.0.0.1 others write one of these")
    if not token:
        say("no token: every user of this machine can start, stop and steer runs as you")
    if lacks := not_built(DIST):
        say(lacks)
    server = uvicorn.Server(config)
    try:
        server.run(sockets=[listener])
    except KeyboardInterrupt:
        pass  # uvicorn raises the signal again after a clean shutdown
    finally:
        listener.close()
    return 0


def serve_replay(run_dir: Path, host: str, port: int, speed: float, token: str | None = None) -> int:
    """Show a stored run again, `speed` times as fast as it was, through the same server and page.

    Args:
        run_dir: `logs/<run>` of a project.
    Raises:
        ConfigError: a speed that the socket would refuse, or an address as in `serve`.
    """
    if not SLOWEST <= speed <= FASTEST:
        raise ConfigError(f"--speed={speed:g}: allowed is {SLOWEST:g} to {FASTEST:g}")
    if not (run_dir / "run.db").is_file():
        raise UnknownRunError(f"no run at '{run_dir}'")
    return serve(
        run_dir.resolve().parents[1], host, port, token, replay=ReplayAt(run=run_dir.resolve().name, speed=speed)
    )


_OF_THE_PORT = {errno.EADDRINUSE, errno.EACCES, errno.EPERM}
"""What a port is refused for; all else is the address's fault."""


def _bind(host: str, port: int) -> sockets.socket:
    family = sockets.AF_INET6 if ":" in host else sockets.AF_INET
    listener = sockets.socket(family, sockets.SOCK_STREAM)
    listener.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
    listener.setsockopt(sockets.SOL_SOCKET, sockets.SO_SNDBUF, SEND_BUFFER)
    try:
        listener.bind((host, port))
        listener.listen(256)  # from here on nobody who was told the address is refused
    except OSError as error:
        listener.close()
        key = f"port={port}" if error.errno in _OF_THE_PORT else f"host={host}"
        raise ConfigError(f"dashboard.{key}: cannot listen on {host}:{port}: {error.strerror}") from error
    return listener
