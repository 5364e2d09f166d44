"""Components of pairs files that are read once: what a caller gives, checked and handed to the work.

The work is in :mod:`edgewise.components.file_stream`.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from edgewise.components.file_stream import ShardStream
from edgewise.components.merge import LABEL_MERGES
from edgewise.device import arrays
from edgewise.errors import OptionError
from edgewise.workers import device_team

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from edgewise.components.result import Components

__all__ = ["ShardStream", "stream_components", "stream_team"]


def stream_components(
    path: str | PathLike | list,
    *,
    source: str | int | None = None,
    target: str | int | None = None,
    where: str | None = None,
    null: str = "error",
    n_vertices: int | None = None,
    device: str = "cpu",
    devices: str | Sequence[str] | None = None,
    merge: str = "auto",
    checkpoint: str | PathLike | None = None,
    every: float = 60.0,
    progress: Callable | None = None,
) -> Components:
    r"""Find the components of pairs files without holding the pairs.

    Parameters
    ----------
    path : path-like, or list of them
        Tables with the same columns: Parquet, Arrow, or text with a row of names; files, folders, or patterns
        such as ``"shards/*.parquet"``.
    source, target, where, null
        As in :func:`edgewise.read`.  Weights are not read.
    n_vertices : int, optional
        Integer ids lie below it, which allocates the parents once.  By default up to the largest.  The
        result has a row for each id that occurs all the same, unlike :class:`ComponentsStream`.
    device : str
        ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or ``"auto"``.
    devices : str or list of str, optional
        Several devices that share the batches, as in :func:`edgewise.connected_components`.
    merge : str
        How what several devices have found is put together: ``"auto"``, or one that needs no more than
        labels (``"pairwise-rem"``, ``"pairwise-hook"``, ``"peer"``).
    checkpoint : path-like, optional
        File to put aside what has been found so far, every so often and at Ctrl-C.  If it is there, the
        run goes on after it.  It is removed at the end.  It is written, too, where a file cannot be read.
    every : float
        Seconds between two checkpoints.
    progress : callable, optional
        Called now and then with the number of rows read and of all rows (``None`` where unknown).

    Returns
    -------
    Components
        On the host; the same labels and ids as those of the graph read from the files.  Its graph knows
        its vertices and the number of edges, but not the edges.

    Raises
    ------
    FileError
        A file cannot be read, or its columns do not go with those of the first; an id is not below
        ``n_vertices`` (names the row); the checkpoint belongs to other inputs.
    OptionError, DeviceError, OutOfMemoryError

    Notes
    -----
    For integer ids at most 16 bytes for each number up to the largest id, and buffers; for strings what the
    distinct strings take, and their numbers.  Integers that are negative, or much larger than the number of
    rows, are numbered as they come, which takes 40 to 60 bytes for each.

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
    team = stream_team(device, devices, merge)
    columns = {"source": source, "target": target, "where": where, "null": null}
    stream = ShardStream(path, columns, n_vertices, team, merge, checkpoint, every)
    result = stream.run(progress)
    stream.forget()
    return result


def stream_team(device, devices, merge):
    """The devices of a stream, after a look at how what they find can be merged."""
    if devices is not None and device != "cpu":
        raise OptionError("device= is for one device; use devices= alone")
    if merge not in ("auto", *LABEL_MERGES):
        names = ", ".join(("auto", *LABEL_MERGES))
        raise OptionError(f"merge={merge!r} is not for streams; use one of {names}")
    if merge != "auto" and devices is None:
        raise OptionError(f"merge={merge!r} is for several devices; add devices= or leave it out")
    return device_team(arrays.resolve(device) if devices is None else devices)
