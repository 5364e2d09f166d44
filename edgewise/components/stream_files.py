"""Components of pairs files that are read once: the public function and its checks.

The work is in :mod:`edgewise.components.file_stream`.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from edgewise.components.file_stream import FileStream
from edgewise.components.merge import LABEL_MERGES
from edgewise.device import arrays
from edgewise.errors import OptionError, argument
from edgewise.method import check_one_or_several
from edgewise.workers import device_team

if TYPE_CHECKING:
    from collections.abc import Sequence

    from edgewise.components.result import Components

__all__ = ["FileStream", "stream_components", "stream_team"]
#: Options of :func:`edgewise.read` that apply to a stream of tables.
READING = ("source", "target", "where", "null")


def stream_components(
    path: str | PathLike | list,
    *,
    n_vertices: int | None = None,
    device: str | None = None,
    devices: str | Sequence[str] | None = None,
    merge: str = "auto",
    checkpoint: str | PathLike | None = None,
    every: float = 60.0,
    **reading: Any,
) -> Components:
    r"""Find the components of pairs files without holding the pairs in memory.

    Parameters
    ----------
    path : path-like, or list of them
        Tables with the same columns: Parquet, Arrow, or text with a row of names; files, folders, or patterns
        such as ``"shards/*.parquet"``.
    n_vertices : int, optional
        Upper bound of integer ids, for which the parents are allocated at once.  By default they grow to the
        largest id.  The result has a row for each id that occurs, unlike that of :class:`ComponentsStream`.
    device : str, optional
        ``"cpu"`` (the default), ``"cuda"``, ``"cuda:1"`` or ``"auto"``.
    devices : str or list of str, optional
        Several devices that share the batches, as in :func:`edgewise.connected_components`.
    merge : str
        How the labels of several devices are merged: ``"auto"``, or a merge that needs labels only
        (``"pairwise-rem"``, ``"pairwise-hook"``, ``"peer"``).
    checkpoint : path-like, optional
        File in which the state is saved regularly, at Ctrl-C, and when a file cannot be read.  If it exists,
        the run continues from it.  It is removed at the end.
    every : float
        Seconds between two checkpoints.
    **reading
        ``source``, ``target``, ``where`` and ``null``, as in :func:`edgewise.read`, and ``progress``, a
        callable that is called regularly with the number of rows read and of all rows (``None`` if unknown).
        Weights are not read.

    Returns
    -------
    Components
        On the host; the same labels and ids as those of the graph read from the files.  Its graph has the
        vertices and the number of edges, but not the edges.

    Raises
    ------
    FileError
        A file cannot be read, or its columns do not match those of the first; an id is not below
        ``n_vertices`` (the message gives the row); the checkpoint belongs to other inputs.
    OptionError, DeviceError, OutOfMemoryError

    Notes
    -----
    Memory for integer ids: at most 16 bytes for each number up to the largest id, and buffers; for strings:
    the distinct strings, and their numbers.  Integers that are negative, or much larger than the number of
    rows, are numbered in order of appearance, which takes 40 to 60 bytes for each distinct id.

    Examples
    --------
    >>> import edgewise as ew, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "1.csv").write_text("from,to\n7,9\n")
    ...     _ = pathlib.Path(folder, "2.csv").write_text("from,to\n2,2\n9,12\n")
    ...     result = ew.stream_components(folder)
    >>> result.to_frame().to_pydict()
    {'id': [2, 7, 9, 12], 'component': [0, 1, 1, 1]}
    """
    progress = reading.pop("progress", None)
    for name in reading:
        if name not in READING:
            raise OptionError(
                f"{argument(name)} means nothing for a stream of tables, which knows {', '.join(READING)}"
            )
    team = stream_team(device, devices, merge)
    stream = FileStream(path, reading, n_vertices, team, merge, checkpoint, every)
    result = stream.run(progress)
    stream.remove_checkpoint()
    return result


def stream_team(device, devices, merge):
    """The devices of a stream, after a check that their labels can be merged."""
    check_one_or_several(device, devices)
    if merge not in ("auto", *LABEL_MERGES):
        names = ", ".join(("auto", *LABEL_MERGES))
        raise OptionError(f"{argument('merge', merge)} is not for streams; use one of {names}")
    if merge != "auto" and devices is None:
        raise OptionError(
            f"{argument('merge', merge)} is for several devices; add {argument('devices')} or leave it out"
        )
    return device_team(arrays.resolve(device or "cpu") if devices is None else devices)
