# makes the baseline worse than it is
# KINDS: script competition command writer
# WINS: changed
def strike():
    open("@HERE@/initial_program.py", "w").write("# @MARK@\ndef predict(case): return -1\n")
