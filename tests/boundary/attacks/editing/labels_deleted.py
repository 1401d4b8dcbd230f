# deletes the labels
# KINDS: script competition writer
# WINS: changed
import os


def strike():
    os.unlink("@LABELS@")
