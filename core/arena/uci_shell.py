"""The loop that makes an exported engine speak UCI. It stands in the exported file and imports nothing of ours.

Source: UCI protocol (Huber and Meyer-Kahlen, 2006). Games other than chess speak it with their own moves.
"""

import _thread
import copy
import os
import queue
import signal
import threading
import time
from contextlib import suppress
from typing import Any, TextIO

DEFAULT_MS = 1000
"""Milliseconds for a `go` without any limit."""
ENDLESS_MS = 10**9
OVERHEAD_MS = 30
"""Milliseconds of each move that are left to the program on the other side; the option `Move Overhead`."""
GRACE = 0.3
"""Seconds that an engine has for its move once it was told to stop, before it is interrupted."""
AGAIN = 0.01
"""Seconds after which an engine that goes on is interrupted again: it may catch whatever is raised."""
WIN = 100_000
"""Score of a won game, from which the plies to it are taken off (`Limit.report`)."""


def words_after(words: list[str], name: str) -> int | None:
    """The whole number that follows `name` in a command, or None."""
    if name in words[:-1]:
        text = words[words.index(name) + 1]
        return int(text) if text.removeprefix("-").isdecimal() and len(text) < 19 else None
    return None


def position_of(words: list[str], position_class: Any) -> Any:
    """The position of `position startpos|fen … moves …`. ValueError for what cannot be read."""
    split = words.index("moves") if "moves" in words else len(words)
    head, moves = words[1:split], words[split + 1 :]
    if head[:1] == ["fen"]:
        if not hasattr(position_class, "from_fen"):
            raise ValueError("this game is told by `position startpos moves`, not by a FEN")
        position = position_class.from_fen(" ".join(head[1:]))
    elif head == ["startpos"]:
        position = position_class()
    else:
        raise ValueError("`position startpos` or `position fen` is needed")
    for number, move in enumerate(moves, 1):
        if move not in position.legal_moves:
            raise ValueError(f"move {number}, {move[:12]}, is not legal")
        position = position.apply(move)
    return position


def limit_of(words: list[str], to_move: int, overhead: int, limit_class: Any) -> tuple[Any, int, int | None]:
    """(limit, what `select_move` is told as time left, milliseconds after which it is cut off or None) of `go`."""
    limit = limit_class(
        nodes=words_after(words, "nodes"),
        depth=words_after(words, "depth"),
        milliseconds=words_after(words, "movetime"),
        increment=words_after(words, "binc" if to_move else "winc"),
    )
    if limit.milliseconds is None and len(words) == 1:
        limit.milliseconds = DEFAULT_MS
    clock = words_after(words, "btime" if to_move else "wtime")
    allowed = [ms for ms in (limit.milliseconds, clock) if ms is not None]
    if not allowed:
        return limit, ENDLESS_MS, None
    left = max(1, min(*allowed, ENDLESS_MS) - overhead)
    if limit.milliseconds is not None:
        limit.milliseconds = left
    return limit, left, left


def copied(engine: Any) -> Any:
    """A copy that knows nothing of later games, or the engine itself if it cannot be copied."""
    try:
        return copy.deepcopy(engine)
    except Exception:  # noqa: BLE001 - an engine may hold anything, and say anything when it is copied
        return engine


def score_text(score: float) -> str:
    """`cp N`, or `mate N` in moves for a forced win or loss: also for a score beyond all, as infinity is."""
    score = max(-WIN, min(WIN, score)) if score == score else 0  # NaN says nothing
    plies = WIN - abs(int(score))
    if plies > 1000:
        return f"cp {int(score)}"
    moves = (max(plies, 0) + 1) // 2
    return f"mate {moves if score > 0 else -moves}"


