# NAME: personality_tty
# ATTEMPTS: turn off address randomisation, push characters into a terminal
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
if libc.syscall(135, 0x0040000) >= 0: win("personality")
import fcntl
for fd in (0, 1, 2):
    try: fcntl.ioctl(fd, 0x5412, b"x"); win("TIOCSTI")
    except OSError: pass
for d in ("/dev/tty", "/dev/ptmx", "/dev/console", "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/loop-control", "/dev/vsock"):
    try: os.open(d, os.O_RDWR); win(d)
    except OSError: pass
