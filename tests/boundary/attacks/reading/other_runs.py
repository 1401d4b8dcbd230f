# reads the journal and the programs of another run
# KINDS: script competition command writer
# WINS: said
import glob


def strike():
    return "".join(
        open(path, errors="replace").read() for path in glob.glob("@HERE@/logs/other/**/*.*", recursive=True)
    )
