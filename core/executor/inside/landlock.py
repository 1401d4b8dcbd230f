"""Landlock: the file system as a list of what may be done where; everything else is refused."""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Iterable

from . import kernel

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
REMOVE_DIR, REMOVE_FILE, MAKE_DIR, MAKE_REG = 16, 32, 128, 256
MAKE_SOCK, MAKE_FIFO, MAKE_SYM, REFER, TRUNCATE, IOCTL_DEV = 512, 1024, 4096, 8192, 16384, 32768

READ = READ_FILE | READ_DIR
RUN = READ | EXECUTE
CHANGE = (
    RUN | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_SOCK | MAKE_FIFO | MAKE_SYM
    | REFER | TRUNCATE
)  # fmt: skip
"""No MAKE_CHAR and no MAKE_BLOCK: nobody makes device nodes."""
DEVICE = READ_FILE | WRITE_FILE
GPU = READ | WRITE_FILE | IOCTL_DEV
RENAME_THREADS = WRITE_FILE | TRUNCATE
"""CUDA names its threads by `/proc/self/task/…/comm`, and does not start where it cannot. What else a program may write
in /proc is of its own processes."""

_ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
_ALL_FROM_ABI_1 = (1 << 13) - 1
_RULE_PATH_BENEATH = 1


def abi() -> int:
    """Version of the kernel's Landlock; 0 without."""
    try:
        return kernel.syscall("landlock_create_ruleset", None, 0, 1)
    except OSError:
        return 0


def scopes_signals() -> bool:
    """True where Landlock confines signals and abstract sockets to the job (Linux 6.12)."""
    return abi() >= 6


def restrict(rules: Iterable[tuple[str, int]], *, network: bool = False) -> None:
    """Confine this process and its children for good to `rules`: (path, what may be done there and below).

    Paths that do not exist are left out. From ABI 4 on TCP is refused as well, unless `network`; from ABI 6 on signals
    and abstract sockets do not leave the job. OSError(ENOSYS) on a kernel without Landlock.
    """
    put_in_force(ruleset(rules, network=network))


def ruleset(rules: Iterable[tuple[str, int]], version: int | None = None, *, network: bool = False) -> int:
    """The rules of `restrict` as a descriptor, for `put_in_force` here or in a process forked from this one."""
    version = abi() if version is None else version
    if version < 1:
        raise OSError(errno.ENOSYS, "this kernel has no Landlock")
    handled = _ALL_FROM_ABI_1
    handled |= (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0) | (IOCTL_DEV if version >= 5 else 0)
    attributes = struct.pack("=QQQ", handled, 3 if version >= 4 and not network else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    made = kernel.syscall("landlock_create_ruleset", attributes, size, 0)
    for path, mask in rules:
        _allow(made, path, mask & handled)
    return made


def put_in_force(ruleset: int) -> None:
    """Confine this process by the rules of a descriptor, and close that."""
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.syscall("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, mask: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            mask &= _ON_FILES
        kernel.syscall("landlock_add_rule", ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", mask, fd), 0)
    finally:
        os.close(fd)
