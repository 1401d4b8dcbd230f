# NAME: signals_to_others
# ATTEMPTS: signal every process there is, by every call
# DETECT: host:victim
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
me = os.getpid()
for pid in [P["victim"], P["host_pid"], os.getppid(), -P["victim"], *range(2, 40)]:
    if abs(pid) in (0, me): continue
    for sig in (0, signal.SIGUSR1, signal.SIGKILL):
        try:
            os.kill(pid, sig)
            if pid in (P["victim"], P["host_pid"]): win(f"signalled {pid}")
        except OSError: pass
    if libc.syscall(200, pid, 0) == 0 and pid in (P["victim"], P["host_pid"]): win("tkill")
import fcntl
r, w = os.pipe()
for pid in (P["victim"], P["host_pid"]):
    try: fcntl.fcntl(r, fcntl.F_SETOWN, pid); fcntl.fcntl(r, fcntl.F_SETFL, fcntl.fcntl(r, fcntl.F_GETFL) | os.O_ASYNC); fcntl.fcntl(r, 10, 9); os.write(w, b"x")
    except OSError: pass
