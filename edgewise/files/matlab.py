"""MATLAB ``.mat`` files of version 5, as the SuiteSparse Matrix Collection has them: a square matrix.

The matrix is the field ``A`` of the structure ``Problem``, or the only square matrix of the file.  If it is
symmetric, the graph is undirected.

A file has a header of 128 bytes and an element for each variable, which may be compressed.  An element has a
tag, with its type and its bytes, and is padded to 8 bytes; one of up to 4 bytes fits into its tag.  A matrix
is an element of elements: flags, dimensions, name, and those of its class; see MathWorks, "MAT-File Format".
The reader of SciPy is not used, since a damaged file can end the process there.
"""

import zlib
from typing import Any, NamedTuple

import numpy as np

from edgewise.errors import EdgewiseError
from edgewise.files.contents import check_room, matrix_edges, numbered_from_one
from edgewise.files.streams import EXPANSION, FREE_BYTES, check_memory, one_line, reading
from edgewise.ingest.matrices import entries_of, real

#: Name of the structure that holds the matrix in files of the SuiteSparse Matrix Collection.
STRUCTURE = "Problem"
#: Name of the field of this structure that holds the matrix.
MATRIX = "A"
#: Bytes of the header, which ends with ``IM`` if the least byte of a number comes first.
HEADER = 128
#: Bytes of a tag, and what elements are padded to.
TAG = 8
#: Types of elements that hold others.
OF_ELEMENTS, COMPRESSED = 14, 15
#: Types of elements that hold numbers.
NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
#: Classes of matrices: structures, sparse ones, and the first and the last of dense numbers.
STRUCTURES, SPARSE, FIRST_DENSE, LAST_DENSE = 2, 5, 6, 15
#: Bits of the flags of a matrix.
IS_COMPLEX, IS_LOGICAL = 0x800, 0x200


class Variable(NamedTuple):
    """A matrix of a file: its name, class, flags and dimensions, and the elements of its class."""

    name: str
    kind: int
    flags: int
    shape: tuple[int, ...]
    parts: list[Any]

    @property
    def is_square(self) -> bool:
        """Whether this is a square matrix of numbers with more than one row."""
        is_numeric = self.kind == SPARSE or FIRST_DENSE <= self.kind <= LAST_DENSE
        return is_numeric and len(self.shape) == 2 and self.shape[0] == self.shape[1] > 1


def read(source, options):
    """Read the matrix of a file."""
    options.only(".mat")
    with reading(source.path), source.seekable() as file:
        try:
            order = "<" if file.read(HEADER)[-2:] == b"IM" else ">"
            one = _square(source, list(_variables(source, file, order)), order)
            matrix = _matrix(source, one, order)
        except (MemoryError, OSError, EdgewiseError):
            raise
        except (ValueError, LookupError, zlib.error) as error:
            raise source.error(f"is cut off or damaged ({one_line(error)}); copy it again") from error
    vertices = matrix.shape[0]
    check_room(vertices)
    sources, targets, values = entries_of(matrix)
    weights = None if options.weight is False or values.dtype.kind == "b" else real(values)
    return matrix_edges((sources, targets, weights), vertices, numbered_from_one(vertices), options.directed)


def _variables(source, file, order):
    """Yield the variables of a file after its header; ``order`` is that of the bytes, ``"<"`` or ``">"``."""
    while tag := file.read(TAG):
        kind, count = np.frombuffer(tag, f"{order}u4").tolist()
        content = file.read(count)
        if len(tag) < TAG or len(content) < count:
            raise ValueError("the last variable is not complete")
        if kind == COMPRESSED:
            content = _decompressed(source, content, order)
            kind, content = next(_elements(content, order))
        if kind == OF_ELEMENTS:
            yield _variable(content, order)


def _decompressed(source, content, order):
    """The element that a compressed one holds."""
    inner = zlib.decompressobj()
    tag = inner.decompress(content, TAG)
    count = int(np.frombuffer(tag, f"{order}u4")[1])
    if count > max(FREE_BYTES, EXPANSION * source.size):
        problem = f"a variable holds more than {EXPANSION} times the {source.size:,} bytes of the file"
        raise source.error(f"{problem}; if this is right, save it with save -v6")
    check_memory(count, "a variable needs")
    return tag + inner.decompress(inner.unconsumed_tail, max(count, 1))


def _elements(content, order):
    """Yield the type and the bytes of every element."""
    content, at = memoryview(content), 0
    while at < len(content):
        first, count = np.frombuffer(content[at : at + TAG], f"{order}u4").tolist()
        begin = at + TAG
        if first >> 16:  # a short one, within its tag
            first, count, begin = first & 0xFFFF, first >> 16, at + TAG // 2
        if begin + count > len(content):
            raise ValueError("an element is longer than what it is in")
        yield first, content[begin : begin + count]
        at = max(at + TAG, -(-(begin + count) // TAG) * TAG)


def _variable(content, order):
    """The matrix of an element; of a structure only its fields, undecoded."""
    elements = _elements(content, order)
    flags, shape, name = (_numbers(next(elements, None), order) for _ in range(3))
    kind, letters = int(flags[0]) & 0xFF, bytes(name.astype(np.uint8))
    parts = list(elements)
    return Variable(letters.decode("latin-1"), kind, int(flags[0]), tuple(shape.tolist()), parts)


def _numbers(element, order):
    """The numbers of an element."""
    kind, content = element or (0, b"")
    if kind not in NUMBERS:
        raise ValueError(f"numbers are missing, or of the type {kind}")
    return np.frombuffer(content, order + NUMBERS[kind])


def _square(source, variables, order):
    """The matrix of a graph among the variables."""
    found = {one.name: one for one in variables}
    if STRUCTURE in found and found[STRUCTURE].kind == STRUCTURES:
        fields = _fields(found[STRUCTURE], order)
        if MATRIX in fields:
            found = {f"{STRUCTURE}.{MATRIX}": _variable(fields[MATRIX], order)}
    square = {name: one for name, one in found.items() if one.is_square}
    if len(square) != 1:
        content = one_line(", ".join(sorted(square or found)) or "nothing")
        problem = "several square matrices" if square else "no square matrix"
        raise source.error(f"holds {problem} ({content}); save one square matrix, with save -v7")
    (one,) = square.values()
    return one


def _fields(structure, order):
    """The elements of the fields of a structure, by their names."""
    width, letters, *values = structure.parts
    width, letters = int(_numbers(width, order)[0]), bytes(letters[1])
    names = [letters[at : at + width].split(b"\0")[0] for at in range(0, len(letters), width)]
    return {name.decode("latin-1"): content for name, (_, content) in zip(names, values)}


def _matrix(source, one, order):
    """A matrix as one of SciPy's sparse arrays."""
    from scipy.sparse import coo_array, csc_array

    if one.flags & IS_COMPLEX:
        raise source.error("the values of the matrix are complex; save their real parts")
    parts = [_numbers(part, order) for part in one.parts]
    parts = [part.astype(part.dtype.newbyteorder("=")) for part in parts]
    n, is_logical = one.shape[0], one.flags & IS_LOGICAL
    if one.kind != SPARSE:
        values = parts[0].reshape(n, n, order="F")
        return coo_array(values.astype(bool) if is_logical else values)
    rows, offsets, *others = parts
    if len(offsets) != n + 1:
        raise ValueError(f"{len(offsets)} offsets of {n} columns")
    count = int(offsets[-1])  # there may be room for more
    values = np.ones(count, bool) if is_logical or not others else others[0][:count]
    return csc_array((values, rows[:count], offsets), shape=(n, n))
