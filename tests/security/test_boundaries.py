# ruff: noqa: E501 - programs as data
"""Promises beyond single programs: nothing survives a kill -9, friendly programs run, cheats lose through the proxy."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.attack_accounts import ordinary_user, ourselves
from support.processes import eventually, survivors

from benchmarks.cheats import EVALUATORS, LOAD, figures
from core.contracts import Limits
from core.evaluation.isolation.apart import Apart, program_failure
from core.evaluation.isolation.cheat_sources import CHEATS, attack
from core.evaluation.isolation.cheats import attack_evaluator, score_of
from core.evaluation.isolation.together import Together
from core.executor.inside import syscalls, watch
from core.executor.sandbox import open_sandbox
from core.executor.warm import WarmSandbox
from utils.errors import ConfigError, NoSandboxError

ROOT = Path(__file__).resolve().parents[2]
LIMITS = Limits(seconds=60, memory_mb=3000, disk_mb=256, threads=2)

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmSandbox]:
    opened = open_sandbox("auto", preload=("numpy", "sklearn"), state_dir=tmp_path_factory.mktemp("state"))
    assert isinstance(opened, WarmSandbox)
    if opened.tier != "warm":
        opened.close()
        pytest.skip(f"tier {opened.tier} here: processes and sockets are for the full tier")
    yield opened
    opened.close()


FRIENDLY = {
    "joblib_loky": "from joblib import Parallel, delayed\nprint(sum(Parallel(n_jobs=2)(delayed(pow)(i, 2) for i in range(50))))",
    "n_jobs": (
        "from sklearn.ensemble import RandomForestRegressor\nimport numpy as np\nX = np.random.rand(200, 4)\n"
        "print(RandomForestRegressor(10, n_jobs=-1).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.5)"
    ),
    "hist_gradient_boosting": (
        "from sklearn.ensemble import HistGradientBoostingRegressor\nimport numpy as np\nX = np.random.rand(500, 4)\n"
        "print(HistGradientBoostingRegressor(max_iter=5).fit(X, X[:, 0]).score(X, X[:, 0]) > 0.1)"
    ),
    "subprocess": "import subprocess, sys\nprint(subprocess.run([sys.executable, '-c', 'print(6*7)'], capture_output=True).stdout)",
    "manager": (
        "import multiprocessing as mp\nif __name__ == '__main__':\n  with mp.Manager() as m:\n    d = m.dict()\n"
        "    p = mp.Process(target=d.update, args=({'a': 1},)); p.start(); p.join(); print(dict(d))"
    ),
    "spawn": (
        "import multiprocessing as mp\ndef f(x): return x * x\nif __name__ == '__main__':\n"
        "  with mp.get_context('spawn').Pool(2) as p: print(p.map(f, range(4)))"
    ),
    "asyncio_threads": (
        "import asyncio, concurrent.futures as c\nprint(asyncio.run(asyncio.to_thread(sum, [1, 2])))\n"
        "with c.ThreadPoolExecutor(4) as p: print(list(p.map(abs, [-1, -2])))"
    ),
    "fifo_and_socketpair": "import os, socket\nos.mkfifo('/tmp/f'); a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))",
}


@pytest.mark.long
@pytest.mark.parametrize("name", FRIENDLY)
def test_friendly_programs_run(name: str, sandbox: WarmSandbox, tmp_path: Path) -> None:
    result = sandbox.run(FRIENDLY[name], workspace=tmp_path, limits=LIMITS)
    assert result.failure is None and result.term_out.strip() not in ("", "False"), result.term_out[-1500:]


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments",
    [
        [
            "joblib.test.test_parallel",
            "-k",
            "test_cpu_count or test_effective_n_jobs or test_parallel_kwargs or test_parallel_pickling",
        ],
        ["sklearn.ensemble.tests.test_voting", "-k", "not parallel_fit and not gridsearch"],
        ["sklearn.linear_model.tests.test_ridge", "-k", "ridge_regression_sample_weights or ridge_individual"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_other_projects_suites_pass_inside(arguments: list[str], sandbox: WarmSandbox, tmp_path: Path) -> None:
    pytest_arguments = ["--pyargs", *arguments, "-q", "-x", "-p", "no:cacheprovider", "--no-header"]
    code = f"import pytest, sys\nsys.exit(pytest.main({pytest_arguments!r}))"
    limits = LIMITS.model_copy(update={"seconds": 280.0, "cpu_seconds": 900.0, "output_kb": 4096})
    result = sandbox.run(code, workspace=tmp_path, limits=limits)
    assert result.failure is None and " passed" in result.term_out, result.term_out[-2000:]


HOLDER = """
import sys, threading, time
from pathlib import Path
sys.path.insert(0, {root!r})
from core.contracts import Limits
from core.executor.sandbox import open_sandbox
from core.executor.server import ServerConfig
folder = Path({folder!r})
sandbox = open_sandbox({tier!r}, state_dir=folder / "state", accept_unsandboxed=True)
code = "import os, time\\nos.fork()\\nos.fork() or os.setsid()\\nwhile True: time.sleep(0.01)"
def run(name):
    (folder / name).mkdir()
    sandbox.run(code, workspace=folder / name, limits=Limits(seconds=600))
