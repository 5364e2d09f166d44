"""The result of partitioning: the part of each vertex, the cut, the balance, and files of parts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.cached_property import cached_property
from edgewise.device import arrays
from edgewise.errors import FileError, OptionError, argument
from edgewise.graph import Graph
from edgewise.index_type import as_labels
from edgewise.ingest.representation import take_origin
from edgewise.partitions.input import count_above, vertex_weights_of
from edgewise.partitions.levels import imbalance_of
from edgewise.result import Result, cached_array, counted

if TYPE_CHECKING:
    from pathlib import Path

    from edgewise.partitions.check import Measures
    from edgewise.partitions.transactional import Transactions

#: Names of files with one part a line.
PLAIN = re.compile(r"\.part(\.\d+)?$")


@dataclass(frozen=True, eq=False, repr=False)
class Partition(Result):
    """A partition of the vertices of a graph into parts of nearly equal weight.

    Attributes
    ----------
    graph, method, seconds, devices
        As in :class:`~edgewise.result.Result`.
    edge_cut : int or float
        Sum of the weights of the edges between parts.
    weights : (k,) int64 array
        Weight of each part, on the host.
    limits : (k,) int64 array
        Largest weight that each part may have for the imbalance that was asked for, on the host.
    preset : str
    seed : int
    transactions : Transactions or None
        Commits, aborts and abort rates of the method that uses transactions.
    """

    _parts: Any
    edge_cut: Any
    weights: np.ndarray
    limits: np.ndarray
    preset: str = "default"
    seed: int = 0
    _vertex_weights: Any = None
    transactions: Transactions | None = None

    def _uses_weights(self):
        return True

    @property
    def parts(self) -> np.ndarray:
        """Part of each vertex, from 0 on: (n_vertices,) int32 or int64 array on the device of the graph."""
        return as_labels(self._parts)

    @property
    def k(self) -> int:
        """Number of parts."""
        return len(self.weights)

    @property
    def imbalance(self) -> float:
        """Largest weight of a part over that of an even share, less 1.

        The share is rounded up, except where there is less than 1 for each part, as with more parts than
        vertices: parts that are empty for that reason count.
        """
        return imbalance_of(self.weights)

    @property
    def is_balanced(self) -> bool:
        """Whether no part is above its limit, and none is empty for want of vertices.

        It is false exactly where there has been an :class:`~edgewise.errors.ImbalanceWarning`.
        """
        return self.k <= self.graph.n_vertices and bool((self.weights <= self.limits).all())

    @cached_property
    def heavy_vertices(self):
        """Vertices that are heavier than any part may be: (h,) int64 array on the host.

        Each is alone in a part, as long as there are parts, and no partition is balanced.
        """
        sizes, limit = vertex_weights_of(self.graph, self._vertex_weights), self.limits.max()
        return np.flatnonzero(sizes > limit) if count_above(sizes, limit) else np.empty(0, np.int64)

    @cached_property
    def measures(self) -> Measures:
        """Cut, communication volume, boundary and connectivity; see :func:`edgewise.evaluate_partition`."""
        from edgewise.partitions.check import evaluate_partition

        return evaluate_partition(self.graph, self._parts, k=self.k, vertex_weights=self._vertex_weights)

    @cached_array
    def order(self):
        """The vertices by part, then by number: (n_vertices,) int64 array on the host."""
        return np.argsort(arrays.move(self._parts, "cpu"), kind="stable")

    def reordered(self) -> Graph:
        """Return the graph with its vertices in the order of their parts, so that each part is a range.

        Returns
        -------
        Graph
            On the host, without records.  Its vertex ``i`` is ``order[i]`` of this graph, and has its id.

        Examples
        --------
        >>> import edgewise as ew
        >>> result = ew.partition(ew.generate.grid(2, 4), 2)
        >>> result.parts[result.order].tolist()
        [0, 0, 0, 0, 1, 1, 1, 1]
        >>> result.reordered().n_edges
        10
        """
        host, order = self.graph.to("cpu"), self.order
        place = np.empty(len(order), host.sources.dtype)
        place[order] = np.arange(len(order), dtype=place.dtype)
        ids = None if host.ids is None else host.ids_of(order)
        weights = None if host.vertex_weights is None else host.vertex_weights[order]
        edges = place[host.sources], place[host.targets], host.weights
        graph = Graph(host.n_vertices, edges=edges, ids=ids, vertex_weights=weights)
        take_origin(graph, host)
        graph.records = None
        return graph

    def report(self) -> dict[str, Any]:
        """Return what a report has: the measures, the preset, the seed and the time, by name."""
        found = {"edge_cut": self.edge_cut, "limit": int(self.limits.max()), "is_balanced": self.is_balanced}
        found["heavy_vertices"] = 0 if self.is_balanced else len(self.heavy_vertices)
        how = {"method": self.method, "preset": self.preset, "seed": self.seed, "seconds": self.seconds}
        if self.transactions is not None:
            how |= self.transactions.report()
        return self.measures.report() | found | how

    def write(self, path: str | Path) -> None:
        """Write the parts to a file, whole or not at all.

        Parameters
        ----------
        path : path-like
            ``mesh.graph.part.64`` or another name that ends in ``.part`` or ``.part.<number>``: one part a
            line, in vertex order, as gpmetis writes them.  Otherwise the table of :meth:`to_frame`, as
            Parquet, CSV or Arrow file.

        Raises
        ------
        FileError
            The suffix is unknown, or the file cannot be written.
        """
        from edgewise.files.atomic_write import atomic_write

        if not is_plain(str(path)):
            super().write(path)
            return
        with atomic_write(path) as part:
            np.savetxt(part, arrays.move(self._parts, "cpu"), fmt="%d")

    def plot(self, path: str | Path, coordinates: Any = None) -> None:
        """Draw the weights of the parts, or the vertices in the colours of their parts (needs matplotlib).

        Parameters
        ----------
        path : path-like
            Its suffix says the kind of picture: ``.png``, ``.svg``, ``.pdf``.
        coordinates : (n_vertices, 2) array-like, optional
            Where the vertices are.
        """
        from edgewise import plots

        title = self._answer()
        if coordinates is None:
            labels = plots.Labels(title, "weight of a part", "parts")
            plots.histogram(self.weights, path, labels)
            return
        points = np.asarray(coordinates, float)
        if points.shape != (self.graph.n_vertices, 2):
            given = argument("coordinates")
            raise OptionError(f"{given} have shape {points.shape}; ({self.graph.n_vertices}, 2) is needed")
        host = self.graph.to("cpu")
        ends = np.stack([host.sources, host.targets], axis=1)
        plots.coloured_points(points, ends, arrays.move(self.parts, "cpu"), path, title)

    def _answer(self):
        parts = f"{counted(self.k, 'part')}, cut {self.edge_cut:,}"
        return f"{parts}, imbalance {100 * self.imbalance:.1f} %{self.why_unbalanced()}"

    def why_unbalanced(self) -> str:
        """Return why there is no balanced partition, as the end of a sentence; empty if there may be one."""
        if self.graph.n_vertices < self.k:
            return f", {counted(self.k - self.graph.n_vertices, 'part')} empty"
        if self.is_balanced or not len(self.heavy_vertices):
            return ""
        return f", {counted(len(self.heavy_vertices), 'vertex')} heavier than a part may be"

    def _columns(self):
        return {"part": self.parts}

    def _certificate(self):
        from edgewise.partitions.certificate import certificate_of

        return certificate_of(self)

    def _verify(self, graph):
        from edgewise.partitions.check import verify

        verify(graph, self)


def is_plain(path) -> bool:
    """Whether a file of this name has one part a line."""
    return isinstance(path, str) and PLAIN.search(path) is not None


def read_parts(path, graph):
    """Read the part of each vertex of a graph: (n_vertices,) int64 array.

    They are numbers, one a line, or a table with a column of ids and the column ``part``, in any order.

    Raises
    ------
    FileError
        The file cannot be read, or a vertex has no part.
    GraphError
        An id is not in the graph.
    """
    if not _is_table(path):
        return read_numbers(path, graph.n_vertices, whole=True)
    import pyarrow as pa

    from edgewise.files.records import records_of

    records = records_of(path)
    if "part" not in records.schema.names:
        raise FileError(path, "has no column 'part'; give a table that edgewise partition has written")
    table = pa.Table.from_batches(records.batches([records.id_column, "part"]))
    parts = np.full(graph.n_vertices, -1, np.int64)
    parts[graph.vertices_of(table.column(0).combine_chunks())] = table.column(1).to_numpy()
    if (parts < 0).any():
        (missing,) = graph.ids_of(np.array([int(parts.argmin())])).tolist()
        raise FileError(path, f"has no part of 0 or more for vertex {missing!r}; every vertex needs one")
    return parts


def _is_table(path):
    """Whether a file is a table by its name, and does not begin with a number that is alone in its line."""
    from edgewise.files.destinations import suffixes_of
    from edgewise.files.formats import FORMATS

    suffixes = {end for form in FORMATS.values() if form.is_table for end in form.suffixes}
    if suffixes_of(path)[0] not in suffixes:
        return False
    try:
        with open(path, "rb") as file:
            return not file.readline().strip().isdigit()
    except OSError:  # which the reader of numbers says
        return False


def read_numbers(path, count, *, whole):
    """Read a file of ``count`` parts or shares, as gpmetis has them: (count,) int64 or float64 array.

    Raises
    ------
    FileError
        The file cannot be read, a line is no number, or there are more or fewer lines.
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
    except OSError as error:
        raise FileError(path, f"cannot be read: {error.strerror}; name another file") from error
    while lines and not lines[-1].strip():
        lines.pop()
    numbers = np.empty(len(lines), np.int64 if whole else np.float64)
    for number, line in enumerate(lines):
        try:
            numbers[number] = int(line) if whole else float(line)
        except (ValueError, OverflowError):
            wanted = "a whole number" if whole else "a number"
            raise FileError(
                path, f"{line.strip()[:40]!r} is not {wanted}; give one a line", number + 1
            ) from None
    if len(lines) != count:
        raise FileError(path, f"has {len(lines)} numbers, one a line; {count} are needed")
    return numbers
