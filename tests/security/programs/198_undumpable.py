# NAME: undumpable
# ATTEMPTS: hide from the watcher, then use too much memory
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
libc.prctl(4, 0)
r, w = os.pipe()
for i in range(4):
    if os.fork() == 0:
        libc.prctl(4, 0)
        b = mmap.mmap(-1, 500 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for j in range(0, len(b), 4096): b[j] = 1
        os.write(w, b"x"); time.sleep(1.5); os._exit(0)
os.close(w); n = 0
while n < 4:
    d = os.read(r, 8)
    if not d: break
    n += len(d)
time.sleep(.5)
if n >= 4: win("2 GB unseen")