for name in "ab":
    threading.Thread(target=run, args=(name,), daemon=True).start()
session = sandbox.session("def f(): return 1", limits=Limits())
assert session.call("f", [], timeout=20) == 1
waiting = sandbox.lasting_session("def f(): return 2", limits=Limits())
assert waiting.call("f", [], timeout=20) == 2
waiting.close()
print("running", flush=True)
time.sleep(600)
"""


@pytest.mark.long
@pytest.mark.parametrize("tier", ["warm", "lite", "bubblewrap", "none"])
def test_a_killed_main_process_leaves_nothing_behind(tier: str) -> None:
    account = ordinary_user() if tier == "bubblewrap" else ourselves()
    if account.why or (tier == "bubblewrap" and shutil.which("bwrap") is None):
        pytest.skip(account.why or "bubblewrap is not installed")
    environment = dict(os.environ) | ({"PYTHONPATH": account.site} if account.site else {})
    with tempfile.TemporaryDirectory(prefix="swarm-holder-") as folder:
        os.chmod(folder, 0o777)
        script = HOLDER.format(root=str(ROOT), folder=folder, tier=tier)
        command = [*account.prefix, account.python, "-c", script]
        _kill_and_look(tier, subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True, env=environment))


def _kill_and_look(tier: str, holder: subprocess.Popen[bytes]) -> None:
    assert holder.stdout is not None
    with holder.stdout:
        if b"running" not in holder.stdout.readline():
            holder.wait()
            pytest.skip(f"tier {tier} does not hold here")
    family = eventually(lambda: len(below := watch.descendants(holder.pid)) >= 11 and below)
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    assert survivors(family) == []


FINDS_ITS_PACKAGES = """
import subprocess, sys
print(sys.prefix)
print(subprocess.run([sys.executable, '-c', 'import late_package; print(6 * 7)'], capture_output=True).stdout)
import late_package
"""


@pytest.mark.long
@pytest.mark.parametrize("tier", ["warm", "lite", "bubblewrap"])
@pytest.mark.parametrize("place", ["/tmp", "/dev/shm", "/workspace"])
def test_an_interpreter_may_lie_below_a_private_folder(place: str, tier: str, tmp_path: Path) -> None:
    """A job's own /tmp, /dev/shm and /workspace must not hide it: in no job, also not in the second one of a slot."""
    import venv

    made = not Path(place).exists()
    try:
        Path(place).mkdir(exist_ok=True)
        top = Path(tempfile.mkdtemp(prefix="swarm-venv-", dir=place))
    except OSError as error:
        pytest.skip(f"{place} cannot be written: {error}")
    top.chmod(0o755)
    opened = None
    try:
        venv.create(top / "venv", with_pip=False, symlinks=True)
        (next((top / "venv" / "lib").iterdir()) / "site-packages" / "late_package.py").write_text("x = 1\n")
        try:
            opened = open_sandbox(tier, python=str(top / "venv" / "bin" / "python"), state_dir=tmp_path / "state")
        except NoSandboxError as error:
            pytest.skip(str(error))
        for number in range(3):
            (workspace := tmp_path / f"workspace{number}").mkdir()
            result = opened.run(FINDS_ITS_PACKAGES, workspace=workspace, limits=LIMITS)
            assert result.failure is None and str(top) in result.term_out and "42" in result.term_out, result.term_out
            with opened.session(
                "def f():\n    import late_package\n    return late_package.x", limits=LIMITS
            ) as session:
                assert session.call("f", [], timeout=20) == 1
    finally:
        if opened is not None:
            opened.close()
        shutil.rmtree(top)
        if made:
            Path(place).rmdir()


