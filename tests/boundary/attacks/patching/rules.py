# changes the rules of the game, so that any move of its own wins
# KINDS: arena
# WINS: score
import sys


def strike():
    for module in list(sys.modules.values()):
        if hasattr(module, "Position") and hasattr(module, "evaluate"):
            module.Position.four = lambda self, stones: len(self.moves) % 2 == 1
