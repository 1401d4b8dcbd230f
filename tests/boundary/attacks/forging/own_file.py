# changes its own file once it runs: what is kept would not be what was scored
# KINDS: script competition
# WINS: changed
import sys
def strike():
    for path in {globals().get("__file__", "program.py"), "program.py", "solution.py", "/workspace/solution.py", "@HERE@/program.py"}:
        try: open(path, "a").write("\n# @MARK@\n")
        except OSError: pass
