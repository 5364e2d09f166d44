"""Meshes: reading them by meshio, or from the files of METIS, and writing the parts back.

The file of a METIS mesh has a header with the number of elements, and one line with the nodes of each
element, counted from one.  A second number in the header is the number of weights before the nodes of each
element in METIS 5, and the type of all elements in METIS 4.  Where the rows fit both, the version must be
given.
"""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from edgewise.errors import EdgewiseError, FileError, GraphError, OptionError, argument
from edgewise.files import mesh_graphs
from edgewise.files.atomic_write import atomic_write
from edgewise.files.destinations import destination, sink
from edgewise.files.inputs import local
from edgewise.files.layout import count_in
from edgewise.files.streams import Source, check_path
from edgewise.files.text import line_of_row, read_fields, shorten
from edgewise.front import named

if TYPE_CHECKING:
    from os import PathLike

    from edgewise.graph import Graph

COMMENTS = b"%"
#: Types of elements of METIS 4, with their numbers of nodes.
OLD_TYPES = {1: ("triangle", 3), 2: ("tetra", 4), 3: ("hexahedron", 8), 4: ("quad", 4)}
#: The type of elements of METIS meshes that have none.
UNKNOWN = "unknown"
#: Suffixes of meshes, where meshio is not installed.
USUAL = ".vtk", ".vtu", ".msh", ".inp", ".mesh", ".xdmf", ".med", ".exo", ".bdf", ".su2"
#: Names of the versions of a format, of which the first that holds the parts is written.
WRITERS = {"gmsh": ("gmsh", "gmsh22")}
#: Name of the parts in a file.
PART = "part"
GTYPES = "dual", "nodal"


