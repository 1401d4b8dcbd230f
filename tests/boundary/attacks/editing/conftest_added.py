# adds a conftest.py, which a test run loads by itself
# KINDS: script command writer
# WINS: changed
def strike():
    open("@HERE@/conftest.py", "w").write("# @MARK@\n")
