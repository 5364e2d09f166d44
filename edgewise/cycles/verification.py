"""A verifier for counts of cycles."""

from __future__ import annotations

import numpy as np

from edgewise.device import arrays
from edgewise.errors import VerificationError

#: Vertices that are counted again.
SAMPLE = 32
#: Those among these vertices that are said to be on no cycle.
OF_NONE = 8
#: The longest cycles for which there is a formula.
BY_FORMULA = 6
#: Entries of rows that a formula may read for a vertex.
ENTRIES = 2e7
#: Steps that a search may take for a vertex.
STEPS = 2e5
#: Steps that the searches for all vertices may take together.
ALL_STEPS = 2e6


def verify(cycles):
    """Raise :class:`~edgewise.errors.VerificationError` unless the counts may be those of their graph.

    No count may be negative, it must be zero where a vertex has less than two neighbours, be even where both
    directions count, and all must add up to a multiple of the length.  A sample of vertices is counted again
    without the rows, ranks and kernels of the methods: up to length 6 by formulas for a single vertex, among
    them the vertex on most cycles; beyond, by a search, which gives a lower bound where it is cut short.
    """
    length, counts = cycles.length, arrays.move(cycles.counts, "cpu")
    if cycles.count_directions:
        _complain(counts % 2 != 0, counts, "is odd, but both directions count")
        counts = counts // 2
    rows = _simple_rows(cycles.graph.to("cpu"))
    _complain(counts < 0, counts, "is negative")
    few = np.diff(rows[0]) < 2
    _complain((counts > 0) & few, counts, "is not zero, but it has less than two neighbours")
    if sum(counts.tolist()) % length:
        raise VerificationError(
            f"all counts add up to no multiple of {length}: each cycle counts at {length}"
        )
    allowance = ALL_STEPS
    for vertex in _sample(rows, counts, length):
        whole, steps = True, 0
        if length <= BY_FORMULA:
            again = (_by_formula if length <= 5 else _six_by_formula)(rows, vertex, length)
        else:
            again, whole, steps = _by_search(rows, vertex, length)
        allowance -= steps
        if again > counts[vertex] or (whole and again != counts[vertex]):
            raise VerificationError(
                f"vertex {vertex} is on {again:,} cycles of length {length}"
                + f"{' or more' * (not whole)}, not on {counts[vertex]:,}"
            )
        if allowance < 0:
            return


def _complain(wrong, counts, why):
    if wrong.any():
        raise VerificationError(f"the count {counts[wrong.argmax()]:,} of vertex {wrong.argmax()} {why}")


def _simple_rows(graph):
    """Offsets and neighbours of the graph without self-loops and repeated edges, by SciPy."""
    from scipy.sparse import coo_array

    n = graph.n_vertices
    endpoints = graph.sources.astype(np.int64), graph.targets.astype(np.int64)
    proper = endpoints[0] != endpoints[1]
    one, other = endpoints[0][proper], endpoints[1][proper]
    both = np.concatenate([one, other]), np.concatenate([other, one])
    matrix = coo_array((np.ones(len(both[0]), bool), both), shape=(max(n, 1), max(n, 1))).tocsr()
    return matrix.indptr[: n + 1].astype(np.int64), matrix.indices.astype(np.int64)


def _sample(rows, counts, length):
    """Vertices to count again; those on most cycles first, where formulas can do that."""
    offsets, neighbours = rows
    draw = np.random.default_rng(length)
    reading = np.diff(offsets).astype(np.float64)
    for _ in range(2):
        sums = np.concatenate([[0.0], np.cumsum(reading[neighbours])])
        reading = sums[offsets[1:]] - sums[offsets[:-1]]
    short = reading <= ENTRIES if length <= BY_FORMULA else np.full(len(counts), True)
    some, none = np.flatnonzero(short & (counts > 0)), np.flatnonzero(short & (counts == 0) & (reading > 0))
    sample = draw.permutation(some)[: SAMPLE - OF_NONE].tolist()
    if length <= BY_FORMULA and len(some):
        sample.insert(0, int(some[counts[some].argmax()]))
    return sample + draw.permutation(none)[: SAMPLE - len(sample)].tolist()


def _rows_together(rows, vertices):
    """The rows of some vertices, one behind the other."""
    offsets, neighbours = rows
    lengths = offsets[vertices + 1] - offsets[vertices]
    prefix = np.cumsum(lengths)
    return neighbours[np.arange(lengths.sum()) + np.repeat(offsets[vertices] - prefix + lengths, lengths)]