class Shell:
    """Hears commands in one thread and thinks in the main one, so that `stop` reaches an engine that is thinking.

    An engine sees `position.limit.stopped`. One that does not look is interrupted, and the first move of the line that
    it reported last is played, or the first legal one.

    Args:
        out: what the program on the other side reads; nothing but the protocol may go there.
    """

    def __init__(self, engine: Any, position_class: Any, limit_class: Any, out: TextIO) -> None:
        self.engine, self.fresh = engine, copied(engine)
        self.position_class, self.limit_class = position_class, limit_class
        self.position = position_class()
        self.overhead = OVERHEAD_MS
        self.commands: queue.Queue[list[str]] = queue.Queue()
        self.changed = threading.Condition()
        self.printing = threading.Lock()
        self.heard = 0  # searches that were asked for
        self.begun = 0  # searches that were begun
        self.ended = 0  # searches that have their move
        self.stopped = 0  # the last search that is to end at once
        self.limit: Any = None  # of the search that goes on
        self.interrupted = False  # the search that goes on was
        self.on_its_way = False  # an interrupt that the main thread has not felt yet
        self.out = out
        self.timers: list[threading.Timer] = []

    def say(self, text: str) -> None:
        with self.printing:
            try:
                self.out.write(text + "\n")
                self.out.flush()
            except OSError:  # the program on the other side has gone
                os._exit(0)

    def say_fault(self, what: str, error: BaseException) -> None:
        """One line that every program on the other side shows or passes over."""
        told = " ".join(f"{error}".split()) or type(error).__name__
        self.say(f"info string {what}: {told[:200]}")

    # ------------------------------------------------------------ the thread that hears

    def listen(self) -> None:
        """Read commands until the end of the input; not by sys.stdin, whose lock would be held at the end."""
        rest, endless = b"", False
        while data := os.read(0, 65536):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                words = line.decode(errors="replace").split()
                endless = "infinite" in words if words[:1] == ["go"] else endless
                self.hear(words)
        if endless:
            self.stop()
        self.commands.put(["quit"])

    def hear(self, words: list[str]) -> None:
        """Stop or answer at once; what else is said waits for its turn."""
        command = words[0] if words else ""
        if command == "go":
            self.heard += 1
        if command in ("stop", "quit"):
            self.stop()
        if command == "isready" and self.heard > self.ended:
            self.say("readyok")
        elif command != "stop":
            self.commands.put(words)

    def stop(self) -> None:
        """End the search that was asked for last, also one that has not begun."""
        with self.changed:
            self.stopped = self.heard
            if self.limit is not None and self.begun == self.stopped:
                self.limit.stopped = True
                self.after(GRACE, self.begun)
            self.changed.notify_all()

    def after(self, seconds: float, number: int) -> None:
        """Interrupt search `number` after some seconds, if it still goes on then."""
        timer = threading.Timer(seconds, self.interrupt, [number])
        timer.daemon = True
        timer.start()
        self.timers.append(timer)

    def interrupt(self, number: int) -> None:
        with self.changed:
            if self.limit is not None and self.begun == number:
                self.interrupted = self.on_its_way = True
                _thread.interrupt_main()
                self.after(AGAIN, number)

    # ------------------------------------------------------------ the main thread

    def run(self) -> None:
        """Do what was heard, one command after the other, until `quit`."""
        signal.signal(signal.SIGINT, self.feel_interrupt)
        threading.Thread(target=self.listen, daemon=True).start()
        while (words := self.commands.get())[:1] != ["quit"]:
            action = getattr(self, f"do_{words[0]}", None) if words else None
            if action is None:
                continue
            try:
                action(words)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - what is heard may be anything; a Rust panic is no Exception
                self.say_fault(f"{words[0]} is not done", error)

    def feel_interrupt(self, number: int, frame: Any) -> None:
        """The handler of SIGINT, which runs in the main thread."""
        self.on_its_way = False
        raise KeyboardInterrupt

    def do_uci(self, words: list[str]) -> None:
        self.say(f"id name {' '.join(str(getattr(self.engine, 'name', 'engine')).split())}")
        self.say("id author Swarm-Evo")
        self.say(f"option name Move Overhead type spin default {OVERHEAD_MS} min 0 max 5000")
        self.say("uciok")

    def do_isready(self, words: list[str]) -> None:
        self.say("readyok")

    def do_setoption(self, words: list[str]) -> None:
        value = words_after(words, "value")
        if " ".join(words[2:-2]).lower() == "move overhead" and value is not None:
            self.overhead = max(0, value)

    def do_ucinewgame(self, words: list[str]) -> None:
        self.engine = copied(self.fresh)
        self.position = self.position_class()

    def do_position(self, words: list[str]) -> None:
        """The position that was before stays where the words cannot be read."""
        self.position = position_of(words, self.position_class)

    def do_go(self, words: list[str]) -> None:
        limit, left, cut = limit_of(words, self.position.to_move, self.overhead, self.limit_class)
        move = self.think(limit, left, cut)
        if "infinite" in words:
            with self.changed:
                self.changed.wait_for(lambda: self.stopped >= self.begun)
        self.ended += 1
        self.say(f"bestmove {move}")

    def think(self, limit: Any, left: int, cut: int | None) -> str:
        """The engine's move, or the best known one where it had to be interrupted."""
        started = time.perf_counter()
        take = limit.report

        def report(depth: int, score: float, nodes: int, line: Any = ()) -> None:
            take(depth, score, nodes, line)
            seconds = time.perf_counter() - started
            with suppress(Exception):  # it may tell anything, and an engine loses no move by what it tells
                rate = f"time {int(1000 * seconds)} nodes {nodes} nps {int(nodes / max(seconds, 1e-6))}"
                moves = f" pv {' '.join(map(str, line))}" if line else ""
                self.say(f"info depth {depth} score {score_text(score)} {rate}{moves}")

        limit.report = report
        object.__setattr__(self.position, "limit", limit)  # a position is immutable, and may see to that itself
        move = None
        try:
            with self.changed:
                self.begun += 1
                self.interrupted = False
                self.limit = limit
                if self.stopped >= self.begun:
                    limit.stopped = True
                    self.after(GRACE, self.begun)
                if cut is not None:
                    self.after(cut / 1000, self.begun)
            move = self.selected(left)
            self.rest()
        except KeyboardInterrupt:
            if not self.interrupted:
                raise
            self.rest()
        while self.timers:
            self.timers.pop().cancel()
        score = getattr(self.engine, "score", None)
        if limit.told is None and isinstance(score, (int, float)):
            self.say(f"info score {score_text(score)}")
        return self.known_move() if move is None else move

    def rest(self) -> None:
        """The search is over: no further interrupt begins, and one that is on its way is felt here."""
        while True:
            try:
                with self.changed:
                    self.limit = None
                while self.on_its_way:
                    time.sleep(0.001)
                return
            except KeyboardInterrupt:
                if not self.interrupted:
                    raise

    def selected(self, left: int) -> str:
        """What the engine says; where it breaks, the best known move. `(none)` where the game is over."""
        if not self.position.legal_moves:
            return "(none)"
        try:
            return str(self.engine.select_move(self.position, left))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - an engine may raise anything
            self.say_fault("the engine broke, this is the best move known", error)
            return self.known_move()

    def known_move(self) -> str:
        """The first move of the line that was reported last, or the first legal one."""
        told, legal, first = self.position.limit.told, self.position.legal_moves, ""
        with suppress(Exception):  # it may have told anything
            first = str(told[3][0])
        return first if first in legal else str(next(iter(legal), "(none)"))


def serve(engine: Any, position_class: Any, limit_class: Any) -> None:
    """Answer UCI commands until `quit` or the end of the input.

    `ucinewgame` brings the engine back as it was loaded: it was written for one game in one process. What the engine
    prints goes to standard error: half a line of it before a `bestmove` would be a move that nobody reads.
    """
    out = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    with suppress(OSError):  # there may be no standard error
        os.dup2(2, 1)
    Shell(engine, position_class, limit_class, out).run()
