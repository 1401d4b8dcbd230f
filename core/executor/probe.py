"""Does a tier hold on this machine? Asked by attacking it, about twenty real attacks, before anything untrusted runs.

The answer is cached for this boot, user, interpreter and version of our own code: in the folder of states, and for all
projects of the user in the folder that the system gives a session ($XDG_RUNTIME_DIR); where there is none, in one of
the user's own below the temporary folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from core.contracts import Limits, Sandbox
from core.executor.inside.messages import SHORTAGES
from core.executor.server import ServerConfig, own_python, private_folder
from core.executor.tiers import TIERS, make_sandbox
from core.state.failure import FailureKind
from utils.errors import JobLost, NoSandboxError, SandboxError
from utils.file_utils import write_atomic
from utils.regular_files import read_regular
from utils.scratch_folders import scratch_folder
from utils.users_folder import lasting_folder

REMEDIES = {
    "mounts": "mount /proc and /dev: mount -t proc proc /proc; mount -t devtmpfs dev /dev",
    "system": "use Linux, WSL2 or a virtual machine: no tier works on other systems",
    "start": "give a Python 3.9 or newer in execution.python, installed so that every user can read it",
    "room": "give this session more room: ulimit -n (open files), ulimit -u (processes), the limits of its cgroup",
    "warm": (
        "allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces>0), "
        "or run as root with CAP_SYS_ADMIN (docker run --cap-add SYS_ADMIN --security-opt seccomp=unconfined "
        "--security-opt apparmor=unconfined)"
    ),
    "lite": "boot Linux 5.13 or newer with Landlock (lsm=landlock,…); as root, keep CAP_SETUID and CAP_SETGID",
    "bubblewrap": "install bubblewrap (apt install bubblewrap) and run as an ordinary user",
}

_REFUSED_CALL = r"\[Errno \d+\] [a-z]"
"""As `kernel.check` says what the kernel refuses a tier; what Python says of files begins with a capital."""
_EVERYWHERE = ("/proc/self/fd", "/dev/null")
"""What each tier, and the attacks on it, take for granted; a folder that somebody entered by `chroot` may lack it."""
CACHE = ".sandbox-probes.json"
_CACHE_BYTES = 1 << 22
"""In the folder of states: answers of this boot."""
_LIMITS = Limits(seconds=10, cpu_seconds=10, memory_mb=96, processes=24, file_mb=8, disk_mb=16, output_kb=64)


@dataclass(frozen=True, slots=True)
class Probe:
    """One attack and how it ended."""

    name: str
    ok: bool
    detail: str = ""


_ATTACKS = """
import ctypes, json, os, socket
P = json.load(open("probe.json"))
libc = ctypes.CDLL(None, use_errno=True)
def read_file(): return open(P["secret"]).read()
def look_at_file(): return os.stat(P["secret"])
def write_outside():
    with open(P["outside"], "w") as file: file.write("x")
    return True
def connect_tcp(): return socket.create_connection(P["tcp"], 1)
def connect_unix():
    s = socket.socket(socket.AF_UNIX); before = os.getcwd()
    try:
        os.chdir(os.path.dirname(P["unix"])); s.connect("s"); return s  # whole, its name may be too long for an address
    finally: os.chdir(before)
def connect_abstract():
    s = socket.socket(socket.AF_UNIX); s.connect("\\0" + P["abstract"]); return s
def read_memory(): return open(f"/proc/{P['victim']}/mem", "rb")
def trace(): return libc.ptrace(16, P["victim"], 0, 0) == 0
def kill_others(): os.kill(P["victim"], 9); return False
def new_namespace(): return libc.unshare(0x10000000) == 0
def mount(): return libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0
def load_bpf(): return libc.syscall(P["bpf"], 5, ctypes.create_string_buffer(128), 128) >= 0
def read_environment(): return "SWARM_EVO_PROBE" in os.environ
def become_root(): os.setuid(0); return True
def read_hidden():
    import sys
    found = [os.path.join(folder, P["hidden"]) for folder in sys.path]
    return any(open(path, "rb").read() for path in found if os.path.exists(path))
