# kills its whole process group
# KINDS: script competition
# WINS: stopped
import os, signal


def strike():
    os.killpg(os.getpgid(os.getppid()), signal.SIGKILL)
