"""A new vertex takes the place of its cavity: the body of a transaction.

The *cavity* of a vertex consists of the triangles whose circumcircles have the vertex inside.  In a
Delaunay triangulation they form a polygon without a vertex inside, so their adjacency is a tree.
:func:`walk` goes around the polygon as around a tree: over an edge to a triangle of the cavity, along the
edges of that one, and back.  It needs no stack and no marks, finds the edges of the polygon in order, and
visits each triangle of the cavity from its three sides.  Areas tell whether it has: three times the area of
the polygon is the sum of the areas of the visits.  Each edge of the polygon must also have the new vertex
on its left.  A walk that has read words of several moments, or that the grid is too coarse for, fails one
of these checks.

:func:`rewrite` then makes one triangle for each edge of the polygon, in the words of the cavity and in two
more.

A. Bowyer, "Computing Dirichlet tessellations", and D. F. Watson, "Computing the n-dimensional Delaunay
tessellation" (1981), for cavities.  A vertex that would encroach on a boundary edge splits that edge
instead.
"""

from typing import Any, NamedTuple

import numpy as np

from edgewise.device import device
from edgewise.refinement.corners import NO_TWIN, after, before, twin_of, vertex_of, word_of
from edgewise.refinement.predicates import dot, is_in_circle, orientation
from edgewise.refinement.quality import FORCED, SKINNY, fault_of, put_centre, put_on_edge
from edgewise.transactions.transaction import is_active, read, write

#: Outcomes of a transaction: it has inserted a vertex, there was nothing to do, the grid is too coarse for a
#: vertex, or the room for its cavity is too small.
INSERTED, NOTHING, TOO_FINE, TOO_LARGE = 1, 2, 3, 4
#: States of triangles: nothing is to be done, it is new, it waits for a transaction, it is left because of a
#: small angle of the input, or because the grid is too coarse.
DONE, NEW, WAITING, LEFT_BY_INPUT, LEFT_BY_GRID = 0, 1, 2, 3, 4
#: How often the vertex of a transaction may move to a boundary edge.
MOVES = 4


class Room(NamedTuple):
    """Where transactions keep their cavities; every slot has its own part.

    Attributes
    ----------
    edges : (slots * size,) int64 array
        The edges of the polygon: the first vertex and the twin of each, as in a word.
    triangles : (slots * size,) int64 array
        The triangles of the cavity.
    size : int
    first, stride : int
        Entry ``k`` of slot ``s`` is at ``s * first + k * stride``.
    """

    edges: Any
    triangles: Any
    size: int
    first: int
    stride: int


class Places(NamedTuple):
    """What a transaction may use beside its cavity.

    Attributes
    ----------
    vertex : int
    triangle, other_triangle : int
    """

    vertex: int
    triangle: int
    other_triangle: int


@device
def walk(tx, mesh, room, corner, vertex, splits):
    """Go around the cavity of a vertex, from a corner of a triangle in it, whose opposite edge it may split.

    Return the number of edges of the polygon, without the one that is split; 0 and the outcome, if there is
    no cavity; or ``-1 - c``, if the edge opposite corner ``c`` is on the boundary and is to be split instead.
    """
    points, at, count, n_triangles, excess = mesh.points, corner, np.int64(0), np.int64(0), np.int64(0)
    word, ahead, behind = read(tx, at), read(tx, after(at)), read(tx, before(at))
    for _ in range(4 * room.size):
        start, end, twin = vertex_of(ahead), vertex_of(behind), twin_of(word)
        excess -= orientation(points, vertex_of(word), start, end)
        if at % 3 == 0:
            if n_triangles == room.size:
                return np.int64(0), TOO_LARGE
            room.triangles[tx.slot * room.first + n_triangles * room.stride] = at // 3
            n_triangles += 1
        across = read(tx, twin) if twin != NO_TWIN else word
        if twin != NO_TWIN and is_in_circle(points, end, start, vertex_of(across), vertex):
            at = after(twin)
            word, ahead, behind = read(tx, at), read(tx, after(at)), across
        else:
            side = orientation(points, start, end, vertex)
            excess += 3 * side
            if not splits or at != corner:
                if twin == NO_TWIN and (side <= 0 or (not splits and dot(points, vertex, start, end) < 0)):
                    return -1 - at, TOO_FINE
                if side <= 0:
                    return np.int64(0), TOO_FINE
                if count == room.size:
                    return np.int64(0), TOO_LARGE
                room.edges[tx.slot * room.first + count * room.stride] = word_of(start, twin)
                count += 1
            at = after(at)
            word, ahead, behind = ahead, behind, word
        if at == corner:
            is_cavity = excess == 0 and count == n_triangles + (1 if splits else 2)
            return count if is_cavity else np.int64(0), TOO_FINE
    return np.int64(0), TOO_LARGE


