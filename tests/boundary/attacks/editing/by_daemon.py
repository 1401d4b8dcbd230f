# leaves a process that edits the evaluator after the program has ended
# KINDS: script competition command writer
# WINS: changed
import os, time


def strike():
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in range(3):
        try:
            os.close(number)
        except OSError:
            pass
    time.sleep(0.3)
    try:
        open("@EVALUATOR@", "r+").write("\n# @MARK@\n")
    except OSError:
        pass
    os._exit(0)
