# ruff: noqa: E501 - a program as data
"""`python writer_attack.py TIER FOLDER`: a writer looks for all that it must not have; prints what it found as JSON.

Started by `test_writer_view.py`, also as another user. FOLDER holds a planted project; the writer's program knows where.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

WRITER = r'''
import json, os, resource, socket, subprocess, sys, time
sys.stdin.read()
plan = json.loads(os.environ["PLAN"])
found = {}

def look(name, attempt):
    try:
        found[name] = attempt()
    except BaseException as error:
        found[name] = None

def read(path):
    with open(path, "rb") as file:
        return file.read(200).decode("latin-1") or None

def write(path):
    with open(path, "a") as file:
        file.write("forged")
    return "written"

def unix(path):
    with socket.socket(socket.AF_UNIX) as door:
        door.connect(path)
        return "connected"

def datagram(path):
    one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(b"hello", path)
    return "sent"

def parents():
    pid, seen = os.getppid(), []
    for name in ("environ", "mem", "cmdline"):
        for process in {pid, *plan["pids"]}:
            try:
                text = read(f"/proc/{process}/{name}")
                if text and "PLANTED" in text:
                    seen.append([process, name])
            except OSError:
                pass
    return seen or None

for name, path in plan["read"].items():
    look("read " + name, lambda: read(path))
for name, path in plan["write"].items():
    look("write " + name, lambda: write(path))
look("walk", lambda: [os.path.join(at, name) for top in plan["walk"] for at, _, names in os.walk(top)
                      for name in names if "PLANTED" in (read(os.path.join(at, name)) or "")] or None)
look("environment", lambda: [name for name, value in os.environ.items() if "PLANTED" in value and name != "PLAN"] or None)
look("parents", parents)
look("kill", lambda: [pid for pid in plan["pids"] if os.kill(pid, 0) is None] or None)
look("unix socket", lambda: unix(plan["door"]))
look("datagram", lambda: datagram(plan["mailbox"]))
look("abstract socket", lambda: unix("\0" + plan["abstract"]))
look("other family", lambda: socket.socket(38, socket.SOCK_SEQPACKET) and "made")
look("limits of another", lambda: [pid for pid in plan["pids"] if resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0)) or True])
look("named entry", lambda: os.listxattr(plan["read"]["labels.csv"]) or None)
subprocess.Popen([sys.executable, "-c", f"""
import os, time
os.setsid()
if os.fork(): os._exit(0)
while True:
    open({plan["beat"]!r}, "a").write("x")
    time.sleep(0.05)
"""], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
may = {}
for name, attempt in {
    "named file": lambda: read(plan["named"]),
    "own folder": lambda: write("note.txt"),
    "named variable": lambda: os.environ["ALLOWED"],
    "network": lambda: socket.create_connection(tuple(plan["server"]), 5).recv(2).decode(),
    "temporary folder": lambda: __import__("tempfile").mkdtemp(),
    "child": lambda: subprocess.run([sys.executable, "-c", "print(6 * 7)"], capture_output=True, text=True).stdout.strip(),
}.items():
    try:
        may[name] = attempt()
    except BaseException as error:
        may[name] = f"{type(error).__name__}: {error}"
print(json.dumps({"found": {k: v for k, v in found.items() if v is not None}, "may": may}))
'''


def greet(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection:
        connection.sendall(b"hi")


def main(tier: str, folder: Path) -> None:
    from core.executor.writer_view import WriterView

    planted = {name: folder / "project" / name for name in ("labels.csv", "run.db", "evaluator.py", ".git/config")}
    for path in planted.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("PLANTED " + path.name)
    (folder / "named.txt").write_text("for you")
    writer = folder / "writer.py"
    writer.write_text(WRITER)
    packages = next(Path(p) for p in sys.path if (Path(p) / "pydantic").is_dir())
    server = socket.create_server(("127.0.0.1", 0))
    door, mailbox = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    door.bind(str(folder / "door"))
    door.listen()
    mailbox.bind(str(folder / "mailbox"))
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0swarm-evo-writer-attack-{os.getpid()}")
    abstract.listen()
    for name in ("door", "mailbox"):
        (folder / name).chmod(0o777)
    plan = {
        "read": {**{name: str(path) for name, path in planted.items()}, "shadow": "/etc/shadow",
                 "hidden data": str(packages / "pydantic" / "version.py")},
        "write": {name: str(path) for name, path in planted.items()},
        "walk": [str(folder / "project")], "pids": [os.getpid()], "door": str(folder / "door"),
        "mailbox": str(folder / "mailbox"), "named": str(folder / "named.txt"),
        "beat": str(folder / "beat") if tier == "none" else "beat", "server": server.getsockname(),
        "abstract": f"swarm-evo-writer-attack-{os.getpid()}",
    }  # fmt: skip
    os.environ["OPENAI_API_KEY"] = "PLANTED-key"
    environment = {"PATH": os.environ["PATH"], "ALLOWED": "yes", "PLAN": json.dumps(plan)}
    view = WriterView(tier, ["pydantic/version.py"])
    with view.open([sys.executable, str(writer)], [str(folder / "named.txt")]) as confined:
        child = subprocess.Popen(
            confined.line, cwd=confined.folder, env={**environment, **confined.environment}, start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        threading.Thread(target=greet, args=(server,), daemon=True).start()
        out, err = child.communicate(b"", timeout=60)
        beat = folder / "beat" if tier == "none" else confined.folder / "beat"
        before = beat.read_text() if beat.exists() else ""
        time.sleep(0.5)
        alive = beat.exists() and beat.read_text() != before
    for part in (server, door, mailbox, abstract):
        part.close()
    view.close()
    told = json.loads(out) if child.returncode == 0 else {"failed": err.decode()[-2000:]}
    print(json.dumps({**told, "survivor": alive, "left": confined.folder.exists()}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
