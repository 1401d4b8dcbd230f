# NAME: files_by_symlink
# ATTEMPTS: read and write the secret and the outside through links in the workspace
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
for n, target in enumerate((P["secret"], P["other_ws"], P["outside"], "/")):
    attempt(os.symlink, target, f"link{n}")
for path in ("link0", "link1/solution.py", "link3" + P["secret"]):
    try: win(path + open(path).read()[:10])
    except OSError as e: print(e)
try:
    open("link2/evil_outside", "w").write("x")
    if os.path.exists(P["outside"]): win("wrote")
except OSError as e: print(e)
