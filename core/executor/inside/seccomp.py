"""Seccomp-BPF: which system calls a candidate may make.

A list of refusals by class, plus ENOSYS for everything newer than our table. Calls that other programs need and that
are harmful only with some arguments are judged by those arguments.
"""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import struct
from collections.abc import Mapping

from . import kernel, syscalls

_LOAD, _JEQ, _JGE, _JSET, _AND, _RET, _JUMP = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06, 0x05
_ALLOW, _KILL, _ERRNO, _NOTIFY = 0x7FFF0000, 0x80000000, 0x00050000, 0x7FC00000
_X32_BIT = 0x40000000
_SET_MODE_FILTER, FLAG_NEW_LISTENER = 1, 8

_LINEAR = 3
"""So few numbers are compared one after the other."""

Instruction = tuple[int, int, int, int]
"""code, jump if true, jump if false, constant"""


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


REFUSED = _names("""
ptrace process_vm_readv process_vm_writev kcmp process_madvise process_mrelease pidfd_open pidfd_getfd
pidfd_send_signal move_pages migrate_pages
mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick mount_setattr
statmount listmount setns unshare
bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register io_setup seccomp
keyctl add_key request_key
kexec_load kexec_file_load init_module finit_module delete_module create_module query_module get_kernel_syms reboot
swapon swapoff acct quotactl quotactl_fd nfsservctl sysfs uselib ustat lookup_dcookie
memfd_create memfd_secret name_to_handle_at open_by_handle_at fanotify_init fanotify_mark
shmget shmat shmctl shmdt msgget msgsnd msgrcv msgctl semget semop semtimedop semctl mq_open mq_unlink mq_notify
sethostname setdomainname settimeofday clock_settime clock_adjtime adjtimex syslog vhangup
ioperm iopl modify_ldt personality
""")

MODES = _names("chmod fchmod fchmodat fchmodat2")
"""Landlock does not cover them. Without a mount namespace the supervisor answers a candidate's (see `notifier`); those
of a writer do nothing and report success."""

CHANGES_OF_METADATA = _names("""
chown fchown lchown fchownat setxattr lsetxattr fsetxattr setxattrat removexattr
lremovexattr fremovexattr removexattrat utime utimes futimesat utimensat file_setattr
""")
"""Nor these; without a mount namespace they do nothing and report success."""

ANSWERED = _names("stat lstat fstat newfstatat access faccessat readlink readlinkat chdir")
"""Nor these; without a mount namespace the supervisor answers them (see `notifier`)."""

NOT_THERE = _names("statx faccessat2 openat2 getxattrat listxattrat file_getattr statfs fstatfs")
"""Other ways to the same knowledge: ENOSYS sends callers to the calls above. How full a disk of the host is tells what
others write."""
_ADDRESSED = _names("socket connect bind listen")
"""Landlock does not judge the sockets of the host's file system: without a network namespace there are none."""
_WITHOUT_ATTRIBUTES = _names("getxattr lgetxattr listxattr llistxattr")

_PINNING = _names("vmsplice tee splice")
"""A pipe or socket then holds pages that no process is charged for, huge ones too. Nothing needs these calls."""

_SCHEDULING = _names("sched_setaffinity sched_setattr sched_setparam sched_setscheduler")
_AIMED_AT_A_PROCESS = ("prlimit64", *_SCHEDULING)
"""Their first argument is a process id, and equal user ids are all that they ask for."""

_WATCHES = _names("inotify_init inotify_init1 inotify_add_watch")
"""Whoever watches a file that several programs are shown learns when another opens it."""
RULES = _names("landlock_create_ruleset landlock_add_rule landlock_restrict_self")
"""Rules of one's own take memory of the kernel's that no process is charged for: 4 MB a descriptor."""
_NEW_TASKS = _names("fork vfork clone")
_NEWER_FUTEXES = _names("futex_waitv futex_wait futex_wake futex_requeue")

