# NAME: net_abstract
# ATTEMPTS: connect to an abstract unix socket of the host
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
def go():
    s = socket.socket(socket.AF_UNIX); s.connect("\0" + P["unix_abs"]); win("connected")
    s.send(b"x")
attempt(go)
def gram():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); s.connect("\0" + P["unix_abs"]); win("connected")
attempt(gram)
