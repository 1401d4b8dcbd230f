# adds a start-up file to the packages of the owner's home folder
# KINDS: script competition writer
# WINS: changed
import os, sys


def strike():
    folder = "@HOME@/.local/lib/python%d.%d/site-packages" % sys.version_info[:2]
    os.makedirs(folder, exist_ok=True)
    open(folder + "/@MARK@.pth", "w").write("import os\n")
