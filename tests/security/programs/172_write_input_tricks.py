# NAME: write_input_tricks
# ATTEMPTS: change the input by rename, mount point, link and truncation
# DETECT: host:input
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
HERE = os.getcwd()
for f in (lambda: os.fchmod(os.open("input/train.csv", os.O_RDONLY), 0o777), lambda: os.symlink("input/train.csv", "s") or os.chmod("s", 0o777),
          lambda: os.chmod(f"/proc/self/fd/{os.open('input/train.csv', os.O_RDONLY)}", 0o777),
          lambda: os.chmod("train.csv", 0o777, dir_fd=os.open("input", os.O_RDONLY)), lambda: os.chmod("./input/../input/train.csv", 0o777),
          lambda: os.chdir("input") or os.chmod("train.csv", 0o777), lambda: os.chdir(HERE)):
    attempt(f)
for f in (lambda: os.rename("input", "input2"), lambda: os.rename("input/train.csv", "x"), lambda: os.truncate("input/train.csv", 0),
          lambda: os.unlink("input/train.csv"), lambda: os.rmdir("input"), lambda: os.chmod("input/train.csv", 0o777),
          lambda: os.utime("input/train.csv", (1, 1)), lambda: open("input/new", "w"), lambda: os.link("input/train.csv", "l") or open("l", "w").write("evil")):
    attempt(f)
