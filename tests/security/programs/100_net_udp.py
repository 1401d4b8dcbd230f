# NAME: net_udp
# ATTEMPTS: send a datagram to a UDP socket on loopback
# DETECT: host:udp
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
s = attempt(socket.socket, socket.AF_INET, socket.SOCK_DGRAM)
if s: attempt(s.sendto, b"x", ("127.0.0.1", P["udp_port"]))