def write_input():
    with open("input/data", "w") as file: file.write("x")
    return True
for name in P["attacks"]:
    try: won = bool(globals()[name]())
    except BaseException: won = False
    print(name, "WON" if won else "held", flush=True)
"""
_NAMES = (
    "read_file", "look_at_file", "write_outside", "connect_tcp", "connect_unix", "connect_abstract", "read_memory",
    "trace", "kill_others", "new_namespace", "mount", "load_bpf", "read_environment", "become_root", "read_hidden",
    "write_input",
)  # fmt: skip
PROBES = ("start", *_NAMES, "child_interpreter", "memory_limit", "process_limit", "no_survivors")
"""Of a tier that was attacked to the end, in order."""
_HIDDEN = "antigravity.py"
"""A file that every interpreter has and nobody needs."""
_MEMORY = "blocks = [bytearray(1 << 20) for _ in range(600)]\nprint('WON')"
_FORKS = """
import os, time
for _ in range(200):
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
print('WON')
"""
_DAEMON = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            open("beat", "w").write(str(time.time()))
            time.sleep(0.01)
    os._exit(0)
time.sleep(0.1)
"""
_CHILD = (
    "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True).stdout)"
)


def examine(
    choice: str = "auto", *, python: str | None = None, gpus: float = 0, state_dir: Path | None = None
) -> dict[str, Any]:
    """Attack the tier of `choice`, or with `auto` one after the other until one holds.

    Returns:
        `{"tier": the one that holds or "none", "probes": [{"name", "ok", "detail"}], "remedy": text}`; the probes are
        those of that tier, or of the first tier tried where none holds.
    """
    if choice == "none":
        return {"tier": "none", "probes": [], "remedy": "execution.sandbox=none asks for no sandbox"}
    if not sys.platform.startswith("linux"):
        probe = Probe("system", False, f"{platform.system()} has no sandbox tier")
        return {"tier": "none", "probes": [asdict(probe)], "remedy": REMEDIES["system"]}
    for path in _EVERYWHERE:
        if not os.path.exists(path):
            probe = Probe("system", False, f"{path} is not there")
            return {"tier": "none", "probes": [asdict(probe)], "remedy": REMEDIES["mounts"]}
    first: dict[str, Any] | None = None
    for tier in TIERS if choice == "auto" else (choice,):
        probes = probe_tier(tier, python=python, gpus=gpus, state_dir=state_dir)
        found = {"tier": tier, "probes": [asdict(probe) for probe in probes], "remedy": ""}
        if all(probe.ok for probe in probes):
            return found
        first = first or found | {"tier": "none", "remedy": _remedy(tier, probes)}
    assert first is not None
    return first


def _remedy(tier: str, probes: Sequence[Probe]) -> str:
    """Of a session without room, of an interpreter that cannot be started, else of the tier."""
    failed = next(probe for probe in probes if not probe.ok)
    if any(os.strerror(number) in failed.detail for number in SHORTAGES):
        return REMEDIES["room"]
    unstartable = failed.detail.startswith(("cannot start", "the fork server did not start"))
    unstartable &= not re.search(_REFUSED_CALL, failed.detail)
    return REMEDIES["start" if unstartable else tier]


def choose(choice: str, *, python: str | None, gpus: float, state_dir: Path) -> str:
    """The tier to run with. NoSandboxError with the probe that failed and the remedy."""
    found = examine(choice, python=python, gpus=gpus, state_dir=state_dir)
    if found["tier"] == "none":
        failed = next((probe for probe in found["probes"] if not probe["ok"]), {"name": "?", "detail": ""})
        raise NoSandboxError(
            f"no sandbox holds here (execution.sandbox={choice}): probe {failed['name']} failed: {failed['detail']}. "
            f"Remedy: {found['remedy']}"
        )
    return str(found["tier"])


