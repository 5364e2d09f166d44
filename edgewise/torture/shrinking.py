"""A case that shows a difference becomes the smallest that still does, by leaving out what is not needed."""

from time import monotonic


def smaller(case):
    """Cases that are a little simpler: fewer vertices, fewer edges, plainer weights."""
    n, m = case.n, len(case.pairs)
    for keep in _without_some(n):
        yield case.of_vertices(keep)
    for keep in _without_some(m):
        yield case.of_edges(keep)
    if case.start:
        yield case._replace(start=0)
    if case.directed:
        yield case._replace(pairs=[(min(pair), max(pair)) for pair in case.pairs])
    else:
        yield case._replace(pairs=sorted(tuple(sorted(pair)) for pair in case.pairs))
    yield case._replace(weights=[1.0] * m)
    for at, weight in enumerate(case.weights):
        if weight != 1.0:
            yield case._replace(weights=[*case.weights[:at], 1.0, *case.weights[at + 1 :]])


def _without_some(count):
    """Positions without a half, a quarter, or one of them."""
    for size in sorted({max(count // 2, 1), max(count // 4, 1), 1}, reverse=True):
        for first in range(0, count, size):
            yield [at for at in range(count) if not first <= at < first + size]


def cost(case):
    """What shrinking makes smaller."""
    plainness = sum(weight != 1.0 for weight in case.weights)
    return case.n, len(case.pairs), plainness, case.start, case.pairs


def shrunk(case, still_shows, seconds=5.0):
    """The smallest case found in some seconds for which ``still_shows(case)`` holds."""
    ends = monotonic() + seconds
    while monotonic() < ends:
        for one in smaller(case):
            if cost(one) < cost(case) and still_shows(one):
                case = one
                break
            if monotonic() >= ends:
                break
        else:
            break
    return case
