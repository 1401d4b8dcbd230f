# NAME: subreaper_and_deathsig
# ATTEMPTS: become a subreaper and forget the death signal
# DETECT: host:heartbeat
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
libc.prctl(36, 1); libc.prctl(1, 0)
if os.fork() == 0:
    os.setsid(); libc.prctl(1, 0); libc.prctl(36, 1)
    end = time.time() + 20
    while time.time() < end: open("hb", "w").write(str(time.time())); time.sleep(.02)
time.sleep(.2)
os._exit(0)
