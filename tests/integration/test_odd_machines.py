"""Sessions as strangers have them: few descriptors, odd settings of Python, ignored signals, missing folders."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from support.command_line import ROOT, Cli
from support.processes import eventually


def strange_session() -> None:
    """What a process may inherit from whoever starts it."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    os.umask(0o077)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
def test_a_search_in_a_session_with_all_of_it(cli, cli_at, toy):
    temporary = cli.folder / ("t" * 120)
    temporary.mkdir()
    scripts = cli.folder / "scripts"
    scripts.mkdir()
    for name in ("queue", "statistics"):
        (scripts / f"{name}.py").write_text("raise RuntimeError('not the module that was meant')")
    environment = {
        "PATH": os.defpath, "PYTHONSAFEPATH": "1", "PYTHONOPTIMIZE": "2", "PYTHONUTF8": "0", "LC_ALL": "C",
        "PYTHONPATH": str(scripts), "PYTHONWARNINGS": "error",
        "TZ": "Nowhere/X", "TMPDIR": str(temporary), "XDG_RUNTIME_DIR": "/nowhere", "HOME": "/nowhere", "COLUMNS": "0",
        "TERM": "dumb",
        "SWARM_EVO__LOGGING__REPORT": "false", "SWARM_EVO_TEST_NO_NETWORK": "1",
    }  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(ROOT / "main.py"), *toy(3)], cwd=cli.folder, env=environment, capture_output=True,
        text=True, timeout=100, preexec_fn=strange_session, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and not done.stderr, done.stderr
    usual = cli_at("usual")
    assert usual.here(*toy(3)).code == 0
    assert cli.show()["journal_sha256"] == usual.show()["journal_sha256"]
    (lasting,) = temporary.iterdir()  # which sandbox holds is kept for the user's other projects
    assert lasting.name == f"swarm-evo-{os.getuid()}" and lasting.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in lasting.iterdir()] == [".sandbox-probes.json"]


@pytest.mark.parametrize("is_known", [False, True])
def test_a_session_without_room_says_what_to_raise(cli, toy, is_known):
    """Wherever it ends: with no sandbox known yet by the attacks, later by any of the files that a start opens."""
    (cli.folder / "temporary").mkdir()
    surroundings = {**os.environ, "XDG_RUNTIME_DIR": "", "TMPDIR": str(cli.folder / "temporary")}

    def searched(files: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(ROOT / "main.py"), *toy(3)], cwd=cli.folder, capture_output=True, text=True,
            timeout=100, check=False, env=surroundings,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
        )  # fmt: skip

    if is_known:
        assert searched(256).returncode == 0
    told = 0
    for files in (8, 13, 15, 17, 19) if is_known else (17, 20):
        done = searched(files)
        if files > 16 and not done.returncode:  # it is enough, as threads happen to run
            continue
        (line,) = done.stderr.splitlines()
        assert done.returncode in (1, 2) and "ulimit -n" in line, done.stderr
        told += 1
    assert told


@pytest.mark.parametrize("files, code", [(28, 2), (38, 2), (40, 0), (48, 0)])
def test_few_open_files_are_told_before_anything_runs_or_fewer_programs_run_at_once(cli, tmp_path, files, code):
    """With 28 to 40 every program ended as `lost_worker`, and an arena waited for room until its seconds were over."""
    (tmp_path / "program.py").write_text("# EVOLVE-BLOCK-START\ndef f(x):\n    return 2 * x + 1\n# EVOLVE-BLOCK-END\n")
    (tmp_path / "evaluator.py").write_text(
        "import runpy\ndef evaluate(path):\n    return {'score': -abs(runpy.run_path(path)['f'](3) - 10)}\n"
    )
    words = ["--problem=script", f"--problem.program={tmp_path}/program.py", "--problem.direction=max"]
    words += [f"--problem.evaluator={tmp_path}/evaluator.py", "--search.max_steps=6", "--search.workers=4"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "main.py"), *words, "--search.batch=4", "--logging.report=false"], cwd=cli.folder,
        capture_output=True, text=True, timeout=100, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)),
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    if code:
        assert done.stderr.count("\n") == 1 and f"ulimit -n is {files}: a run needs 39 open files" in done.stderr
        assert cli.runs == []
    else:
        assert f"run side by side: ulimit -n is {files}" in done.stdout + done.stderr
        assert cli.show()["failures"] == {}


def test_packages_that_only_pythonpath_leads_to_are_told_in_one_line(cli, monkeypatch):
    """Clusters set it for their modules; a traceback of our grader's was what one read."""
    command = [sys.executable, "-c", "import pandaz"]
    monkeypatch.setattr("problems.competition.prepared.python_command", lambda *_: command)
    (cli.folder / "train.csv").write_text("a,b,y\n" + "".join(f"{n},{n % 7},{n * 2}\n" for n in range(60)))
    ended = cli.here("--data.dir=.", "--data.target=y", "--data.metric=rmse")
    assert ended.code == 2 and "'pandaz' is not installed for" in ended.line and "PYTHONPATH" in ended.line


