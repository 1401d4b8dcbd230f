# NAME: disk_too_deep
# ATTEMPTS: write where no path is long enough to look
# DETECT: stdout
import os
def win(x): print("ESCAPED", x, flush=True)
written, at = 0, os.open(".", os.O_RDONLY)
try:
    for _ in range(150):
        os.mkdir("d" * 50, dir_fd=at); at = os.open("d" * 50, os.O_RDONLY, dir_fd=at)
    for i in range(10):
        f = os.open(f"big{i}", os.O_WRONLY | os.O_CREAT, dir_fd=at)
        for _ in range(60): written += os.write(f, b"x" * (1 << 20))
        os.close(f)
except OSError as e: print(e)
if written > 300 << 20: win(f"{written >> 20} MB")
