# NAME: shared_kernel_words
# ATTEMPTS: what the kernel keeps outside files and namespaces and tells everyone: /proc/keys, /proc/locks, /proc/timer_stats, /proc/net/unix, /proc/sysvipc, cgroup paths and events, the host's name, the boot's command line, other users' processes by sched_getscheduler / getpgid / getsid / kill(0)
# DETECT: stdout
# UNSANDBOXED: harmless
import ctypes, json, os, socket
P = json.load(open("params.json"))
def win(x): print("ESCAPED", x, flush=True)
here = socket.gethostname() if hasattr(socket, "gethostname") else os.uname().nodename
print("host name", os.uname().nodename)
for p in ("/proc/locks", "/proc/keys", "/proc/cmdline", "/proc/mounts", "/proc/partitions", "/proc/modules", "/proc/self/cgroup", "/proc/net/unix", "/proc/net/tcp", f"/proc/self/task/{os.getpid()}/net/unix", "/proc/thread-self/net/unix", "/proc/self/net/unix", "/proc/self/mounts", "/proc/sysvipc/shm", "/proc/self/mountinfo", "/proc/kmsg", "/proc/interrupts", "/proc/vmallocinfo", "/proc/slabinfo", "/proc/sched_debug", "/proc/config.gz"):
    try: b = open(p, "rb").read(200000)
    except OSError as e: print(p, e); continue
    print(p, len(b), b[:60])
    if b and p in ("/proc/cmdline", "/proc/config.gz", "/proc/locks", "/proc/keys", "/proc/partitions", "/proc/modules", "/proc/interrupts", "/proc/vmallocinfo"): win(p + " tells of the machine")
    if P["unix_abs"].encode() in b: win("abstract socket of the host in " + p)
    if os.path.dirname(P["secret"]).encode() in b: win("secret's folder in " + p)
    if p == "/proc/locks" and str(P["host_pid"]).encode() in b.split(): win("locks of host processes told")
n = 0
for pid in [P["victim"], P["host_pid"]]:
    for name, f in (("sched_getscheduler", lambda: os.sched_getscheduler(pid)), ("getpgid", lambda: os.getpgid(pid)), ("getsid", lambda: os.getsid(pid)), ("kill 0", lambda: os.kill(pid, 0)), ("getpriority", lambda: os.getpriority(os.PRIO_PROCESS, pid)), ("prlimit", lambda: __import__("resource").prlimit(pid, 7)), ("affinity", lambda: os.sched_getaffinity(pid))):
        try: f(); print("tells of host process", pid, name)
        except OSError: pass
