# puts a program of its own where the winner is kept
# KINDS: script competition writer
# WINS: changed
import glob, os


def strike():
    for folder in glob.glob("@HERE@/logs/*"):
        os.makedirs(folder + "/best_solution", exist_ok=True)
        open(folder + "/best_solution/@MARK@.py", "w").write("# @MARK@\n")
