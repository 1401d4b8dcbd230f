from __future__ import annotations

import csv
import json
import os
import random
import resource
import signal
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from utils import logger_system as logger
from utils import metrics_file
from utils.logger_system import MetricsLog, configure, ensure, log_json, log_msg
from utils.metrics_file import GENERATION_COLUMNS, STEP_COLUMNS, write_array

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def run_dir(tmp_path):
    yield tmp_path / "logs" / "run-1"
    logger.close()


def metrics(run_dir):
    return json.loads((run_dir / "metrics.json").read_text())


def test_messages_are_lines_with_time_and_level_and_the_level_filters(run_dir):
    configure(run_dir, level="INFO")
    log_msg("DEBUG", "not this")
    log_msg("WARNING", "this")
    (line,) = (run_dir / "system.log").read_text().splitlines()
    assert line.endswith("WARNING this") and line[:4].isdigit() and "Z " in line


def test_text_cannot_forge_an_entry_nor_steer_a_terminal(run_dir):
    configure(run_dir)
    log_msg("INFO", "one\n2026-01-01T00:00:00Z ERROR forged\x1b[2J\r")
    lines = (run_dir / "system.log").read_text().split("\n")
    assert lines[1].startswith("    ") and "\x1b" not in lines[1] and len(lines) == 3


def test_secrets_are_masked_in_every_channel(run_dir, capsys):
    secret = 'pass"word\\1'
    configure(run_dir, secrets=[secret, "x"])
    log_msg("INFO", f"key {secret} and sk-abcdefghijklmnop1234")
    log_json({"step": 1, "writer": secret, secret: {"deep": [f"-{secret}-"]}})
    written = "".join((run_dir / name).read_text() for name in ("system.log", "metrics.json", "metrics.csv"))
    assert secret not in written and json.dumps(secret)[1:-1] not in written and "sk-abc" not in written
    assert metrics(run_dir)[0]["writer"] == logger.MASK
    assert logger.mask(f"trace: {secret}") == f"trace: {logger.MASK}"
    logger.close()
    log_msg("ERROR", "Authorization: Bearer abcdefghijklmnopqrstuv")
    assert "abcdefghij" not in capsys.readouterr().err


def test_texts_inside_of_lists_are_masked_and_lists_fit_into_a_cell(run_dir):
    configure(run_dir, secrets=["hunter2-hunter2"])
    log_json({"generation": 0, "failure_counts": ["hunter2-hunter2", float("inf")]})
    assert metrics(run_dir)[0]["failure_counts"] == [logger.MASK, None]
    assert "hunter2" not in (run_dir / "metrics.csv").read_text()


def test_a_listener_is_told_each_warning_once_and_masked(run_dir):
    log = configure(run_dir, secrets=["hunter2hunter2"], level="ERROR")
    told = []
    log_msg("WARNING", "early, hunter2hunter2")
    log.listen(told.append)
    log_msg("INFO", "no")
    log_msg("WARNING", "late \udcff")
    log_msg("ERROR", "no")
    log.listen(None)
    log_msg("WARNING", "after")
    assert told == ["early, ********", "late ?"], "no half characters: it becomes an event"


def test_ensure_raises_and_is_logged(run_dir):
    configure(run_dir)
    ensure(True, "fine")
    with pytest.raises(AssertionError, match="broken"):
        ensure(False, "broken")
    assert "ERROR   broken" in (run_dir / "system.log").read_text()


def test_the_array_is_valid_after_every_record(run_dir):
    configure(run_dir)
    for i in range(50):
        log_json({"step": i, "text": "é\n" * (i * 20), "metric": float("nan") if i % 7 == 0 else i / 3})
        assert [r["step"] for r in metrics(run_dir)] == list(range(i + 1))
    assert metrics(run_dir)[7]["metric"] is None


def test_the_array_is_valid_before_the_first_record_and_goes_on_after_reopening(run_dir):
    MetricsLog(run_dir).close()
    assert metrics(run_dir) == []
    for i in range(3):
        log = MetricsLog(run_dir)
        log.append({"step": i})
        log.close()
    assert [r["step"] for r in metrics(run_dir)] == [0, 1, 2]


