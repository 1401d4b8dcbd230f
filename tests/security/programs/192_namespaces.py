# NAME: namespaces
# ATTEMPTS: make or enter namespaces
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
for flag in (0x10000000, 0x20000, 0x20000000, 0x40000000, 0x08000000, 0x04000000, 0x02000000, 0x80):
    if libc.unshare(flag) == 0: win(f"unshare {flag:#x}")
for pid in ("1", "self", str(P["victim"])):
    for ns in ("mnt", "net", "pid", "user"):
        try:
            fd = os.open(f"/proc/{pid}/ns/{ns}", os.O_RDONLY)
            if libc.setns(fd, 0) == 0: win(f"setns {pid} {ns}")
        except OSError: pass