class Mesh:
    r"""A mesh that has been read: the nodes of each element.

    Attributes
    ----------
    offsets, nodes : (n_elements + 1,) and (k,) int64 arrays
        The nodes of element ``i`` are ``nodes[offsets[i]:offsets[i + 1]]``, counted from 0.
    types : list of (str, int)
        Type and number of the elements of each block, in the order of the file.
    n_nodes : int
    points : (n_nodes, d) float64 array or None
        Coordinates of the nodes; METIS meshes have none.
    element_weights : (n_elements,) or (n_elements, c) int64 array or None

    Examples
    --------
    >>> import edgewise as ew, tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".mesh") as file:
    ...     _ = file.write("2 1\n1 2 3\n1 3 4\n")
    ...     file.flush()
    ...     mesh = ew.read_mesh(file.name, metis_version=4)
    >>> mesh
    <Mesh: 2 elements (triangle), 4 nodes>
    >>> ew.partition(mesh.dual_graph(), 2).edge_cut
    1
    """

    def __init__(self, offsets, nodes, types, n_nodes, element_weights=None, file=None):
        self.offsets, self.nodes, self.types, self.n_nodes = offsets, nodes, types, n_nodes
        self.element_weights = element_weights
        self._file = file
        self.points = None if file is None else np.asarray(file.points, np.float64)

    def __repr__(self) -> str:
        kinds = ", ".join(dict.fromkeys(kind for kind, _ in self.types))
        return f"<Mesh: {self.n_elements:,} elements ({kinds}), {self.n_nodes:,} nodes>"

    @property
    def n_elements(self) -> int:
        """Number of elements, those of lower dimension included."""
        return len(self.offsets) - 1

    @property
    def elements(self) -> np.ndarray:
        """Numbers of the elements of the highest dimension, which are the vertices of the dual graph."""
        dimensions = [mesh_graphs.dimension_of(kind) for kind, _ in self.types]
        highest = max((one for one in dimensions if one is not None), default=None)
        kept = [one is None or one == highest for one in dimensions]
        return np.flatnonzero(np.repeat(kept, [count for _, count in self.types]))

    def dual_graph(self, ncommon: int | None = None) -> Graph:
        """Return the graph of the elements of the highest dimension, with an edge for each two neighbours.

        Elements of lower dimension, such as lines on the boundary of a mesh of triangles, are left out.
        Vertex ``i`` is the element ``elements[i]``, and weights of elements are those of vertices.

        Parameters
        ----------
        ncommon : int, optional
            Elements with at least so many nodes in common are neighbours; as in METIS, so are two that share
            all nodes but one of the smaller of them.  By default elements with the same face are neighbours
            (the same side in two dimensions), or those with one node in common where the file has no types of
            elements.
        """
        chosen = self.elements
        known = all(mesh_graphs.dimension_of(kind) is not None for kind, _ in self.types)
        if ncommon is None and known:
            graph = mesh_graphs.dual_by_faces(self._blocks(chosen), self.n_nodes)
        else:
            lengths = np.diff(self.offsets)
            among = np.zeros(self.n_elements, bool)
            among[chosen] = True
            offsets = np.concatenate([[0], np.cumsum(lengths[chosen])])
            nodes = self.nodes[np.repeat(among, lengths)]
            graph = mesh_graphs.dual_by_nodes(offsets, nodes, self.n_nodes, 1 if ncommon is None else ncommon)
        if self.element_weights is not None:
            graph.vertex_weights = self.element_weights[chosen]
        return graph

    def _blocks(self, chosen):
        """Type and nodes of each block of the elements that are chosen."""
        first = 0
        among = np.zeros(self.n_elements, bool)
        among[chosen] = True
        for kind, count in self.types:
            if count and among[first]:
                nodes = self.nodes[self.offsets[first] : self.offsets[first + count]]
                yield kind, nodes.reshape(count, -1)
            first += count

    def nodal_graph(self) -> Graph:
        """Return the graph of the nodes, with an edge for each two nodes of one element."""
        return mesh_graphs.nodal(self.offsets, self.nodes, self.n_nodes)

    def write(self, path: str | PathLike, parts: Any, *, gtype: str = "dual") -> None:
        """Write the mesh with the parts, as data of cells or points named ``part``.

        Parameters
        ----------
        path : path-like
            The suffix decides the format, one of those of meshio. A mesh of METIS has no coordinates, so its
            parts are written alone, one a line.
        parts : integer array-like
            A part for each vertex of the graph: ``result.parts``.
        gtype : {'dual', 'nodal'}
            The graph that is divided. Elements that the dual graph leaves out get the part -1.

        Raises
        ------
        FileError
            The file cannot be written, or its format holds no parts.
        """
        parts = np.asarray(parts, np.int64)
        if gtype not in GTYPES:
            raise OptionError(f"{argument('gtype', gtype)} is none of {', '.join(GTYPES)}")
        wanted = len(self.elements) if gtype == "dual" else self.n_nodes
        if parts.shape != (wanted,):
            of = "elements" if gtype == "dual" else "nodes"
            raise GraphError(f"{len(parts)} parts for {wanted} {of}; give one for each")
        if self._file is None or not is_mesh_file(path):
            if is_mesh_file(path):
                raise FileError(path, "needs coordinates, and a mesh of METIS has none; name it .part")
            text = "".join(f"{part}\n" for part in parts.tolist()).encode()
            with destination(path) as part, sink(part, path, None) as stream:
                stream.write(text)
            return
        _write_by_meshio(self, path, parts, gtype)


def is_mesh_file(path) -> bool:
    """Whether a file of this name is one of a format of meshio; all of them are known by their suffixes."""
    if not isinstance(path, str | Path):
        return False
    try:
        return bool(_formats(path))
    except FileError:  # without meshio
        return Path(path).suffix.lower() in USUAL


def _formats(path):
    """Names that meshio has for the formats of a suffix, the first one for writing."""
    known = _meshio(path).extension_to_filetypes
    endings = dict.fromkeys(("".join(Path(path).suffixes[-2:]).lower(), Path(path).suffix.lower()))
    return sorted((name for end in endings for name in known.get(end, [])), key=lambda name: name != "gmsh")


def _meshio(path):
    try:
        import meshio
    except ImportError as error:
        raise FileError(path, "is read and written by meshio: pip install 'edgewise[mesh]'") from error
    return meshio


