"""Partitions of meshes with the arguments and values of pymetis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from edgewise.errors import GraphError, OptionError, argument
from edgewise.files import mesh_graphs
from edgewise.front import named
from edgewise.method import check_whole
from edgewise.partitions.compatible import shares_of
from edgewise.partitions.metis_options import requested

#: METIS' names of the graphs of a mesh, by their numbers and as they are written.
GTYPES = {0: "dual", 1: "nodal", "dual": "dual", "nodal": "nodal"}


class MeshPartition(NamedTuple):
    """What :func:`part_mesh` returns, as in pymetis.

    Attributes
    ----------
    edge_cuts : int
        Number of the edges of the graph between parts.
    element_part : list of int
        The part of each element.
    vertex_part : list of int
        The part of each node.
    """

    edge_cuts: int
    element_part: list[int]
    vertex_part: list[int]


@named
def part_mesh(
    n_parts: int,
    connectivity: Sequence[Sequence[int]],
    options: Any = None,
    tpwgts: Sequence[float] | None = None,
    gtype: Any = None,
    ncommon: int = 1,
) -> MeshPartition:
    """Partition a mesh with the arguments of ``pymetis.part_mesh``.

    Parameters
    ----------
    n_parts : int
    connectivity : sequence of sequences of int
        The nodes of each element, counted from 0; a matrix if all have the same number of them.
    options : object or mapping, optional
        Options of METIS, as in :func:`part_graph`.
    tpwgts : sequence of float, optional
        Shares of the parts.
    gtype : optional
        The graph that is divided: ``"nodal"``, the default, ``"dual"``, or one of ``pymetis.GType``.
    ncommon : int
        Elements with at least so many nodes in common, or with all nodes but one of the smaller of them, are
        neighbours in the dual graph.

    Returns
    -------
    MeshPartition
        ``edge_cuts``, ``element_part`` and ``vertex_part``, also as the items of a tuple. In the graph that
        is not divided each element (or node) has the part of most of its nodes (or elements), and of several
        such parts the first. A node without elements has the part 0, if the dual graph is divided.

    Raises
    ------
    GraphError
        There are no elements, or an element without nodes, or a node is no whole number of 0 or more.
    OptionError
        Fewer than one part, an option of METIS that is not honoured, an unknown ``gtype``, a wrong
        ``ncommon``, or shares that are not one positive number for each part.

    Examples
    --------
    >>> import edgewise as ew
    >>> found = ew.part_mesh(2, [[0, 1, 2], [0, 2, 3]], gtype="dual", ncommon=2)
    >>> found.edge_cuts, sorted(found.element_part)
    (1, [0, 1])
    """
    from edgewise.partitions import partition

    kind, asked = _gtype(gtype), requested(options)
    check_whole("n_parts", n_parts, 1)
    shares = shares_of(tpwgts, n_parts)
    mesh_graphs.check_ncommon(ncommon)
    offsets, nodes = _rows(connectivity)
    n_nodes = int(nodes.max()) + 1
    if kind == "dual":
        graph = mesh_graphs.dual_by_nodes(offsets, nodes, n_nodes, ncommon)
    else:
        graph = mesh_graphs.nodal(offsets, nodes, n_nodes)
    found = partition(
        graph,
        n_parts,
        target_weights=shares,
        **asked.arguments(None, False),
    )
    parts = found.parts.astype(np.int64)
    elements = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    if kind == "dual":
        both = parts, _most(nodes, parts[elements], n_nodes, n_parts)
    else:
        both = _most(elements, parts[nodes], len(offsets) - 1, n_parts), parts
    return MeshPartition(found.edge_cut, both[0].tolist(), both[1].tolist())


def _gtype(given):
    """The graph that is divided."""
    if given is None:
        return "nodal"
    name = getattr(given, "name", given)
    name = name.lower() if isinstance(name, str) else name
    if not isinstance(name, str | int) or isinstance(name, bool) or name not in GTYPES:
        raise OptionError(f"{argument('gtype', given)} is unknown; use 'nodal' or 'dual'")
    return GTYPES[name]


def _rows(connectivity):
    """Offsets and nodes of the elements."""
    try:
        table = np.asarray(connectivity)
    except ValueError:  # elements of several lengths
        table = np.empty(0)
    if table.ndim == 2 and table.dtype.kind in "iu" and table.size:
        offsets, nodes = np.arange(0, table.size + 1, table.shape[1]), table.ravel().astype(np.int64)
    else:
        rows = [np.asarray(row) for row in connectivity]
        if not rows:
            raise GraphError("a mesh without elements; give the nodes of each")
        for number, row in enumerate(rows):
            if row.ndim != 1 or not len(row) or row.dtype.kind not in "iu":
                raise GraphError(f"element {number} is no sequence of numbers of nodes")
        offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        nodes = np.concatenate(rows).astype(np.int64)
    if nodes.min() < 0 or nodes.max() > np.iinfo(np.int32).max:
        mesh_graphs.check_nodes(offsets, nodes, np.iinfo(np.int32).max + 1)
    return offsets, nodes


def _most(owners, parts, n, n_parts):
    """The part that each owner has most often, the first of several; 0 for those without any."""
    key, counts = np.unique(owners * n_parts + parts, return_counts=True)
    order = np.lexsort((-(key % n_parts), counts, key // n_parts))
    found = np.zeros(n, np.int64)
    found[key[order] // n_parts] = key[order] % n_parts  # the last of each owner counts
    return found