def probe_tier(tier: str, *, python: str | None, gpus: float, state_dir: Path | None) -> list[Probe]:
    """All probes of one tier, from the cache where that is possible."""
    if state_dir is None:
        return _attack(tier, python or own_python(), gpus)
    key = _key(tier, python or own_python(), gpus)
    caches = [state_dir / CACHE, *_of_all_projects()] if key else []
    for cache in caches:
        if known := _proven(_read_cache(cache).get(key)):
            return known
    probes = _attack(tier, python or own_python(), gpus)
    if all(probe.ok for probe in probes):
        for cache in caches:
            with suppress(OSError):
                _add_to_cache(cache, key, probes)
    return probes


def _proven(known: Any) -> list[Probe]:
    """What a cache holds of a tier, where that is every probe and each of them held; else []: it is attacked anew."""
    try:
        probes = [Probe(str(one["name"]), one["ok"] is True, str(one["detail"])) for one in known]
    except (TypeError, KeyError):
        return []
    return probes if [probe.name for probe in probes if probe.ok] == list(PROBES) else []


def _of_all_projects() -> list[Path]:
    """The cache in a folder that is the user's alone, of this session or a lasting one; [] where there is none."""
    place = Path(os.environ.get("XDG_RUNTIME_DIR") or "nowhere")
    with suppress(OSError):
        found = place.lstat()
        if place.is_absolute() and stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid():
            return [] if found.st_mode & 0o077 else [place / f"swarm-evo{CACHE}"]
    lasting = lasting_folder()
    return [] if lasting is None else [lasting / CACHE]


def _add_to_cache(cache: Path, key: str, probes: Sequence[Probe]) -> None:
    write_atomic(cache, json.dumps(_read_cache(cache) | {key: [asdict(probe) for probe in probes]}))


def _read_cache(path: Path) -> dict[str, Any]:
    try:
        if path.lstat().st_uid == os.getuid():
            value = json.loads(read_regular(path, _CACHE_BYTES))
            return value if isinstance(value, dict) else {}
    except (OSError, ValueError, RecursionError):
        pass
    return {}


def _key(tier: str, python: str, gpus: float) -> str:
    """This boot and container, this user and its rights, this interpreter, this code; '' where /proc does not tell."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        said = dict(
            line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line
        )
        boot += "".join(f"-{os.stat(f'/proc/self/ns/{name}').st_ino}" for name in ("user", "mnt"))
    except OSError:
        return ""
    rights = f"{said['CapEff']}-{said.get('Seccomp', '')}"
    return f"{tier}/{boot}/{os.getuid()}/{rights}/{python}/{gpus:g}/{digest.hexdigest()[:16]}"


def _attack(tier: str, python: str, gpus: float) -> list[Probe]:
    with scratch_folder("swarm-evo-probe-") as folder:
        folder.chmod(0o755)
        state = private_folder(folder)
        config = ServerConfig(tier=tier, python=python, preload=(), state_dir=state, hide=(_HIDDEN,))
        with _targets(folder) as params:
            try:
                sandbox = make_sandbox(config, gpus)
            except SandboxError as error:
                return [Probe("start", False, str(error))]
            try:
                return list(_run_all(sandbox, folder, params))
            except (SandboxError, JobLost) as error:
                return [Probe("start", False, str(error)[:500])]
            finally:
                sandbox.close()


@contextmanager
def _targets(folder: Path) -> Iterator[dict[str, Any]]:
    """What there is to reach: a file, listening sockets, a process, a variable."""
    secret = folder / "secret"
    secret.mkdir()
    (secret / "labels").write_text("secret")
    inputs = folder / "input"
    inputs.mkdir()
    (inputs / "data").write_text("data")
    outside = folder / "outside"
    outside.mkdir()
    outside.chmod(0o777)
    tcp = _loopback()
    unix, abstract = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    victim = subprocess.Popen(  # ends with us, by its pipe; a terminal's Ctrl-C must not look like an escape
        ["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True
    )
    name = f"swarm-probe-{os.getpid()}-{os.urandom(3).hex()}"
    os.environ["SWARM_EVO_PROBE"] = "secret"
    try:
        _bind(unix, secret)
        abstract.bind("\0" + name)
        for server in (unix, abstract):
            server.listen(1)
        bpf = {"x86_64": 321, "aarch64": 280}.get(platform.machine(), 321)
        yield {
            "secret": str(secret / "labels"), "outside": str(outside / "written"), "tcp": tcp.getsockname()[:2],
            "unix": str(secret / "s"), "abstract": name, "victim": victim.pid, "bpf": bpf, "attacks": list(_NAMES),
            "hidden": _HIDDEN,
        }  # fmt: skip
    finally:
        os.environ.pop("SWARM_EVO_PROBE", None)
        for server in (tcp, unix, abstract):
            server.close()
        victim.kill()
        victim.communicate()


def _loopback() -> socket.socket:
    """A server on this machine's own address, of whichever protocol there is one."""
    try:
        return socket.create_server(("127.0.0.1", 0))
    except OSError:
        return socket.create_server(("::1", 0), family=socket.AF_INET6)


