# NAME: raised_limits
# ATTEMPTS: raise every limit, from a child and by prlimit too
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
import resource
for name in dir(resource):
    if name.startswith("RLIMIT_"):
        r = getattr(resource, name); s, h = resource.getrlimit(r)
        if h == -1: continue
        for f in (lambda: resource.setrlimit(r, (h + 1, h + 1)), lambda: resource.prlimit(0, r, (h + 1, h + 1)), lambda: resource.setrlimit(r, (-1, -1))):
            try: f(); win(name)
            except (ValueError, OSError): pass
