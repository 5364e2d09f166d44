"""Parts of a graph, whose totals are counted again.

The answer has ``parts`` (n,), from 0 on; ``weights`` (k,), the weight of each of the k parts; ``limits``
(k,), the most that each may weigh; and, where the partition was made for weights of vertices that the graph
does not have, ``vertex_weights`` (n,).  The facts are ``edge_cut`` and ``communication_volume``, and where
they are claimed ``imbalance`` and ``balanced``.

There is no theorem: each number is added up from its definition, in one pass over the vertices and one over
the edges, and by a sort of those between parts.  The *cut* is the weight of all edges whose ends are in two
parts.  The *communication volume* counts, for each vertex, the other parts that it has a neighbour in.  The
*imbalance* is the largest weight of a part over an even share, less 1, where the share is rounded up unless
it is less than 1.  A partition is *balanced* if no part is above its limit, and none is empty for want of
vertices.  Integers are added up exactly.  A cut of float weights may differ by what rounding leaves, whatever
the order of the sum: a unit in the last place of the whole for each edge.  Nothing is said about how small a
cut could be, which is hard to find and harder to prove.
"""

import numpy as np

from edgewise.certificates.record import CHUNK, expect, first, refuse

#: Weights of vertices add up to less, so that floats hold all sums.
BOUND = 2**53


def check(graph, certificate):
    """Raise VerificationError unless the parts have the totals that are claimed."""
    n, facts = graph.n_vertices, certificate.facts
    claimed = certificate.numbers("answer", "weights", None, below=BOUND)
    k = len(claimed)
    parts = certificate.numbers("answer", "parts", n, below=k).astype(np.int64)
    expect(not graph.directed, "a partition of a directed graph has no cut; give an undirected one")
    sizes = vertex_weights_in(graph, certificate)
    weights = np.bincount(parts, sizes, k).astype(np.int64)
    if (at := first(weights != claimed)) is not None:
        refuse(f"part {at} weighs {weights[at]}, not {claimed[at]}")
    check_balance(certificate, weights, n)
    cut, slack, volume = totals(graph, parts, k)
    given = facts.get("edge_cut")
    is_same = is_number(given) and abs(cut - given) <= slack
    expect(is_same, f"the edges between parts weigh {cut}, not {given!r:.40}")
    given = facts.get("communication_volume", volume)
    is_same = is_number(given) and given == volume
    expect(is_same, f"the communication volume is {volume}, not {given!r:.40}")


def is_number(given):
    """Whether a fact is a number that floats hold."""
    return type(given) in (int, float) and abs(given) < 2.0**1000


def vertex_weights_in(graph, certificate):
    """Weights of the vertices: of the graph, or those that the certificate brings where it has none."""
    n, given = graph.n_vertices, graph.vertex_weights
    columns = np.ones((1, n), np.int64) if given is None else np.atleast_2d(given.T)
    sizes = columns[0]
    if "vertex_weights" in certificate.answer:
        sizes = certificate.numbers("answer", "vertex_weights", n, below=BOUND)
        same = given is None or any(np.array_equal(column, sizes) for column in columns)
        expect(same, "the certificate is for other weights of vertices than the graph has")
    else:
        expect(len(columns) == 1, "the graph has several weights for each vertex, the certificate names none")
    expect(sizes.dtype.kind in "iu" and sizes.min(initial=0) >= 0, "a weight of a vertex is no whole number")
    expect(sizes.sum(dtype=np.float64) < BOUND, "the weights of the vertices add up to 2**53 or more")
    return sizes


def check_balance(certificate, weights, n):
    """Check the imbalance, and whether the parts are within their limits."""
    facts, k, total = certificate.facts, len(weights), int(weights.sum())
    if "imbalance" in facts:
        share = (-(-total // k) if total >= k else total / k) if total else 1
        expected, given = int(weights.max()) / share - 1 if total else 0.0, facts["imbalance"]
        is_same = is_number(given) and abs(given - expected) <= 1e-12 * (1 + expected)
        expect(is_same, f"the imbalance is {expected}, not {given!r:.40}")
    if "balanced" in facts:
        limits = certificate.numbers("answer", "limits", k, below=BOUND + 1)
        balanced, given = k <= n and bool((weights <= limits).all()), facts["balanced"]
        words = f"the heaviest part weighs {weights.max()} and may weigh {limits.max()}" if k else "no part"
        expect(given is balanced, f"'balanced' is {given!r:.40}, but {words}")


def totals(graph, parts, k):
    """The cut, what rounding may add to it, and the communication volume."""
    cut, real, size, count, keys = 0, 0.0, 0.0, 0, [np.empty(0, np.int64)]
    expect(len(parts) * k < 2**63, f"{len(parts)} vertices in {k} parts are too many")
    for begin in range(0, len(graph.sources), CHUNK):
        some = slice(begin, begin + CHUNK)
        source, target = (ends[some].astype(np.int64) for ends in (graph.sources, graph.targets))
        between = parts[source] != parts[target]
        source, target = source[between], target[between]
        keys += source * k + parts[target], target * k + parts[source]
        if graph.weights is None:
            cut += len(source)
        elif graph.weights.dtype.kind in "iu":  # in two halves, so that no sum passes the end of its type
            weights = graph.weights[some][between].astype(np.int64)
            cut += (int((weights >> 32).sum()) << 32) + int((weights & (2**32 - 1)).sum())
        else:
            weights = graph.weights[some][between].astype(np.float64)
            real, size = real + float(weights.sum()), size + float(abs(weights).sum())
            count += len(weights)
    slack = (count + 1) * np.finfo(np.float64).eps * size
    pairs = np.sort(np.concatenate(keys))
    volume = int(np.count_nonzero(pairs[1:] != pairs[:-1])) + (len(pairs) > 0)
    return real if count else cut, slack if np.isfinite(slack) else 0, volume
