# NAME: net_socket_by_syscall
# ATTEMPTS: make sockets by raw system calls, 32-bit entry included
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
for nr in (41, 198):
    fd = libc.syscall(nr, 2, 1, 0)
    if fd > 2 and os.path.exists(f"/proc/self/fd/{fd}") and "socket" in os.readlink(f"/proc/self/fd/{fd}"): win(f"syscall {nr}")
if libc.syscall(0x40000000 | 41, 2, 1, 0) >= 0: win("x32 socket")