@pytest.mark.parametrize("in_front", [False, True])
def test_a_background_job_of_a_script_is_deaf_to_the_ctrl_c_of_another(cli, toy, in_front):
    """Who leads a session of its own, as those that the page starts, hears one: nobody else is meant by it."""
    words = [sys.executable, str(ROOT / "main.py"), *toy(400, seconds=0.1)]
    child = subprocess.Popen(
        words, cwd=cli.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=in_front,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    try:
        eventually(lambda: _steps(cli) >= 2, 60)
        child.send_signal(signal.SIGINT)
        if not in_front:
            seen = _steps(cli)
            eventually(lambda: _steps(cli) > seen + 4, 60)
            child.send_signal(signal.SIGTERM)
        _, told = child.communicate(timeout=60)
        assert child.returncode == 130 and b"Traceback" not in told, told
    finally:
        child.kill()
        child.wait()
    assert cli.show()["status"] == "interrupted"


def _steps(cli: Cli) -> int:
    path = cli.runs and cli.run_dir / "metrics.json"
    return path.read_text().count('"step"') if path and path.is_file() else 0


def test_help_that_cannot_be_written_is_one_line():
    words = [sys.executable, str(ROOT / "main.py"), "-h"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=100, check=False)
    assert done.returncode == 1 and done.stderr == "swarm-evo: standard output: No space left on device\n"


def test_runs_that_have_no_folder_of_their_own_name_what_is_in_its_place(cli: Cli, toy):
    (cli.folder / "logs").write_text("mine")
    ended = cli.here(*toy(1))
    assert ended.code == 2 and f"project.dir=.: '{cli.folder / 'logs'}' cannot be written (Not a dir" in ended.line


def test_links_that_go_round_are_one_line(cli: Cli, toy):
    (cli.folder / "logs").symlink_to("logs")
    ended = cli.here(*toy(1))
    assert ended.code == 2 and "Too many levels of symbolic links" in ended.line and "logs" in ended.line


@pytest.mark.parametrize(
    "words",
    [("--data.dir=~/x",), ("--problem.path=~no_such_user/x",)],
)
def test_a_home_that_nobody_knows_is_one_line(cli: Cli, monkeypatch, words):
    monkeypatch.delenv("HOME")
    monkeypatch.setattr("os.getuid", lambda: 2_000_000_000)
    ended = cli.here(*words)
    assert ended.code == 2 and "/x" in ended.line and not Path(cli.folder / "~").exists()


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"SSL_CERT_FILE": "/nowhere"}, "no client can be made: FileNotFoundError"),
        ({"https_proxy": "ftp://x:1"}, "https_proxy in the environment"),
        ({"OPENAI_API_KEY": "sk-1\n"}, "llm.code.api_key (or OPENAI_API_KEY): it holds what no key can"),
        ({"OPENAI_API_KEY": "sk-ü"}, "or a letter beyond ASCII"),
    ],
)
def test_a_model_that_cannot_be_asked_from_here_is_one_line_and_leaves_no_run(cli: Cli, toy, environment, said):
    """It was asked again and again until the seconds were over, and the run ended with the score of a baseline."""
    ended = cli.here(*toy(2), "--llm=openai", **{"OPENAI_API_KEY": "sk-1", **environment})
    assert ended.code == 2 and said in ended.line and cli.runs == []


def test_a_search_goes_on_with_the_threads_that_it_got_and_with_none_it_can_be_resumed(
    cli: Cli, toy: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
):
    """Where a thread was refused the search broke off, though it had others."""
    start, given, room = threading.Thread.start, [], [1]

    def started(thread: threading.Thread) -> None:
        if thread.name.startswith("slot"):
            if len(given) >= room[0]:
                raise RuntimeError("can't start new thread")
            given.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", started)
    words = toy(6, "search.batch=3", "search.workers=3", "project.seed=5")
    ended = cli.here("run", *words)
    assert ended.code == 0 and "no room for another thread" in ended.out + ended.err
    assert "the work goes on with 1 thread" in ended.out + ended.err
    alone = [node["node_id"] for node in cli.show()["nodes"]]
    room[0] = 0
    broken = cli.here("run", *words)
    assert broken.code == 1 and "no room for another thread" in broken.line, broken.err
    monkeypatch.undo()
    assert cli.here("resume", "latest").code == 0
    assert [node["node_id"] for node in cli.show()["nodes"]] == alone, "the same search, by one thread or by three"
