# NAME: disk_deep
# ATTEMPTS: make a tree too deep to be removed
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
depth = 0
try:
    while depth < 6000: os.mkdir("d" * 50); os.chdir("d" * 50); depth += 1
except OSError as e: print(e)
print(depth)
