# NAME: disk_hidden_folder
# ATTEMPTS: hide files in a folder without permissions, and in a deep one
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
written = 0
os.mkdir("h"); os.chdir("h"); os.chmod("../h", 0)
try:
    for i in range(10):
        with open(f"big{i}", "wb", 0) as f:
            for _ in range(60): written += f.write(b"x" * (1 << 20))
except OSError as e: print(e)
if written > 300 << 20: win(f"{written >> 20} MB")
