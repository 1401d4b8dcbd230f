"""System-call numbers as (x86_64, aarch64), None where the architecture has no such call.

Source: Linux `asm/unistd_64.h` and `asm-generic/unistd.h` as Debian ships them (linux-libc-dev); a test compares.
"""

from __future__ import annotations

import os
from functools import cache

NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "accept": (43, 202), "access": (21, None), "acct": (163, 89), "add_key": (248, 217), "adjtimex": (159, 171),
    "bind": (49, 200), "bpf": (321, 280), "capset": (126, 91), "chdir": (80, 49), "chmod": (90, None),
    "chown": (92, None), "chroot": (161, 51), "clock_adjtime": (305, 266), "clock_settime": (227, 112),
    "clone": (56, 220), "clone3": (435, 435), "close_range": (436, 436), "connect": (42, 203),
    "create_module": (174, None), "delete_module": (176, 106), "execve": (59, 221), "execveat": (322, 281),
    "faccessat": (269, 48), "faccessat2": (439, 439), "fanotify_init": (300, 262), "fanotify_mark": (301, 263),
    "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "fchown": (93, 55), "fchownat": (260, 54),
    "fcntl": (72, 25), "file_getattr": (468, 468), "file_setattr": (469, 469), "finit_module": (313, 273),
    "flock": (73, 32), "fork": (57, None), "fstat": (5, 80), "fstatfs": (138, 44),
    "fremovexattr": (199, 16), "fsconfig": (431, 431), "fsetxattr": (190, 7), "fsmount": (432, 432),
    "fsopen": (430, 430), "fspick": (433, 433), "futex": (202, 98), "futex_requeue": (456, 456),
    "futex_wait": (455, 455), "futex_waitv": (449, 449), "futex_wake": (454, 454), "futimesat": (261, None),
    "get_kernel_syms": (177, None),
    "getxattr": (191, 8), "getxattrat": (464, 464), "init_module": (175, 105), "inotify_add_watch": (254, 27),
    "inotify_init": (253, None), "inotify_init1": (294, 26),
    "io_setup": (206, 0), "io_uring_enter": (426, 426), "io_uring_register": (427, 427), "io_uring_setup": (425, 425),
    "ioctl": (16, 29), "ioperm": (173, None), "iopl": (172, None), "ioprio_set": (251, 30), "kcmp": (312, 272),
    "kexec_file_load": (320, 294), "kexec_load": (246, 104), "keyctl": (250, 219), "kill": (62, 129),
    "landlock_add_rule": (445, 445), "landlock_create_ruleset": (444, 444), "landlock_restrict_self": (446, 446),
    "lchown": (94, None), "lgetxattr": (192, 9), "listen": (50, 201), "listmount": (458, 458), "listxattr": (194, 11),
    "listxattrat": (465, 465), "llistxattr": (195, 12), "lookup_dcookie": (212, 18), "lremovexattr": (198, 15),
    "lsetxattr": (189, 6), "lstat": (6, None), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "migrate_pages": (256, 238), "mknod": (133, None), "mknodat": (259, 33), "modify_ldt": (154, None),
    "mount": (165, 40), "mount_setattr": (442, 442), "move_mount": (429, 429), "move_pages": (279, 239),
    "mq_notify": (244, 184), "mq_open": (240, 180), "mq_unlink": (241, 181), "msgctl": (71, 187), "msgget": (68, 186),
    "msgrcv": (70, 188), "msgsnd": (69, 189), "name_to_handle_at": (303, 264), "newfstatat": (262, 79),
    "nfsservctl": (180, 42), "open": (2, None), "open_by_handle_at": (304, 265), "open_tree": (428, 428),
    "open_tree_attr": (467, 467), "openat": (257, 56), "openat2": (437, 437), "perf_event_open": (298, 241),
    "personality": (135, 92), "pidfd_getfd": (438, 438), "pidfd_open": (434, 434), "pidfd_send_signal": (424, 424),
    "pivot_root": (155, 41), "prctl": (157, 167), "prlimit64": (302, 261), "process_madvise": (440, 440),
    "process_mrelease": (448, 448), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "ptrace": (101, 117), "query_module": (178, None), "quotactl": (179, 60), "quotactl_fd": (443, 443),
    "readlink": (89, None), "readlinkat": (267, 78), "reboot": (169, 142), "removexattr": (197, 14),
    "removexattrat": (466, 466), "request_key": (249, 218), "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240), "sched_setaffinity": (203, 122), "sched_setattr": (314, 274),
    "sched_setparam": (142, 118), "sched_setscheduler": (144, 119), "seccomp": (317, 277), "semctl": (66, 191),
    "semget": (64, 190), "semop": (65, 193), "semtimedop": (220, 192), "setdomainname": (171, 162),
    "sethostname": (170, 161), "setns": (308, 268), "setpriority": (141, 140), "setsockopt": (54, 208),
    "settimeofday": (164, 170), "setxattr": (188, 5), "setxattrat": (463, 463), "shmat": (30, 196), "shmctl": (31, 195),
    "shmdt": (67, 197), "shmget": (29, 194), "socket": (41, 198), "socketpair": (53, 199), "splice": (275, 76),
    "stat": (4, None), "statfs": (137, 43), "statmount": (457, 457), "statx": (332, 291), "swapoff": (168, 225),
    "swapon": (167, 224), "sysfs": (139, None), "syslog": (103, 116), "tee": (276, 77), "tgkill": (234, 131),
    "timer_create": (222, 107), "tkill": (200, 130),
    "truncate": (76, 45), "umount2": (166, 39), "unshare": (272, 97), "uselib": (134, None),
    "userfaultfd": (323, 282),
    "ustat": (136, None), "utime": (132, None), "utimensat": (280, 88), "utimes": (235, None), "vfork": (58, None),
    "vhangup": (153, 58), "vmsplice": (278, 75),
}  # fmt: skip

LAST_KNOWN = 469
"""Calls above this number are newer than this table: the filter answers ENOSYS, as an older kernel would."""

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_COLUMN = {"x86_64": 0, "aarch64": 1}


@cache
def machine() -> str:
    """`x86_64` or `aarch64`; another machine raises NotImplementedError."""
    name = os.uname().machine
    name = {"amd64": "x86_64", "arm64": "aarch64"}.get(name, name)
    if name not in _COLUMN:
        raise NotImplementedError(f"the sandbox knows x86_64 and aarch64, not {name}")
    return name


@cache
def number(name: str, arch: str | None = None) -> int | None:
    """The call's number on `arch` (default: this machine), or None."""
    return NUMBERS[name][_COLUMN[arch or machine()]]
