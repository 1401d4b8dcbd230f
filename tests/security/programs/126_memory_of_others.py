# NAME: memory_of_others
# ATTEMPTS: read and write the memory of other processes
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
class IoVec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
buf = ctypes.create_string_buffer(8)
for pid in {P["victim"], P["host_pid"], os.getppid(), 1} - {0, os.getpid()}:
    for nr in (310, 311):
        local, remote = IoVec(ctypes.addressof(buf), 8), IoVec(0x400000, 8)
        if libc.syscall(nr, pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0) > 0: win(f"process_vm {pid}")
    for request in (16, 0x4206):
        if libc.ptrace(request, pid, 0, 0) == 0: win(f"ptrace {pid}")
    for name in ("mem", "maps", "environ", "fd", "root"):
        try:
            path = f"/proc/{pid}/{name}"
            if name == "fd": os.readlink(path + "/" + os.listdir(path)[0])
            else: os.listdir(path) if name == "root" else open(path, "rb").read(1)
            win(path)
        except OSError: pass
