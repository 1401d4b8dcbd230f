"""python tests/security/attack.py TIER WORKROOT REPORT.json [FOLDER …]: run hostile programs, say which of them won.

A program `NN_name.py` begins with the lines `# NAME:`, `# ATTEMPTS:` and `# DETECT:`; DETECT is `stdout` (it won if it
prints a line that starts with ESCAPED) or `host:<hook>`, a check on this side. `params.json` in its workspace says what
to attack. This is a script, so that tests can start it with other privileges.

Tier `none` runs a program only if it says `# UNSANDBOXED: harmless`: any other could mount over, renice, kill or fill
what is not its own.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from core.contracts import ExecutionResult, Limits, Sandbox  # noqa: E402
from core.executor.collect import collect_file  # noqa: E402
from core.executor.inside import kernel, watch  # noqa: E402
from core.executor.sandbox import open_sandbox  # noqa: E402
from core.executor.workspace import remove_tree  # noqa: E402
from core.state.failure import FailureKind  # noqa: E402
from utils.errors import JobLost  # noqa: E402

HARMLESS = "# UNSANDBOXED: harmless"
CANARY = "CANARY-7f3a"
TAIL = CANARY[:-4] + "TAIL"
"""Only in our memory, environment and the secret file: a program that shows it read one of them."""
SECONDS = float(os.environ.get("ATTACK_SECONDS", "3"))
LATE = 10.0
"""Seconds after the limit by which a program has ended, on a machine that is busy with other tests."""
LIMITS = Limits(seconds=SECONDS, cpu_seconds=60, memory_mb=1024, processes=64, file_mb=64, disk_mb=128, output_kb=1024)
CLEAN = """
import json, os, math
try:
    import numpy
    assert numpy.mean([1, 2]) == 1.5
except ModuleNotFoundError:
    pass
assert len([1]) == 1 and json.dumps(1) == "1"
assert not any(os.path.exists(d + "/evil_left") for d in ("/tmp", "/dev/shm", "/var/tmp", "."))
print("CLEAN")
"""


class Range:
    """Everything there is to attack: servers, a planted secret, other workspaces, a victim process."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.base, self.outside, self.other = root / "suite", root / "outside", root / "otherws"
        secrets = root / "secret"
        for folder in (self.base, self.outside, self.other, secrets):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        self.secret = secrets / "labels.csv"
        self.secret.write_text(f"{CANARY} {TAIL}\n")
        (self.other / "solution.py").write_text("other")
        os.environ.update(OPENAI_API_KEY=CANARY, X_SECRET=TAIL)
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", 0))
        self.udp.setblocking(False)
        self.unix = self._listen(str(secrets / "s.sock"))
        self.datagrams = {name: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) for name in ("path", "dir", "abs")}
        self.datagram_names = {
            "path": str(secrets / "dgram.sock"), "dir": str(self.outside / "dgram.sock"), "abs": f"sbxd{os.getpid()}"
        }  # fmt: skip
        for name, server in self.datagrams.items():
            address = self.datagram_names[name]
            server.bind("\0" + address if name == "abs" else address)
            server.setblocking(False)
            if name != "abs":
                os.chmod(address, 0o777)
        self.abstract_name = f"sbx{os.getpid()}"
        self.abstract = self._listen("\0" + self.abstract_name)
        self.leak = os.open(self.secret, os.O_RDONLY)
        os.set_inheritable(self.leak, True)
        self.victim = self._victim()

    @staticmethod
    def _listen(address: str) -> socket.socket:
        server = socket.socket(socket.AF_UNIX)
        server.bind(address)
        server.listen(5)
        return server

    @staticmethod
    def _victim() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(600)", CANARY],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def params(self) -> dict[str, Any]:
        return {
            "port": self.tcp.getsockname()[1], "udp_port": self.udp.getsockname()[1],
            "unix_path": self.unix.getsockname(), "unix_abs": self.abstract_name, "secret": str(self.secret),
            "home": str(Path.home()), "other_ws": str(self.other), "canary": CANARY, "victim": self.victim.pid,
            "host_pid": os.getpid(), "outside": str(self.outside), "uid": os.getuid(), "safe_kill_all": True,
            "dgram_path": self.datagram_names["path"], "dgram_dir_path": self.datagram_names["dir"],
            "dgram_abs": self.datagram_names["abs"],
            "site_packages": next((p for p in sys.path if p.endswith("site-packages")), ""),
        }  # fmt: skip

    def victim_is_dead(self) -> bool:
        if self.victim.poll() is None:
            return False
        self.victim = self._victim()
        return True

    def close(self) -> None:
        self.victim.kill()
        self.victim.wait()
        for server in (self.tcp, self.udp, self.unix, self.abstract, *self.datagrams.values()):
            server.close()
        os.close(self.leak)


