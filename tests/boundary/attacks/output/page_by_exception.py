# dies with a tag in the exception's text and type
# KINDS: script competition
# WINS: shown
raise type("E<i id=@MARK@>", (Exception,), {})("</script><i id=@MARK@><img src=x onerror=alert(1)>")