def _by_formula(rows, vertex, length):
    """Cycles of 3, 4 or 5 edges through a vertex, by paths of two edges from it.

    With ``d`` degrees, ``p(u)`` paths of two edges from ``v`` to ``u``, ``t`` triangles at a vertex or an
    edge: ``C3 = sum over u ~ v of p(u) / 2``, ``C4 = sum over u != v of p(u) (p(u) - 1) / 2``, and ``C5`` is
    half the closed walks of five edges, less those that are a triangle with an edge walked to and fro:
    ``(A^5)_vv / 2 - 2 t_v d_v + 5 t_v - sum over u ~ v of (t_u + t_uv d_u)`` (Harary and Manvel 1971).
    """
    offsets, neighbours = rows
    near = neighbours[offsets[vertex] : offsets[vertex + 1]]
    paths = np.bincount(_rows_together(rows, near), minlength=len(offsets) - 1)
    if length == 3:
        return int(paths[near].sum()) // 2
    if length == 4:
        others = np.delete(paths, vertex)
        return int((others * (others - 1)).sum()) // 2
    reached = np.flatnonzero(paths)
    degrees, through = np.diff(offsets), int(paths[near].sum()) // 2
    beside = np.repeat(paths[reached], degrees[reached])
    five = int((beside * paths[_rows_together(rows, reached)]).sum())
    marks = np.zeros(len(degrees), bool)
    at_near = sum(_triangles(rows, other, marks) for other in near.tolist())
    twice = five - 4 * through * len(near) + 10 * through
    twice -= 2 * (at_near + int((paths[near] * degrees[near]).sum()))
    return (twice + 2**63) % 2**64 - 2**63 >> 1  # sums wrap around, and so comes out what fits


def _six_by_formula(rows, vertex, length):
    """Cycles of 6 edges through a vertex ``v``: its closed walks of 6 edges, less those that meet themselves.

    With ``w`` the closed walks of four edges, ``a(u)`` the walks of three from ``v`` to ``u``, and sums over
    the neighbours ``u`` of ``v``, twice the number is ``(A^6)_vv - 4 t^2 - 4 sum t_uv t_u - 2 d w
    - 2 sum a(u) d_u - sum over all u of p_v(u)^2 d_u - sum w(u) + 6 sum t_uv^2 + 6 z + 6 w + 2 d^3 + 2 d n
    + 2 sum d_u^2 + sum n(u) - 8 t - 6 d^2 - 6 n + 4 d`` where ``n = sum d_u`` and ``z`` sums the triangles on
    the far edge of every triangle of ``v`` (after Harary and Manvel 1971).
    """
    from scipy.sparse import csr_array

    offsets, neighbours = rows
    size, ones = len(offsets) - 1, np.ones(len(neighbours), np.int64)
    matrix, degrees = csr_array((ones, neighbours, offsets), shape=(size, size)), np.diff(offsets)
    near = neighbours[offsets[vertex] : offsets[vertex + 1]]
    beside = matrix[near]
    pairs = beside @ matrix
    paths = (matrix[[vertex]] @ matrix).toarray()[0]
    walks = matrix @ paths
    on_edges, degree, others = paths[near], len(near), degrees[near]
    triangles = int(on_edges.sum()) // 2
    on_near = np.asarray(pairs.multiply(beside).sum(axis=1)).ravel() // 2
    closed, closed_near = int((paths**2).sum()), np.asarray(pairs.power(2).sum(axis=1)).ravel()
    far = int(pairs.multiply(beside)[:, near].sum()) // 2
    around, around_near = int(others.sum()), beside @ degrees
    twice = int((walks**2).sum()) - 4 * triangles**2 - 4 * int((on_edges * on_near).sum())
    twice -= 2 * degree * closed + 2 * int((walks[near] * others).sum()) + int((paths**2 * degrees).sum())
    twice += 6 * int((on_edges**2).sum()) + 6 * far + 6 * closed - int(closed_near.sum())
    twice += 2 * degree**3 + 2 * degree * around + 2 * int((others**2).sum()) + int(around_near.sum())
    twice += 4 * degree - 8 * triangles - 6 * degree**2 - 6 * around
    return (twice + 2**63) % 2**64 - 2**63 >> 1


def _triangles(rows, vertex, marks):
    """Triangles through a vertex; ``marks`` are false, before and after."""
    offsets, neighbours = rows
    near = neighbours[offsets[vertex] : offsets[vertex + 1]]
    marks[near] = True
    found = int(np.count_nonzero(marks[_rows_together(rows, near)])) // 2
    marks[near] = False
    return found


def _by_search(rows, start, length):
    """Cycles through a vertex by a search for them, whether it came to its end, and its steps."""
    offsets, neighbours = rows
    away, level = {start: 0}, [start]
    for far in range(1, length // 2 + 1):
        level = [other for at in level for other in neighbours[offsets[at] : offsets[at + 1]].tolist()]
        level = [other for other in dict.fromkeys(level) if other not in away]
        away.update(dict.fromkeys(level, far))
        if len(away) > STEPS:
            return 0, False, len(away)
    twice, steps, path = 0, len(away), [start]
    left = [iter(neighbours[offsets[start] : offsets[start + 1]].tolist())]
    while left and steps <= STEPS:
        other = next(left[-1], None)
        steps += 1
        if other is None:
            left.pop()
            path.pop()
        elif len(path) == length:
            twice += other == start
        elif other not in path and away.get(other, length) <= length - len(path):
            path.append(other)
            left.append(iter(neighbours[offsets[other] : offsets[other + 1]].tolist()))
    return -(-twice // 2), steps <= STEPS, steps
