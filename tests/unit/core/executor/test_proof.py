"""`doctor` proves the user's interpreter and GPUs by running a program inside the tier."""

from __future__ import annotations

import os
import socket
import stat
import sys
import tempfile
import threading
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.contracts import Limits
from core.executor import devices
from core.executor.inside import confine, landlock, mounts
from core.executor.probe import examine
from core.executor.proof import prove_gpus, prove_python
from core.executor.server import ServerConfig, own_python, private_folder
from core.executor.tiers import make_sandbox
from utils.errors import NoSandboxError

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")


@pytest.fixture(params=["warm", "lite"])
def tier(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if examine(request.param, state_dir=tmp_path / "probes")["tier"] == "none":
        pytest.skip(f"tier {request.param} does not hold here")
    return str(request.param)


def test_the_users_interpreter_really_runs_a_program(tier: str, tmp_path: Path) -> None:
    """One with a module of its own that ours does not have, and without ours."""
    venv.create(tmp_path / "own", with_pip=False, symlinks=True)
    python = tmp_path / "own" / "bin" / "python"
    site = next((tmp_path / "own" / "lib").glob("python*/site-packages"))
    (site / "only_here.py").write_text("__version__ = '7.5'")
    (site / "broken_here.py").write_text("1 / 0")
    proof = prove_python(tier, str(python), ["math", "only_here", "broken_here", "not_there"])
    assert proof.ok
    version = ".".join(map(str, sys.version_info[:3]))
    assert version in proof.detail and f"tier {tier}" in proof.detail and str(tmp_path / "own") in proof.detail
    preloads, _, missing = proof.detail.partition("not there:")
    assert "only_here 7.5" in preloads and "math" in preloads
    assert "broken_here (ZeroDivisionError" in missing and "not_there (ModuleNotFoundError" in missing


def test_packages_of_another_environment_that_a_pth_file_adds_are_there(tier: str, tmp_path: Path) -> None:
    """Baselines failed for want of numpy. What else such a file adds, a project's own folder, stays out of sight."""
    for name in ("own", "other"):
        venv.create(tmp_path / name, with_pip=False, symlinks=True)
    own, other = (next((tmp_path / name / "lib").glob("python*/site-packages")) for name in ("own", "other"))
    (other / "only_there.py").write_text("__version__ = '3.1'")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "editable.py").write_text("__version__ = '1'")
    (own / "more.pth").write_text(f"{other}\n{tmp_path / 'project'}\n")
    proof = prove_python(tier, str(tmp_path / "own" / "bin" / "python"), ["only_there", "editable"])
    preloads, _, missing = proof.detail.partition("not there:")
    assert proof.ok and "only_there 3.1" in preloads and "editable" in missing


@pytest.mark.parametrize("python", ["/no/such/python", "/bin/sh"])
def test_what_is_no_interpreter_is_said_to_be_none(python: str) -> None:
    proof = prove_python("warm", python, ["math"])
    assert not proof.ok and python in proof.detail and proof.name == "execution.python" and proof.remedy


def test_a_machine_without_gpus_is_told_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(devices, "_EACH", (str(tmp_path / "none*"),))
    proof = prove_gpus("warm", 2, None)
    assert not proof.ok and "0 GPU" in proof.detail and "execution.gpus=2" in proof.detail
    assert "execution.gpus=0" in proof.remedy


