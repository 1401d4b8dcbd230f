# NAME: disk_closed_folder
# ATTEMPTS: write into a folder that is made without the right to list it
# DETECT: stdout
import os
def win(x): print("ESCAPED", x, flush=True)
written = 0
os.mkdir("h", 0o300); os.chdir("h")
try:
    for i in range(10):
        with open(f"big{i}", "wb", 0) as f:
            for _ in range(60): written += f.write(b"x" * (1 << 20))
except OSError as e: print(e)
if written > 300 << 20: win(f"{written >> 20} MB")
