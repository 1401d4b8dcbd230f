# NAME: odd_doors
# ATTEMPTS: memory of others written, kcmp, fanotify, message queues, the machine's clock and log, core files of a crash
# DETECT: stdout
import ctypes, glob, os, resource, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
room = ctypes.create_string_buffer(256)
here = ctypes.addressof(room)
def win(x): print("ESCAPED", x, flush=True)
def ask(number, *given):
    words = [ctypes.c_void_p(one) if isinstance(one, int) else one for one in given]
    return libc.syscall(ctypes.c_long(number), *words)
is_known = os.uname().machine == "x86_64"
DOORS = {"fanotify": (300, 0, 0), "queue": (240, b"/odd", os.O_RDWR | os.O_CREAT, 0o600, 0),
    "kernel's log": (103, 3, here, 256), "kernel's log emptied": (103, 5, here, 256)}
for name, words in DOORS.items():
    if is_known and ask(*words) >= 0: win(name)
class Piece(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
mine, theirs = Piece(here, 8), Piece(id(win), 8)
for pid in {1, os.getppid(), *range(2, 40)} - {os.getpid()} if is_known else ():
    if ask(311, pid, ctypes.addressof(mine), 1, ctypes.addressof(theirs), 1, 0) > 0: win(f"memory of {pid}")
    if ask(312, os.getpid(), pid, 1, 0, 0) >= 0: win(f"compared with {pid}")
class Moment(ctypes.Structure): _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]
then = Moment(1_000_000_000, 0)
for number, words in ((227, (0, ctypes.addressof(then))), (164, (ctypes.addressof(then), 0)), (305, (0, here))):
    if is_known and ask(number, *words) == 0: win(f"clock by {number}")
if resource.getrlimit(resource.RLIMIT_CORE)[1] != 0: win("core files")
pid = os.fork()
if not pid:
    try: resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, 1 << 20))
    except (ValueError, OSError): pass
    os.kill(os.getpid(), signal.SIGABRT)
if os.WCOREDUMP(os.waitpid(pid, 0)[1]) or glob.glob("core*"): win("a core file")
