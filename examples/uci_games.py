"""Plays an exported engine under another UCI program, python-chess's engine client, and counts what it forfeits.

    python -m venv /tmp/uci && /tmp/uci/bin/pip install chess rust-chess
    /tmp/uci/bin/python examples/uci_games.py best_solution/engine.py [--games 20] [--limit clock:2000+20]
                        [--opponent stockfish] [--pgn games.pgn]

Run it by an interpreter that has python-chess: that is GPL, so nothing of ours imports it or this file. A game is lost
by forfeit when the engine ends, breaks the protocol, answers with a move that is not legal, or oversteps its time.
Both processes live for the whole match, as under a GUI. Ends with 1 if there was a forfeit.
"""

import argparse
import random
import shlex
import sys
import time

try:
    import chess
    import chess.engine
    import chess.pgn
except ImportError:
    sys.exit("examples/uci_games.py needs python-chess: run it by an interpreter that has it (pip install chess)")

OPENING_PLIES = 4
MOST_PLIES = 400
SLACK = 0.5  # seconds that the client and a busy machine may take beside the engine


class Clock:
    """Both sides' time under `nodes:N`, `movetime:MS` or `clock:MS+MS`."""

    def __init__(self, text):
        self.kind, _, rest = text.partition(":")
        numbers = [int(part) for part in rest.split("+")]
        self.value, self.increment = numbers[0], (numbers[1] / 1000 if len(numbers) > 1 else 0.0)
        self.left = {chess.WHITE: self.value / 1000, chess.BLACK: self.value / 1000}

    def limit(self):
        if self.kind == "nodes":
            return chess.engine.Limit(nodes=self.value)
        if self.kind == "movetime":
            return chess.engine.Limit(time=self.value / 1000)
        white, black = self.left[chess.WHITE], self.left[chess.BLACK]
        return chess.engine.Limit(
            white_clock=white, black_clock=black, white_inc=self.increment, black_inc=self.increment
        )

    def press(self, side, seconds):
        """False if the side has overstepped."""
        if self.kind == "nodes":
            return True
        if seconds > self.left[side] + SLACK:
            return False
        if self.kind == "clock":
            self.left[side] = max(0.0, self.left[side] - seconds) + self.increment
        return True


def command(word):
    return [sys.executable, word] if word.endswith(".py") else shlex.split(word)


class Player:
    """An engine's process, started again after a forfeit."""

    def __init__(self, words):
        self.words = words
        self.engine = None

    def start(self):
        if self.engine is None:
            try:
                self.engine = chess.engine.SimpleEngine.popen_uci(self.words, timeout=30)
            except (OSError, TimeoutError, chess.engine.EngineError) as error:
                sys.exit(f"{shlex.join(self.words)}: it does not start: {error}")

    def close(self):
        if self.engine is not None:
            self.engine.close()
            self.engine = None


def play(players, opening, limit, game):
    """(board, who forfeited or None, why). `players` by colour."""
    board, clock = chess.Board(), Clock(limit)
    for move in opening:
        board.push(move)
    for player in players.values():
        player.start()
    while not board.is_game_over(claim_draw=True) and board.ply() < MOST_PLIES:
        side, started = board.turn, time.perf_counter()
        try:
            move = players[side].engine.play(board, clock.limit(), game=game).move
        except (chess.engine.EngineError, TimeoutError) as error:
            return board, side, f"{type(error).__name__}: {error}"
        if move is None:
            return board, side, "no move"
        if not clock.press(side, time.perf_counter() - started):
            return board, side, "out of time"
        board.push(move)
    return board, None, ""


def random_opening(rng):
    board = chess.Board()
    for _ in range(OPENING_PLIES):
        board.push(rng.choice(list(board.legal_moves)))
    return list(board.move_stack)


def main():
    parser = argparse.ArgumentParser(description="An exported chess engine under python-chess's UCI client.")
    parser.add_argument("engine")
    parser.add_argument("--opponent", help="an engine file or a UCI command; by default the engine itself")
    parser.add_argument("--games", type=int, default=20)
    parser.add_argument("--limit", default="nodes:500", help="nodes:N, movetime:MS or clock:MS+MS")
    parser.add_argument("--pgn")
    args = parser.parse_args()
    ours, theirs = Player(command(args.engine)), Player(command(args.opponent or args.engine))
    rng, counts, forfeits = random.Random(1), {"won": 0, "drawn": 0, "lost": 0}, []
    for number in range(args.games):
        colour = chess.WHITE if number % 2 == 0 else chess.BLACK
        if number % 2 == 0 or args.opponent is None:  # with itself, exchanged colours would be the same game
            opening = random_opening(rng)
        players = {colour: ours, not colour: theirs}
        board, guilty, why = play(players, opening, args.limit, number)
        outcome = board.outcome(claim_draw=True)
        winner = (not guilty) if guilty is not None else outcome.winner if outcome else None
        counts["drawn" if winner is None else "won" if winner == colour else "lost"] += 1
        if guilty is not None:
            who = "the engine" if guilty == colour or args.opponent is None else "the opponent"
            forfeits.append(who)
            players[guilty].close()
            print(f"game {number + 1}: {who} forfeits: {why}, {board.fen()}", flush=True)
        if args.pgn:
            game = chess.pgn.Game.from_board(board)
            with open(args.pgn, "a", encoding="utf-8") as file:
                print(game, file=file, end="\n\n")
    ours.close()
    theirs.close()
    own = forfeits.count("the engine")
    print(f"{args.games} games, {args.limit}: {counts['won']} won, {counts['drawn']} drawn, {counts['lost']} lost")
    print(f"forfeits: {own} of the engine, {len(forfeits) - own} of the opponent")
    return 1 if own else 0


if __name__ == "__main__":
    sys.exit(main())
