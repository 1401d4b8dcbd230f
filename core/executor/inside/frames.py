"""Length-prefixed JSON frames over a stream socket, for the trusted talk between host, fork server and supervisor."""

from __future__ import annotations

import json
import os
import socket
from typing import Any

HEADER = 4
_MAX_FDS = 8


def send(channel: socket.socket, message: dict[str, Any], fds: list[int] | None = None) -> None:
    data = framed(message)
    sent = socket.send_fds(channel, [data], fds) if fds else 0
    if sent < len(data):
        channel.sendall(data[sent:])


def framed(message: dict[str, Any]) -> bytes:
    data = json.dumps(message).encode()
    return len(data).to_bytes(HEADER, "little") + data


def receive(channel: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    """The next message with its descriptors; None when the other side is gone."""
    fds: list[int] = []
    try:
        header, fds, _, _ = socket.recv_fds(channel, HEADER, _MAX_FDS)
        for fd in fds:
            os.set_inheritable(fd, False)
        header += _exactly(channel, HEADER - len(header)) if header else b""
        data = _exactly(channel, int.from_bytes(header, "little"))
    except OSError:
        for fd in fds:
            os.close(fd)
        return None
    return (json.loads(data), fds) if header else None


def _exactly(channel: socket.socket, size: int) -> bytes:
    """Raises ConnectionError where the other side is gone before."""
    data = bytearray()
    while len(data) < size:
        part = channel.recv(min(size - len(data), 1 << 20))
        if not part:
            raise ConnectionError("the other side is gone in the middle of a message")
        data += part
    return bytes(data)


def read(fd: int) -> bytes | None:
    """The next message, which carries no descriptors, as its text; None when the other side is gone.

    For a process that was just forked: little memory is touched.
    """
    data = b""
    while len(data) < HEADER or len(data) < HEADER + int.from_bytes(data[:HEADER], "little"):
        part = os.read(fd, 1 << 16)
        if not part:
            return None
        data += part
    return data[HEADER:]
