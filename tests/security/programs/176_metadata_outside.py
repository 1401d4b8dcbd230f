# NAME: metadata_outside
# ATTEMPTS: change modes and times of host files
# DETECT: host:mode
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
for f in (lambda: os.chmod(P["secret"], 0o777), lambda: os.utime(P["secret"], (1, 1)), lambda: os.chown(P["secret"], os.getuid(), os.getgid()),
          lambda: os.setxattr(P["secret"], "user.x", b"1"), lambda: os.rename(P["secret"], P["secret"] + "2"), lambda: os.unlink(P["secret"])):
    attempt(f)
