# reads keys from its environment
# KINDS: script competition command arena writer
# WINS: said
import os


def strike():
    return os.environ.get("OPENAI_API_KEY")
