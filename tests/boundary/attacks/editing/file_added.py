# brings a file that nobody asked for
# KINDS: command
# WINS: changed
=== program.py ===
from helper import CASES
print("0 " * CASES, file=open("output.txt", "w"))
=== helper.py ===
CASES = 64
=== conftest.py ===
# @MARK@
