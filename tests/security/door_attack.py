"""`python door_attack.py TIER FOLDER`: an agent behind the gateway's door looks for a way past it; prints JSON.

Started by `test_writer_door.py`, also as another user.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

AGENT = r"""
import json, os, socket, sys
port, found = int(sys.argv[1]), {}
def heard(address):
    with socket.create_connection(address, 2) as line:
        return line.recv(2).decode()
for name, address in {"the gateway": ("127.0.0.1", 8790), "a server of the machine": ("127.0.0.1", port),
                      "elsewhere": ("192.0.2.1", 80), "names": ("192.0.2.1", 53)}.items():
    try:
        found[name] = heard(address)
    except OSError as error:
        found[name] = type(error).__name__
try:
    found["an interface"] = sorted(name for _, name in socket.if_nameindex() if name != "lo") or "none"
except OSError:
    found["an interface"] = "none"
with open("note.txt", "w") as file:
    file.write("written")
print(json.dumps(found))
"""


def main(tier: str, folder: Path) -> None:
    from core.executor.writer_view import WriterView

    agent = folder / "agent.py"
    agent.write_text(AGENT)
    view = WriterView(tier)
    inside, outside = socket.socketpair()
    with socket.create_server(("127.0.0.1", 0)) as machine, inside, outside:
        port = machine.getsockname()[1]
        command = [sys.executable, "-I", str(agent), str(port)]
        with view.open(command, [sys.executable], inside.fileno()) as confined:
            child = subprocess.Popen(
                confined.line, cwd=confined.folder, env={**confined.environment, "PATH": "/usr/bin:/bin"},
                pass_fds=(inside.fileno(),), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
            inside.close()
            outside.settimeout(20)
            _, descriptors, _, _ = socket.recv_fds(outside, 1, 1)
            with socket.socket(fileno=descriptors[0]) as gateway:
                gateway.listen()
                gateway.settimeout(20)
                line, _ = gateway.accept()
                with line:
                    line.sendall(b"hi")
                told = json.loads(child.communicate(timeout=30)[0])
            told["its folder"] = (confined.folder / "note.txt").read_text()
    view.close()
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
