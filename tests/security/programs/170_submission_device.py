# NAME: submission_device
# ATTEMPTS: a submission that is a device, a socket or a folder
# DETECT: host:collect
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
for f in (lambda: os.mknod("submission/submission.csv", 0o020666, os.makedev(1, 5)),
          lambda: socket.socket(socket.AF_UNIX).bind("submission/submission.csv"),
          lambda: os.mkdir("submission/submission.csv")):
    attempt(f)
