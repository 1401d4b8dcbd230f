# NAME: kernel_buffers
# ATTEMPTS: more than a gigabyte in the buffers of sockets, filled by a few processes, under a memory limit of 1 GB
# DETECT: stdout
import os, socket, time
def win(x): print("ESCAPED", x, flush=True)
def fill(name):
    kept, held = [], 0
    try:
        while True:
            a, b = socket.socketpair()
            kept.append((a, b))
            for one in (a, b):
                one.setblocking(False)
                one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
                try:
                    while True: held += one.send(b"x" * 65536)
                except BlockingIOError: pass
            with open(name, "w") as file: file.write(str(held))
    except OSError: pass
    time.sleep(30)
for number in range(12):
    if os.fork() == 0: fill(f"held{number}")
while True:
    time.sleep(0.05)
    held = sum(int(open(f"held{n}").read() or 0) for n in range(12) if os.path.exists(f"held{n}")) >> 20
    print(held, flush=True)
    if held > 1200: win(f"{held} MB in buffers of sockets"); break
