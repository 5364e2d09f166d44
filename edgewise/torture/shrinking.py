"""A case that shows a difference becomes the smallest that still does, by leaving out what is not needed."""

from time import monotonic


def smaller(case):
    """Cases that are a little simpler: fewer edges, fewer vertices, plainer weights."""
    m = len(case.pairs)
    for size in (m // 2, m // 4, 1):
        for first in range(0, m if size else 0, size or 1):
            yield case.of_edges([at for at in range(m) if not first <= at < first + size])
    for vertex in range(case.n):
        yield case.of_vertices([one for one in range(case.n) if one != vertex])
    if case.start:
        yield case._replace(start=0)
    plain = [1.0] * m
    if case.weights != plain:
        yield case._replace(weights=plain)
    for at, weight in enumerate(case.weights):
        if weight != 1.0:
            yield case._replace(weights=[*case.weights[:at], 1.0, *case.weights[at + 1 :]])
    if case.directed:
        yield case._replace(pairs=[(min(pair), max(pair)) for pair in case.pairs])
    else:
        yield case._replace(pairs=sorted(map(tuple, map(sorted, case.pairs))))


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
