"""Gauntlet: Monte-Carlo tree search with 120 playouts a move. Selection never plays it."""

import math
import random

PLAYOUTS = 120


class Tree:
    def __init__(self, position):
        self.position = position
        self.untried = position.legal_moves
        random.shuffle(self.untried)
        self.children = {}
        self.visits = 0
        self.points = 0.0  # of the side that moved into this position


class Engine:
    name = "rollouts 120"

    def select_move(self, position, time_left_ms):
        for move in position.legal_moves:
            if position.four(position.apply(move).stones[1]):
                return move
        root = Tree(position)
        for _ in range(PLAYOUTS):
            self.visit(root)
        return max(root.children, key=lambda move: root.children[move].visits)

    def visit(self, root):
        path = [root]
        while not path[-1].untried and path[-1].children:
            tree = path[-1]
            log = math.log(tree.visits)
            path.append(
                max(tree.children.values(), key=lambda c: c.points / c.visits + math.sqrt(1.5 * log / c.visits))
            )
        tree = path[-1]
        if tree.untried:
            move = tree.untried.pop()
            tree.children[move] = Tree(tree.position.apply(move))
            path.append(tree.children[move])
        points = self.playout(path[-1].position)
        for tree in reversed(path):
            tree.visits += 1
            tree.points += points
            points = 1 - points

    def playout(self, position):
        """Points of the side that moved into `position`."""
        points = 1.0
        while True:
            if position.four(position.stones[1]):
                return points
            moves = position.legal_moves
            if not moves:
                return 0.5
            position = position.apply(random.choice(moves))
            points = 1 - points


engine = Engine()
