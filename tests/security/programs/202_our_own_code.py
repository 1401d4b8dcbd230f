# NAME: our_own_code
# ATTEMPTS: find the project, its settings and its secrets from inside
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
for name in ("core", "utils", "agents", "problems", "dashboard", "reports", "cli"):
    try: __import__(name); win("import " + name)
    except ImportError: pass
import gc
tail = P["canary"][:-4] + "TAIL"
for thing in gc.get_objects():
    try:
        values = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, (list, tuple)) else ()
        if len(values) < 1000 and values is not None and any(isinstance(v, str) and v == tail for v in values) and thing is not globals(): win("gc")
    except Exception: pass
frame = sys._getframe()
while frame.f_back:
    frame = frame.f_back
    for k, v in list(frame.f_locals.items()):
        if isinstance(v, str) and P["secret"] in v: win(k)
