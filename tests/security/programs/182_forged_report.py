# NAME: forged_report
# ATTEMPTS: send a forged report of success through every descriptor, then fail
# DETECT: host:rc3
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
fake = json.dumps({"status": 0, "breach": None, "seconds": 0, "cpu": 0, "memory": 0, "ready": 1, "value": 1, "answers": [1]}).encode()
for fd in range(1, 1100):
    for data in (fake, struct.pack("<I", len(fake)) + fake):
        try: os.write(fd, data)
        except OSError: pass
os._exit(3)
