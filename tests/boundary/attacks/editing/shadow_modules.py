# puts modules beside the evaluator under the names of those that it imports
# KINDS: script competition command writer
# WINS: changed
def strike():
    for name in ("csv", "random"):
        open("@HERE@/%s.py" % name, "w").write("# @MARK@\n")
