"""The numbers of strings in shards: dictionaries that are divided by hash.

A single process numbers strings in the order in which they first appear.  Tasks find the same numbers without
any of them holding all strings:

1. every *part* has numbered its own strings in their order, and wrote them in pieces, by their hash;
2. a *dictionary* of each piece takes it from all parts in order, and finds which strings are new in a part;
3. the strings that are new in a part, taken from all dictionaries, have a rank in the part's own order; with
   the number of strings that are new in the parts before, this is the number of the string;
4. each dictionary gets the numbers of its strings,
5. and each part those of all its strings from the dictionaries, and is rewritten with them.

All strings of the first part are new, so their numbers are those of the part, which takes no part in 3 and 5.

Every string is sent once, from its part to its dictionary; the other steps send numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from edgewise.device import each
from edgewise.index_type import index_type
from edgewise.ingest.arrow import arrow_array, numpy_array
from edgewise.ingest.string_words import hash_bytes, strings_of
from edgewise.primitives.counting_sort import gather
from edgewise.streams.tasks import TaskFolder

HALF = np.uint64(32)
#: Files in which a part has the pieces of its strings; each is written by a thread.
FILES = 4


@each
def piece_of(index, strings, pieces, found):
    """Write the piece that a string is in: by the half of its hash that tables of strings do not use."""
    code = hash_bytes(strings.text, strings.starts[index], strings.starts[index + 1])
    found[index] = (code >> HALF) % pieces


def write_strings(folder: TaskFolder, name: str, ids: Any, pieces: int, is_first: bool) -> None:
    """Write the strings of a part, in the order of their numbers, in pieces by their hash.

    Those of the first part are also what :func:`order` writes for other parts, and for an only part, which
    has 0 pieces, this is all.
    """
    if pieces == 0:
        write_ids(folder, f"{order_of(name)}.arrow", ids)
        return
    found = np.empty(len(ids), np.uint16)
    if len(ids):
        piece_of(len(ids), strings_of(ids), np.uint64(pieces), found)
    order = np.argsort(found, kind="stable").astype(np.uint32)
    ends = np.cumsum(np.bincount(found, minlength=pieces))
    numbers = np.split(order, ends[:-1])
    with ThreadPoolExecutor(FILES + 1) as pool:
        writing = [pool.submit(write_ids, folder, f"{order_of(name)}.arrow", ids)] if is_first else []
        for file, path in enumerate(piece_files(name, pieces)):
            writing.append(pool.submit(write_ids, folder, path, ids, numbers[file::FILES]))
        for one in writing:
            one.result()


def piece_files(part: str, pieces: int) -> list[str]:
    """Names of the files of the strings of a part, which have every :data:`FILES`-th piece each."""
    return [f"{part}.ids-{file}.arrow" for file in range(min(FILES, pieces))]


def write_ids(folder: TaskFolder, name: str, ids: Any, pieces: list[np.ndarray] | None = None) -> None:
    """Write a file of strings: all of them, or those of some numbers with these, a record batch a piece."""
    import pyarrow as pa

    schema = pa.schema([("id", ids.type)] + ([] if pieces is None else [("number", pa.uint32())]))
    with folder.written(name) as path, pa.ipc.new_file(str(path), schema) as writer:
        if pieces is None:
            writer.write_batch(pa.record_batch([ids], schema=schema))
        for numbers in map(arrow_array, pieces or ()):
            writer.write_batch(pa.record_batch([ids.take(numbers), numbers], schema=schema))


def order_of(part: str) -> str:
    """Name of the file of the strings that are new in a part, in their order."""
    return f"{part}-order"


def _piece(folder, part, piece):
    """The strings of a part in one piece, and their numbers in the part: a record batch, mapped."""
    import pyarrow as pa

    path = folder.file(piece_files(part, FILES)[piece % FILES])
    return pa.ipc.open_file(pa.memory_map(str(path))).get_batch(piece // FILES)


def dictionary(folder: TaskFolder, name: str, *, parts: list[str], piece: int) -> dict:
    """Task: number the strings of one piece in the order of the parts, and note which are new in each."""
    from edgewise.ingest.arrow import ColumnNumbers

    batches = [_piece(folder, part, piece) for part in parts]
    kind = batches[0].column("id").type
    numbers = ColumnNumbers(kind, kind, -(-sum(map(len, batches)) // 2))
    none = np.empty(0, np.uint32)
    entries, rows, firsts = [none], [none], [none]
    for batch in batches:
        known = numbers.strings.count
        found = numbers.add_column(batch.column("id")) if len(batch) else none
        entries.append(found)
        rows.append(np.flatnonzero(found >= known).astype(np.uint32))
        firsts.append(numpy_array(batch.column("number"))[rows[-1]])
    for column, found in ("entries", entries), ("rows", rows), ("firsts", firsts):
        folder.write_array(f"{name}.{column}.npy", np.concatenate(found))
    return {"entries": [len(one) for one in entries[1:]], "new": [len(one) for one in firsts[1:]]}


def _slice(folder, dictionary, column, position):
    """A column of one part in a dictionary, behind those of the parts before.

    ``entries`` are the numbers that the strings of the part have in the dictionary, ``rows`` are those of the
    strings that are new, and ``firsts`` their numbers in the part.
    """
    counts = folder.facts_of(dictionary)["entries" if column == "entries" else "new"]
    start = sum(counts[:position])
    return folder.mapped(f"{dictionary}.{column}.npy")[start : start + counts[position]]


def order(folder: TaskFolder, name: str, *, part: str, position: int, dictionaries: list[str]) -> dict:
    """Task: rank the strings that are new in a part, and write them in this order.

    The ranks are written by dictionary, as the strings are found there.
    """
    import pyarrow as pa

    firsts = [_slice(folder, one, "firsts", position) for one in dictionaries]
    is_new = np.zeros(folder.facts_of(part)["numbers"], np.uint8)
    for numbers in firsts:
        is_new[numbers] = 1
    ends = np.cumsum(is_new, dtype=np.uint32)
    ranks = np.concatenate([ends[numbers] - 1 for numbers in firsts])
    folder.write_array(f"{name}.ranks.npy", ranks)
    new = []
    for piece, one in enumerate(dictionaries):
        rows = _slice(folder, one, "rows", position)
        new.append(_piece(folder, part, piece).column("id").take(arrow_array(rows)))
    rows = np.empty(len(ranks), np.uint32)
    rows[ranks] = np.arange(len(ranks), dtype=np.uint32)
    ids = pa.concat_arrays(new).take(arrow_array(rows))
    write_ids(folder, f"{name}.arrow", ids)
    return {"new": len(ids), "bytes": ids.nbytes}


def numbered(
    folder: TaskFolder, name: str, *, dictionary: str, orders: list[str], bases: list[int], before: list[int]
) -> dict:
    """Task: the numbers of the strings of a dictionary, in its order.

    In each part, the ranks count from ``bases``, and those of the dictionaries ``before`` come first.
    """
    counts, kind = folder.facts_of(dictionary)["new"], index_type(bases[-1])
    numbers = np.empty(sum(counts), kind)
    end = 0
    for position, (one, count) in enumerate(zip(orders, counts)):
        if position:
            found = folder.mapped(f"{one}.ranks.npy")[before[position] :][:count]
        else:
            found = _slice(folder, dictionary, "firsts", 0)
        np.add(found, bases[position], out=numbers[end : end + count], dtype=kind)
        end += count
    folder.write_array(f"{name}.npy", numbers)
    return {}


def numbers_of(folder: TaskFolder, part: str, position: int, tables: list[list[str]]) -> Iterator[tuple]:
    """Yield, by piece, the numbers that strings have in a part, and those that they have in all parts.

    ``tables`` are dictionaries and their numbers.
    """
    for piece, (one, table) in enumerate(tables):
        own = numpy_array(_piece(folder, part, piece).column("number"))
        yield own, gather(folder.mapped(f"{table}.npy"), _slice(folder, one, "entries", position))


def strings_in_order(folder: TaskFolder, orders: list[str], kind: Any) -> tuple[Any, list]:
    """The type of the strings of all parts, ``kind`` unless its offsets are too short, and their chunks."""
    import pyarrow as pa

    files = [pa.ipc.open_file(pa.memory_map(str(folder.file(f"{one}.arrow")))) for one in orders]
    chunks = [file.get_batch(0).column("id") for file in files]
    ends = [strings_of(chunk).starts[[0, -1]].astype(np.int64) for chunk in chunks]
    if sum(int(stop - start) for start, stop in ends) > np.iinfo(np.int32).max:  # Arrow's short offsets
        kind = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}[kind]
    return kind, chunks


def all_strings(folder: TaskFolder, orders: list[str], kind: Any) -> Any:
    """The strings of all parts in the order of their numbers, as an Arrow array like that of one process."""
    import pyarrow as pa

    kind, chunks = strings_in_order(folder, orders, kind)
    return pa.concat_arrays([chunk.cast(kind) for chunk in chunks])


class StoredStrings:
    """The strings of all parts, which stay in their files."""

    def __init__(self, folder: TaskFolder, orders: list[str], kind: Any):
        self.kind, self.chunks = strings_in_order(folder, orders, kind)
        self.before = np.cumsum([0, *map(len, self.chunks)])

    def between(self, start: int, stop: int) -> Any:
        """The strings numbered ``start .. stop - 1``."""
        ends = np.clip([start, stop], self.before[:-1, None], self.before[1:, None]) - self.before[:-1, None]
        return self._joined(chunk[begin:end] for chunk, (begin, end) in zip(self.chunks, ends.tolist()))

    def take(self, numbers: Any) -> Any:
        """The strings of some numbers."""
        import pyarrow as pa

        distinct, places = np.unique(numbers, return_inverse=True)
        ends = np.searchsorted(distinct, self.before)
        parts = zip(self.chunks, self.before.tolist(), ends[:-1].tolist(), ends[1:].tolist())
        found = (chunk.take(pa.array(distinct[begin:end] - base)) for chunk, base, begin, end in parts)
        return self._joined(found).take(pa.array(places))

    def _joined(self, chunks):
        import pyarrow as pa

        return pa.concat_arrays([chunk.cast(self.kind) for chunk in chunks])
