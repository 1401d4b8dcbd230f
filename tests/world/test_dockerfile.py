"""The Dockerfile without Docker: its steps in a fresh Debian root, then `doctor` and a search in there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.command_line import ROOT

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(shutil.which("debootstrap") is None, reason="debootstrap is not installed"),
]
PASSED_ON = re.compile(r"(?i).*_proxy|pip_.*|ssl_cert_file")
"""Variables that say how packages are reached from here."""
BORROWED = ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt", "/etc/pip.conf")
"""What a container gets from its host, or an image builder from its network."""


class Image:
    """A folder that holds a root, and what the Dockerfile has said so far."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder, self.entry = root, "/", [""]

    def run(self, *words: str, seconds: float = 900) -> subprocess.CompletedProcess[str]:
        """A command in the root, with a /proc of its own, as a container has it."""
        inner = f"mount -t proc proc /proc && cd {shlex.quote(self.folder)} && exec {shlex.join(words)}"
        environment = {name: value for name, value in os.environ.items() if PASSED_ON.fullmatch(name)}
        environment |= {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "DEBIAN_FRONTEND": "noninteractive"}
        return subprocess.run(
            ["unshare", "--mount", "--pid", "--fork", "chroot", str(self.root), "/bin/sh", "-c", inner],
            env=environment, capture_output=True, text=True, timeout=seconds,
        )  # fmt: skip

    def _borrow(self) -> None:
        """Names, packages and certificates are found as on this machine, whatever a package has put in their place."""
        for path in filter(os.path.isfile, BORROWED):
            target = self.root / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)

    def obey(self, line: str, page: Path) -> None:
        """One instruction of a Dockerfile."""
        word, _, rest = line.partition(" ")
        match word:
            case "RUN":
                self._borrow()
                done = self.run("/bin/sh", "-c", rest)
                assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
            case "COPY" if rest.startswith("--from=page "):
                made, target = rest.split()[1:]
                shutil.copytree(page / made.removeprefix("/page/"), self.root / self.folder.lstrip("/") / target)
            case "COPY":
                assert rest == ". ."
                files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
                for name in filter(None, files.stdout.split("\0")):
                    target = self.root / self.folder.lstrip("/") / name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(ROOT / name, target)
            case "WORKDIR":
                self.folder = rest
                (self.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
            case "ENTRYPOINT":
                self.entry = [part.strip(' "') for part in rest.strip("[]").split(",")]
            case _:
                raise AssertionError(f"an instruction that is not known here: {line}")


@pytest.fixture(scope="module")
def steps() -> dict[str, list[str]]:
    """Base image of a stage → its instructions."""
    stages: dict[str, list[str]] = {}
    for line in (ROOT / "Dockerfile").read_text().splitlines():
        if line.startswith("FROM "):
            stages[line.split()[1]] = mine = []
        elif line and not line.startswith("#"):
            mine.append(line)
    assert list(stages) == ["node:22-bookworm-slim", "debian:bookworm-slim"]
    return stages


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, steps: dict[str, list[str]]) -> Path:
    """The first stage, by this machine's npm."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("page")
    for line in steps["node:22-bookworm-slim"]:
        word, _, rest = line.partition(" ")
        if word == "RUN":
            done = subprocess.run(rest, shell=True, cwd=folder, capture_output=True, text=True, timeout=900)
            assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        elif word == "COPY":
            for source in map(ROOT.joinpath, rest.split()[:-1]):
                if source.is_dir():
                    left_out = shutil.ignore_patterns("node_modules", "dist")
                    shutil.copytree(source, folder, dirs_exist_ok=True, ignore=left_out)
                else:
                    shutil.copy2(source, folder)
        else:
            assert line == "WORKDIR /page"
    return folder


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory, steps: dict[str, list[str]], page: Path) -> Iterator[Image]:
    root = tmp_path_factory.mktemp("root")
    root.chmod(0o755)
    made = ["debootstrap", "--variant=minbase", "bookworm", str(root), "http://deb.debian.org/debian"]
    done = subprocess.run(made, capture_output=True, text=True, timeout=900)
    if done.returncode:
        pytest.skip(f"debootstrap: {done.stderr.strip()[-200:] or done.stdout.strip()[-200:]}")
    image = Image(root)
    for line in steps["debian:bookworm-slim"]:
        image.obey(line, page)
    yield image
    shutil.rmtree(root, ignore_errors=True)


@pytest.mark.timeout(3000)
def test_doctor_passes_and_a_search_runs_in_the_image(image: Image) -> None:
    told = image.run(*image.entry, "doctor", seconds=300)
    assert told.returncode == 0, told.stdout[-3000:] + told.stderr[-1000:]
    ran = image.run(*image.entry, "--search.max_steps=3", seconds=600)
    assert ran.returncode == 0 and "verdict: " in ran.stdout, ran.stdout[-3000:] + ran.stderr[-1000:]
    assert (image.root / "opt/swarm-evo/dashboard/web/dist/index.html").is_file()
    assert any((image.root / "work" / "logs").glob("ames-*/best_solution/solution.py"))
