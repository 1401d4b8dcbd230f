# NAME: opath_and_openat2
# ATTEMPTS: learn about hidden files by bare handles and newer calls
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
try: fd = os.open(P["secret"], os.O_PATH); win("O_PATH"); win(os.fstat(fd).st_size)
except OSError as e: print(e)
buf = ctypes.create_string_buffer(256)
if libc.syscall(332, -100, P["secret"].encode(), 0, 0xFFF, buf) == 0: win("statx")
if libc.syscall(437, -100, P["secret"].encode(), struct.pack("QQQ", 0, 0, 0), 24) > 0: win("openat2")
if os.access(P["secret"], os.F_OK): win("access")
try: os.readlink(P["secret"])
except OSError as e:
    if e.errno == errno.EINVAL: win("readlink says that it is a file")
try: win(os.listxattr(P["secret"]))
except OSError as e: print(e)
try: os.truncate(P["secret"], 0); win("truncate")
except OSError as e: print(e)