_SUPERVISOR = 1
"""Its process id in namespaces of its own, where it may be the candidate's user."""
_PRIO_PROCESS, _IOPRIO_WHO_PROCESS = 0, 1
_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_KINDS = 1, 5, 0xF
_BUFFER_SIZES = (7, 8, 32, 33)
"""SO_SNDBUF, SO_RCVBUF, and the same by force."""
_NEW_NAMESPACES = 0x7E020080
_CLONE_FILES, _CLONE_THREAD = 0x400, 0x10000
"""A thread with descriptors of its own would keep them where nobody looks: /proc shows those of a process's first."""
_PR_SET_DUMPABLE, _PR_SET_MM, _PR_SET_PTRACER = 4, 35, 0x59616D61
_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP = 0x5412, 0x541C, 0x8901, 0x8902
_FS_IOC_SETFLAGS, _FS_IOC_FSSETXATTR = 0x40086602, 0x401C5820
"""Attributes that nobody could look at: what a job did to its folders is to be seen (`mounts.look`)."""
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX = 8, 10, 15
_WATCHING_COMMANDS = (1024, 1026, 1036, 1038)
"""F_SETLEASE and F_NOTIFY; F_SET_RW_HINT and F_SET_FILE_RW_HINT leave a mark on the file itself."""
_LOCKING_COMMANDS = (6, 7, 37, 38)
"""F_SETLK, F_SETLKW, and the same for an open file (F_OFD_SETLK, F_OFD_SETLKW)."""
_FUTEX_WAIT, _FUTEX_WAKE, _FUTEX_WAIT_BITSET, _FUTEX_WAKE_BITSET = 0, 1, 9, 10
_FUTEX_PRIVATE, _FUTEX_OPERATION = 0x80, 0x7F
_S_IFMT, _DEVICE_KINDS = 0o170000, (0o020000, 0o060000)


def _refuse(code: int = errno.EPERM) -> Instruction:
    return (_RET, 0, 0, _ERRNO | code)


def _argument(index: int) -> Instruction:
    """Load the low half of an argument: all those judged here are 32 bits wide."""
    return (_LOAD, 0, 0, 16 + 8 * index)


def _refuse_if(
    index: int, values: tuple[int, ...], mask: int | None = None, code: int = errno.EPERM
) -> list[Instruction]:
    return _answered(index, dict.fromkeys(values, code), mask)


def _answered(index: int, codes: Mapping[int, int], mask: int | None = None) -> list[Instruction]:
    """Argument → the error that the call then ends with, 0: it succeeds without being made. Others are made."""
    block = [_argument(index)] + ([] if mask is None else [(_AND, 0, 0, mask)])
    for value, code in codes.items():
        block += [(_JEQ, 0, 1, value), _refuse(code)]
    return [*block, (_RET, 0, 0, _ALLOW)]


def _only_if(
    index: int, values: tuple[int, ...], code: int = errno.EPERM, then: Instruction = (_RET, 0, 0, _ALLOW)
) -> list[Instruction]:
    block = [_argument(index)]
    for value in values:
        block += [(_JEQ, 0, 1, value & 0xFFFFFFFF), then]
    return [*block, _refuse(code)]


def _require(index: int, value: int, mask: int | None = None) -> list[Instruction]:
    """Refuse the call unless the argument has this value; the block that follows judges on."""
    return [_argument(index), *([] if mask is None else [(_AND, 0, 0, mask)]), (_JEQ, 1, 0, value), _refuse()]


def _new_task() -> list[Instruction]:
    allowed = (_RET, 0, 0, _ALLOW)
    thread = [(_JSET, 0, 2, _CLONE_THREAD), (_JSET, 1, 0, _CLONE_FILES), _refuse(), allowed]
    return [_argument(0), (_JSET, 0, 1, _NEW_NAMESPACES), _refuse(), *thread]


