# NAME: newest_calls
# ATTEMPTS: io_uring, userfaultfd, descriptors and memory of others by pidfd, mounts by descriptors, bpf, perf, keys
# DETECT: stdout
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
room = ctypes.create_string_buffer(256)
here = ctypes.addressof(room)
def win(x): print("ESCAPED", x, flush=True)
def ask(number, *given):
    words = [ctypes.c_void_p(one) if isinstance(one, int) else one for one in given]
    return libc.syscall(ctypes.c_long(number), *words)
NEWEST = {"io_uring": (425, 8, here), "userfaultfd": (323, 1), "open_tree": (428, -100, b"/", 0),
    "fsopen": (430, b"tmpfs", 0), "fspick": (433, -100, b"/proc", 0), "bpf": (321, 5, here, 128),
    "perf": (298, here, 0, -1, -1, 0), "add_key": (248, b"user", b"x", b"y", 1, -3), "keyctl": (250, 0, -3, 1),
    "request_key": (249, b"user", b"x", 0, -3), "quotactl": (443, -1, 0, 0, 0), "chroot": (161, b"/tmp"),
    "open_tree_attr": (467, -100, b"/", 1, 0, 0), "acct": (163, b"x"), "swapon": (167, b"x", 0)}
for name, words in NEWEST.items():
    if os.uname().machine == "x86_64" and ask(*words) >= 0: win(name)
class Piece(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
mine, theirs = Piece(here, 64), Piece(id(win), 64)
for pid in {1, os.getppid(), *range(2, 40)} - {os.getpid()} if os.uname().machine == "x86_64" else ():
    if ask(310, pid, ctypes.addressof(mine), 1, ctypes.addressof(theirs), 1, 0) > 0: win(f"memory of {pid}")
    if ask(101, 0x4206, pid, 0, 0) == 0: win(f"traced {pid}")
    door = ask(434, pid, 0)
    for number in range(40) if door >= 0 else ():
        if ask(438, door, number, 0) >= 0: win(f"descriptor {number} of {pid}")
