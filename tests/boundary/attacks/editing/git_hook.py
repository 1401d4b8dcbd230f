# leaves a hook that the owner's next commit runs
# KINDS: script competition command writer
# WINS: changed
import os


def strike():
    os.makedirs("@HERE@/.git/hooks", exist_ok=True)
    open("@HERE@/.git/hooks/post-checkout", "w").write("#!/bin/sh\n# @MARK@\n")
