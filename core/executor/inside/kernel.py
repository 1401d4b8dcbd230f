"""Kernel calls that the standard library lacks: namespaces, mounts, capabilities, process control."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from . import syscalls

CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC = 0x00020000, 0x04000000, 0x08000000
CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 0x10000000, 0x20000000, 0x40000000
SIGCHLD = 17

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME = 1, 2, 4, 8, 1024
MS_REMOUNT, MS_BIND, MS_MOVE, MS_REC, MS_PRIVATE, MS_SLAVE = 32, 4096, 8192, 16384, 1 << 18, 1 << 19
MNT_DETACH = 2

PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_CAPBSET_DROP = 1, 4, 24
PR_SET_KEEPCAPS = 8
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 36, 38, 47
_AMBIENT_RAISE, _AMBIENT_CLEAR_ALL = 2, 4
_CAPABILITY_VERSION_3 = 0x20080522
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2

_libc: Any = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long


def check(result: int, what: str) -> int:
    """Raise OSError with errno for a negative result, naming the call."""
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return result


def syscall(name: str, *args: Any) -> int:
    """A raw system call by name; OSError when it fails. Integers travel as 64-bit words."""
    number = syscalls.number(name)
    if number is None:
        raise NotImplementedError(f"no system call {name} on this machine")
    words = [ctypes.c_ulong(a & 0xFFFFFFFFFFFFFFFF) if isinstance(a, int) else a for a in args]
    return check(_syscall(ctypes.c_long(number), *words), name)


def prctl(option: int, a: int = 0, b: int = 0) -> None:
    zero = ctypes.c_ulong(0)
    check(_libc.prctl(option, ctypes.c_ulong(a), ctypes.c_ulong(b), zero, zero), f"prctl {option}")


def mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    encoded = [None if text is None else os.fsencode(text) for text in (source, target, kind, data)]
    result = _libc.mount(encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])
    check(result, f"mount {kind or 'bind'} {source or ''} on {target}")


def unmount(target: str, flags: int = 0) -> None:
    check(_libc.umount2(os.fsencode(target), flags), f"umount {target}")


def attributes(path: str) -> int:
    """Bytes that the names of a path's extended attributes take: whoever gave them, the names stay with the kernel."""
    return check(_libc.listxattr(os.fsencode(path), None, ctypes.c_size_t(0)), f"listxattr {path}")


_MOUNT_ATTR_RDONLY, _MOUNT_ATTR_NOSUID, _MOUNT_ATTR_NODEV = 1, 2, 4
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000


def bind(source: str, target: str, *, read_only: bool) -> None:
    """Bind `source` with everything mounted below it; never set-uid, never devices."""
    mount(source, target, None, MS_BIND | MS_REC)
    attributes = _MOUNT_ATTR_NOSUID | _MOUNT_ATTR_NODEV | (_MOUNT_ATTR_RDONLY if read_only else 0)
    packed = attributes.to_bytes(8, "little") + bytes(24)
    try:
        syscall("mount_setattr", _AT_FDCWD, os.fsencode(target), _AT_RECURSIVE, packed, len(packed))
    except (OSError, NotImplementedError):  # before Linux 5.12: the top mount only
        mount(None, target, None, MS_BIND | MS_REMOUNT | MS_NOSUID | MS_NODEV | (MS_RDONLY if read_only else 0))


def fork_into(namespaces: int) -> int:
    """fork() whose child is the first process of the new `namespaces`. Only from a single-threaded process."""
    api: Any = ctypes.pythonapi
    api.PyOS_BeforeFork()
    flags = ctypes.c_ulong(namespaces | SIGCHLD)
    pid = int(_syscall(ctypes.c_long(syscalls.number("clone") or 0), flags, None, None, None, None))
    if pid == 0:
        api.PyOS_AfterFork_Child()
    else:
        code = ctypes.get_errno()
        api.PyOS_AfterFork_Parent()
        if pid < 0:
            raise OSError(code, f"clone into new namespaces: {os.strerror(code)}")
    return pid


def map_identity(uid: int, gid: int) -> None:
    """In a new user namespace: keep our own ids and map no other."""
    for name, text in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def effective_capabilities() -> int:
    """Bit set of the capabilities in force."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1], 16) for line in file if line.startswith("CapEff:"))


def drop_capabilities() -> None:
    """Give up every capability, for this process and all it will execute."""
    shrink_bounding_set()
    set_capabilities(0)


def become(uid: int, keep: int = 0) -> None:
    """Take `uid` and the group of the same number, for good, without supplementary groups and other capabilities."""
    shrink_bounding_set(keep)
    change_user(uid, keep)


def change_user(uid: int, keep: int = 0) -> None:
    """`become` where the bounding set has been shrunk before, by this process or the one that forked it."""
    prctl(PR_SET_KEEPCAPS, 1)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    set_capabilities(keep)
    prctl(PR_SET_DUMPABLE, 1)  # a change of uid hides /proc/self from its own process


def shrink_bounding_set(keep: int = 0) -> None:
    """What no program that is executed can gain; what this process holds itself it keeps."""
    for capability in range(64):
        if not keep >> capability & 1:
            try:
                prctl(PR_CAPBSET_DROP, capability)
            except OSError:  # beyond the last one this kernel knows, or none is ours to drop
                return


def set_capabilities(keep: int = 0) -> None:
    """Hold exactly the bit set `keep`; executed programs keep it, too."""
    prctl(PR_CAP_AMBIENT, _AMBIENT_CLEAR_ALL)
    header = _CAPABILITY_VERSION_3.to_bytes(4, "little") + bytes(4)
    low, high = (keep & 0xFFFFFFFF).to_bytes(4, "little"), (keep >> 32).to_bytes(4, "little")
    syscall("capset", header, low * 3 + high * 3)
    for capability in range(64):
        if keep >> capability & 1:
            prctl(PR_CAP_AMBIENT, _AMBIENT_RAISE, capability)


_MADV_COLLAPSE = 25
_HUGE = 2 << 20


def collapse_memory() -> None:
    """Back our private memory with huge pages where the kernel can (Linux 6.1): a fork then copies few table entries.

    A child that writes gets small pages of its own again, so nothing is copied in larger pieces than before.
    """
    _libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    with open("/proc/self/maps") as file:
        lines = file.read().splitlines()
    for line in lines:
        fields = line.split()
        if fields[1] != "rw-p" or (len(fields) > 5 and fields[5] != "[heap]"):
            continue
        start, end = (int(word, 16) for word in fields[0].split("-"))
        start, end = -(-start // _HUGE) * _HUGE, end // _HUGE * _HUGE
        if end > start:
            _libc.madvise(start, end - start, _MADV_COLLAPSE)  # a refusal costs nothing