@named
def read_mesh(path: str | PathLike, *, metis_version: int | None = None) -> Mesh:
    """Read a mesh, by meshio or from a file of METIS.

    Parameters
    ----------
    path : path-like
        VTK, VTU, Gmsh, Abaqus, Medit or another format of meshio, by the suffix; or a mesh of METIS, which is
        known by its content, whatever its suffix.  meshio is installed with ``pip install 'edgewise[mesh]'``
        and is not needed for METIS.
    metis_version : {4, 5}, optional
        What a second number in the header of a METIS mesh is: the type of all elements in METIS 4, the number
        of weights before the nodes of each element in METIS 5.  It is needed where the rows fit both.

    Returns
    -------
    Mesh

    Raises
    ------
    FileError
        The file cannot be read, does not hold what its format promises, has no elements, or may be a mesh of
        METIS 4 as well as 5.
    OptionError
        ``metis_version`` is neither 4 nor 5, or the file is no mesh of METIS.
    """
    if metis_version is not None and (isinstance(metis_version, bool) or metis_version not in (4, 5)):
        raise OptionError(f"{argument('metis_version', metis_version)} is neither 4 nor 5")
    with local(check_path(path)) as file:
        source = Source(file)
        if is_metis(source):
            return _read_metis(source, metis_version)
        if metis_version is not None:
            raise OptionError(
                f"{argument('metis_version')} is for meshes of METIS, and this is none; leave it out"
            )
        if not _formats(file):
            known = "a suffix of meshio, such as .vtk, .vtu, .msh or .inp"
            raise source.error(f"is no mesh of METIS, and has not {known}; rename or convert it")
        return _read_by_meshio(source.path)


def is_metis(source) -> bool:
    """Whether the first row of a text is a header of a METIS mesh: one or two numbers."""
    if b"\0" in source.head or not source.head.strip():
        return False
    rows = (line.split() for line in source.lines(COMMENTS) if line.strip() and line[:1] not in COMMENTS)
    words: list[bytes] = next(rows, [])
    return 1 <= len(words) <= 2 and all(word.isdigit() for word in words)


def _read_metis(source, version) -> Mesh:
    lines = source.lines(COMMENTS)
    skip = next(i for i, line in enumerate(lines) if line.strip() and line[:1] not in COMMENTS) + 1
    count, *second = (count_in(source, word.decode(), skip) for word in lines[skip - 1].split())
    fields, lengths = read_fields(
        source, skip, COMMENTS, "int64", lambda line: f"a node is not a whole number: {shorten(line)}"
    )
    fields = fields.astype(np.int64, copy=False)
    found = int(np.flatnonzero(lengths)[-1]) + 1 if lengths.any() else 0  # blank lines at the end are no rows
    if found != count:
        problem = f"{count} elements promised, but {found} rows found"
        raise source.error(f"{problem}; the file is cut off or the header is wrong", skip)
    lengths = lengths[:count]
    if not count:
        raise source.error("has no elements", skip)
    kind, weights = UNKNOWN, None
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    number = second[0] if second else 0
    old = _old_type(source, skip, second, lengths, version)
    if old is not None:
        kind = old
    elif number:
        short = np.flatnonzero(lengths <= number)
        if len(short):
            line = line_of_row(source, skip, COMMENTS, int(short[0]))
            raise source.error(f"{number} weights and at least one node expected", line)
        places = offsets[:-1, None] + np.arange(number)
        weights = fields[places] if number > 1 else fields[places[:, 0]]
        fields = np.delete(fields, places.ravel())
        offsets = offsets - number * np.arange(count + 1)
    empty = np.flatnonzero(np.diff(offsets) == 0)
    if len(empty):
        raise source.error("an element without nodes", line_of_row(source, skip, COMMENTS, int(empty[0])))
    wrong = np.flatnonzero((fields < 1) | (fields > np.iinfo(np.int32).max))
    if len(wrong):
        row = int(np.searchsorted(offsets, wrong[0], "right")) - 1
        line = line_of_row(source, skip, COMMENTS, row)
        raise source.error(f"the node {fields[wrong[0]]} is out of range; nodes are counted from 1", line)
    return Mesh(offsets, fields - 1, [(kind, count)], int(fields.max()), weights)


def _old_type(source, skip, second, lengths, version):
    """The type of all elements, if the header is one of METIS 4, or ``None`` for METIS 5."""
    if version == 4 and (not second or second[0] not in OLD_TYPES):
        raise source.error("the header of METIS 4 is the number of elements and their type, 1 to 4", skip)
    if version == 5 or not second or second[0] not in OLD_TYPES:
        return None
    number = second[0]
    kind, n_nodes = OLD_TYPES[number]
    other = np.flatnonzero(lengths != n_nodes)
    if len(other) and version == 4:
        line = line_of_row(source, skip, COMMENTS, int(other[0]))
        raise source.error(
            f"{n_nodes} nodes of a {kind} expected, but {lengths[other[0]]} numbers found", line
        )
    if len(other):
        return None
    if version is None and n_nodes > number:  # weights and at least one node are possible
        both = (
            f"{kind} elements of METIS 4, or {number} weight{'s' * (number > 1)} before the nodes in METIS 5"
        )
        choice = f"{argument('metis_version', 4)} or {argument('metis_version', 5)}"
        raise source.error(f"{number} may mean {both}; give {choice}", skip)
    return kind


