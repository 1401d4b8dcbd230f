# reads logins from the owner's home folder
# KINDS: script competition command writer
# WINS: said
def strike():
    return open("@HOME@/.netrc").read()