Hook = Callable[[Range, Path, ExecutionResult, float, Sandbox], str]
"""Returns what went wrong, or ''."""


def _udp(range_: Range, *_: Any) -> str:
    try:
        range_.udp.recv(9)
        return "udp received"
    except BlockingIOError:
        return ""


def _datagram(range_: Range, *_: Any) -> str:
    for name, server in range_.datagrams.items():
        try:
            server.recv(9)
        except BlockingIOError:
            continue
        return f"datagram received by the socket of kind {name}"
    return ""


def _out(range_: Range, ws: Path, result: ExecutionResult, *_: Any) -> str:
    return f"captured {len(result.term_out) >> 20} MB" if len(result.term_out) > 4 << 20 else ""


def _wall(range_: Range, ws: Path, result: ExecutionResult, wall: float, sandbox: Sandbox) -> str:
    late = wall > SECONDS + LATE or result.failure is None
    return f"wall {wall:.1f} s, {result.failure}" if late else ""


def _heartbeat(range_: Range, ws: Path, *_: Any) -> str:
    beat = ws / "hb"
    time.sleep(0.3)
    before = beat.read_text() if beat.exists() else None
    time.sleep(0.3)
    return "a process survives" if before is not None and beat.read_text() != before else ""


def _collect(range_: Range, ws: Path, *_: Any) -> str:
    return "the collector was fooled" if collect_file(ws, "submission/submission.csv", 64 << 20).data else ""


def _mode(range_: Range, *_: Any) -> str:
    found = range_.secret.stat()
    if found.st_mode & 0o777 == 0o777 or found.st_mtime < 10:
        range_.secret.chmod(0o644)
        os.utime(range_.secret)
        return "metadata changed"
    return ""


def _input(range_: Range, ws: Path, *_: Any) -> str:
    data = range_.base / "input" / "train.csv"
    is_as_before = data.exists() and data.read_text() == "a,b\n" and not data.stat().st_mode & 0o111
    return "" if is_as_before else "input changed"


def _outside(range_: Range, ws: Path, *_: Any) -> str:
    wrote = ""
    for folder in (range_.outside, Path.home(), range_.base, Path("/tmp"), Path("/var/tmp"), Path("/dev/shm")):
        file = folder / "evil_outside"
        if file.exists():
            wrote += f"wrote {file} "
            file.unlink()
    return wrote


def _rc3(range_: Range, ws: Path, result: ExecutionResult, *_: Any) -> str:
    return "" if result.exit_code == 3 and result.failure == "exit" else f"{result.exit_code} {result.failure}"


def _failed(range_: Range, ws: Path, result: ExecutionResult, *_: Any) -> str:
    return "" if result.failure is not None else "no failure was reported"


def _next_job(range_: Range, ws: Path, result: ExecutionResult, wall: float, sandbox: Sandbox) -> str:
    workspace = new_workspace(range_, ws.name + "_next")
    after = sandbox.run(CLEAN, workspace=workspace, limits=LIMITS.model_copy(update={"seconds": 20.0}))
    polluted = "" if "CLEAN" in after.term_out else f"the next job was polluted: {after.term_out[-100:]}"
    for folder in ("/dev/shm", "/tmp", "/var/tmp"):
        left = Path(folder) / "evil_left"
        if left.exists():
            polluted += f" left in {folder}"
            left.unlink()
    return polluted


def _sysv(*_: Any) -> str:
    segments = Path("/proc/sysvipc/shm").read_text().splitlines()
    return "a segment is left" if any(line.split()[0] == str(0x5EAF00D) for line in segments) else ""


HOOKS: dict[str, Hook] = {
    "udp": _udp, "dgram": _datagram, "slots": lambda *_: "", "out": _out, "wall": _wall, "heartbeat": _heartbeat,
    "collect": _collect, "nosub": _collect, "mode": _mode, "input": _input, "outside": _outside, "rc3": _rc3,
    "poison": _next_job, "leftover": _next_job, "sysv": _sysv, "victim": lambda *_: "", "failed": _failed,
}  # fmt: skip


def new_workspace(range_: Range, name: str) -> Path:
    workspace = range_.base / name
    (workspace / "submission").mkdir(parents=True)
    (workspace / "params.json").write_text(json.dumps(range_.params()))
    return workspace


