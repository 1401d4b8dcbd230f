# NAME: net_ipv6_and_dns
# ATTEMPTS: reach the loopback by IPv6, resolve a name
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
for host in ("::1", "localhost", "127.0.0.1"):
    try: socket.create_connection((host, P["port"]), 1); win(host)
    except OSError as e: print(e)
