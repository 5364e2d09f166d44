"""Three-dimensional stencils with several unknowns at each node, like the matrices of finite elements.

27 points and one unknown give the degrees of nlpkkt240 (26), three unknowns those of Queen_4147 (80).
"""

from edgewise.device import each
from edgewise.errors import OptionError
from edgewise.generators.emit import emit, emitted
from edgewise.generators.limits import family, vertices, whole
from edgewise.graph import Graph
from edgewise.index_type import MAX_UINT32

#: Points of a stencil, and how many coordinates may differ (by one) from the centre's.
REACH = {7: 1, 19: 2, 27: 3}


@each
def _couple(vertex, nx, ny, nz, unknowns, reach, slots, sources, targets):
    """Join an unknown to the later unknowns of its node and to all of the later nodes about it."""
    slot, node = slots[vertex], vertex // unknowns
    x, y, z = node % nx, node // nx % ny, node // (nx * ny)
    for later in range(vertex + 1, (node + 1) * unknowns):
        slot = emit(slot, vertex, later, sources, targets)
    for step in range(14, 27):  # the points after the centre, 13, of a 3 x 3 x 3 cube
        dx, dy, dz = step % 3 - 1, step // 3 % 3 - 1, step // 9 - 1
        inside = 0 <= x + dx < nx and 0 <= y + dy < ny and z + dz < nz
        if inside and abs(dx) + abs(dy) + abs(dz) <= reach:
            first = (node + (dz * ny + dy) * nx + dx) * unknowns
            for other in range(first, first + unknowns):
                slot = emit(slot, vertex, other, sources, targets)
    slots[vertex] = slot


@family
def stencil3d(
    nx: int,
    ny: int | None = None,
    nz: int | None = None,
    *,
    unknowns: int = 1,
    points: int = 27,
    seed: int = 0,
    device: str = "cpu",
) -> Graph:
    """Make the graph of a stencil on a box of ``nx * ny * nz`` nodes.

    Parameters
    ----------
    nx, ny, nz : int
        Nodes along each axis; ``ny`` and ``nz`` are ``nx`` by default.
    unknowns : int
        Vertices at each node, all joined to each other and to those of neighbouring nodes.
    points : {7, 19, 27}
        Nodes of the stencil, its centre among them.
    seed : int
        Has no effect: nothing is random.
    device : str

    Returns
    -------
    Graph
        Edges in ascending order, each from the smaller vertex to the larger.

    Raises
    ------
    OptionError
        A number out of range, an unknown stencil, or too many vertices.

    Examples
    --------
    >>> import edgewise as ew
    >>> int(ew.generate.stencil3d(5, unknowns=3).degrees().max())
    80
    """
    nx = whole("nx", nx, most=MAX_UINT32)
    ny = nx if ny is None else whole("ny", ny, most=MAX_UINT32)
    nz = nx if nz is None else whole("nz", nz, most=MAX_UINT32)
    unknowns = whole("unknowns", unknowns, least=1, most=MAX_UINT32)
    if points not in REACH:
        raise OptionError(f"points={points!r} is no stencil; use 7, 19 or 27")
    n = vertices("nx * ny * nz * unknowns", nx * ny * nz * unknowns)
    edges = emitted(_couple, n, device, nx, ny, nz, unknowns, REACH[points])
    return Graph.from_edges(*edges, n_vertices=n)
