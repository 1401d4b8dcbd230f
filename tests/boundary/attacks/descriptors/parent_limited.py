# takes the descriptors away from the process that started it
# KINDS: script competition
# WINS: stopped
import os, resource


def strike():
    if os.getppid() > 1:
        resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))
