# NAME: memory_shared
# ATTEMPTS: fill anonymous shared memory
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
m = mmap.mmap(-1, 3 << 30)
for i in range(0, 3 << 30, 4096): m[i] = 1
win("3 GB")
