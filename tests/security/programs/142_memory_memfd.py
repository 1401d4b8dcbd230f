# NAME: memory_memfd
# ATTEMPTS: fill memfds, secret memory and SysV segments
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
for nr, args in ((319, (b"x", 0)), (447, (0,)), (279, (b"x", 0))):
    fd = libc.syscall(nr, *args)
    if nr != 279 and fd >= 0: win(f"syscall {nr}")
try: os.memfd_create("x"); win("memfd")
except OSError as e: print(e)
if libc.shmget(0x5eaf00d, 1 << 20, 0o1666) >= 0: win("shmget")
if libc.msgget(0x5eaf00d, 0o1666) >= 0: win("msgget")
if libc.semget(0x5eaf00d, 1, 0o1666) >= 0: win("semget")
