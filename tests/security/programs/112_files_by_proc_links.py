# NAME: files_by_proc_links
# ATTEMPTS: reach the host through the links of /proc: root, cwd, fd, map_files of any process
# DETECT: stdout
import ctypes, errno, json, mmap, os, signal, socket, struct, sys, threading, time
P = json.load(open("params.json"))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def win(x): print("ESCAPED", x, flush=True)
def attempt(f, *a):
    try: return f(*a)
    except (OSError, ValueError, RuntimeError) as e: print(type(e).__name__, e)
import glob
for base in glob.glob("/proc/[0-9]*") + ["/proc/self", "/proc/1"]:
    for link in ("root", "cwd"):
        try:
            if open(base + "/" + link + P["secret"]).read(): win(base + link)
        except OSError: pass
    try:
        for fd in os.listdir(base + "/fd"):
            try:
                if "secret" in os.readlink(f"{base}/fd/{fd}"): win(f"{base}/fd/{fd}")
            except (OSError, UnicodeDecodeError): pass
            if len(glob.glob("/proc/[0-9]*")) and int(fd) < 3: continue
    except OSError: pass