def _quietly(path, call, doing):
    """The result of a call of meshio, which prints and exits where it fails, or an error of one line."""
    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            return call()
    except (EdgewiseError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        if isinstance(error, OSError) and error.strerror:
            raise FileError(path, f"cannot be {doing}: {error.strerror}") from error
        words = str(error) if not isinstance(error, SystemExit) else said.getvalue()
        reason = " ".join(words.split())[:160] or type(error).__name__
        raise FileError(path, f"cannot be {doing} by meshio ({reason}); check the file") from error


def _read_by_meshio(path) -> Mesh:
    meshio = _meshio(path)
    name = _formats(path)[0]
    if name == "gmsh" and Path(path).read_bytes()[:1] == b"(":
        name = "ansys"  # has the same suffix
    file = _quietly(path, lambda: meshio.read(path, name), "read")
    blocks = [(block.type, block.data) for block in file.cells if len(block.data)]
    if not blocks:
        raise FileError(path, "has no elements")
    odd = next((kind for kind, _ in blocks if kind.startswith("polyhedron")), None)
    if odd is not None:
        raise FileError(
            path, f"has elements of the type {odd}; only those with a fixed order of nodes are read"
        )
    matrices = [(kind, np.asarray(data, np.int64)) for kind, data in blocks]
    lengths = np.concatenate([np.full(len(data), data.shape[1]) for _, data in matrices])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    nodes = np.concatenate([data.ravel() for _, data in matrices])
    n_nodes = len(file.points)
    try:
        mesh_graphs.check_nodes(offsets, nodes, n_nodes)
    except GraphError as error:
        raise FileError(path, str(error)) from None
    return Mesh(offsets, nodes, [(kind, len(data)) for kind, data in matrices], n_nodes, file=file)


def _write_by_meshio(mesh, path, parts, gtype):
    """Write a mesh with its parts, and read it again, as some formats hold no data."""
    meshio, file, name = _meshio(path), mesh._file, _formats(path)[0]
    points = {key: _native(data) for key, data in file.point_data.items()}
    cells = {key: [_native(data) for data in blocks] for key, blocks in file.cell_data.items()}
    if gtype == "nodal":
        points[PART] = parts
    else:
        every = np.full(mesh.n_elements, -1, np.int64)
        every[mesh.elements] = parts
        cells[PART] = np.split(every, np.cumsum([len(block.data) for block in file.cells])[:-1])
    blocks = [(block.type, _native(block.data)) for block in file.cells]
    full = meshio.Mesh(_native(file.points), blocks, points, cells, file.field_data)
    wanted = points[PART] if gtype == "nodal" else every
    with atomic_write(path) as part:
        for writer in WRITERS.get(name, (name,)):
            if _written(meshio, part, full, writer) and _holds(meshio, part, name, gtype, wanted):
                return
        raise FileError(path, f"is {name}, in which meshio keeps no parts of such a mesh; write .vtu or .vtk")


def _written(meshio, path, full, name) -> bool:
    """Whether meshio writes a mesh in a format; errors of the system are raised."""
    try:
        _quietly(path, lambda: meshio.write(path, full, name), "written")
    except FileError as error:
        if isinstance(error.__cause__, OSError):
            raise
        return False
    return True


def _holds(meshio, path, name, gtype, parts) -> bool:
    """Whether the file holds the parts."""
    try:
        file = _quietly(path, lambda: meshio.read(path, name), "read again")
    except FileError:
        return False
    data = file.point_data.get(PART) if gtype == "nodal" else file.cell_data.get(PART)
    return data is not None and np.array_equal(np.concatenate([np.ravel(one) for one in data]), parts)


def _native(data):
    """An array in the byte order of this machine, which some writers need."""
    data = np.asarray(data)
    return data.astype(data.dtype.newbyteorder("="), copy=False)
