"""As much of networkx as a graph needs to cross, where that is missing. Laid beside an evaluator as `networkx.py`."""


class Graph:
    """Nodes and edges with their data, undirected."""

    def __init__(self):
        self.graph, self._nodes, self._edges = {}, {}, {}

    def add_node(self, node, **data):
        self._nodes.setdefault(node, {}).update(data)

    def add_edge(self, one, other, **data):
        self.add_node(one)
        self.add_node(other)
        self._edges.setdefault((one, other), {}).update(data)

    @property
    def nodes(self):
        return _View(self._nodes, lambda node: (node,))

    @property
    def edges(self):
        return _View(self._edges, lambda ends: ends)


class _View(dict):
    def __init__(self, held, ends):
        super().__init__(held)
        self._ends = ends

    def __call__(self, data=False):
        return [(*self._ends(name), found) if data else name for name, found in self.items()]
