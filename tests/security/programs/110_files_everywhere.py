# NAME: files_everywhere
# ATTEMPTS: read files of the host: accounts, keys, home, mounts, kernel log
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
found = []
for p in ("/etc/passwd", "/etc/shadow", "/etc/hosts", "/root/.bashrc", P["home"] + "/.bashrc", P["home"] + "/.ssh/id_rsa",
          "/var/log/dpkg.log", "/boot", "/dev/kmsg", "/dev/mem", "/dev/vda", "/proc/kcore", "/proc/kmsg", "/sys/kernel", "/run", "/mnt", "/opt", "/srv"):
    try:
        if os.path.isdir(p): os.listdir(p)
        elif not open(p, "rb").read(10): continue  # covered by something empty
        win(p)
    except OSError as e: print(e)
