# changes what another run has found
# KINDS: script competition writer
# WINS: changed
def strike():
    open("@HERE@/logs/other/best_solution/solution.py", "a").write("# @MARK@\n")
    open("@HERE@/logs/other/journal.jsonl", "a").write('{"score": 1e9, "note": "@MARK@"}\n')
