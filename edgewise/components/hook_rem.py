"""One round of plain hooks, then Rem: for sparse edge lists whose ids are local.

Hellås (2018, section 6.3.1) found that one round of Hook-non-atomic before Rem helps on street networks and
on nothing else.  What decides is the order of the ids: where neighbours have close numbers, few edges
compete for the same vertex, so plain writes and one compression build nearly the whole forest, and Rem
finds its edges joined already.  The same streets numbered at random lose by it.

It has to be a sparse graph as well.  Hooks look at every edge, and with many edges a vertex that second
reading costs more than it saves; looking at some of the edges only leaves Rem as much to do as before.
"""

from edgewise.components.rem import rem


def hook_rem(vertices, sources, targets):
    """Label the components of an edge list.

    Parameters
    ----------
    vertices : int
    sources, targets : (m,) index arrays in one place

    Returns
    -------
    (vertices,) index array
        Smallest vertex of each vertex's component.
    """
    return rem(vertices, sources, targets, iterations=1)