@device
def rewrite(tx, mesh, room, count, places, last):
    """Join each edge of the polygon to the vertex; the edges end at ``last``, or are closed if it is -1."""
    n_triangles = count - (2 if last < 0 else 1)
    first, stride = tx.slot * room.first, room.stride
    previous, triangle = np.int64(NO_TWIN), triangle_at(tx, room, 0, n_triangles, places)
    if last < 0:
        previous = triangle_at(tx, room, count - 1, n_triangles, places)
    for edge in range(count):
        word, following = room.edges[first + edge * stride], np.int64(NO_TWIN)
        end, twin = last, twin_of(word)
        if edge + 1 < count or last < 0:
            other = edge + 1 if edge + 1 < count else 0
            following = triangle_at(tx, room, other, n_triangles, places)
            end = vertex_of(room.edges[first + other * stride])
        write(tx, 3 * triangle, word_of(places.vertex, twin))
        twin_ahead = 3 * following + 2 if following != NO_TWIN else np.int64(NO_TWIN)
        write(tx, 3 * triangle + 1, word_of(vertex_of(word), twin_ahead))
        twin_behind = 3 * previous + 1 if previous != NO_TWIN else np.int64(NO_TWIN)
        write(tx, 3 * triangle + 2, word_of(end, twin_behind))
        if twin != NO_TWIN:
            write(tx, twin, word_of(vertex_of(read(tx, twin)), 3 * triangle))
        mesh.states[triangle] = NEW
        previous, triangle = triangle, following


@device
def triangle_at(tx, room, edge, n_triangles, places):
    """The triangle that takes an edge of the polygon: one of the cavity, or one of two more."""
    if edge < n_triangles:
        return room.triangles[tx.slot * room.first + edge * room.stride]
    return places.triangle if edge == n_triangles else places.other_triangle


@device
def improve(tx, mesh, bound, room, triangle, places):
    """Insert a vertex because of a triangle, if anything is wrong with it; return the outcome."""
    corner, vertex = 3 * triangle, places.vertex
    one, two, three = read(tx, corner), read(tx, corner + 1), read(tx, corner + 2)
    fault = fault_of(mesh, bound, one, two, three)
    if fault >= FORCED:
        return NOTHING
    splits, corners = fault != SKINNY, (vertex_of(one), vertex_of(two), vertex_of(three))
    if splits:
        corner += fault
        put_on_edge(mesh, vertex_of(read(tx, after(corner))), vertex_of(read(tx, before(corner))), vertex)
    else:
        put_centre(mesh, bound, corners, vertex)
        if not is_in_circle(mesh.points, corners[0], corners[1], corners[2], vertex):
            return TOO_FINE
    count, reason = walk(tx, mesh, room, corner, vertex, splits)
    for _ in range(MOVES):
        if count < 0:
            splits, corner = True, -1 - count
            put_on_edge(mesh, vertex_of(read(tx, after(corner))), vertex_of(read(tx, before(corner))), vertex)
            count, reason = walk(tx, mesh, room, corner, vertex, splits)
    if count <= 0 or not is_active(tx):
        return reason
    rewrite(tx, mesh, room, count, places, vertex_of(read(tx, after(corner))) if splits else np.int64(-1))
    return INSERTED
