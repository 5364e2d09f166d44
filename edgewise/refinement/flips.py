"""Any triangulation becomes a Delaunay triangulation by flips of edges, each of which is a transaction.

An edge between two triangles is *illegal* if the circumcircle of one has the third vertex of the other
inside. It is replaced by the other diagonal of the two triangles.  In any order, no edge is illegal in the
end.

C. L. Lawson, "Software for C1 surface interpolation" (1977).
"""

from edgewise.device import device, each
from edgewise.refinement.cavity import DONE, NEW, WAITING
from edgewise.refinement.corners import NO_TWIN, after, before, twin_of, vertex_of, word_of
from edgewise.refinement.predicates import is_in_circle, orientation
from edgewise.transactions.transaction import is_active, read, write


@device
def is_illegal(points, word, ahead, behind, across):
    """Whether the edge opposite a corner is illegal, given the words of its triangle and of its twin."""
    a, b, c, d = vertex_of(word), vertex_of(ahead), vertex_of(behind), vertex_of(across)
    if orientation(points, a, b, d) <= 0 or orientation(points, a, d, c) <= 0:
        return False
    return is_in_circle(points, a, b, c, d)


@each
def find_illegal(triangle, words, mesh, bound):
    """Let a new triangle with an illegal edge wait for a transaction."""
    if mesh.states[triangle] != NEW:
        return
    mesh.states[triangle] = DONE
    corner = 3 * triangle
    for _ in range(3):
        word = words[corner]
        if twin_of(word) != NO_TWIN:
            around = words[after(corner)], words[before(corner)], words[twin_of(word)]
            if is_illegal(mesh.points, word, around[0], around[1], around[2]):
                mesh.states[triangle] = WAITING
        corner = after(corner)


def flip(tx, number, mesh, bound, work):
    """Transaction: flip the illegal edges of a triangle."""
    corner = 3 * work.triangles[number]
    work.outcomes[number] = DONE
    for _ in range(3):
        twin = twin_of(read(tx, corner))
        if twin != NO_TWIN:
            words = read(tx, corner), read(tx, after(corner)), read(tx, before(corner)), read(tx, twin)
            if is_active(tx) and is_illegal(mesh.points, words[0], words[1], words[2], words[3]):
                exchange(tx, mesh, corner, twin)
        corner = after(corner)


@device
def exchange(tx, mesh, corner, twin):
    """Replace the edge between a corner and its twin by one from the corner's vertex to the twin's."""
    one, other = corner // 3, twin // 3
    a, d = vertex_of(read(tx, corner)), vertex_of(read(tx, twin))
    ahead, behind = read(tx, after(corner)), read(tx, before(corner))
    other_ahead, other_behind = read(tx, after(twin)), read(tx, before(twin))
    set_corner(tx, 3 * one, a, twin_of(other_ahead))
    set_corner(tx, 3 * one + 1, vertex_of(ahead), 3 * other + 2)
    set_corner(tx, 3 * one + 2, d, twin_of(behind))
    set_corner(tx, 3 * other, a, twin_of(other_behind))
    set_corner(tx, 3 * other + 1, d, twin_of(ahead))
    set_corner(tx, 3 * other + 2, vertex_of(behind), 3 * one + 1)
    mesh.states[one] = NEW
    mesh.states[other] = NEW


@device
def set_corner(tx, corner, vertex, twin):
    """Write a corner, and let its twin point back."""
    write(tx, corner, word_of(vertex, twin))
    if twin != NO_TWIN:
        write(tx, twin, word_of(vertex_of(read(tx, twin)), corner))
