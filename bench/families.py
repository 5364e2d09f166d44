"""The graphs of all benchmarks: families by size, orders of their ids, and files of them.

A graph has weights from 1 to 255.  On the CPU it is made once and kept in a folder: arrays, which every state
of the package reads, and the files of GAP's programs.
"""

import math
from pathlib import Path

import numpy as np

import edgewise as ew

#: Largest weight.
HEAVIEST = 255
#: Edges between two copies of a road network.
JOINTS = 8


#: Families by name: a graph of about ``2**k`` vertices on a device.
FAMILIES = {
    "rmat": lambda k, device: ew.generate.rmat(k, edge_factor=16, simple=True, shuffle=False, device=device),
    "uniform": lambda k, device: ew.generate.uniform(2**k, 2 ** (k + 3), device=device),
    "scale_free": lambda k, device: ew.generate.scale_free(2**k, device=device),
    "rgg": lambda k, device: ew.generate.rgg(2**k, mean_degree=14, device=device),
    "delaunay": lambda k, device: ew.generate.delaunay(2**k, device=device),
    "mesh2d": lambda k, device: ew.generate.mesh2d(math.isqrt(2**k), device=device),
    "grid": lambda k, device: ew.generate.grid(math.isqrt(2**k), dropped=0.25, device=device),
    "stencil3d": lambda k, device: ew.generate.stencil3d(round(2 ** (k / 3)), device=device),
    "paths": lambda k, device: ew.generate.paths(2**k, device=device),
    "components": lambda k, device: ew.generate.components(2**k, mean_size=3, device=device),
}
ORDERS = ("natural", "permuted")


def graph(name, device="cpu"):
    """A graph of :data:`edgewise.generate.NAMED`, or of a family and size, such as ``grid-10``."""
    family, _, k = name.partition("-")
    if k.isdigit() and family in FAMILIES:
        return FAMILIES[family](int(k), device)
    return ew.generate.named(name, device=device)


def generate(family, k, order, device="cpu"):
    """A graph of a family, or one that :func:`graph` knows, with weights."""
    made = FAMILIES[family](k, device) if family in FAMILIES else graph(family, device)
    return weighted(permuted(made) if order == "permuted" else made)


def weighted(graph):
    """The graph with weights."""
    return ew.generate.with_weights(graph, 1, HEAVIEST)


def permuted(graph):
    """The graph with its vertices renumbered at random."""
    order = np.random.default_rng(1).permutation(graph.n_vertices).astype(graph.sources.dtype)
    if not isinstance(graph.sources, np.ndarray):
        import cupy

        order = cupy.asarray(order)
    return ew.Graph.from_edges(order[graph.sources], order[graph.targets], n_vertices=graph.n_vertices)


def joined(graph, copies):
    """Copies of a graph in a row, each joined to the next by a few edges between its random vertices."""
    n, rng = graph.n_vertices, np.random.default_rng(1)
    whole = ew.generate.replicate(graph, copies)
    at = rng.integers(0, n, (2, (copies - 1) * JOINTS)) + np.repeat(np.arange(copies - 1), JOINTS) * n
    ends = (np.append(old, new) for old, new in zip((whole.sources, whole.targets), (at[0], at[1] + n)))
    return weighted(ew.Graph.from_edges(*ends, n_vertices=whole.n_vertices))


def sources_of(graph):
    """Two sources: the vertex of highest degree, and one elsewhere in the largest component."""
    hub = int((graph.offsets[1:] - graph.offsets[:-1]).argmax())
    labels = ew.connected_components(graph).labels
    labels = labels if isinstance(labels, np.ndarray) else labels.get()
    members = np.flatnonzero(labels == np.bincount(labels).argmax())
    members = members[members != hub]
    return {"hub": hub, "elsewhere": int(np.random.default_rng(1).choice(members))}


def kept(folder, name, make):
    """Folder of the arrays of a graph, which ``make()`` makes if it is not there."""
    place = Path(folder) / name
    if not (place / "done").exists():
        place.mkdir(parents=True, exist_ok=True)
        graph = make()
        arrays = {
            "sources": graph.sources,
            "targets": graph.targets,
            "offsets": graph.offsets,
            "neighbours": graph.neighbours,
            "weights": graph.csr_weights,
            "at": np.array(list(sources_of(graph).values())),
        }
        for key, array in arrays.items():
            np.save(place / f"{key}.npy", array)
        (place / "done").touch()
    return place


def file_of(place, suffix):
    """The file of GAP's programs that holds the graph of a folder: ``.sg``, or ``.wsg`` with weights."""
    file = place / f"graph{suffix}"
    if not file.exists():
        offsets, neighbours = (np.load(place / f"{key}.npy") for key in ("offsets", "neighbours"))
        weights = np.load(place / "weights.npy") if suffix == ".wsg" else None
        draft = place / f"draft{suffix}"
        ew.write(ew.Graph(len(offsets) - 1, rows=(offsets, neighbours, weights)), draft)
        draft.rename(file)
    return file


def text_of(place, weighted):
    """The text file of PASGAL and GBBS that holds the graph of a folder, with its weights if so."""
    names = ["offsets", "neighbours"] + ["weights"] * weighted
    file = place / f"{'-'.join(names)}.adj"
    if not file.exists():
        offsets, neighbours, *weights = (np.load(place / f"{name}.npy") for name in names)
        counts = len(offsets) - 1, len(neighbours)
        draft = file.with_suffix(".draft")
        with draft.open("w") as out:
            out.write("Weighted" * weighted + "AdjacencyGraph\n{}\n{}\n".format(*counts))
            for array in (offsets[:-1], neighbours, *weights):
                out.write("\n".join(map(str, array.tolist())) + "\n")
        draft.rename(file)
    return file
