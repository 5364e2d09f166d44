"""The spanning forest of tables that are read once, by this process or by the workers of a client."""

from __future__ import annotations

from os import PathLike
from typing import Any, BinaryIO

from edgewise.components.file_stream import check_reading
from edgewise.device import arrays
from edgewise.forest.file_stream import ForestFileStream
from edgewise.forest.streamed import StreamedForest
from edgewise.front import front, reporter
from edgewise.workers import device_team


@front
def stream_forest(
    path: str | PathLike | BinaryIO | list,
    *,
    weight: str | None = None,
    maximum: bool = False,
    n_vertices: int | None = None,
    device: str | None = None,
    checkpoint: str | PathLike | None = None,
    every: float = 60.0,
    **reading: Any,
) -> StreamedForest:
    r"""Find the minimum spanning forest of tables of weighted edges without holding the edges in memory.

    Parameters
    ----------
    path : path-like, file object, or list of them
        Tables with the same columns, as of :func:`edgewise.stream_components`.
    weight : str, optional
        Column with the weights; by default a third column of numbers.
    maximum : bool
        Find the forest of largest weight instead, as for scores, where more is nearer.
    n_vertices : int, optional
        Upper bound of integer ids.
    device : str, optional
        ``"cpu"`` (the default), ``"gpu"``, ``"cuda:1"`` or ``"auto"``.
    checkpoint : path-like, optional
        File in which the state is saved regularly, at Ctrl-C, and when a file cannot be read.  If it exists,
        the run continues from it.  It is removed at the end.  All inputs are then local files.
    every : float
        Seconds between two checkpoints.
    **reading
        ``source``, ``target``, ``where``, ``threshold``, ``score``, ``null``, ``sep``, ``decimal``,
        ``encoding`` and ``client``, as of :func:`edgewise.stream_components`.

    Returns
    -------
    SpanningForest
        On the host; the same edges, labels and ids as those of the graph read from the files.  Its ``edges``
        are positions among the rows that were kept.  Its graph has the vertices and the number of edges, but
        not the edges.

    Raises
    ------
    FileError
        A file cannot be read, or its columns do not match those of the first; a weight is NaN, or an id is
        not below ``n_vertices`` (the message gives the row); the checkpoint belongs to other inputs.
    GraphError
        The tables have no column of weights; the weights were taken by default from a column that sounds
        like a score, without ``maximum=True``.
    OptionError, DeviceError, OutOfMemoryError
    WorkerError
        As of :func:`edgewise.stream_components`.

    Notes
    -----
    Memory: that of a :class:`~edgewise.ForestStream`, and the ids as of :func:`edgewise.stream_components`.

    Examples
    --------
    >>> import edgewise as ew, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "1.csv").write_text("from,to,km\n7,9,4\n7,12,5\n")
    ...     _ = pathlib.Path(folder, "2.csv").write_text("from,to,km\n9,12,3\n")
    ...     forest = ew.stream_forest(folder)
    >>> forest.to_frame().to_pydict()
    {'source': [7, 9], 'target': [9, 12], 'weight': [4, 3]}
    """
    client = reading.pop("client", None)
    check_reading(reading)
    if client is None:
        team = device_team(arrays.resolve(device or "cpu"))
        stream = ForestFileStream(path, reading, n_vertices, team, checkpoint=checkpoint, every=every)
    else:
        from edgewise.components.sharded import check_options
        from edgewise.forest.sharded import ShardedForest

        check_options((None, "auto"), every)
        how = {"client": client, "device": device or "cpu", "checkpoint": checkpoint}
        stream = ShardedForest(path, reading, n_vertices, **how)
    stream.choose_weights(weight, maximum)
    result = stream.run(reporter())
    stream.remove_checkpoint()
    return result
