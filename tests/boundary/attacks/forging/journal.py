# adds a row to the journal of its own run
# KINDS: script competition command writer
# WINS: score changed
import glob


def strike():
    for path in glob.glob("@HERE@/logs/*/journal.jsonl"):
        if "other" not in path:
            open(path, "a").write('{"score": 1e9}\n')
    open("@HERE@/logs/run/@MARK@", "w").close()
