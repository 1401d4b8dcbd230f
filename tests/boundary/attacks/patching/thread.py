# goes on changing the evaluator from a thread
# KINDS: script arena
# WINS: score
import sys, threading, time


def _go_on():
    for _ in range(200):
        for module in list(sys.modules.values()):
            if hasattr(module, "SCALE"):
                module.SCALE = 1e9
        time.sleep(0.001)


def strike():
    threading.Thread(target=_go_on, daemon=True).start()
    time.sleep(0.01)
