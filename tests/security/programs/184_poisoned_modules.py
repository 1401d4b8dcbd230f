# NAME: poisoned_modules
# ATTEMPTS: change modules, builtins and site-packages for the next job
# DETECT: host:poison
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
import builtins, json as j, math as m
m.sqrt = j.dumps = builtins.len = lambda *a, **k: 666
try:
    import numpy; numpy.mean = lambda *a: 666
except ImportError: pass
for d in (".", "/tmp", "/dev/shm", os.path.dirname(j.__file__), P["site_packages"] or "."):
    try: open(d + "/sitecustomize.py", "w").write("import sys; sys.exit(9)"); open(d + "/math.py", "w").write("1/0"); open(d + "/evil_left", "w").write("x")
    except OSError: pass
