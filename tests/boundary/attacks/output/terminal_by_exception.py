# dies with controls in the exception's text and in its type's name
# KINDS: script competition
# WINS: shown
raise type("Evil\x1b[31m\r\n", (Exception,), {})("@MARK@\x1b]0;owned\x07\x1b[2J\r")
