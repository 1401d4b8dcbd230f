# NAME: everything_of_the_user
# ATTEMPTS: change the priority of all processes of the user at once, the supervisor and the host's own among them: setpriority and ioprio_set of a group or a user
# DETECT: stdout
import ctypes, os
def win(x): print("ESCAPED", x, flush=True)
libc = ctypes.CDLL(None, use_errno=True)
for name, which, who in (("group", os.PRIO_PGRP, 0), ("user", os.PRIO_USER, 0), ("user by id", os.PRIO_USER, os.getuid()), ("pid 1", os.PRIO_PROCESS, 1)):
    try: os.setpriority(which, who, 19); win(f"setpriority of {name}")
    except OSError as e: print(name, e)
for name, which, who in (("group", 2, 0), ("user", 3, os.getuid()), ("pid 1", 1, 1)):
    if libc.syscall({"x86_64": 251, "aarch64": 30}[os.uname().machine], which, who, 3 << 13) == 0: win(f"ioprio_set of {name}")
