"""Components and forests of edges that are read once and never held in memory, from tables or in batches.

A stream of tables (:mod:`~edgewise.streams.file_stream`) maps the ids of its rows to vertex numbers
(:mod:`~edgewise.streams.ids`), and a *reducer* takes the pairs in: that of components joins them
(:mod:`~edgewise.streams.union`), and that of forests keeps the edges of the forest
(:mod:`~edgewise.streams.forest`).  What a reducer keeps is all that a checkpoint needs, and all that the
workers of an executor exchange (:mod:`~edgewise.streams.sharded`).  Ids of which memory does not hold all are
divided (:mod:`~edgewise.streams.contraction`, :mod:`~edgewise.streams.partitioned_strings`).  The streams of
:mod:`~edgewise.streams.batches` use the same reducers.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Unpack

from edgewise import memory
from edgewise.errors import EdgewiseError, OptionError, argument
from edgewise.front import CallOptions, front, reporter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike
    from typing import BinaryIO

    from edgewise.components import Components
    from edgewise.streams.forest import StreamedForest
    from edgewise.streams.stored import StoredComponents

__all__ = ["READING", "stream_components", "stream_forest"]

#: Options of :func:`edgewise.read` that apply to a stream of tables.
READING = ("source", "target", "where", "threshold", "score", "null", "sep", "decimal", "encoding")
#: Seconds between two checkpoints.
EVERY = 60.0


@front
def stream_components(
    path: str | PathLike | BinaryIO | list,
    *,
    n_vertices: int | None = None,
    source: str | Sequence[str] | None = None,
    target: str | Sequence[str] | None = None,
    where: str | None = None,
    threshold: float | None = None,
    score: str | None = None,
    null: str = "error",
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    device: str | None = None,
    devices: str | Sequence[str] | None = None,
    merge: str = "auto",
    client: Any = None,
    output: str | PathLike | None = None,
    checkpoint: str | PathLike | None = None,
    every: float = EVERY,
    **options: Unpack[CallOptions],
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
    source, target, where, threshold, score, null, sep, decimal, encoding
        As in :func:`edgewise.read`.  Weights are not read, so a row whose weight is missing counts.
    device : str, optional
        ``"cpu"`` (the default), ``"gpu"``, ``"cuda:1"`` or ``"auto"``.
    devices : str or list of str, optional
        Several devices that share the batches, as in :func:`edgewise.connected_components`.
    merge : str
        How the labels of several devices are merged: ``"auto"``, or a merge that needs labels only
        (``"pairwise-rem"``, ``"pairwise-hook"``, ``"peer"``).
    client : distributed.Client of Dask or executor of concurrent.futures, optional
        Its workers share the files.  ``checkpoint`` is then a folder that all workers share, in which tasks
        exchange files; all inputs are local files, too.
    output : path-like, optional
        A new folder, in which the table of the clusters is written as Parquet shards, by the workers if there
        is a ``client``; the labels are then not returned.
    checkpoint : path-like, optional
        File in which the state is saved regularly, at Ctrl-C, and when a file cannot be read.  If it exists,
        the run continues from it.  It is removed at the end.  All inputs are then local files.
    every : float
        Seconds between two checkpoints.

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
    OptionError, DeviceError
    OutOfMemoryError
        Also if the strings are too long for ``memory``, which the sizes of compressed files do not tell.
    WorkerError
        A worker of ``client`` cannot take part, or has another version of edgewise; or workers died, or a
        task failed twice.

    Notes
    -----
    Memory for integer ids: at most 16 bytes for each number up to the largest id, and buffers; for strings:
    the distinct strings, and their numbers.  Integers that are negative, or much larger than the number of
    rows, are numbered in order of appearance, which takes 40 to 60 bytes for each distinct id.  If that is
    more than ``memory=``, or there is a ``client``, ids may be more than memory holds: strings, or numbers
    from 0 on.  ``memory=`` is then what a task may hold, and needs an ``output``; this process does the work
    if there is no ``client``.

    Progress is counted in rows; the number of all rows may be unknown (``None``).

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
    from edgewise.streams.file_stream import FileStream
    from edgewise.streams.union import Union

    given = source, target, where, threshold, score, null, sep, decimal, encoding
    reading, most = dict(zip(READING, given)), memory.given()
    if output is not None:
        from edgewise.streams.stored import Output, checked_folder, stored

        output = checked_folder(output)
    if client is None and (most is None or (checkpoint is None and _fits(most, path, reading, n_vertices))):
        team = stream_team(device, devices, merge)
        stream: Any = FileStream(path, reading, Union(merge), n_vertices, team, checkpoint, every)
        result = stream.run(reporter())
        result = result if output is None else stored(result, output)
    else:
        _check_one_process(devices, merge, every)
        how = {"device": device or "cpu", "checkpoint": checkpoint}
        wanted = most, None if output is None else Output(output)
        with nullcontext(client) if client is not None else ThreadPoolExecutor(1) as workers:
            stream = stream_by_tasks(wanted, path, reading, n_vertices, client=workers, **how)
            if client is None:
                from edgewise.streams import ways

                ways.check_on_disk(path, reading, n_vertices, memory.limit())
            result = stream.run(reporter())
    stream.remove_checkpoint()
    return result


@front
def stream_forest(
    path: str | PathLike | BinaryIO | list,
    *,
    weight: str | None = None,
    maximum: bool = False,
    n_vertices: int | None = None,
    source: str | Sequence[str] | None = None,
    target: str | Sequence[str] | None = None,
    where: str | None = None,
    threshold: float | None = None,
    score: str | None = None,
    null: str = "error",
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    device: str | None = None,
    client: Any = None,
    checkpoint: str | PathLike | None = None,
    every: float = EVERY,
    **options: Unpack[CallOptions],
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
    source, target, where, threshold, score, null, sep, decimal, encoding
        As in :func:`edgewise.read`.
    device : str, optional
        ``"cpu"`` (the default), ``"gpu"``, ``"cuda:1"`` or ``"auto"``.
    client : distributed.Client of Dask or executor of concurrent.futures, optional
        As of :func:`edgewise.stream_components`.
    checkpoint : path-like, optional
        File in which the state is saved regularly, at Ctrl-C, and when a file cannot be read.  If it exists,
        the run continues from it.  It is removed at the end.  All inputs are then local files.
    every : float
        Seconds between two checkpoints.

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
    from edgewise.streams.forest import KeepForest

    problem = KeepForest(weight, maximum)
    given = source, target, where, threshold, score, null, sep, decimal, encoding
    reading = dict(zip(READING, given))
    stream: Any
    if client is None:
        from edgewise.streams.file_stream import FileStream

        stream = FileStream(path, reading, problem, n_vertices, stream_team(device), checkpoint, every)
    else:
        from edgewise.streams.sharded import ShardedStream

        _check_one_process(None, "auto", every)
        how = {"client": client, "device": device or "cpu", "checkpoint": checkpoint}
        stream = ShardedStream(path, reading, problem, n_vertices, **how)
    result = stream.run(reporter())
    stream.remove_checkpoint()
    return result


def _fits(most, path, reading, n_vertices):
    """Whether the stream of tables fits the limit of memory in this process."""
    from edgewise.files.inputs import is_local
    from edgewise.streams import ways

    paths = path if isinstance(path, list | tuple) else [path]
    if not all(map(is_local, paths)):
        return False
    try:
        found = ways.ways_of(ways.pairs_of(path, reading, n_vertices))
    except EdgewiseError:
        return False  # the stream says what is wrong
    held = max(memory.held(), ways.BASE)
    needed = next(way.bytes for way in found if way.name == ways.STREAMED)
    return ways.MARGIN * (held + needed - ways.BASE) <= most


def stream_team(device: str | None, devices: Any = None, merge: str = "auto") -> Any:
    """The devices of a stream, after a check that their labels can be merged."""
    from edgewise.components.merge import LABEL_MERGES
    from edgewise.device import arrays
    from edgewise.method import check_one_or_several
    from edgewise.workers import device_team

    check_one_or_several(device, devices)
    if merge not in ("auto", *LABEL_MERGES):
        names = ", ".join(("auto", *LABEL_MERGES))
        raise OptionError(f"{argument('merge', merge)} is not for streams; use one of {names}")
    if merge != "auto" and devices is None:
        given, wanted = argument("merge", merge), argument("devices")
        raise OptionError(f"{given} is for several devices; add {wanted} or leave it out")
    return device_team(arrays.resolve(device or "cpu") if devices is None else devices)


def stream_by_tasks(wanted: tuple, path: Any, reading: dict, n_vertices: int | None, **how: Any) -> Any:
    """The stream of components by tasks; ``wanted`` are the memory and the ``Output``, or ``None``."""
    most, output = wanted
    if most is not None:
        from edgewise.streams.contraction import ContractedStream

        if output is None:
            raise OptionError(f"{argument('memory')} needs {argument('output')}, a folder for the labels")
        return ContractedStream(most, output, path, reading, n_vertices, **how)
    if output is not None:
        from edgewise.streams.stored import StoredStream

        return StoredStream(output, path, reading, n_vertices, **how)
    from edgewise.streams.sharded import ShardedStream
    from edgewise.streams.union import Union

    return ShardedStream(path, reading, Union(), n_vertices, **how)


def _check_one_process(devices, merge, every):
    """Refuse options that mean nothing for tasks."""
    client = argument("client")
    if devices is not None or merge != "auto":
        name = "devices" if devices is not None else "merge"
        raise OptionError(f"{argument(name)} is for one process; with {client} use its workers")
    if every != EVERY:
        problem = f"{argument('every')} is for one process; with {client} every task is saved"
        raise OptionError(f"{problem}, so leave it out")
