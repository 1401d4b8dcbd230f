# NAME: write_site_packages
# ATTEMPTS: change installed packages and the interpreter
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
import json as victim
for base in {P["site_packages"], os.path.dirname(victim.__file__), sys.prefix, sys.base_prefix, os.path.dirname(sys.executable)} - {""}:
    try: open(base + "/evil_pkg.py", "w").write("x"); win(base); os.unlink(base + "/evil_pkg.py")
    except OSError as e: print(e)
for f in (victim.__file__, sys.executable):
    try: open(f, "ab").close(); win(f)
    except OSError as e: print(e)
    try: os.chmod(f, 0o777); win("chmod " + f) if os.stat(f).st_mode & 0o777 == 0o777 else None
    except OSError as e: print(e)
