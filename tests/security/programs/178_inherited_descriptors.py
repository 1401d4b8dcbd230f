# NAME: inherited_descriptors
# ATTEMPTS: use descriptors that somebody forgot to close
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
for fd in range(3, 2000):
    try: what = os.readlink(f"/proc/self/fd/{fd}")
    except OSError: continue
    try:
        if "CANARY" in os.pread(fd, 100, 0).decode("latin1"): win(f"{fd} {what}")
    except OSError: pass
    try: s = socket.socket(fileno=os.dup(fd)); s.getpeername(); win(f"socket {fd}")
    except OSError: pass
