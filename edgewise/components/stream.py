"""The components of tables that are read once, by this process or by the workers of a client."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from edgewise.components.file_stream import FileStream, check_reading, stream_team
from edgewise.components.result import Components
from edgewise.files.store import check_new
from edgewise.front import front, reporter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from edgewise.components.stored import StoredComponents


@front
def stream_components(
    path: str | PathLike | BinaryIO | list,
    *,
    n_vertices: int | None = None,
    device: str | None = None,
    devices: str | Sequence[str] | None = None,
    merge: str = "auto",
    checkpoint: str | PathLike | None = None,
    every: float = 60.0,
    **reading: Any,
) -> Components | StoredComponents:
    r"""Find the components of pairs files without holding the pairs in memory.

    Parameters
    ----------
    path : path-like, file object, or list of them
        Tables with the same columns: Parquet, Arrow, or text with a row of names; files, folders, or patterns
        such as ``"shards/*.parquet"``; also ``"-"``, addresses and file objects, as in :func:`edgewise.read`,
        whose content is first copied to temporary files.
    n_vertices : int, optional
        Upper bound of integer ids, for which the parents are allocated at once.  By default they grow to the
        largest id.  The result has a row for each id that occurs, unlike that of :class:`ComponentsStream`.
    device : str, optional
        ``"cpu"`` (the default), ``"gpu"``, ``"cuda:1"`` or ``"auto"``.
    devices : str or list of str, optional
        Several devices that share the batches, as in :func:`edgewise.connected_components`.
    merge : str
        How the labels of several devices are merged: ``"auto"``, or a merge that needs labels only
        (``"pairwise-rem"``, ``"pairwise-hook"``, ``"peer"``).
    checkpoint : path-like, optional
        File in which the state is saved regularly, at Ctrl-C, and when a file cannot be read.  If it exists,
        the run continues from it.  It is removed at the end.  All inputs are then local files.
    every : float
        Seconds between two checkpoints.
    **reading
        ``source``, ``target``, ``where``, ``threshold``, ``score``, ``null``, ``sep``, ``decimal`` and
        ``encoding``, as in :func:`edgewise.read`; and

        * ``client``, a :class:`distributed.Client` of Dask or an executor of :mod:`concurrent.futures`, whose
          workers share the files.  ``checkpoint`` is then a folder that all workers share, in which tasks
          exchange files; all inputs are local files, too;
        * ``output``, a new folder, in which the table of the clusters is written as Parquet shards, by the
          workers if there is a ``client``; the labels are then not returned;
        * ``memory``, bytes or text such as ``"4 GB"``: what a task may hold for integer ids, of which there
          may then be more than memory holds.  It needs an ``output``; ``client`` and ``checkpoint`` are as
          above, and this process does the work if there is no client.

        Weights are not read, so a row whose weight is missing counts.  Progress is counted in rows; the
        number of all rows may be unknown (``None``).

    Returns
    -------
    Components or StoredComponents
        On the host; the same labels and ids as those of the graph read from the files.  Its graph has the
        vertices and the number of edges, but not the edges.  With ``output`` it has ``count``, ``largest``,
        the ``path``, and :meth:`to_frame`, which reads the shards.

    Raises
    ------
    FileError
        A file cannot be read, or its columns do not match those of the first; an id is not below
        ``n_vertices`` (the message gives the row); the checkpoint belongs to other inputs.
    OptionError, DeviceError, OutOfMemoryError
    WorkerError
        A worker of ``client`` cannot take part, or has another version of edgewise; or workers died, or a
        task failed twice.

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
    client, output, memory = (reading.pop(name, None) for name in ("client", "output", "memory"))
    check_reading(reading)
    if output is not None:
        check_new(Path(output))
    if client is None and memory is None:
        team = stream_team(device, devices, merge)
        stream = FileStream(path, reading, n_vertices, team, merge, checkpoint, every)
        result = stream.run(reporter())
        if output is not None:
            from edgewise.components.stored import stored

            result = stored(result, output)
    else:
        from edgewise.components.contraction import sharded_stream
        from edgewise.components.sharded import check_options
        from edgewise.components.stored import Output

        check_options((devices, merge), every)
        how = {"device": device or "cpu", "checkpoint": checkpoint}
        wanted = memory, None if output is None else Output(os.fsdecode(output))
        with nullcontext(client) if client is not None else ThreadPoolExecutor(1) as workers:
            stream = sharded_stream(wanted, path, reading, n_vertices, client=workers, **how)
            result = stream.run(reporter())
    stream.remove_checkpoint()
    return result
