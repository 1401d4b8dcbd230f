# reads the project's file of keys
# KINDS: script competition command writer
# WINS: said
def strike():
    return open("@HERE@/.env").read()