def test_importing_the_sandbox_is_light() -> None:
    code = "import sys, core.executor.sandbox; print([m for m in ('numpy', 'pandas', 'sklearn') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_system_call_numbers_match_the_headers() -> None:
    """x86_64 against asm/unistd_64.h, aarch64 against asm-generic/unistd.h, as Debian's linux-libc-dev has them."""
    own = _defined("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    generic = _defined("/usr/include/asm-generic/unistd.h")
    if not own or not generic:
        pytest.skip("linux-libc-dev is not installed")
    for name, (x86, arm) in syscalls.NUMBERS.items():
        assert own.get(name, x86) == x86, name
        assert generic.get(name, arm) == arm, name
    assert (
        sum(name in own for name in syscalls.NUMBERS) > 100 and sum(name in generic for name in syscalls.NUMBERS) > 80
    )


def _defined(path: str) -> dict[str, int]:
    found: dict[str, int] = {}
    if not Path(path).exists():
        return found
    for line in Path(path).read_text().splitlines():
        words = line.split()
        if (
            len(words) == 3
            and words[0] == "#define"
            and words[1].startswith(("__NR_", "__NR3264_"))
            and words[2].isdigit()
        ):
            found[words[1].split("_", 3)[-1] if words[1].startswith("__NR_") else words[1][len("__NR3264_") :]] = int(
                words[2]
            )
    aliases = {"fstatat": "newfstatat", "stat": "", "lstat": ""}
    if "asm-generic" in path:
        found = {aliases.get(name, name): number for name, number in found.items()}
    return found


@pytest.mark.long
@pytest.mark.parametrize("name", EVALUATORS)
def test_rescaling_the_evaluators_constant_wins_beside_it_and_loses_through_the_proxy(
    name: str, sandbox: WarmSandbox, tmp_path: Path
) -> None:
    found = figures(sandbox, name, tmp_path)
    assert found["proxy"] == found["honest"] and found["unisolated"] > found["honest"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("{load}\n    return {{'combined_score': m.f(lambda x: x)}}", "cannot cross"),
        ("def evaluate(p):\n    return {{'combined_score': len(open(p).read())}}", "source text"),
        (
            "import subprocess, sys\ndef evaluate(p):\n    subprocess.run([sys.executable, p])\n    return {{'combined_score': 1.0}}",
            "as a file",
        ),
        ("import runpy\ndef evaluate(p):\n    return {{'combined_score': runpy.run_path(p)['f'](1)}}", ""),
    ],
    ids=["shared_object", "source_text", "as_a_file", "runpy"],
)
def test_what_cannot_be_kept_apart_is_refused_with_a_reason(
    body: str, reason: str, sandbox: WarmSandbox, tmp_path: Path
) -> None:
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text(body.format(load=LOAD))
    run = Apart(evaluator, timeout=30).run(sandbox, "def f(x): return x", limits=Limits(seconds=20))
    assert reason in run.refused


THREADS = (
    "{load}\n    from concurrent.futures import ThreadPoolExecutor\n    with ThreadPoolExecutor(8) as pool:\n"
    "        found = list(pool.map(m.f, range(200)))\n"
    "    return {{'combined_score': float(found == list(range(0, 400, 2)))}}"
)
FORKS = (
    "import multiprocessing\ndef one(i): return m.f(i)\n{load}\n    globals()['m'] = m\n"
    "    with multiprocessing.get_context('fork').Pool(2) as pool: found = pool.map(one, range(20))\n"
    "    return {{'combined_score': float(sum(found))}}"
)


