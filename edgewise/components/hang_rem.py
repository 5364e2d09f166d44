"""Hang edges, hook edges, then Rem: for edge lists on a GPU whose ids, or whose order, are local.

Edges write their smaller end over the parent of their larger one.  As in the first round of Groute's hooks
nothing is read first, so that a GPU thread has four edges in flight.  The last write wins, and each is an
edge between smaller and larger vertices, so that the compression that follows leaves trees of connected
vertices.  A round of plain hooks (:mod:`~edgewise.components.hook`) joins most of these: where neighbours
have close numbers they are nearly the components, and Rem's algorithm, which joins every edge whose ends
have different parents, finds few.

Of a list with many edges for each vertex a part is hung and another part hooked: half of the edges of a
geometric graph hang nearly as many vertices as all of them (:mod:`~edgewise.components.edge_samples`).
"""

from edgewise.components.edge_samples import hang, hook, join_samples, unite_unequal
from edgewise.components.trees import compress

#: About how many edges for each vertex are hung, and how many are hooked.
PLAN = ((hang, 4), (hook, 2))


def hang_rem(vertices, sources, targets):
    """Two rounds of plain writes, then Rem."""
    parent = join_samples(PLAN, vertices, sources, targets)
    unite_unequal(len(sources), parent, sources, targets)
    compress(vertices, parent)
    return parent
