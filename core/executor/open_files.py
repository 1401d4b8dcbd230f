"""How many files this process may open (`ulimit -n`), and how many programs may run side by side by that."""

from __future__ import annotations

import resource

from utils.counts import counted
from utils.errors import ConfigError

_ALWAYS_ENOUGH = 1 << 16
_OF_A_RUN = 32
"""A run's own: its store, log and tables, a fork server, a thread's few files for a moment. Measured: 24 to 27."""
_OF_A_PROGRAM = 7
"""One that runs: three to its sandbox, two for its user id, two to an evaluator that is kept apart from it."""
_MOST_KEPT = 16
_SCARCE = 64
"""Of fewer nothing is kept open for later."""


def allow_open_files() -> None:
    """Raise our own limit as far as we may, up to a number that is always enough.

    Candidates of our user can keep descriptors in flight between sockets. The kernel refuses to send further ones to a
    process whose limit is below their number; a candidate's own limit bounds what it can keep.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < most_open_files():
        resource.setrlimit(resource.RLIMIT_NOFILE, (most_open_files(), hard))


def most_open_files() -> int:
    """What this process may raise its limit to."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _ALWAYS_ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ALWAYS_ENOUGH)


def slots_with_room(wanted: int, programs: int = 1) -> int:
    """As many slots as were asked for, or the fewer for which there are files.

    Args:
        programs: that one slot runs at a time.

    Raises:
        ConfigError: there is no room for one.
    """
    fitting = (most_open_files() - _OF_A_RUN) // (programs * _OF_A_PROGRAM)
    if fitting < 1:
        each = programs * _OF_A_PROGRAM
        raise ConfigError(
            f"ulimit -n is {most_open_files()}: a run needs {counted(_OF_A_RUN + each, 'open file')}, and {each} more "
            f"for each further worker. Remedy: ulimit -n 256, or more, before it is started"
        )
    return min(wanted, fitting)


def most_kept() -> int:
    """Sandboxes, and programs in them, that are kept open for whoever may want them next."""
    return max(0, min(_MOST_KEPT, (most_open_files() - _SCARCE) // (2 * _OF_A_PROGRAM)))
