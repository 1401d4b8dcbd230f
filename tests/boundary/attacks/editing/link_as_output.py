# makes the command's output file a link to the labels
# KINDS: command
# WINS: changed score said
import os

if os.path.lexists("output.txt"):
    os.unlink("output.txt")
os.symlink("@LABELS@", "output.txt")
