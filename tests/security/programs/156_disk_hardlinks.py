# NAME: disk_hardlinks
# ATTEMPTS: multiply one file by hard links
# DETECT: host:collect
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
with open("submission/submission.csv", "wb") as f: f.write(b"x" * (8 << 20))
try:
    for i in range(5000): os.link("submission/submission.csv", f"l{i}")
except OSError as e: print(e)
