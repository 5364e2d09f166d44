"""Counts of the simple cycles of one length through each vertex: conditions, and counting again.

The answer has ``counts`` (n,).  The facts are the ``length`` k of the cycles, and ``count_directions``,
whether each counts twice.  Self-loops and repeated edges are part of no cycle.  There is no proof.

All right counts add up to a multiple of k, and a vertex is on no cycle if it has less than two neighbours,
also after such vertices have been taken away.  A cycle through a vertex passes through two of its neighbours,
so twice the count of a vertex is at most the sum of those of its neighbours.

Then vertices are drawn, and all paths of k vertices from each are walked; those that end at a neighbour of
their start are its cycles, found once in each direction.  This ends with all vertices, or when WORK vertices
are in paths; one that alone takes more than SEARCH is passed over.  The vertex on most cycles comes first,
then others in an order that is drawn from a digest of the counts, so that nobody can choose counts that the
sample misses.  Triangles are found once, along edges from smaller to larger degrees, and of all vertices.

If all vertices are counted again, which :func:`recounted` says, the counts are proved.  If s of n are, counts
that satisfy the conditions, and are wrong at w vertices that are not passed over, are taken for right with a
probability of at most (1 - w / n) ** s.  Vertices that are passed over are held by the conditions alone.
"""

import hashlib

import numpy as np

from edgewise.certificates.record import expect, first, refuse

#: Vertices that may be written into paths by all searches, by one, and what one counts as at least.
WORK, SEARCH, LEAST = 2**26, 2**22, 2**14
#: Vertices that are counted together, and how often those of less than two neighbours are taken away.
BATCH, ROUNDS = 2**12, 64


def check(graph, certificate):
    """Raise VerificationError unless the counts may be, or for small graphs are, right."""
    recounted(graph, certificate)


def recounted(graph, certificate):
    """Check the counts, and return the number of vertices that were counted again."""
    n, length = graph.n_vertices, certificate.facts.get("length")
    twice = certificate.facts.get("count_directions", False)
    counts = certificate.numbers("answer", "counts", n, below=2**63).astype(np.int64)
    right = type(length) is int and length >= 3 and type(twice) is bool
    expect(right, f"the facts are the length {length!r:.40} and directions {twice!r:.40}; use 3 or more")
    expect(not graph.directed, "cycles of directed graphs are not counted; give an undirected one")
    if twice:
        expect(not (counts % 2).any(), "a count is odd, but both directions count")
        counts = counts // 2
    if length > n:
        expect(not counts.any(), f"no cycle has {length} of {n} vertices, and there are counts above 0")
        return n
    check_conditions(rows := simple_rows(graph), counts, length)
    if length > 3 or (found := triangles(rows)) is None:
        return count_again(rows, counts, length)
    if (at := first(found != counts)) is not None:
        refuse(f"vertex {at} is on {found[at]} triangles, not on {counts[at]}")
    return n


def check_conditions(rows, counts, length):
    """Check what holds for all right counts."""
    offsets, neighbours, _ = rows
    total = (int((counts >> 32).sum()) << 32) + int((counts & (2**32 - 1)).sum())
    expect(total % length == 0, f"the counts add up to {total}, which is no multiple of {length}")
    n, degrees, alive = len(counts), np.diff(offsets), np.ones(len(counts), bool)
    most = np.bincount(np.repeat(np.arange(n), degrees), counts[neighbours], n) / 2 * (1 + 1e-9)  # rounded
    for _ in range(ROUNDS):
        gone = np.flatnonzero(alive & (degrees < 2))
        if not len(gone):
            break
        alive[gone] = False
        degrees = degrees - np.bincount(neighbours[entries_of(offsets, gone)[1]], minlength=n)
    if (at := first(counts > np.where(alive, most, 0))) is not None:
        refuse(f"vertex {at} is on fewer than {counts[at]} cycles, by its neighbours and their counts")


def count_again(rows, counts, length):
    """Compare the counts of vertices with those found by walking paths; return how many were compared."""
    order = np.random.default_rng(list(hashlib.sha256(counts).digest())).permutation(len(counts))
    compared, largest = 0, int(counts.argmax())
    for some, cycles in batches(rows, np.concatenate([[largest], order[order != largest]]), length):
        found = np.bincount(np.searchsorted(some, cycles[:, 0]), minlength=len(some)) // 2
        if (at := first(found != counts[some])) is not None:
            refuse(f"vertex {some[at]} is on {found[at]} cycles, not on {counts[some[at]]}")
        compared += len(some)
    return compared


def triangles(rows):
    """Triangles through all vertices; None if the walks are too long."""
    (offsets, neighbours, keys), n, done = rows, len(rows[0]) - 1, 0
    degrees, found = np.diff(offsets), np.zeros(n, np.int64)
    owners = np.repeat(np.arange(n), degrees)
    upward = degrees[owners] * n + owners < degrees[neighbours] * n + neighbours
    upper = np.concatenate([[0], np.cumsum(np.bincount(owners[upward], minlength=n))])
    for some, cycles in batches((upper, neighbours[upward], keys), np.arange(n), 3):
        np.add.at(found, cycles.ravel(), 1)
        done += len(some)
    return found if done == n else None


def batches(rows, order, length):
    """Some vertices at a time, ascending, and their cycles, except where the walks are too long."""
    at, size, left = 0, BATCH, WORK
    while at < len(order) and left > 0:
        some = np.sort(order[at : at + size])
        cycles, spent = walk(rows, some, length)
        left -= max(spent, LEAST)
        if cycles is None and len(some) > 1:
            size = max(len(some) // 8, 1)
            continue
        at, size = at + len(some), min(2 * size, BATCH)
        if cycles is not None:
            yield some, cycles


def walk(rows, starts, length):
    """Paths from the starts that can be closed, None if they are too long, and the vertices written."""
    offsets, neighbours, keys = rows
    paths, spent = starts[:, None], 0
    for _ in range(length - 1):
        last = paths[:, -1]
        more = int((offsets[last + 1] - offsets[last]).sum()) * (paths.shape[1] + 1)
        if spent + more > SEARCH or not more:
            return None if more else paths[:0], spent
        spent += more
        before, entries = entries_of(offsets, last)
        after = neighbours[entries]
        new = (paths[before] != after[:, None]).all(axis=1)
        paths = np.column_stack([paths[before[new]], after[new]])
    wanted = paths[:, -1] * (len(offsets) - 1) + paths[:, 0]
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return paths[keys[place] == wanted], spent


def simple_rows(graph):
    """Offsets and neighbours without self-loops and repeated edges, and all pairs of them as sorted keys."""
    n = graph.n_vertices
    expect(n < 2**31, f"{n} vertices are too many")
    one, other = graph.sources.astype(np.int64), graph.targets.astype(np.int64)
    keys = np.sort(np.concatenate([one * n + other, other * n + one])[np.tile(one != other, 2)])
    keys = keys[np.append(True, keys[1:] != keys[:-1])[: len(keys)]]
    return np.searchsorted(keys, np.arange(n + 1) * n), keys % n, keys


def entries_of(offsets, vertices):
    """For each entry of the rows of some vertices, which of these it is of, and the entry."""
    lengths = offsets[vertices + 1] - offsets[vertices]
    which = np.repeat(np.arange(len(vertices)), lengths)
    return which, np.arange(len(which)) + np.repeat(offsets[vertices] - np.cumsum(lengths) + lengths, lengths)
