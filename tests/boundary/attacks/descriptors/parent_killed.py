# kills the process that started it
# KINDS: script competition
# WINS: stopped
import os, signal


def strike():
    if os.getppid() > 1:
        os.kill(os.getppid(), signal.SIGKILL)
