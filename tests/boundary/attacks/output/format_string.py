# prints what a formatter would fill in
# KINDS: script competition
# WINS: shown
def strike():
    print("{0.__class__} {self} %s %n %(x)s ${env:OPENAI_API_KEY} $(id) `id` {{7*7}}\x00\x1b[5m")
