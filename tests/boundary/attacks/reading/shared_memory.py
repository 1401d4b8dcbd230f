# reads what other programs keep in shared memory
# KINDS: script competition command
# WINS: said
def strike():
    return open("@SHARED@").read()
