"""What a certificate is, how it is kept in a file, and how a checker takes arrays out of it.

The file is an uncompressed ``.npz`` archive: the arrays, called ``answer.`` or ``proof.`` and their names,
and ``certificate``, the UTF-8 bytes of a JSON object with the version, the problem and the facts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from edgewise.errors import FileError, VerificationError

if TYPE_CHECKING:
    from os import PathLike

#: Of the layout of the file.
VERSION = 1
#: How many items a checker looks at in one step: intermediate arrays stay in the caches, and calls of NumPy,
#: each of which takes Python's lock, are few.
CHUNK = 1 << 18
#: Cores that this process may use.
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class GraphArrays(NamedTuple):
    """The edges of a graph on the host, as the user gave them; the number of an edge is its position.

    Attributes
    ----------
    n_vertices : int
    sources, targets : (n_edges,) integer array
        Vertex numbers from 0 on.
    weights : (n_edges,) array or None
    directed : bool
    vertex_weights : (n_vertices,) integer array or None
    """

    n_vertices: int
    sources: np.ndarray
    targets: np.ndarray
    weights: Any
    directed: bool
    vertex_weights: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Certificate:
    """An answer, and what makes it checkable in one pass without solving again.

    Attributes
    ----------
    problem : str
        ``"components"``, ``"strong"``, ``"cores"``, ``"forest"``, ``"distances"``, ``"partition"``,
        ``"cycles"`` or ``"routes"``.
    answer : dict of str to array
        What the result claims.
    proof : dict of str to array
        Why it is so; the guide to certificates says what each array is.
    facts : dict of str to number, str, bool or None
        What was asked for, such as a source or a number of parts; ``n_vertices`` and ``n_edges``.
    """

    problem: str
    answer: dict[str, np.ndarray]
    proof: dict[str, np.ndarray] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for part in (self.answer, self.proof) for array in part.values())

    def save(self, path: str | PathLike) -> None:
        """Write the certificate to an uncompressed ``.npz`` file, whole or not at all.

        Parameters
        ----------
        path : path-like
            Its suffix may be any.

        Raises
        ------
        FileError
            The file cannot be written.
        """
        from edgewise.files.atomic_write import atomic_write

        about = {"version": VERSION, "problem": self.problem, "facts": self.facts}
        held = {"certificate": np.frombuffer(json.dumps(about).encode(), np.uint8)}
        for part, arrays in (("answer", self.answer), ("proof", self.proof)):
            held |= {f"{part}.{name}": array for name, array in arrays.items()}
        with atomic_write(path) as temporary, open(temporary, "wb") as file:
            np.savez(file, **held)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | PathLike) -> Certificate:
        """Read a certificate from a file; nothing in it is checked but its form.

        Parameters
        ----------
        path : path-like

        Raises
        ------
        FileError
            The file is damaged, holds no certificate, or is of a newer version.
        """
        from edgewise.files.streams import reading

        with reading(path):
            try:
                with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                    return cls._of_archive(path, file, archive)
            except (FileError, OSError, MemoryError):
                raise
            except Exception as error:  # the headers of an archive may hold anything
                problem = "is damaged, or no certificate; write the certificate again"
                raise FileError(path, problem) from error

    @classmethod
    def _of_archive(cls, path, file, archive):
        if sum(member.file_size for member in archive.zip.infolist()) > file.seek(0, 2):
            raise FileError(path, "is compressed, which no certificate is; write the certificate again")
        about = json.loads(archive["certificate"].tobytes())
        version = about["version"]
        if type(version) is not int or version > VERSION:
            raise FileError(path, "was written by a newer edgewise; check it with that version")
        held: dict[str, dict[str, np.ndarray]] = {"answer": {}, "proof": {}}
        for member in archive.files:
            if member != "certificate":
                part, _, name = member.partition(".")
                array = archive[member]
                held[part][name] = array.astype(array.dtype.newbyteorder("="), order="C", copy=False)
        return cls(str(about["problem"]), held["answer"], held["proof"], dict(about["facts"]))

    def array(self, part: str, name: str, length: int | None, kinds: str) -> np.ndarray:
        """Return an array of a part, ``"answer"`` or ``"proof"``, whose form is right.

        Parameters
        ----------
        part, name : str
        length : int or None
            That it must have in its one dimension; ``None`` for any.
        kinds : str
            Of the dtypes that it may have, as in ``dtype.kind``: ``"iu"`` for integers.

        Raises
        ------
        VerificationError
            There is no such array, or it is of another form.
        """
        array = getattr(self, part).get(name)
        label = f"{part} {name!r} of the certificate"
        expect(isinstance(array, np.ndarray), f"{label} is missing")
        expect(array.ndim == 1, f"{label} has {array.ndim} dimensions, and must have one")
        wanted = len(array) if length is None else length
        expect(len(array) == wanted, f"{label} has the length {len(array)}, and must have {wanted}")
        expect(array.dtype.kind in kinds, f"{label} has the dtype {array.dtype}")
        return array

    def numbers(self, part: str, name: str, length: int | None, below: int, least: int = 0) -> np.ndarray:
        """Return an array of integers from ``least`` to ``below - 1``; otherwise as :meth:`array`."""
        array = self.array(part, name, length, "iu")
        if not are_within(array, least, below):
            item = int(((array < least) | (array >= below)).argmax())
            wanted = f"must be from {least} to {below - 1}"
            refuse(f"{part} {name!r} of the certificate has {array[item]} at {item}, which {wanted}")
        return array


def certify(problem: str, graph: GraphArrays, answer: dict, proof: dict, **facts: Any) -> Certificate:
    """Return a certificate of a graph, with its numbers of vertices and edges among the facts."""
    about = {"n_vertices": int(graph.n_vertices), "n_edges": len(graph.sources)}
    return Certificate(problem, answer, proof, about | facts)


def claimed(name: str, array: np.ndarray, length: int | None, below: int) -> np.ndarray:
    """An answer that anybody claims, as int32 or int64, from which a prover begins.

    Raises
    ------
    VerificationError
        They are no integers from 0 to ``below - 1``, or not as many as ``length``.
    """
    array = Certificate("", {name: np.asarray(array)}).numbers("answer", name, length, below)
    return np.ascontiguousarray(array, np.int32 if below <= 2**31 else np.int64)


def expect(holds: object, problem: str) -> None:
    """Raise :class:`~edgewise.errors.VerificationError` with what is wrong unless something holds."""
    if not holds:
        refuse(problem)


def refuse(problem: str) -> NoReturn:
    """Raise :class:`~edgewise.errors.VerificationError`."""
    raise VerificationError(problem)


def are_within(array: np.ndarray, least: int, below: int) -> bool:
    """Whether integers are from ``least`` to ``below - 1``."""
    is_unsigned = array.dtype.kind == "u"

    def look(some):
        return (is_unsigned or least <= int(array[some].min())) and int(array[some].max()) < below

    return all(in_chunks(look, len(array)))


def first(wrong: np.ndarray) -> int | None:
    """The first position at which something is wrong; ``None`` if there is none."""
    item = int(wrong.argmax()) if len(wrong) else 0
    return item if len(wrong) and wrong[item] else None


def first_in_chunks(wrong: Callable, count: int) -> int | None:
    """The first of ``count`` items at which something is wrong, as ``wrong`` says of a slice of them."""
    found = enumerate(in_chunks(lambda some: first(wrong(some)), count))
    return next((chunk * CHUNK + item for chunk, item in found if item is not None), None)


def at(array: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """The elements at positions that have been checked already: the fastest way, which clips."""
    return np.take(array, positions, mode="clip")


def in_chunks(look: Callable, count: int) -> list:
    """What ``look`` returns of every slice of ``count`` items, in order, by all threads if they are many.

    What it raises of the first slice of which it does is raised.
    """
    chunks = [slice(begin, min(begin + CHUNK, count)) for begin in range(0, count, CHUNK)]
    if len(chunks) < 2:
        return list(map(look, chunks))
    n_shares = min(len(chunks), CORES)
    bounds = [share * len(chunks) // n_shares for share in range(n_shares + 1)]
    with ThreadPoolExecutor(n_shares) as threads:  # NumPy's loops let each other run
        shares = threads.map(lambda begin, end: list(map(look, chunks[begin:end])), bounds, bounds[1:])
        return [found for share in shares for found in share]
