# NAME: daemon_double_fork
# ATTEMPTS: leave a daemon in a session of its own after a normal end
# DETECT: host:heartbeat
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for s in range(1, 65):
            try: signal.signal(s, signal.SIG_IGN)
            except (OSError, ValueError): pass
        end = time.time() + 20
        while time.time() < end: open("hb", "w").write(str(time.time())); time.sleep(.02)
    os._exit(0)
time.sleep(.2)