def _judged_by_argument() -> dict[str, list[Instruction]]:
    rules = {name: [_refuse(errno.ENOSYS)] for name in _PINNING}
    rules |= {name: _refuse_if(0, (_SUPERVISOR,)) for name in _AIMED_AT_A_PROCESS}
    rules["file_setattr"] = [_refuse()]
    return rules | {
        "setpriority": [*_require(0, _PRIO_PROCESS), *_refuse_if(1, (_SUPERVISOR,))],
        "ioprio_set": [*_require(0, _IOPRIO_WHO_PROCESS), *_refuse_if(1, (_SUPERVISOR,))],
        "clone": _new_task(),
        "clone3": [_refuse(errno.ENOSYS)],  # its flags lie in memory; the C library then takes clone
        "ioctl": _refuse_if(1, (_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP, _FS_IOC_SETFLAGS, _FS_IOC_FSSETXATTR)),
        "prctl": _refuse_if(0, (_PR_SET_DUMPABLE, _PR_SET_MM, _PR_SET_PTRACER)),
        "mknod": _refuse_if(1, _DEVICE_KINDS, _S_IFMT),
        "mknodat": _refuse_if(2, _DEVICE_KINDS, _S_IFMT),
        "setsockopt": _refuse_if(2, _BUFFER_SIZES, code=0),  # done without doing: what a socket may hold is charged for
        "socket": _only_if(0, (_AF_UNIX,), errno.EAFNOSUPPORT),
        "socketpair": _only_if(0, (_AF_UNIX,), errno.EAFNOSUPPORT),
    }


def _without_namespaces(pid: int, scoped: bool, cards: bool = False) -> dict[str, list[Instruction]]:
    """Further rules where other processes of the same user are in view. `pid` is the candidate's own."""
    rules: dict[str, list[Instruction]] = {name: [_refuse()] for name in _ADDRESSED}
    if cards:  # CUDA does not start without a socket that it listens at; whoever cannot connect reaches nobody's
        rules["socket"] = _local_sockets(_SOCK_SEQPACKET)
        del rules["bind"], rules["listen"]
    rules["socketpair"] = _local_sockets(_SOCK_STREAM)
    rules |= {name: [_refuse(0)] for name in CHANGES_OF_METADATA}
    rules |= {name: [(_RET, 0, 0, _NOTIFY)] for name in (*ANSWERED, *MODES)}
    rules |= {name: [_refuse(errno.ENOSYS)] for name in NOT_THERE}
    rules |= {name: [_refuse(errno.ENOTSUP)] for name in _WITHOUT_ATTRIBUTES}
    rules |= _no_bare_handles() | _no_own_scheduling(pid)
    rules["prlimit64"] = _only_if(0, (0, pid))
    if not scoped:
        for name in ("kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"):
            rules[name] = _only_if(0, (0, pid) if name == "kill" else (pid,))
        rules["tkill"] = [_refuse()]
        rules["truncate"] = [_refuse(errno.EACCES)]
    return rules


def _no_own_scheduling(pid: int) -> dict[str, list[Instruction]]:
    """Success without effect: whoever has a process's number can ask for its priority and its CPUs."""
    done = _refuse(0)
    rules = {name: _only_if(0, (0, pid), then=done) for name in _SCHEDULING}
    rules["setpriority"] = [*_require(0, _PRIO_PROCESS), *_only_if(1, (0, pid), then=done)]
    rules["ioprio_set"] = [*_require(0, _IOPRIO_WHO_PROCESS), *_only_if(1, (0, pid), then=done)]
    return rules


def _sending_commands(scoped: bool) -> Mapping[int, int]:
    """Commands of `fcntl` that have a descriptor send signals: Landlock does not judge them before Linux 6.12."""
    return {} if scoped else dict.fromkeys((_F_SETOWN, _F_SETSIG, _F_SETOWN_EX), errno.EPERM)


def _nobody_wakes_it() -> dict[str, list[Instruction]]:
    """Who is stopped between its calls stays so: SIGCONT comes neither from a timer, whose signal may be any, nor from
    a process or thread that it leaves awake. (`_F_SETSIG` is the third way.)
    """
    return {"timer_create": [_refuse()]} | {name: [_refuse(errno.EAGAIN)] for name in _NEW_TASKS}


