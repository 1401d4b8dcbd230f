# NAME: become_root
# ATTEMPTS: gain privileges: set-uid programs, capabilities, setuid calls
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
import subprocess
for cmd in (["su", "-c", "id -u"], ["sudo", "-n", "id", "-u"], ["mount"], ["unshare", "-r", "id", "-u"], ["newgrp"]):
    try:
        r = subprocess.run(cmd, capture_output=True, timeout=2, stdin=subprocess.DEVNULL)
        if cmd[0] != "mount" and r.stdout.strip() == b"0": win(cmd)
    except (OSError, subprocess.TimeoutExpired): pass
status = open("/proc/self/status").read()
cap = int(status.split("CapPrm:")[1].split()[0], 16)
if cap & ~0b110: win(hex(cap))
if "NoNewPrivs:\t1" not in status: win("new privileges allowed")
if os.getuid() == 0: win("uid 0")
