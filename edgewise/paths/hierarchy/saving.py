"""Hierarchies in files, of graphs that have been prepared for routes.

A file is an archive of NumPy (``.npz``), uncompressed and without pickles, whose members have checksums.  It
holds ``edgewise_routes``, the version of this layout; ``graph``, a digest of the rows and weights of the
graph that it belongs to; ``ranks`` and ``levels``; and the offsets, neighbours, weights and middles of the
outgoing entries, and of the incoming ones of a directed graph.
"""

from hashlib import blake2b
from typing import Any
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np

from edgewise.errors import EdgewiseError, FileError, GraphError
from edgewise.files.atomic_write import atomic_write
from edgewise.files.streams import check_memory, reading
from edgewise.paths.csr import CSR
from edgewise.paths.hierarchy import Hierarchy, Upward, kept

#: Version of the layout.
VERSION = 1
#: What reading a damaged file, or one of another kind, raises.
DAMAGE = (BadZipFile, ZlibError, RuntimeError, EOFError, LookupError, TypeError, AttributeError, ValueError)
#: Names of the arrays of one direction, behind ``out_`` and ``into_``.
COLUMNS = ("offsets", "neighbours", "weights", "middles")


def save(graph, path) -> None:
    """Write the hierarchy of a graph to a file, whole or not at all."""
    hierarchy = kept(graph)
    if hierarchy is None:
        raise GraphError("the graph is not prepared for routes; call prepare('routes') first")
    directions = {"out": hierarchy.outgoing}
    if hierarchy.incoming is not hierarchy.outgoing:
        directions["into"] = hierarchy.incoming
    held: dict[str, Any] = {"edgewise_routes": np.int64(VERSION), "graph": digest_of(graph)}
    held |= {"ranks": hierarchy.ranks, "levels": hierarchy.levels}
    for direction, upward in directions.items():
        for name, column in zip(COLUMNS, (*upward.rows, upward.middles), strict=True):
            held[f"{direction}_{name}"] = column
    with atomic_write(path) as part, open(part, "wb") as file:
        np.savez(file, **held)


def load(graph, path) -> None:
    """Read the hierarchy of a graph from a file, and keep it as if the graph were prepared."""
    hierarchy = _read(graph, path)
    graph._cache["routes"] = hierarchy
    if "routes" not in graph.prepared:
        graph.prepared += ("routes",)


def digest_of(graph) -> np.ndarray:
    """Digest of what a hierarchy depends on: (16,) uint8."""
    graph, found = graph.to("cpu"), blake2b(digest_size=16)
    for column in (graph.offsets, graph.neighbours, graph.csr_weights):
        kind = "none" if column is None else f"{column.dtype.str} {len(column)}"
        found.update(f"{graph.directed} {kind};".encode())
        if column is not None:
            found.update(np.ascontiguousarray(column).view(np.uint8).data)
    return np.frombuffer(found.digest(), np.uint8)


def _read(graph, path):
    """The hierarchy in a file, if it is that of the graph."""
    with reading(path):
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                return _of_archive(graph, path, archive)
        except EdgewiseError:
            raise
        except DAMAGE as error:
            raise FileError(path, "is damaged, or no prepared graph; prepare and save it again") from error


def _of_archive(graph, path, archive):
    if archive["edgewise_routes"].tolist() != VERSION:
        raise FileError(path, "was written by another version of edgewise; prepare and save it again")
    if not np.array_equal(archive["graph"], digest_of(graph)):
        raise FileError(path, "was saved for another graph or other weights; prepare this one")
    check_memory(sum(member.file_size for member in archive.zip.infolist()), "the hierarchy needs")
    ranks, levels = archive["ranks"], archive["levels"]
    outgoing = _upward(archive, "out")
    incoming = _upward(archive, "into") if graph.directed else outgoing
    vertices = np.empty_like(ranks)
    vertices[ranks] = np.arange(len(ranks), dtype=ranks.dtype)
    hierarchy = Hierarchy(ranks, vertices, outgoing, incoming, levels)
    if not _is_sound(hierarchy, graph.n_vertices):
        raise FileError(path, "holds no sound hierarchy; prepare and save it again")
    return hierarchy


def _upward(archive, direction):
    offsets, neighbours, weights, middles = (archive[f"{direction}_{name}"] for name in COLUMNS)
    return Upward(CSR(offsets, neighbours, weights), middles)


def _is_sound(hierarchy: Hierarchy, n: int) -> bool:
    """Whether searches stay inside the arrays."""
    ranks, vertices, outgoing, incoming, levels = hierarchy
    kinds = [ranks.dtype.kind == "u" or ranks.dtype == np.int64, levels.dtype == np.int64]
    if not all(kinds) or len(ranks) != n or levels[0] != 0 or levels[-1] != n or np.any(np.diff(levels) < 1):
        return False
    if not np.array_equal(vertices[ranks], np.arange(n)):
        return False
    return all(_is_upward(upward, ranks) for upward in (outgoing, incoming))


def _is_upward(upward: Upward, ranks: Any) -> bool:
    """Whether entries lead to higher ranks, in ascending order, and middles are lower."""
    (offsets, neighbours, weights), middles = upward
    n, n_entries = len(ranks), len(neighbours)
    if offsets.dtype != np.int64 or len(offsets) != n + 1 or offsets[0] != 0 or offsets[-1] != n_entries:
        return False
    if np.any(np.diff(offsets) < 0) or not len(weights) == len(middles) == n_entries:
        return False
    if {neighbours.dtype, middles.dtype} != {ranks.dtype} or np.any(weights < 0):
        return False
    owners = np.repeat(np.arange(n), np.diff(offsets))
    edges = middles == np.iinfo(middles.dtype).max
    rising = (np.diff(neighbours.astype(np.int64)) > 0) | (np.diff(owners) > 0)
    return bool(
        np.all((neighbours > owners) & (neighbours < n))
        and np.all(edges | (middles < owners))
        and np.all(rising)
    )
