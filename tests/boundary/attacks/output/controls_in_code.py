# holds raw controls in its source, which is shown too
# KINDS: script competition
# WINS: shown
NAME = "@MARK@]0;owned[2J‮flip"
def strike(): pass
