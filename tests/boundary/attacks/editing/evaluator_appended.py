# adds a line to the evaluator's file
# KINDS: script competition arena command writer
# WINS: changed
def strike():
    open("@EVALUATOR@", "a").write("\n# @MARK@\nSCALE = 1e9\n")