def _no_shared_words() -> dict[str, list[Instruction]]:
    """Nobody waits for a word of memory that another process may wake: a word of any file that both are shown.

    A wait ends at once, as any may without reason (one with a time limit: as if that were over), and its caller looks
    again: locks between processes of one program hold, but who waits for one is busy. Words of a process's own memory,
    as threads use them, are not concerned.
    """
    untimed = [*_if_zero(3), _refuse(0), _refuse(errno.ETIMEDOUT)]
    block = [
        _argument(1), (_JSET, 0, 1, _FUTEX_PRIVATE), (_RET, 0, 0, _ALLOW), (_AND, 0, 0, _FUTEX_OPERATION),
        (_JEQ, 1, 0, _FUTEX_WAKE), (_JEQ, 0, 1, _FUTEX_WAKE_BITSET), _refuse(0),
        (_JEQ, 2, 0, _FUTEX_WAIT), (_JEQ, 1, 0, _FUTEX_WAIT_BITSET), _refuse(errno.ENOSYS), *untimed,
    ]  # fmt: skip
    return {"futex": block} | {name: [_refuse(errno.ENOSYS)] for name in _NEWER_FUTEXES}


def _if_zero(index: int) -> list[Instruction]:
    """Go on with the next instruction if the whole argument is 0, else with the one after it."""
    low = 16 + 8 * index
    return [(_LOAD, 0, 0, low), (_JEQ, 0, 3, 0), (_LOAD, 0, 0, low + 4), (_JEQ, 0, 1, 0)]


def _local_sockets(kind: int) -> list[Instruction]:
    """Never datagram sockets: what is sent there takes the address of any socket of the host."""
    return [*_require(0, _AF_UNIX), *_require(1, kind, _SOCK_KINDS), (_RET, 0, 0, _ALLOW)]


def _no_bare_handles() -> dict[str, list[Instruction]]:
    """Landlock lets a bare handle to any file be opened."""
    judged = [(_JSET, 0, 1, os.O_PATH), _refuse(errno.EACCES), (_RET, 0, 0, _ALLOW)]
    return {name: [_argument(index), *judged] for name, index in (("open", 1), ("openat", 2))}


def program(
    *,
    namespaces: bool,
    pid: int = 0,
    scoped: bool = True,
    pinned: bool = False,
    answers: bool = False,
    alone: bool = False,
    cards: bool = False,
    before_rules: bool = False,
    arch: str | None = None,
) -> bytes:
    """The packed filter: `namespaces` False adds what a mount and pid namespace would otherwise do, but for what CUDA
    needs where there are `cards`.

    `pinned` refuses another choice of CPUs: a time is measured on the one that was chosen. `answers`: the program
    answers calls, perhaps beside an evaluator while another answers apart from it: what the kernel keeps of a file that
    both are shown (locks, who waits for one of its words) tells neither anything of the other. `alone`: it answers
    calls, has one process and thread, and is stopped while nobody waits for it. `before_rules`: it is in force before
    Landlock's are.
    """
    blocks = {name: [_refuse()] for name in REFUSED} | _judged_by_argument()
    blocks |= {name: [_refuse(errno.ENOSYS)] for name in (*_WATCHES, *(() if before_rules else RULES))}
    commands = dict.fromkeys(_WATCHING_COMMANDS, errno.EPERM)
    if not namespaces:
        blocks |= _without_namespaces(pid, scoped, cards)
        commands |= _sending_commands(scoped)
    if answers:
        blocks |= {"flock": [_refuse(0)]} | _no_shared_words()
        commands |= dict.fromkeys(_LOCKING_COMMANDS, 0)
    if alone:
        blocks |= _nobody_wakes_it()
        commands[_F_SETSIG] = errno.EPERM
    if pinned:
        blocks["sched_setaffinity"] = [_refuse()]
    return _assembled(blocks | {"fcntl": _answered(1, commands)}, arch)


