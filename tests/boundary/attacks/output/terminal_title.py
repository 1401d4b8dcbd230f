# prints controls that a terminal obeys: title, clipboard, cursor, erase
# KINDS: script competition
# WINS: shown
def strike():
    print("\x1b]0;@MARK@\x07\x1b]52;c;QQ==\x07\x1b[2J\x1b[1A\x9b2K@MARK@\x08\x08 done")
