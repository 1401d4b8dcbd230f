# NAME: files_by_hardlink
# ATTEMPTS: link host files into the workspace
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
for path in (P["secret"], P["other_ws"] + "/solution.py", "/etc/passwd", sys.executable):
    try: os.link(path, "hard"); win(path); os.unlink("hard")
    except OSError as e: print(e)
