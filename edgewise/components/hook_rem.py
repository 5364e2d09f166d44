"""One round of plain hooks, then Rem: for sparse edge lists whose ids are local.

Hellås (2018, section 6.3.1) found that one round of Hook-non-atomic before Rem helps on street networks and
on no other graphs.  The cause is the order of the ids: where neighbours have close numbers, few edges
compete for the same vertex, so plain writes and one compression build nearly the whole forest, and Rem
finds its edges joined already.  The same street networks with random ids become slower.

The graph must be sparse as well.  Hooks read every edge, and with many edges per vertex this second pass
costs more than it saves.  Hooking a sample of the edges leaves Rem as much to do as before.
"""

from edgewise.components.rem import rem


def hook_rem(vertices, sources, targets):
    """Label the components of an edge list."""
    return rem(vertices, sources, targets, iterations=1)
