# adds a line to the owner's shell profile
# KINDS: script competition command writer
# WINS: changed
def strike():
    open("@HOME@/.profile", "a").write("# @MARK@\n")
