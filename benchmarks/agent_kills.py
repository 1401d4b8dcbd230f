"""Kills of the client's server or of the run's process between any two steps of ask and tell: none lost, none doubled.

`python -m benchmarks.agent_kills 200 [SEED]`: as many kills, spread over runs of 6 steps; each run must end with the
journal of a run that nobody killed.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from support.command_line import PLUGINS, Cli  # noqa: E402
from support.mcp_client import McpClient  # noqa: E402

from core.storage.reader import RunReader  # noqa: E402

STEPS = 6
KILLS_OF_A_RUN = 10


def program(step: int) -> str:
    return f"x = {1 + step / 10}\n# of what the writer outside thinks about the number above\n"


class Killer:
    """Kills one of two processes before a call is answered or after it, at moments drawn by a seed."""

    def __init__(self, folder: Path, rng: random.Random, kills: int) -> None:
        self.folder, self._rng, self.left, self.done = folder, rng, kills, 0
        self.client = McpClient(folder)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The answer, however often somebody is killed on the way."""
        while True:
            with suppress(OSError, EOFError, ValueError):
                number = self.client.send("tools/call", name=tool, arguments=arguments)
                self._perhaps()
                found: dict[str, Any] = self.client.answer(number)["result"]["structuredContent"]
                self._perhaps()
                if "error" not in found:
                    return found
                print(f"   {tool}: {found['error']}", file=sys.stderr)
            if self.client.child.poll() is not None:
                self.client.kill()
                self.client = McpClient(self.folder)

    def _perhaps(self) -> None:
        if self.left and self._rng.random() < 0.4:
            time.sleep(self._rng.choice((0, 0, 0.02, 0.1)))
            self.left, self.done = self.left - 1, self.done + 1
            if self._rng.random() < 0.5:
                self.client.child.kill()
                self.client.child.wait()
            else:
                for lock in self.folder.glob("logs/*/run.lock"):
                    with suppress(ValueError, ProcessLookupError):
                        os.kill(int(lock.read_text()), signal.SIGKILL)


def played(seed: int, kills: int) -> tuple[str, int, int, int]:
    """(journal's hash, nodes, replies, kills) of one run."""
    with tempfile.TemporaryDirectory(prefix="swarm-evo-kills-") as place:
        folder = Path(place)
        (folder / "toy.yaml").write_text(f"problem: {{kind: toy, plugins: '{PLUGINS}'}}\nlogging: {{report: false}}\n")
        killer = Killer(folder, random.Random(seed), 0)
        confirm = killer.call("plan_run", problem="toy.yaml", steps=STEPS)["confirm"]
        while killer.call("start_run", confirm=confirm)["state"] == "starting":
            pass
        killer.left = kills
        step = 0
        while True:
            asked = killer.call("ask")
            if asked["next"] == "export_best":
                break
            if not asked.get("ticket"):
                continue
            verdict = killer.call("tell", ticket=asked["ticket"], files={"program.py": program(step)})
            while verdict["state"] == "running":
                verdict = killer.call("wait", ticket=asked["ticket"])
            assert verdict["state"] in ("committed", "duplicate"), verdict
            step += 1
        killer.left = 0
        while killer.call("wait")["status"] != "finished":
            killer.call("ask")
        killer.client.kill()
        shown = Cli(folder).show()
        (run,) = (folder / "logs").glob("*/run.db")
        with RunReader(run.parent) as reader:
            replies = [call.role for call in reader.calls()].count("code")
        return shown["journal_sha256"], len(shown["nodes"]), replies, killer.done


def main(wanted: int, seed: int) -> int:
    reference = played(0, 0)
    print(f"nobody killed: {reference[1]} nodes, {reference[2]} replies, journal {reference[0][:12]}", flush=True)
    done = lost = doubled = differing = runs = 0
    while done < wanted:
        runs += 1
        found = played(seed + runs, min(KILLS_OF_A_RUN, wanted - done))
        done += found[3]
        lost += max(0, reference[2] - found[2])
        doubled += max(0, found[2] - reference[2])
        differing += found[0] != reference[0]
        print(
            f"run {runs}: {found[3]} kills ({done}), {found[1]} nodes, {found[2]} replies, {found[0][:12]}", flush=True
        )
    print(f"{done} kills in {runs} runs: {lost} lost, {doubled} doubled, {differing} journals differ")
    return 1 if lost or doubled or differing else 0


if __name__ == "__main__":
    _words = [int(word) for word in sys.argv[1:]]
    sys.exit(main(*(_words + [20, 0][len(_words) :])))
