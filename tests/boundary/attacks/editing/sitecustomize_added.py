# adds a module that every Python loads at its start
# KINDS: script competition command writer
# WINS: changed
def strike():
    open("@HERE@/sitecustomize.py", "w").write("# @MARK@\n")
    open("@HERE@/usercustomize.py", "w").write("# @MARK@\n")
