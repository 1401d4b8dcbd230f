# NAME: output_by_child
# ATTEMPTS: let children print without end
# DETECT: host:out
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
for _ in range(4):
    if os.fork() == 0: break
while True: os.write(2, b"y" * 65536)
