# NAME: kernel_surface
# ATTEMPTS: io_uring, userfaultfd, keys, bpf, perf, modules, kexec and their kin
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
buf = ctypes.create_string_buffer(4096)
for nr, args in {425: (1, buf), 323: (0,), 250: (0, -3, 0, 0, 0), 248: (b"user", b"x", b"y", 1, -3), 321: (5, buf, 128), 298: (buf, 0, -1, -1, 0),
                 175: (buf, 1, b""), 246: (0, 0, 0, 0), 320: (-1, -1, 0, b"", 0), 300: (0, 0), 103: (2, buf, 10), 169: (0, 0, 0, 0), 312: (1, 1, 0, 0, 0), 163: (b"x",),
                 134: (b"x",), 154: (0, buf, 10), 310: (1, 0, 0, 0, 0, 0), 206: (1, buf), 470: (), 999: ()}.items():
    if libc.syscall(nr, *args) >= 0: win(f"syscall {nr}")