def test_an_evaluator_may_call_from_threads(sandbox: WarmSandbox, tmp_path: Path) -> None:
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text(THREADS.format(load=LOAD))
    run = Apart(evaluator, timeout=30).run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20))
    assert not run.refused and not run.error and run.value == {"combined_score": 1.0}


def test_an_evaluator_that_calls_from_forks_is_refused_at_once(sandbox: WarmSandbox, tmp_path: Path) -> None:
    """They share one channel: an answer could reach the wrong one and change the score."""
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text(FORKS.format(load=LOAD))
    run = Apart(evaluator, timeout=60).run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20))
    assert "several processes" in run.refused and run.value is None and run.seconds < 30


@pytest.mark.long
def test_doctors_cheats_lose_through_the_proxy(sandbox: WarmSandbox, tmp_path: Path) -> None:
    source, honest = EVALUATORS["error"]
    (tmp_path / "evaluator.py").write_text(source.format(load=LOAD))
    (tmp_path / "initial_program.py").write_text(honest)
    attacked = attack_evaluator(tmp_path / "evaluator.py", sandbox=sandbox)
    results = attacked.results
    assert len(results) >= 30
    assert sum(result.wins_unisolated for result in results) >= 5
    assert [result.name for result in results if result.wins_through_proxy] == []
    assert attacked.sentence.startswith("Alone it can be cheated (") and attacked.sentence.endswith(
        "none of them wins."
    )


def test_an_evaluator_without_a_program_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        attack_evaluator(tmp_path / "none.py")
    (tmp_path / "evaluator.py").write_text(textwrap.dedent("def evaluate(p): return 1"))
    with pytest.raises(ConfigError, match=r"initial_program\.py"):
        attack_evaluator(tmp_path / "evaluator.py")
    (tmp_path / "initial_program.py").write_bytes("# café\nx = 1\n".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"initial_program\.py: cannot be read as text: line 1 holds the byte 0xe9"):
        attack_evaluator(tmp_path / "evaluator.py")


@pytest.mark.parametrize(
    ("score", "why"), [("'--inf'", "no combined_score"), ("float('nan')", "is nan"), ("'inf'", "is inf")]
)
def test_an_evaluator_without_a_score_is_one_clear_error(
    sandbox: WarmSandbox, tmp_path: Path, score: str, why: str
) -> None:
    (tmp_path / "evaluator.py").write_text(f"def evaluate(path): return {{'combined_score': {score}}}")
    (tmp_path / "initial_program.py").write_text("x = 1\n")
    with pytest.raises(ConfigError, match=f"does not score its honest program: .*{why}"):
        attack_evaluator(tmp_path / "evaluator.py", sandbox=sandbox)


MAPS = "CASES = [(float(x), 3.0 * x * x + 1.0) for x in range(50)]\n{load}\n" + (
    "    errors = list(map(lambda c: abs(m.f(c[0]) - c[1]), CASES))\n"
    "    return {{'combined_score': 1.0 / (1.0 + sum(errors) / max(1, len(errors)))}}"
)
SCALES = "SCALE = 0.5\n{load}\n    return {{'combined_score': 1 - 1 / (1 + SCALE * sum(m.f([1.0, 2.0])))}}"


@pytest.mark.long
@pytest.mark.parametrize(
    "cheat, source, honest",
    [
        ("stop_iteration", MAPS, "def f(x): return 3.0 * x * x if x else 1.0"),
        ("ask_for_less", SCALES, "def f(xs): return [0.5 * x for x in xs]"),
    ],
)
def test_doctor_knows_the_cheats_that_once_won(sandbox, tmp_path, cheat, source, honest):
    (tmp_path / "evaluator.py").write_text(source.format(load=LOAD))
    scores = {}
    for way in (Together, Apart):
        for kind, code in (("honest", honest), ("cheat", attack(honest, CHEATS[cheat][1]))):
            run = way(tmp_path / "evaluator.py", timeout=30).run(sandbox, code, limits=LIMITS)
            scores[way, kind] = None if program_failure(run) else score_of(run.value)
    assert scores[Together, "honest"] == scores[Apart, "honest"]
    assert scores[Together, "cheat"] > scores[Together, "honest"] + 0.01
    assert scores[Apart, "cheat"] in (None, scores[Apart, "honest"])
