# NAME: supervisor_limits
# ATTEMPTS: the supervisor as a process of the same user in the same namespace: prlimit on pid 1 and on the parent (NOFILE 0, CPU 1, DATA, FSIZE, AS), SCHED_IDLE, nice 19, one CPU, so that it dies, fails or comes too late
# DETECT: host:wall
import json, os, resource, time
P = json.load(open("params.json"))
def win(x): print("ESCAPED", x, flush=True)
for p in {1, os.getppid()} - {os.getpid()}:
    if p == 1 and P["uid"] == 0 and os.getpid() > 4000: continue          # outside a pid namespace leave init alone
    for n in ("CPU", "NOFILE", "DATA", "AS", "FSIZE", "SIGPENDING", "NPROC", "STACK"):
        r = getattr(resource, "RLIMIT_" + n)
        try:
            old = resource.prlimit(p, r); new = {"CPU": 1, "NOFILE": 0, "DATA": 1 << 20, "AS": 1 << 20}.get(n, 0)
            resource.prlimit(p, r, (new, new)); win(f"limit {n} of process {p} was {old}, is {resource.prlimit(p, r)}")
        except (OSError, ValueError, PermissionError) as e: print(p, n, e)
    for what, f in (("SCHED_IDLE", lambda: os.sched_setscheduler(p, os.SCHED_IDLE, os.sched_param(0))), ("SCHED_BATCH", lambda: os.sched_setscheduler(p, os.SCHED_BATCH, os.sched_param(0))),
                    ("nice 19", lambda: os.setpriority(os.PRIO_PROCESS, p, 19)), ("one CPU", lambda: os.sched_setaffinity(p, {0}))):
        try: f(); win(f"{what} for process {p}")
        except OSError as e: print(p, what, e)
while True: pass
