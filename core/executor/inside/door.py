"""The one address of a confined agent: `python -I -B door.py DOOR PORT COMMAND …` listens there, then becomes it.

A socket belongs to the network that it was made in, whoever holds it: what listens inside is answered by the gateway
outside, which is handed the socket through the descriptor DOOR.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import sys

_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


def bring_up() -> None:
    """Switch the loopback interface of a new network on. Needs to be root of that network."""
    with socket.socket() as interface:
        up = struct.unpack("16sH14x", fcntl.ioctl(interface, _SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0)))[1]
        fcntl.ioctl(interface, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", up | _IFF_UP))


def open_door(door: int, port: int) -> None:
    """Listen at 127.0.0.1:`port` of this network, and hand the socket out through the descriptor `door`."""
    with socket.socket() as listener, socket.socket(fileno=door) as outside:
        listener.bind(("127.0.0.1", port))
        listener.listen()  # here, and not by who answers: the agent may ask before that one has the socket
        socket.send_fds(outside, [b"1"], [listener.fileno()])


if __name__ == "__main__":
    open_door(int(sys.argv[1]), int(sys.argv[2]))
    os.execv(sys.argv[3], sys.argv[3:])
