# NAME: pinned_pages
# ATTEMPTS: memory that no process is charged for: each slot of a pipe (vmsplice, and copies of it by tee and splice) keeps a huge page alive after it was unmapped
# DETECT: stdout
# UNSANDBOXED: harmless
import ctypes, os
def win(x): print("ESCAPED", x, flush=True)
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
class iovec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
H = 2 << 20
def pin(w):
    p = libc.mmap(None, 2 * H, 3, 0x22, -1, 0)
    q = -(-p // H) * H
    libc.madvise(q, H, 14); ctypes.memset(q, 1, 1); libc.madvise(q, H, 25)
    v = iovec(q, 4096)
    ok = libc.vmsplice(w, ctypes.byref(v), 1, 2) == 4096
    libc.munmap(p, 2 * H)
    return ok
pinned = 0
for _ in range(8):
    r, w = os.pipe()
    globals().setdefault("kept", []).append((r, w))
    while pinned < 100 and pin(w): pinned += 1
pss = next(int(l.split()[1]) for l in open("/proc/self/smaps_rollup") if l.startswith("Pss:")) >> 10 if os.path.exists("/proc/self/smaps_rollup") else 0
if pinned: win(f"{pinned} pages pinned in pipes, own PSS {pss} MB")
a, b = os.pipe(); c, d = os.pipe(); os.write(b, b"x" * 4096)
if libc.tee(a, d, 4096, 2) == 4096: win("tee")
open("file", "wb").write(b"y" * 65536)
f = os.open("file", os.O_RDONLY)
try:
    os.splice(f, d, 4096); os.truncate("file", 0); win("splice of a file that is gone")
except OSError as e: print("splice", e)