def test_a_torn_tail_is_dropped_wherever_it_was_torn(run_dir):
    log = MetricsLog(run_dir)
    for i in range(3):
        log.append({"step": i, "text": "x" * 40})
    log.close()
    whole = (run_dir / "metrics.json").read_bytes()
    for cut in range(len(whole)):
        (run_dir / "metrics.json").write_bytes(whole[:cut])
        (run_dir / "metrics.csv").write_bytes(b"run,step\nr,0\nr,")
        log = MetricsLog(run_dir)
        survivors = metrics(run_dir)
        assert survivors == json.loads(whole)[: len(survivors)]
        assert len(survivors) == whole[:cut].count(b"}")
        log.append({"step": 9})
        log.close()
        assert [r["step"] for r in metrics(run_dir)] == [*range(len(survivors)), 9]
        assert (run_dir / "metrics.csv").read_text() == "run,step\nr,0\n,9\n"


@pytest.fixture
def longest_file():
    """Sets how long a file of this process may become: a write beyond is short, and then refused, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    yield lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_the_log_of_a_full_disk_ends_nothing(run_dir, longest_file):
    """Who was about to store why the run ends had no room for the line, and never came to close what was open."""
    log = configure(run_dir)
    longest_file(0)
    log_msg("ERROR", "database or disk is full")
    log.write("INFO", "and more")
    logger.close()


@pytest.mark.parametrize("room", [0, 1, 12, 30, 70, 200])
def test_what_a_full_disk_refused_is_written_before_the_next(run_dir, longest_file, room):
    """The next record was written in its place, and `verify` said of the run that it was tampered with."""
    log = MetricsLog(run_dir)
    log.append({"step": 1, "node_id": "a" * 300})
    array, table = run_dir / "metrics.json", run_dir / "metrics.csv"
    longest_file(min(array.stat().st_size, table.stat().st_size) + room)
    for step in (2, 3):
        with pytest.raises(OSError, match="File too large"):
            log.append({"step": step, "node_id": "b" * 200})
        assert [row["step"] for row in metrics(run_dir)] == [1]
    longest_file(resource.RLIM_INFINITY)
    log.append({"step": 4, "node_id": "c"})
    log.close()
    assert [row["step"] for row in metrics(run_dir)] == [1, 2, 3, 4]
    assert [row["step"] for row in csv.DictReader(table.read_text().splitlines())] == list("1234")


def test_recovery_reads_past_a_record_longer_than_a_block(run_dir):
    log = MetricsLog(run_dir)
    for i in range(3):
        log.append({"step": i, "text": "y" * 200_000})
    log.close()
    with (run_dir / "metrics.json").open("r+b") as file:
        file.truncate(450_000)
    MetricsLog(run_dir).close()
    assert [r["step"] for r in metrics(run_dir)] == [0, 1]


def test_killed_between_and_in_the_middle_of_writes(run_dir):
    """A process that only logs is killed at random moments; what is left is whole and loses at most the last record."""
    script = (
        "import sys; from pathlib import Path; from utils.logger_system import configure, log_json\n"
        "configure(Path(sys.argv[1])); i = int(sys.argv[2]); print('up', flush=True)\n"
        "while True:\n    log_json({'step': i, 'text': 'z' * 9000}); i += 1\n    print(i, flush=True)\n"
    )
    rng = random.Random(1)
    told = 0
    for _ in range(5):
        args = [sys.executable, "-c", script, str(run_dir), str(told)]
        child = subprocess.Popen(args, stdout=subprocess.PIPE, cwd=ROOT, text=True)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(rng.uniform(0.0, 0.03))
        os.kill(child.pid, signal.SIGKILL)
        lines = child.stdout.read().split("\n")
        child.stdout.close()
        child.wait()
        told = max([told, *(int(line) for line in lines[:-1])])
        MetricsLog(run_dir).close()
        steps = [r["step"] for r in metrics(run_dir)]
        assert steps == sorted(set(steps)) and len(steps) >= told
        told = len(steps)
    assert told > 0


@pytest.mark.long
def test_the_hundred_thousandth_record_costs_what_the_hundredth_did(run_dir):
    log = MetricsLog(run_dir)
    record = {name: "value" for name in STEP_COLUMNS}

    def cost(count):
        times = []
        for _ in range(count):
            started = time.perf_counter()
            log.append(record)
            times.append(time.perf_counter() - started)
        return statistics.median(times)

    cost(100)
    early = cost(300)
    log.close()
    write_array(run_dir / "metrics.json", [record] * 2)
    first, last = (run_dir / "metrics.json").read_text().split(",\n")  # no record holds such an end of a line
    further = [first.partition("\n")[2]] * 99_998
    (run_dir / "metrics.json").write_text(",\n".join([first, *further, last]))
    row = (run_dir / "metrics.csv").read_bytes().splitlines(keepends=True)[-1]
    with (run_dir / "metrics.csv").open("ab") as file:
        file.write(row * 99_600)
    started = time.process_time()
    log = MetricsLog(run_dir)
    opening = time.process_time() - started
    late = cost(300)
    log.close()
    assert late < 3 * early + 20e-6, f"{early * 1e6:.0f} µs then, {late * 1e6:.0f} µs now"
    assert opening < 1.0, "taking a long run up again reads the tails only"
    assert len(metrics(run_dir)) == 100_300


def test_the_table_has_the_columns_of_its_kind_and_leaves_out_the_rest(run_dir):
    configure(run_dir)
    log_json({"step": 1, "metric": 0.5, "is_buggy": False, "unknown": 1, "failure": None})
    with (run_dir / "metrics.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert tuple(row) == STEP_COLUMNS and row["metric"] == "0.5" and row["is_buggy"] == "false" and row["failure"] == ""
    configure(run_dir.parent / "run-2")
    log_json({"generation": 1, "best_score": 2.0, "failure_counts": {"syntax": 3}})
    with (run_dir.parent / "run-2" / "metrics.csv").open() as file:
        (row,) = csv.DictReader(file)
    assert tuple(row) == GENERATION_COLUMNS and json.loads(row["failure_counts"]) == {"syntax": 3}


def test_restart_replaces_both_files(run_dir):
    log = MetricsLog(run_dir)
    for i in range(5):
        log.append({"step": i})
    log.restart({"step": i} for i in range(2))
    log.append({"step": 2})
    log.close()
    assert [r["step"] for r in metrics(run_dir)] == [0, 1, 2]
    assert len((run_dir / "metrics.csv").read_text().splitlines()) == 4
    empty = MetricsLog(run_dir)
    empty.restart([])
    empty.close()
    assert metrics(run_dir) == []


def test_links_lead_to_the_newest_run_and_survive_a_move(tmp_path):
    logs = tmp_path / "logs"
    for name, started in (("old", "1"), ("new", "2")):
        (logs / name).mkdir(parents=True)
        (logs / name / "started").write_text(started)
        configure(logs / name)
        log_json({"step": 0, "run": name})
    configure(logs / "old")
    logger.close()
    assert os.readlink(logs / "metrics.json") == "new/metrics.json"
    moved = tmp_path / "elsewhere"
    logs.rename(moved)
    assert json.loads((moved / "metrics.json").read_text())[0]["run"] == "new"
    assert (moved / "system.log").is_symlink()


def test_a_run_that_will_be_removed_again_leaves_the_links_alone(tmp_path):
    configure(tmp_path / "logs" / "kept")
    configure(tmp_path / "logs" / "scratch", link=False)
    logger.close()
    assert os.readlink(tmp_path / "logs" / "system.log") == "kept/system.log"


def test_a_file_of_the_users_is_not_replaced_by_a_link(tmp_path):
    (tmp_path / "system.log").write_text("mine")
    configure(tmp_path / "run")
    logger.close()
    assert (tmp_path / "system.log").read_text() == "mine"


def test_threads_share_the_log_and_do_not_tear_it(run_dir):
    configure(run_dir)

    def work(number):
        for i in range(100):
            log_msg("INFO", f"thread {number} entry {i}")
            log_json({"step": number * 100 + i})

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(r["step"] for r in metrics(run_dir)) == list(range(400))
    assert len((run_dir / "system.log").read_text().splitlines()) == 400


def test_without_a_run_warnings_go_to_stderr_and_metrics_are_refused(capsys):
    logger.close()
    log_msg("INFO", "quiet")
    log_msg("ERROR", "loud")
    assert capsys.readouterr().err == "ERROR: loud\n"
    with pytest.raises(RuntimeError, match=r"configure\(Path\('logs/my-run'\)\) first"):
        log_json({})
    with pytest.raises(ValueError, match="LOUD"):
        log_msg("LOUD", "x")


@pytest.mark.parametrize("beyond", [0, 1, 2, 3])
def test_records_are_counted_wherever_a_block_ends(tmp_path, beyond):
    """A megabyte and one byte: the array's end was read in two parts, and taken for a record."""
    path, wanted = tmp_path / "metrics.json", metrics_file._LARGE_BLOCK + beyond
    metrics_file.write_array(path, [{"a": 1}, {"b": ""}])
    metrics_file.write_array(path, [{"a": 1}, {"b": "x" * (wanted - path.stat().st_size)}])
    assert path.stat().st_size == wanted and metrics_file.records_in(path) == 2