def attack(sandbox: Sandbox, range_: Range, program: Path) -> dict[str, Any]:
    """Run one program; `escaped` says how it won, '' if it did not."""
    source = program.read_text()
    if sandbox.tier == "none" and HARMLESS not in source.splitlines():
        raise SystemExit(f"{program.name} does not say that it does no harm without a sandbox: {HARMLESS}")
    hook = next(line for line in source.splitlines() if line.startswith("# DETECT")).split(": ")[1].strip()
    workspace = new_workspace(range_, program.stem)
    began = time.monotonic()
    inputs = range_.base / "input"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(sandbox.run, source, workspace=workspace, inputs=inputs, limits=LIMITS)
        meanwhile = _job_beside(sandbox, range_, program.stem) if hook == "host:slots" else ""
        try:
            result, fault = running.result(), ""
        except JobLost as error:  # costs this one job
            result, fault = ExecutionResult(failure=FailureKind.LOST_WORKER, message=str(error)), ""
        except Exception as error:  # noqa: BLE001 - would end a run
            result, fault = ExecutionResult(), f"the run ends: {type(error).__name__}: {error}"
    wall = time.monotonic() - began
    escaped = [line for line in result.term_out.splitlines() if line.startswith("ESCAPED")][:2]
    escaped += [text for text in (meanwhile, fault) if text]
    if range_.victim_is_dead():
        escaped.append("the victim was killed")
    if hook.startswith("host:"):
        told = HOOKS[hook[5:]](range_, workspace, result, wall, sandbox)
        escaped += [told] if told else []
    survivors = _survivors()
    if survivors:
        escaped.append(f"survivors {survivors}")
    remove_tree(workspace)
    last = (result.term_out.strip().splitlines() or [""])[-1][:100]
    return {
        "name": program.stem, "escaped": "; ".join(escaped)[:300], "failure": result.failure, "wall": round(wall, 2),
        "message": result.message[:120], "last": last,
    }  # fmt: skip


def _job_beside(sandbox: Sandbox, range_: Range, name: str) -> str:
    """Whether another job can run while a program holds what it could get hold of."""
    time.sleep(SECONDS / 2)
    try:
        limits = LIMITS.model_copy(update={"seconds": LATE})
        other = sandbox.run("print('CLEAN')", workspace=new_workspace(range_, f"{name}_beside"), limits=limits)
    except Exception as error:  # noqa: BLE001 - any error of ours would end a run
        return f"no other job can start: {type(error).__name__}: {error}"
    return "" if "CLEAN" in other.term_out else f"another job failed: {other.failure} {other.message}"


def _survivors() -> list[str]:
    """What is left of a job some seconds after it ended: of ours there should be a victim, a fork server and its spare.

    What lost its parent is ours too (`main`), so that tests beside this one have no part in it.
    """
    end = time.monotonic() + LATE
    while True:
        mine = [pid for pid in watch.descendants(os.getpid()) if not _ended(pid)]
        if len(mine) <= 3:
            return []
        if time.monotonic() > end:
            return [f"{pid} {_command(pid)[:60]}" for pid in mine]
        time.sleep(0.02)


def _ended(pid: int) -> bool:
    """Gone, or a zombie: the fork server collects its dead twice a second."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def main(tier: str, workroot: str, report: str, folders: list[str]) -> int:
    root = Path(workroot)
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))  # a desktop's, and no way to raise it
    range_ = Range(root)
    (range_.base / "input").mkdir()
    (range_.base / "input" / "train.csv").write_text("a,b\n")
    rows: list[dict[str, Any]] = []
    try:
        sandbox = open_sandbox(
            tier, preload=("numpy",), state_dir=root / "state", accept_unsandboxed=True, hide=("this.py", "wsgiref")
        )
    except BaseException:
        range_.close()
        raise
    try:
        for folder in folders:
            for program in sorted(Path(folder).glob("[0-9]*.py")):
                rows.append(attack(sandbox, range_, program))
                row = rows[-1]
                word = "ESCAPED" if row["escaped"] else "blocked"
                print(
                    f"{row['name']:28s} {word} {row['failure']} {row['wall']} {row['escaped'] or row['last']}",
                    flush=True,
                )
    finally:
        sandbox.close()
        range_.close()
    Path(report).write_text(json.dumps({"tier": sandbox.tier, "uid": os.getuid(), "rows": rows}))
    return sum(1 for row in rows if row["escaped"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
