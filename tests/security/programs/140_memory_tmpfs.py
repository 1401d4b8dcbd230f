# NAME: memory_tmpfs
# ATTEMPTS: fill /dev/shm and /tmp
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
total = 0
for d in ("/dev/shm", "/tmp", "/run", "/var/tmp"):
    for n in range(40):
        try:
            with open(f"{d}/f{n}", "wb") as f:
                for _ in range(16): f.write(bytes(1 << 20)); total += 1
        except OSError as e: print(d, e); break
if total > 200: win(f"{total} MB")