@pytest.fixture
def node(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A device node that stands in for a card: the kernel's null device under another name."""
    path = f"/dev/swarm-evo-test-{os.getpid()}"
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    except OSError:
        pytest.skip("device nodes are made by root only")
    os.chmod(path, 0o666)
    monkeypatch.setattr(devices, "_EACH", (f"{path}*",))
    yield path
    os.unlink(path)


def test_a_device_node_is_opened_inside_the_tier(
    tier: str, node: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(devices, "LIBRARIES", ("libc.so.6", "libnosuch.so"))
    proof = prove_gpus(tier, 1, None)
    assert proof.ok, proof.detail
    assert node in proof.detail and "libc.so.6" in proof.detail and "libnosuch" not in proof.detail
    assert f"inside tier {tier}" in proof.detail and "never run on such a card" in proof.detail


OPENS = """
import os, time
def opens(path):
    try:
        os.close(os.open(path, os.O_RDWR))
    except OSError:
        return False
    return True
print("opened", [path[-1] for path in NODES if opens(path)], flush=True)
time.sleep(SECONDS)
"""


def test_programs_that_run_at_once_have_a_card_each(
    tier: str, node: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One card after the other where they run one by one; a session holds its own as long as it is open."""
    nodes = [node, f"{node}-1"]
    os.mknod(nodes[1], 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    os.chmod(nodes[1], 0o666)
    (tmp_path / "states").mkdir()
    tmp_path.chmod(0o755)
    sandbox = make_sandbox(ServerConfig(tier, own_python(), (), private_folder(tmp_path / "states")), 1)
    opened: list[str] = []

    def run(seconds: float) -> None:
        workspace = Path(tempfile.mkdtemp(dir=tmp_path))
        code = f"NODES, SECONDS = {nodes}, {seconds}{OPENS}"
        opened.append(sandbox.run(code, workspace=workspace, limits=Limits(seconds=30)).term_out.strip())

    each = sorted(f"opened ['{path[-1]}']" for path in nodes)
    try:
        beside = [threading.Thread(target=run, args=(4.0,)) for _ in nodes]
        for thread in beside:
            thread.start()
        for thread in beside:
            thread.join()
        assert sorted(opened) == each
        with sandbox.session(f"NODES, SECONDS = {nodes}, 0{OPENS}", limits=Limits(seconds=30)):
            opened.clear()
            run(0)
            run(0)
            assert opened[0] == opened[1]
        opened.clear()
        run(0)
        run(0)
        assert sorted(opened) == each
    finally:
        sandbox.close()
        os.unlink(nodes[1])


def test_a_card_that_only_root_may_open_fails_the_proof(tier: str, node: str, monkeypatch: pytest.MonkeyPatch) -> None:
    os.chmod(node, 0o600)
    monkeypatch.setattr(devices, "LIBRARIES", ("libc.so.6",))
    proof = prove_gpus(tier, 1, None)
    assert not proof.ok and f"{node}: Permission denied" in proof.detail and "every user" in proof.remedy


def test_a_card_without_a_driver_library_fails_the_proof(node: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "LIBRARIES", ("libnosuch.so",))
    proof = prove_gpus("warm", 1, None)
    assert not proof.ok and "no driver library" in proof.detail


def test_the_first_cards_and_the_shared_nodes_are_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("nvidia0", "nvidia1", "nvidia2", "nvidia10", "nvidiactl", "cuda"):
        (tmp_path / name).touch()
    monkeypatch.setattr(devices, "_EACH", (f"{tmp_path}/nvidia[0-9]*",))
    monkeypatch.setattr(devices, "_SHARED", (f"{tmp_path}/nvidiactl", f"{tmp_path}/nvidia-uvm"))
    monkeypatch.setattr(devices, "_SHOWN", (f"{tmp_path}/cuda", f"{tmp_path}/rocm"))
    nodes, folders = devices.Cards(3).take(), devices.shown()
    assert [Path(path).name for path in nodes] == ["nvidia0", "nvidia1", "nvidia2", "nvidiactl"]
    assert [Path(path).name for path in folders] == ["cuda"]
    rules = dict(confine.rules(mounts.Layout("", folders, nodes)))
    assert rules[nodes[0]] == landlock.GPU and rules[folders[0]] == landlock.RUN


@pytest.fixture
def four(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"nvidia{number}").touch()
    monkeypatch.setattr(devices, "_EACH", (f"{tmp_path}/nvidia[0-9]*",))
    monkeypatch.setattr(devices, "_SHARED", ())


@pytest.mark.parametrize(("gpus", "chosen", "found"), [
    (2, "3,1", ["nvidia3", "nvidia1"]), (1, "2, 3", ["nvidia2"]), (0.25, "2", ["nvidia2"]), (0.5, None, ["nvidia0"]),
])  # fmt: skip
def test_a_worker_sees_the_cards_that_were_given_to_it(four, monkeypatch, gpus, chosen, found) -> None:
    """Two workers of a node both had the first card, whichever Ray had given them."""
    if chosen is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    assert [Path(path).name for path in devices.Cards(gpus).nodes()] == found


@pytest.mark.parametrize(("gpus", "dealt"), [
    (1, ["0", "1", "2", "3", "0"]), (2, ["01", "23", "01"]), (3, ["012", "301", "230"]), (0.5, ["0", "1", "2", "3"]),
])  # fmt: skip
def test_workers_of_one_machine_share_its_cards_equally(four, gpus, dealt) -> None:
    """All workers had the first cards, and the others stood idle."""
    cards = devices.Cards(gpus)
    assert ["".join(path[-1] for path in cards.take()) for _ in dealt] == dealt


@pytest.mark.parametrize(("gpus", "places"), [(0, 0), (0.25, 16), (0.3, 12), (0.5, 8), (1, 4), (2, 2), (3, 1), (4, 1)])
def test_no_more_programs_at_once_than_have_what_they_were_promised(four, gpus, places) -> None:
    """Every worker ran one: with `execution.gpus=1` programs shared a card and its memory."""
    assert devices.Cards(gpus).places == places


def test_a_card_that_was_given_back_is_dealt_before_those_in_use(four) -> None:
    cards = devices.Cards(1)
    taken = [cards.take() for _ in range(6)]
    cards.give_back(taken[2])
    assert cards.take() == taken[2]
    for nodes in taken:
        cards.give_back(nodes)
    assert {cards.take()[0] for _ in range(4)} == {nodes[0] for nodes in taken}


@pytest.mark.parametrize(("chosen", "said"), [
    ("", "execution.gpus=1, but 0 GPU"), ("7", "numbers from 0 to 3"), ("GPU-8932", "CUDA_VISIBLE_DEVICES=GPU-8932"),
])  # fmt: skip
def test_cards_that_are_not_there_are_said(four, monkeypatch, chosen, said) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    with pytest.raises(NoSandboxError, match=said):
        devices.Cards(1)


@pytest.fixture
def ids(four: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The driver's words for four cards, in the order of their places on the bus."""
    for place, minor in enumerate((1, 0, 3, 2)):
        told = f"Model: \t\t NVIDIA H100 80GB HBM3\nGPU UUID: \t GPU-{minor}aa0-114d\nDevice Minor: \t {minor}\n"
        (tmp_path / f"bus{place}").mkdir()
        (tmp_path / f"bus{place}" / "information").write_text(told)
    monkeypatch.setattr(devices, "_CARDS", f"{tmp_path}/bus*/information")
    monkeypatch.setattr(devices, "_NVIDIA", f"{tmp_path}/nvidia")


def test_cards_are_found_by_the_beginning_of_their_ids(ids, monkeypatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-2aa0-114d,GPU-0")
    cards = devices.Cards(2)
    assert [Path(path).name for path in cards.nodes()] == ["nvidia2", "nvidia0"]
    assert cards.models() == ["NVIDIA H100 80GB HBM3"]


@pytest.mark.parametrize("chosen", ["GPU-", "GPU-7", "MIG-1"])
def test_an_id_that_is_no_one_cards_is_said_with_those_that_are_there(ids, monkeypatch, chosen) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", chosen)
    with pytest.raises(NoSandboxError, match=f"{chosen}.*GPU-3aa0-114d"):
        devices.Cards(1)


def test_a_card_with_nodes_of_two_kinds_is_one_card(four, monkeypatch, tmp_path) -> None:
    (tmp_path / "renderD128").touch()
    monkeypatch.setattr(devices, "_EACH", (f"{tmp_path}/nvidia[0-9]*", f"{tmp_path}/renderD*"))
    with pytest.raises(NoSandboxError, match="4 GPU device nodes"):
        devices.Cards(5)


READS = """
import os
for path in ("/proc/devices", "/sys/devices/system/cpu/online", "/sys/module/kernel/parameters/panic"):
    os.stat(path)
    with open(path) as file:
        assert file.read()
assert not os.path.exists("/sys/module/printk")
"""
BEGINS = """
import os, socket, threading
end = threading.Event()
other = threading.Thread(target=end.wait)
other.start()
named = f"/proc/self/task/{other.native_id}/comm"
fd = os.open(named, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
os.write(fd, b"cuda-EvtHandlr")
os.close(fd)
end.set()
own = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
own.bind("\\0cuda-uvmfd-1-2")
own.listen(1)
"""
REACHES = """
import socket
def refused(kind, name):
    try:
        with socket.socket(socket.AF_UNIX, kind) as made:
            made.connect(name)
    except OSError as error:
        return error.errno
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    assert refused(kind, HOSTS) is not None
"""


@pytest.mark.parametrize("code", [READS, BEGINS, REACHES], ids=["reads", "begins", "reaches"])
def test_cuda_finds_what_it_needs_to_begin_and_no_more(
    tier: str, code: str, node: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """On a real card CUDA did not start: it reads files of /proc and /sys, names its threads, listens at a socket."""
    monkeypatch.setattr(devices, "_SHOWN", ("/proc/devices", "/sys/devices/system/cpu/online", "/sys/module/kernel"))
    (tmp_path / "states").mkdir()
    tmp_path.chmod(0o755)
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as hosts:
        hosts.bind(f"\0swarm-evo-test-{os.getpid()}")
        hosts.listen(1)
        sandbox = make_sandbox(ServerConfig(tier, own_python(), (), private_folder(tmp_path / "states")), 1)
        try:
            named = f"HOSTS = {hosts.getsockname()!r}\n"
            result = sandbox.run(named + code, workspace=workspace, limits=Limits(seconds=30))
        finally:
            sandbox.close()
    assert result.failure is None, result.term_out
