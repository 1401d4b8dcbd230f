# NAME: net_families
# ATTEMPTS: open sockets of every family and type there is
# DETECT: stdout
# UNSANDBOXED: harmless
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
for family in range(50):
    if family == socket.AF_UNIX: continue
    for kind in (1, 2, 3, 5):
        try: socket.socket(family, kind); win(f"family {family} type {kind}")
        except OSError: pass
