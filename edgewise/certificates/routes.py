"""Tables of distances, and routes between pairs of vertices, by the trees of some sources.

The answer has ``sources`` (k,) and ``distances``.  Of a *table* (the fact ``kind``) these are a row for each
source, with a column for each of ``targets`` (t,), or for every vertex if there is no such array.  Of *pairs*
they are one for each source and its target.  The fact ``weighted`` says whether the weights count.

The proof has distances to all vertices from the sources ``roots`` (s,), which a digest of the answer draws,
so that nobody can choose wrong distances that are not looked at: ``lengths``, ``edges`` and ``places``
(s n,), a row for each root as in :mod:`~edgewise.certificates.distances`, where it is said why these are
right.  If the sources are few, or the graph is small, all of them are roots, and the whole answer is proved.
Otherwise an answer that is wrong for w of k different sources is taken for right with a probability of at
most (1 - w / k) ** s.

The proof of pairs has a path for each, too: ``hops`` (k,), its edges, -1 where no path leads; ``stops``, the
vertices of all paths, one behind the other; and ``steps``, the edges between them.  So no distance is too
small, whatever its source: there is a path as long.  That there is no shorter one is proved for the roots.

Integers are exact.  Floats that are added in another order differ by rounding: by ROUNDINGS units in the last
place of a distance, or of the largest one of its row if a weight is negative.
"""

import hashlib

import numpy as np

from edgewise.certificates import distances as of_distances
from edgewise.certificates.record import Certificate, expect, first, refuse

#: Vertices and edges that all trees have together, and trees that there are in any case.
WORK, TREES = 2**22, 8
#: Units in the last place of a float that rounding may change.
ROUNDINGS = 2**12


def check(graph, certificate):
    """Raise VerificationError unless the distances from the roots are right, and each path is as long."""
    n, answer, facts = graph.n_vertices, certificate.answer, certificate.facts
    kind, weighted = facts.get("kind"), facts.get("weighted")
    expect(kind in ("table", "pairs"), f"the kind is {kind!r:.40}; use table or pairs")
    right = type(weighted) is bool and (graph.weights is not None or not weighted)
    expect(right, f"the fact 'weighted' is {weighted!r:.40}, which does not fit the graph")
    sources = certificate.numbers("answer", "sources", None, below=n)
    targets, count = np.arange(n), len(sources)
    if kind == "pairs" or "targets" in answer:
        length = count if kind == "pairs" else None
        targets = certificate.numbers("answer", "targets", length, below=n)
    width = 1 if kind == "pairs" else len(targets)
    claimed = certificate.array("answer", "distances", count * width, "if").reshape(count, width)
    expect(claimed.dtype.name in of_distances.TYPES, f"distances of type {claimed.dtype}")
    roots = roots_of(answer, n, len(graph.sources))
    given = certificate.numbers("proof", "roots", len(roots), below=n)
    expect(np.array_equal(given, roots), "the roots are other sources than those that the answer draws")
    lengths = certificate.array("proof", "lengths", len(roots) * n, "if")
    expect(lengths.dtype == claimed.dtype, f"lengths of type {lengths.dtype}, distances of {claimed.dtype}")
    edges, places = (certificate.array("proof", name, len(roots) * n, "iu") for name in ("edges", "places"))
    if kind == "pairs":
        check_paths(graph, certificate, sources, targets)
    order = np.argsort(sources, kind="stable")
    bounds = (np.searchsorted(sources[order], roots, side) for side in ("left", "right"))
    for row, (root, begin, end) in enumerate(zip(roots, *bounds, strict=True)):
        some, at = slice(row * n, (row + 1) * n), order[begin:end]
        held = {"distances": lengths[some], "sources": np.array([root])}
        proof = {"edges": edges[some], "places": places[some]}
        of_distances.check(graph, Certificate("distances", held, proof, {"weighted": weighted}))
        ends = targets[at, None] if kind == "pairs" else np.broadcast_to(targets, (len(at), width))
        right, line = lengths[some][ends].ravel(), claimed[at].ravel()
        if (wrong := first(~is_same(graph, right, line))) is not None:
            refuse(f"from {root} to {ends.ravel()[wrong]} it is {right[wrong]}, not {line[wrong]}")


def roots_of(answer, n, m):
    """The sources whose trees are looked at, ascending."""
    digest = hashlib.sha256()
    for name in ("sources", "targets", "distances"):
        digest.update(np.asarray(answer.get(name, ())).tobytes())
    distinct = np.unique(answer["sources"])
    count = max(TREES, WORK // (n + m + 1))
    return np.sort(np.random.default_rng(list(digest.digest())).permutation(distinct)[:count])


def is_same(graph, right, given):
    """Whether distances are those that are right, up to rounding."""
    same = given == right
    if right.dtype.kind == "f":
        sizes = abs(np.where(np.isfinite(right), right, 0))
        if graph.weights is not None and (graph.weights < 0).any():
            sizes = sizes.max(initial=0)
        with np.errstate(invalid="ignore", over="ignore"):
            same |= abs(given - right) <= sizes * (ROUNDINGS * np.finfo(right.dtype).eps)
    return same


def check_paths(graph, certificate, sources, targets):
    """Check that the path of each pair leads from its source to its target, and is as long as is claimed."""
    distances, count = certificate.answer["distances"], len(sources)
    hops = certificate.numbers("proof", "hops", count, below=2**32, least=-1).astype(np.int64)
    total = int(hops.sum()) + count
    stops = certificate.numbers("proof", "stops", total, below=graph.n_vertices)
    pairs = np.repeat(np.arange(count), hops + 1)
    ends = np.cumsum(hops + 1)
    none = of_distances.bounds(distances.dtype)[0]
    led = hops >= 0
    if (at := first((distances != none) != led)) is not None:
        refuse(f"pair {at} has the distance {distances[at]}, and {'a' if led[at] else 'no'} path")
    wrong = stops[(ends - hops - 1)[led]] != sources[led]
    wrong |= stops[ends[led] - 1] != targets[led]
    if (at := first(wrong)) is not None:
        refuse(f"the path of pair {np.flatnonzero(led)[at]} has other ends than the pair")
    inside = np.flatnonzero(pairs[1:] == pairs[:-1])
    steps = certificate.numbers("proof", "steps", len(inside), below=len(graph.sources))
    before, after = stops[inside], stops[inside + 1]
    fits = (graph.sources[steps] == before) & (graph.targets[steps] == after)
    if not graph.directed:
        fits |= (graph.sources[steps] == after) & (graph.targets[steps] == before)
    weights, passable = of_distances.weights_in(graph, certificate.facts["weighted"], distances.dtype, steps)
    if (at := first(~(fits & passable))) is not None:
        refuse(f"the path of pair {pairs[inside[at]]} has a step that is not edge {steps[at]}")
    real = np.bincount(pairs[inside], weights, count)
    size = np.bincount(pairs[inside], abs(weights), count)
    if distances.dtype.kind == "f":
        same = abs(real - distances) <= (hops + 1) * 2 * np.finfo(distances.dtype).eps * size
    else:
        exact = np.zeros(count, np.int64)
        np.add.at(exact, pairs[inside], weights)
        same = (exact == distances) & (size < 2.0**62)  # no sum has wrapped around
    if (at := first(led & ~same)) is not None:
        refuse(f"the path of pair {at} is {real[at]} long, not {distances[at]}")
