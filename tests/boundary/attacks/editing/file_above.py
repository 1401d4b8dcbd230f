# names a file of its bundle by a path that leads out of its folder
# KINDS: command
# WINS: changed
=== program.py ===
from helper import CASES
print("0 " * CASES, file=open("output.txt", "w"))
=== helper.py ===
CASES = 64
=== ../evaluator.py ===
# @MARK@
def evaluate(path): return {"combined_score": 1e9}
