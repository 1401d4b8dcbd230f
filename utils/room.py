"""What the limits of a session, a container or the machine refuse, in words that say which limit it is."""

from __future__ import annotations

import errno
import os
import resource

NO_ROOM = {
    errno.EMFILE: "no room for another open file (ulimit -n)",
    errno.ENFILE: "no room for another open file (sysctl fs.file-max)",
    errno.EAGAIN: "no room for another process (ulimit -u, or pids.max of a cgroup)",
    errno.ENOMEM: "no room for more memory (ulimit -v, or a cgroup's limit)",
}
NO_THREAD_ERROR = "can't start new thread"
"""Python's words in a RuntimeError."""
NO_THREAD = "no room for another thread (ulimit -u, ulimit -v, or pids.max of a cgroup)"


def no_room(number: int) -> str:
    """Which limit an error of the system by this number names, and its value where it is this process's own."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return NO_ROOM[number].replace("ulimit -n", f"ulimit -n is {most}")


def room_that_lacked(line: str) -> str:
    """What an error of ours quotes of the limits, to follow it; '' for one that quotes none or names one already."""
    if "ulimit" in line:
        return ""
    quoted = [number for number in NO_ROOM if f"[Errno {number}]" in line or line.endswith(os.strerror(number))]
    return "".join(f"; {no_room(number)}" for number in quoted) or (f"; {NO_THREAD}" if NO_THREAD_ERROR in line else "")
