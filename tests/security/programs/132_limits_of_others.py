# NAME: limits_of_others
# ATTEMPTS: lower the limits, priority or CPUs of other processes
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
import resource
for pid in (P["victim"], P["host_pid"]):
    for f in (lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (1, 1)), lambda: os.sched_setaffinity(pid, {0}), lambda: os.setpriority(os.PRIO_PROCESS, pid, 19)):
        try: f(); win(pid)
        except OSError: pass
