"""The graphs that are asked about: small ones, families that programs stumble over, and slices of both.

Most faults of graph libraries show on graphs of at most three vertices: empty ones, some without edges, with
loops, with repeated edges (GSlicer, which found 39 faults in three systems by slices of graphs, found half of
them there).  So half of the cases are these, all of which there are; the others are slices of the graphs of
:mod:`edgewise.torture.zoo` and of random ones: some vertices, a component, or the first of the edges.
"""

import itertools
from collections import defaultdict
from typing import NamedTuple

from edgewise.torture.zoo import ZOO

#: Weights by kind.  Sums are exact, except for those of ``rounded``, which depend on the order.
WEIGHTS = {
    "ones": (1.0,),
    "ties": (0.0, 1.0, 1.0, 2.0, 3.0),
    "halves": (0.0, 0.5, 1.25, 2.75, 4.0),
    "powers": (0.0, 2.0**-20, 1.0, 2.0**20),
    "rounded": (0.1, 0.2, 0.3, 0.7, 1e-9, 1e9),
    "positive": (0.5, 1.0, 1.0, 2.0, 3.0),
    "whole": (1.0, 1.0, 2.0, 3.0),
    "negative": (-2.0, -1.0, 0.0, 0.5, 1.0, 3.0),
}
#: Most vertices of a random graph, and of a slice of a larger one.
RANDOM, LARGEST = 9, 12


class Case(NamedTuple):
    """A graph, and what else a question needs.

    Attributes
    ----------
    n : int
        Number of vertices.
    pairs : list of (int, int)
        Edges, among which may be loops and repeated ones.
    weights : list of float
        Their weights.
    directed : bool
        Whether edges have a direction.
    start : int
        Where searches begin.
    parts : list of int
        A part, 0 or 1, for every vertex.
    """

    n: int
    pairs: list
    weights: list
    directed: bool
    start: int
    parts: list

    def key(self):
        """What tells it from other cases."""
        fields = self.pairs, self.weights, self.parts
        return self.n, self.directed, self.start, *map(tuple, fields)

    def of_edges(self, positions):
        """The case with some of its edges."""
        pairs, weights = ([column[at] for at in positions] for column in (self.pairs, self.weights))
        return self._replace(pairs=pairs, weights=weights)

    def of_vertices(self, vertices):
        """The case of some of its vertices, which are numbered as they are listed."""
        number = {vertex: at for at, vertex in enumerate(vertices)}
        inside = [at for at, (u, v) in enumerate(self.pairs) if u in number and v in number]
        kept = self.of_edges(inside)
        return kept._replace(
            n=len(vertices),
            pairs=[(number[u], number[v]) for u, v in kept.pairs],
            start=number.get(self.start, 0),
            parts=[self.parts[vertex] for vertex in vertices],
        )

    def reached(self, start, backwards=False):
        """The vertices that edges lead to from ``start``, or from which they lead there."""
        following = defaultdict(list)
        for u, v in self.pairs:
            u, v = (v, u) if backwards else (u, v)
            following[u].append(v)
            if not self.directed:
                following[v].append(u)
        found, waiting = {start}, [start]
        while waiting:
            new = set(following[waiting.pop()]) - found
            found |= new
            waiting += new
        return found


def small_graphs():
    """All graphs of at most three vertices: vertices, pairs, and whether they are directed."""
    for n, directed in itertools.product(range(4), (False, True)):
        pairs = [(u, v) for u in range(n) for v in range(n) if directed or u <= v]
        for chosen in itertools.product((0, 1), repeat=len(pairs)):
            yield n, [pair for pair, is_there in zip(pairs, chosen, strict=True) if is_there], directed


SMALL = list(small_graphs())
#: Those that are undirected, and directed.
SMALL_OF = {kind: [one for one in SMALL if one[2] == kind] for kind in (False, True)}
_ZOO = {name: (n, list(zip(s.tolist(), t.tolist(), strict=True))) for name, (n, s, t) in ZOO.items()}


def small(draw, graphs, number):
    """One of the small graphs, by its number, some of whose edges are repeated."""
    n, pairs, directed = graphs[number % len(graphs)]
    return n, pairs + draw.sample(pairs, draw.randint(0, len(pairs))), directed


def slice_of(draw, n, n_edges):
    """A slice of a graph: which part it is, ``"vertices"``, ``"component"`` or ``"edges"``, and of what."""
    kind = draw.choice(("vertices", "component", "edges", "itself"))
    if kind == "vertices":
        return kind, sorted(draw.sample(range(n), draw.randint(0, n)))
    if kind == "component" and n:
        return kind, draw.randrange(n)
    if kind == "edges":
        return kind, draw.randint(0, n_edges)
    return "itself", None


def case_of(draw, number, kinds, weights):
    """A case whose number chooses between small graphs and slices.

    Parameters
    ----------
    draw : random.Random
        What is drawn from.
    number : int
        Number of the case.
    kinds : sequence of bool
        Whether graphs may be directed.
    weights : sequence of str
        Kinds of weights, of :data:`WEIGHTS`.
    """
    directed = draw.choice(kinds)
    if number % 2:
        n, pairs, _ = small(draw, SMALL_OF[directed], number // 2)
    elif number % 4:
        n, pairs = _ZOO[draw.choice(list(_ZOO))]
    else:
        n = draw.randint(3, RANDOM)
        pairs = [(draw.randrange(n), draw.randrange(n)) for _ in range(draw.randint(0, 3 * n))]
    pool = WEIGHTS[draw.choice(weights)]
    drawn = draw.choices(pool, k=len(pairs))
    parts = draw.choices((0, 1), k=n)
    case = Case(n, pairs, drawn, directed, draw.randrange(n) if n else 0, parts)
    if number % 2:
        return case
    kind, what = slice_of(draw, n, len(pairs))
    if kind == "vertices":
        case = case.of_vertices(what)
    elif kind == "component":
        case = case.of_vertices(sorted(case._replace(directed=False).reached(what)))
    elif kind == "edges":
        case = case.of_edges(range(what))
    return case if case.n <= LARGEST else case.of_vertices(sorted(draw.sample(range(case.n), LARGEST)))


def without_loops(case):
    """The case without edges from a vertex to itself."""
    return case.of_edges([at for at, (u, v) in enumerate(case.pairs) if u != v])


def without_repeats(case):
    """The case with the lightest of repeated edges only."""
    lightest: dict = {}
    for at, (u, v) in enumerate(case.pairs):
        pair = (u, v) if case.directed else (min(u, v), max(u, v))
        if pair not in lightest or case.weights[at] < case.weights[lightest[pair]]:
            lightest[pair] = at
    return case.of_edges(sorted(lightest.values()))


def connected(case):
    """The vertices that are connected with the first one, in both directions; nothing without vertices."""
    if not case.n:
        return None
    return case.of_vertices(sorted(case.reached(0) & case.reached(0, backwards=True)))


def not_empty(case):
    """The case, unless it has no vertices."""
    return case if case.n else None


#: What a call may need of a graph: the names are those in the table of calls.
NEEDS = {
    "no loops": without_loops,
    "no repeated edges": without_repeats,
    "connected": connected,
    "vertices": not_empty,
}


def as_needed(case, needs):
    """The case as a call needs it, or ``None`` if that is not possible."""
    for need in needs:
        case = case and NEEDS[need](case)
    return case
