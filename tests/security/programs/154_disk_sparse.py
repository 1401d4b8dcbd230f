# NAME: disk_sparse
# ATTEMPTS: leave a huge sparse submission and many sparse files
# DETECT: host:collect
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
def go():
    with open("submission/submission.csv", "wb") as f: f.truncate(8 << 40)
attempt(go)
try:
    for i in range(200):
        with open(f"s{i}", "wb") as f: f.truncate(60 << 20)
except OSError as e: print(e)
try: os.truncate("submission/submission.csv", 60 << 20)
except OSError: pass
