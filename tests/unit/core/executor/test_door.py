"""The one address of a confined agent."""

from __future__ import annotations

import socket

from core.executor.inside.door import open_door


def test_what_is_handed_out_listens_already():
    """An agent that asks at once, before the gateway has the socket, waits for its answer and is not refused."""
    outside, inside = socket.socketpair()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    open_door(inside.detach(), port)
    with outside, socket.create_connection(("127.0.0.1", port), timeout=5) as asks:
        _, (handed,), _, _ = socket.recv_fds(outside, 1, 1)
        with socket.socket(fileno=handed) as listener:
            answers, _ = listener.accept()
            with answers:
                answers.sendall(b"here")
                assert asks.recv(4) == b"here"
