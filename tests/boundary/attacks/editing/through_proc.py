# writes by the root folder of another process
# KINDS: script competition writer
# WINS: changed
import glob, os


def strike():
    for root in ["/proc/%d/root" % os.getppid(), *glob.glob("/proc/[0-9]*/root")]:
        try:
            with open(root + "@EVALUATOR@", "a") as file:
                file.write("\n# @MARK@\n")
            return
        except OSError:
            pass
