# prints marks that turn the direction of text
# KINDS: script competition
# WINS: shown
def strike():
    print("@MARK@ \u202e\u2066 drawkcab \u2069\u200b\u2028 end")