def writer_program(*, namespaces: bool, scoped: bool) -> bytes:
    """The packed filter of a writer, which may use the network and keep files in memory.

    Args:
        namespaces: False where the host's files and processes are in view.
        scoped: whether Landlock keeps abstract sockets apart, which lie in the network's namespace: the host's.
    """
    blocks = {name: [_refuse()] for name in REFUSED if name != "memfd_create"} | _judged_by_argument()
    del blocks["setsockopt"]
    own_sockets = namespaces and scoped
    families = (_AF_INET, _AF_INET6, _AF_NETLINK, *((_AF_UNIX,) if own_sockets else ()))
    blocks["socket"] = _only_if(0, families, errno.EAFNOSUPPORT)
    if not own_sockets:
        blocks["socketpair"] = _local_sockets(_SOCK_STREAM)
    if not namespaces:
        blocks |= {name: [_refuse(0)] for name in (*CHANGES_OF_METADATA, *MODES)}
        blocks |= {name: [_refuse(errno.ENOTSUP)] for name in _WITHOUT_ATTRIBUTES}
        blocks |= _no_bare_handles()
        if not scoped:
            blocks |= {"truncate": [_refuse(errno.EACCES)], "fcntl": _answered(1, _sending_commands(scoped))}
        blocks |= {name: _only_if(0, (0,)) for name in _AIMED_AT_A_PROCESS}
        blocks["inotify_add_watch"] = [_refuse(errno.ENOSYS)]
        blocks["setpriority"] = [*_require(0, _PRIO_PROCESS), *_only_if(1, (0,))]
        blocks["ioprio_set"] = [*_require(0, _IOPRIO_WHO_PROCESS), *_only_if(1, (0,))]
    return _assembled(blocks, None)


def _assembled(blocks: dict[str, list[Instruction]], arch: str | None) -> bytes:
    arch = arch or syscalls.machine()
    code: list[Instruction] = [(_LOAD, 0, 0, 4), (_JEQ, 1, 0, syscalls.AUDIT_ARCH[arch]), (_RET, 0, 0, _KILL)]
    code.append((_LOAD, 0, 0, 0))
    if arch == "x86_64":
        code += [(_JGE, 0, 1, _X32_BIT), (_RET, 0, 0, _KILL)]
    code += [(_JGE, 0, 1, syscalls.LAST_KNOWN + 1), _refuse(errno.ENOSYS)]
    numbers = {syscalls.number(name, arch): block for name, block in blocks.items()}
    code += _search(sorted((number, block) for number, block in numbers.items() if number is not None))
    return b"".join(struct.pack("=HBBI", op, true, false, constant) for op, true, false, constant in code)


def _search(judged: list[tuple[int, list[Instruction]]]) -> list[Instruction]:
    """Find the number's block by halves: the kernel runs a filter once for every number when it is put in force."""
    if len(judged) <= _LINEAR:
        blocks = [[(_JEQ, 0, len(block), number), *block] for number, block in judged]
        return [instruction for block in blocks for instruction in block] + [(_RET, 0, 0, _ALLOW)]
    middle = len(judged) // 2
    low, high = _search(judged[:middle]), _search(judged[middle:])
    return [(_JGE, 0, 1, judged[middle][0]), (_JUMP, 0, 0, len(low)), *low, *high]


class Filter:
    """A packed filter as the kernel reads it. Made before a fork, it costs the new process little memory of its own."""

    def __init__(self, packed: bytes) -> None:
        self._code = ctypes.create_string_buffer(packed, len(packed))
        self._header = struct.pack("@HxxxxxxQ", len(packed) // 8, ctypes.addressof(self._code))

    def install(self, flags: int = 0) -> int:
        """Put it in force for this process and its children, for good; with NEW_LISTENER return its descriptor."""
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
        return kernel.syscall("seccomp", _SET_MODE_FILTER, flags, self._header)


def name_of_signal(number: int) -> str:
    """`SIGSEGV` for 11; the number as text where it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
