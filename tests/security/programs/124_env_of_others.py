# NAME: env_of_others
# ATTEMPTS: read environments and command lines of every process
# DETECT: stdout
# UNSANDBOXED: harmless
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
try: pids = [p for p in os.listdir("/proc") if p.isdigit()]
except OSError: pids = []
for p in {*pids, str(P["victim"]), str(P["host_pid"]), str(os.getppid()), "1"}:
    for what in ("environ", "cmdline"):
        try:
            data = open(f"/proc/{p}/{what}", "rb").read()
            if P["canary"].encode() in data: win(f"{p}/{what}")
        except OSError: pass
if any(P["canary"] in v for v in os.environ.values()): win("own environment")
