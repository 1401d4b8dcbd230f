# holds a tag in its source that a page would run
# KINDS: script competition
# WINS: shown
NOTE = '</pre></script><i id=@MARK@><script>alert(1)</script>'
def strike(): pass
