# NAME: mounts
# ATTEMPTS: mount, unmount, pivot, chroot by old and new calls
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
os.makedirs("m", exist_ok=True)
if libc.mount(b"none", b"m", b"tmpfs", 0, None) == 0: win("mount")
if libc.mount(b"/", b"m", None, 4096, None) == 0: win("bind")
if libc.umount2(b"input", 2) == 0: win("umount")
for nr, args in ((428, (-100, b"/", 1)), (430, (b"tmpfs", 0)), (433, (-100, b"/", 0)), (155, (b".", b".")), (442, (-100, b"/", 0, bytes(32), 32))):
    if libc.syscall(nr, *args) >= 0: win(f"syscall {nr}")
try: os.chroot("m"); win("chroot")
except OSError: pass
