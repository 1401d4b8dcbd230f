"""What many tests need: no network but loopback, the command line as a child process, a small fast problem."""

from __future__ import annotations

import gc
import json
import os
import random
import shutil
import signal
import ssl
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings
from support.command_line import Cli, Ended, toy_words
from support.forked_main import ForkedPopen
from support.forked_processes import SESSION
from support.once import made_once
from support.processes import eventually

LAWS = settings(
    deadline=None,  # a busy machine is no fault of the program
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    derandomize="CI" in os.environ,
)
settings.register_profile("usual", LAWS, max_examples=30)
settings.register_profile("long", LAWS, max_examples=90)  # make test-all
settings.load_profile("usual")

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_BASE_URL")

# Tests run side by side: threads of a pool that spin for each other would take the processors from all.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")

# Where `readline` is loaded, as pytest does, children are told 80 columns: what is no terminal has none.
for _name in ("COLUMNS", "LINES"):
    os.environ.pop(_name, None)

# Plots take longer than the rest of a small run: who looks at them asks by `logging.report=true`.
os.environ["SWARM_EVO__LOGGING__REPORT"] = "false"

# All workers of a session, and what they start, share the processes that fork for them.
os.environ.setdefault(SESSION, os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid())))

# A script's background job, and what `nohup` begins, ignores these: our children are to hear them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

gc.disable()  # while tests are collected


def pytest_collection_finish() -> None:
    """What was imported and collected stays to the end: the collector need not walk it again in every test."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(20_000, 20, 20)  # a twentieth of the tests' time went into looking for cycles


@pytest.fixture(autouse=True)
def _draws_of_its_own(request: pytest.FixtureRequest) -> None:
    """What a test draws from its module's `DRAW` is the same alone, in any order and beside others: one failed by the
    tests that had drawn before it."""
    draw, seed = getattr(request.module, "DRAW", None), crc32(request.node.name.encode())
    if isinstance(draw, random.Random):
        draw.seed(seed)
    elif draw is not None:
        draw.bit_generator.state = type(draw.bit_generator)(seed).state


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call to an address that is not on this machine is an error, here and in children; no key is found."""
    monkeypatch.setenv("SWARM_EVO_TEST_NO_NETWORK", "1")
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session", autouse=True)
def one_session_of_a_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A folder such as a login gives: which sandbox holds here is asked once, not in each test's project anew."""

    def private(folder: Path) -> None:
        folder.chmod(0o700)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(made_once(tmp_path_factory, "runtime", private)))
        yield


@pytest.fixture(scope="session", autouse=True)
def one_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Each client of HTTP reads every certificate that the machine trusts, which took half the time of tests that ask a
    server on loopback. One is read as well."""
    paths = ssl.get_default_verify_paths()
    known = Path(paths.openssl_cafile).read_text() if os.path.isfile(paths.openssl_cafile) else ""
    if (end := known.find(mark := "-----END CERTIFICATE-----")) < 0:
        yield
        return
    first = tmp_path_factory.mktemp("authority") / "first.pem"
    first.write_text(known[: end + len(mark)] + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "get_default_verify_paths", lambda: paths._replace(openssl_cafile=str(first)))
        yield


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Cli]:
    """`main.py` in a folder of this test."""
    runner = Cli(tmp_path)
    yield runner
    runner.close()


@pytest.fixture
def cli_at(tmp_path: Path) -> Iterator[Callable[[str], Cli]]:
    """A Cli in a folder of that name below the test's own."""
    made: list[Cli] = []

    def make(name: str) -> Cli:
        (tmp_path / name).mkdir(exist_ok=True)
        made.append(Cli(tmp_path / name))
        return made[-1]

    yield make
    for runner in made:
        runner.close()


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one finished run of the toy, 8 steps, made once a session. Copy it."""

    def search(folder: Path) -> None:
        ended = Cli(folder)(*toy_words(8))
        assert ended.code == 0, ended.err
        (folder / "ended.json").write_text(json.dumps(asdict(ended)))

    return made_once(tmp_path_factory, "finished", search)


@pytest.fixture
def finished(finished_run: Path, cli: Cli) -> Ended:
    """A finished run of 8 steps in the folder of `cli`: how it ended."""
    shutil.copytree(finished_run, cli.folder, symlinks=True, dirs_exist_ok=True)
    return Ended(**json.loads((finished_run / "ended.json").read_text()))


@pytest.fixture
def toy() -> Callable[..., list[str]]:
    """Words of a search that takes no time: `toy(5, "search.batch=1", seconds=0.1)`."""

    return toy_words


@pytest.fixture(name="eventually")
def eventually_fixture() -> Callable[..., Any]:
    """`eventually(condition, seconds)`: the first true value, or a failure."""
    return eventually


@pytest.fixture
def forked_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """What this process starts with `python main.py` is forked from a process that has loaded it."""
    monkeypatch.setattr(subprocess, "Popen", ForkedPopen)


@pytest.fixture
def inline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prepares, judges and exports competitions in this process: what the trusted children do, without the second that
    each takes to start."""
    from support import competition_stand  # with pandas

    for module in ("prepared", "export", "notebook"):
        monkeypatch.setattr(f"problems.competition.{module}.run_trusted", competition_stand.prepared_here)
    monkeypatch.setattr("problems.competition.evaluator.TrustedChild", competition_stand.JudgeHere)
