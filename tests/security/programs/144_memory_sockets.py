# NAME: memory_sockets
# ATTEMPTS: hide memory in the buffers of pipes and sockets
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
held = []; total = 0
try:
    while total < 2 << 30:
        a, b = socket.socketpair(); a.setblocking(False)
        a.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 30)
        held.append((a, b))
        try:
            while True: total += a.send(bytes(1 << 16))
        except BlockingIOError: pass
except OSError as e: print(e)
print(total >> 20, "MB")
if total >= 2 << 30: win("2 GB in socket buffers")
