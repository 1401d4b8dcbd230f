"""A Ray cluster of this machine: the same journal as locally; nodes lost and added. Skipped without Ray."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from benchmarks.scale import SANDBOX, on_cluster
from core.arena.match import Engine, Match
from core.arena.tournament import ENTRY
from problems.connect_four.problem import spec as connect_four

pytest.importorskip("ray", reason="the extra [ray] is not installed")
MAIN = Path(__file__).resolve().parent.parent.parent / "main.py"


def search(folder: Path, *words: str) -> dict:
    command = [sys.executable, str(MAIN), "run", "--json", "--problem.name=diabetes", "--search.max_steps=2"]
    done = subprocess.run(
        [*command, f"--project.dir={folder}", *words], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_equal_journals_here_and_on_ray(tmp_path):
    here = search(tmp_path / "here")
    there = search(tmp_path / "there", "--execution.runner=ray", "--execution.ray.num_cpus=2")
    assert there["journal_sha256"] == here["journal_sha256"]
    assert there["metric_source"] == "verified"


def test_a_users_game_is_played_on_ray_as_here(tmp_path):
    """Its file is on no worker until it is sent there."""
    subprocess.run([sys.executable, str(MAIN), "init", "pawn_race", "--game", "--out=made"], cwd=tmp_path, check=True)
    game = ["--problem=made/pawn_race.yaml", "--search.max_generations=1", "--arena.openings=1", "--arena.gauntlet=2"]
    journals = set()
    for runner in ("local", "ray"):
        command = [sys.executable, str(MAIN), "run", "--json", *game, f"--execution.runner={runner}"]
        words = ["--arena.limit=nodes:30", "--execution.ray.num_cpus=2"]
        done = subprocess.run(
            [*command, *words], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        journals.add(json.loads(done.stdout)["journal_sha256"])
    assert len(journals) == 1


def test_output_and_moves_are_told_while_workers_elsewhere_work(tmp_path):
    """The page and the terminal showed nothing of a remote job before its end."""
    from core.contracts import JobSpec, Limits
    from core.workers.local import script_spec
    from core.workers.pool import JobPool
    from core.workers.ray import RayCluster
    from core.workers.remote import RemoteJobs

    told, began = [], time.monotonic()
    spool = tmp_path / "game.jsonl"
    program = "import time\nprint('epoch 1', flush=True)\ntime.sleep(4)\nprint('epoch 2')"
    slow = (
        "import time\nclass E:\n    name = 'slow'\n    def select_move(self, position, time_left_ms):\n"
        "        time.sleep(0.5)\n        return position.legal_moves[0]\nengine = E()\n"
    )
    game = connect_four()
    match = Match(
        game=game.entry, prelude=game.prelude, limit="movetime:900", spool=str(spool),
        white=Engine(id="w", code=slow), black=Engine(id="b", code=slow),
    )  # fmt: skip
    cluster = RayCluster({"num_cpus": 2}, SANDBOX)
    pool = JobPool(RemoteJobs(cluster.open_worker, 2, None, lambda label, text: told.append((label, text))))
    try:
        with ThreadPoolExecutor() as threads:
            printing = threads.submit(pool.run, script_spec(program, limits=Limits(seconds=60), label="node1"))
            playing = threads.submit(pool.run, JobSpec(entry=ENTRY, payload=match.model_dump(mode="json")))
            while not (told and spool.is_file() and spool.read_text().count("uci") >= 2):
                assert time.monotonic() - began < 120 and not (printing.done() or playing.done())
                time.sleep(0.05)
            assert "".join(text for _, text in told) == "epoch 1\n"
            moves = playing.result(timeout=120)["moves"]
            assert printing.result(timeout=120)["result"]["term_out"] == "epoch 1\nepoch 2\n"
    finally:
        pool.close()
        cluster.close()
    assert told[-1] == ("node1", "epoch 2\n")
    lines = [json.loads(line) for line in spool.read_text().splitlines()]
    assert lines == [{"attempt": 1}, *moves]


def test_four_workers_share_a_card_and_a_fifth_waits():
    from ray.cluster_utils import Cluster

    from core.workers.ray import RayCluster

    simulated = Cluster(initialize_head=True, head_node_args={"num_cpus": 8, "num_gpus": 1})
    cluster = RayCluster({"address": simulated.address}, SANDBOX, gpus=0.25)
    try:
        workers = [cluster.open_worker() for _ in range(5)]
        ends, ready = time.monotonic() + 120, set()
        while len(ready) < 4 and time.monotonic() < ends:
            ready |= {number for number, worker in enumerate(workers) if number not in ready and worker.ready(0.5)}
        assert len(ready) == 4
        (waiting,) = set(range(5)) - ready
        assert not workers[waiting].ready(3.0)
    finally:
        cluster.close()
        simulated.shutdown()


def test_ray_s_own_launcher_begins_and_ends_the_cluster(tmp_path):
    """As on Slurm, with one node; what Ray says of itself is the launcher's: none of it stands between our lines."""
    ray = Path(sys.executable).with_name("ray")
    ours = [sys.executable, str(MAIN), "run", "--problem.name=diabetes", "--search.max_steps=2"]
    there = ["--execution.runner=ray", "--execution.ray.address=auto", f"--project.dir={tmp_path}"]
    done = subprocess.run(
        [ray, "symmetric-run", "--address", "127.0.0.1:6489", "--num-cpus=2", "--", *ours, *there],
        env=os.environ | {"PATH": f"{ray.parent}:{os.environ['PATH']}"},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    said = (done.stdout + done.stderr).splitlines()
    first = next(n for n, line in enumerate(said) if line.startswith("run diabetes-"))
    last = next(n for n, line in enumerate(said) if line.startswith("journal_head"))
    assert "step 2/2" in "".join(said[first:last]), done.stderr[-2000:]
    assert not [line for line in said[first:last] if "INFO" in line or "WARNING" in line or "raylet" in line]


@pytest.mark.parametrize("add", [False, True])
def test_a_node_is_lost_and_each_job_is_told_once_in_bounded_time(add):
    """Ten seconds of work for six slots. A slot that found no room held its job for two minutes."""
    found = on_cluster(60, nodes=3, slots=6, seconds=1.0, kill=True, add=add)
    assert found.told == dict.fromkeys(range(60), 1)
    assert found.wall < 60