def _bind(unix: socket.socket, folder: Path) -> None:
    """To `s` in that folder, however long its name is: the kernel has 108 bytes for one."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        unix.bind(f"/proc/self/fd/{opened}/s")
    finally:
        os.close(opened)


def _run_all(sandbox: Sandbox, folder: Path, params: dict[str, Any]) -> Iterator[Probe]:
    workspace = folder / "workspace"
    workspace.mkdir()
    (workspace / "probe.json").write_text(json.dumps(params))
    result = sandbox.run(_ATTACKS, workspace=workspace, inputs=folder / "input", limits=_LIMITS)
    told = dict(line.split() for line in result.term_out.splitlines() if len(line.split()) == 2)
    yield Probe("start", result.failure is None, result.message or result.term_out[-300:])
    for name in _NAMES:
        reached = _reached(name, folder, params)
        yield Probe(
            name, told.get(name) == "held" and not reached, "" if told.get(name) == "held" else "the attack won"
        )
    child = sandbox.run(_CHILD, workspace=workspace, limits=_LIMITS)
    yield Probe("child_interpreter", "42" in child.term_out, child.term_out[-300:])
    memory = sandbox.run(_MEMORY, workspace=workspace, limits=_LIMITS)
    yield Probe("memory_limit", memory.failure is FailureKind.MEMORY, f"ended with {memory.failure}")
    forks = sandbox.run(_FORKS, workspace=workspace, limits=_LIMITS)
    yield Probe("process_limit", forks.failure is FailureKind.PROCESSES, f"ended with {forks.failure}")
    sandbox.run(_DAEMON, workspace=workspace, limits=_LIMITS)
    survivor = _beats(workspace / "beat")
    yield Probe("no_survivors", not survivor, "a daemon outlived its job" if survivor else "")


def _reached(name: str, folder: Path, params: dict[str, Any]) -> bool:
    """Whether this side sees the attack's effect, whatever the program says."""
    if name == "write_outside":
        return Path(params["outside"]).exists()
    if name == "write_input":
        return (folder / "input" / "data").read_text() != "data"
    if name == "kill_others":
        return _state_of(params["victim"]) in ("", "Z")
    return False


def _state_of(process: int) -> str:
    """`S` for one that sleeps, `Z` for one that was killed and not yet waited for; '' for none."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _beats(beat: Path) -> bool:
    before = beat.read_text() if beat.exists() else ""
    time.sleep(0.05)
    return bool(before) and beat.read_text() != before
