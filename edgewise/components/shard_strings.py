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

from typing import Any

import numpy as np

from edgewise.components.shard_parts import ENDS, table_writer
from edgewise.components.tasks import TaskFolder
from edgewise.device import each
from edgewise.index_type import index_type
from edgewise.ingest.hashing import hash_bytes
from edgewise.ingest.string_order import strings_of

HALF = np.uint64(32)
#: Bytes of strings up to which Arrow's short offsets serve.
MOST_BYTES = (1 << 31) - 1


@each
def piece_of(index, strings, pieces, found):
    """Write the piece that a string is in: by the half of its hash that tables of strings do not use."""
    code = hash_bytes(strings.text, strings.starts[index], strings.starts[index + 1])
    found[index] = (code >> HALF) % pieces


def write_strings(folder: TaskFolder, name: str, ids: Any, pieces: int, is_first: bool) -> dict:
    """Write the strings of a part, in the order of their numbers, in pieces by their hash; return facts.

    Those of the first part are also what :func:`order` writes for other parts.
    """
    import pyarrow as pa

    if is_first:
        write_column(folder, f"{order_of(name)}.arrow", ids)
    found = np.empty(len(ids), np.uint16)
    if len(ids):
        piece_of(len(ids), strings_of(ids), np.uint64(pieces), found)
    order = np.argsort(found, kind="stable").astype(np.uint32)
    ends = np.cumsum(np.bincount(found, minlength=pieces))
    schema = pa.schema([("id", ids.type), ("number", pa.uint32())])
    with folder.written(f"{name}.ids.arrow") as path, pa.ipc.new_file(str(path), schema) as writer:
        for start, stop in zip([0, *ends[:-1].tolist()], ends.tolist()):
            numbers = pa.array(order[start:stop])
            writer.write_batch(pa.record_batch([ids.take(numbers), numbers], schema=schema))
    return {"type": str(ids.type)}


def order_of(part: str) -> str:
    """Name of the file of the strings that are new in a part, in their order."""
    return f"{part}-order"


def write_column(folder: TaskFolder, name: str, ids: Any) -> None:
    """Write a file with one column of strings."""
    import pyarrow as pa

    schema = pa.schema([("id", ids.type)])
    with folder.written(name) as path, pa.ipc.new_file(str(path), schema) as writer:
        writer.write_batch(pa.record_batch([ids], schema=schema))


def _pieces_of(folder, part):
    """The file of the strings of a part, mapped: a batch for each piece."""
    import pyarrow as pa

    return pa.ipc.open_file(pa.memory_map(str(folder.file(f"{part}.ids.arrow"))))


def dictionary(folder: TaskFolder, name: str, *, parts: list[str], piece: int) -> dict:
    """Task: number the strings of one piece in the order of the parts, and note which are new in each."""
    from edgewise.ingest.arrow import ColumnNumbers

    batches = [_pieces_of(folder, part).get_batch(piece) for part in parts]
    kind = batches[0].column("id").type
    numbers = ColumnNumbers(kind, kind, -(-sum(map(len, batches)) // 2))
    entries, firsts = [np.empty(0, np.uint32)], [np.empty(0, np.uint32)]
    for batch in batches:
        known = numbers.strings.count
        found = numbers.add_column(batch.column("id")) if len(batch) else np.empty(0, np.uint32)
        entries.append(found)
        firsts.append(batch.column("number").to_numpy()[found >= known])
    write_array(folder, f"{name}.entries.npy", np.concatenate(entries))
    write_array(folder, f"{name}.firsts.npy", np.concatenate(firsts))
    return {"rows": [len(one) for one in entries[1:]], "new": [len(one) for one in firsts[1:]]}


def write_array(folder: TaskFolder, name: str, array: np.ndarray) -> None:
    """Write a file with one array."""
    with folder.written(name) as path, open(path, "wb") as file:
        np.save(file, array)


def _slice(folder, dictionary, column, position):
    """The entries or firsts of one part in a dictionary; the rows of the parts before come first."""
    counts = folder.facts_of(dictionary)[{"entries": "rows", "firsts": "new"}[column]]
    start = sum(counts[:position])
    mapped = np.load(folder.file(f"{dictionary}.{column}.npy"), mmap_mode="r")
    return mapped[start : start + counts[position]]


def order(folder: TaskFolder, name: str, *, part: str, position: int, dictionaries: list[str]) -> dict:
    """Task: rank the strings that are new in a part, and write them in this order."""
    import pyarrow as pa

    is_new = np.zeros(folder.facts_of(part)["numbers"], bool)
    for one in dictionaries:
        is_new[_slice(folder, one, "firsts", position)] = True
    ranks = np.cumsum(is_new, dtype=np.uint32) - is_new.astype(np.uint32)
    write_array(folder, f"{name}.ranks.npy", ranks)
    pieces, new, found = _pieces_of(folder, part), [], [np.empty(0, np.uint32)]
    for piece in range(pieces.num_record_batches):
        batch = pieces.get_batch(piece)
        numbers = batch.column("number").to_numpy()
        chosen = np.flatnonzero(is_new[numbers])
        new.append(batch.column("id").take(pa.array(chosen)))
        found.append(ranks[numbers[chosen]])
    places = np.concatenate(found)
    rows = np.empty(len(places), np.uint32)
    rows[places] = np.arange(len(places), dtype=np.uint32)
    ids = pa.concat_arrays(new).take(pa.array(rows))
    write_column(folder, f"{name}.arrow", ids)
    return {"new": len(ids), "bytes": ids.nbytes}


def numbered(folder: TaskFolder, name: str, *, dictionary: str, orders: list[str], bases: list[int]) -> dict:
    """Task: the numbers of the strings of a dictionary, in its order; the ranks count from ``bases``."""
    kind = index_type(bases[-1])
    numbers: list[Any] = [np.empty(0, kind)]
    for position, one in enumerate(orders):
        found = _slice(folder, dictionary, "firsts", position)
        if position:
            found = np.load(folder.file(f"{one}.ranks.npy"), mmap_mode="r")[found]
        numbers.append((found.astype(np.int64) + bases[position]).astype(kind))
    write_array(folder, f"{name}.npy", np.concatenate(numbers))
    return {}


def renumbered(
    folder: TaskFolder, name: str, *, part: str, position: int, tables: list[list[str]], count: int
) -> dict:
    """Task: rewrite a part with the numbers of its strings; ``tables`` are dictionaries and their numbers."""
    import pyarrow.parquet as parquet

    pieces, facts = _pieces_of(folder, part), folder.facts_of(part)
    numbers = np.empty(facts["numbers"], index_type(count))
    for piece, (one, table) in enumerate(tables):
        found = np.load(folder.file(f"{table}.npy"), mmap_mode="r")
        local = pieces.get_batch(piece).column("number").to_numpy()
        numbers[local] = found[_slice(folder, one, "entries", position)]
    with parquet.ParquetFile(folder.file(f"{part}.parquet")) as stored:
        kinds = {field.name: field.type.to_pandas_dtype() for field in stored.schema_arrow}
        with table_writer(folder, name, kinds | dict.fromkeys(ENDS, numbers.dtype)) as write:
            for batch in stored.iter_batches(1 << 20):
                columns = dict(zip(batch.schema.names, (column.to_numpy() for column in batch.columns)))
                columns |= {end: numbers[columns[end]] for end in ENDS}
                write(*columns.values())
    largest = int(numbers.max()) + 1 if len(numbers) else 0
    return facts | {"ids": "dense", "numbers": largest}


def strings_in_order(folder: TaskFolder, orders: list[str], kind: Any) -> tuple[Any, list]:
    """The type of the strings of all parts, ``kind`` unless its offsets are too short, and their chunks."""
    import pyarrow as pa

    files = [pa.ipc.open_file(pa.memory_map(str(folder.file(f"{one}.arrow")))) for one in orders]
    chunks = [file.get_batch(0).column("id") for file in files]
    ends = [strings_of(chunk).starts[[0, -1]].astype(np.int64) for chunk in chunks]
    if sum(int(stop - start) for start, stop in ends) > MOST_BYTES:
        kind = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}[kind]
    return kind, chunks


def all_strings(folder: TaskFolder, orders: list[str], kind: Any) -> Any:
    """The strings of all parts in the order of their numbers, as an Arrow array like that of one process."""
    import pyarrow as pa

    kind, chunks = strings_in_order(folder, orders, kind)
    return pa.concat_arrays([chunk.cast(kind) for chunk in chunks])


class StoredStrings:
    """The same strings, which stay in their files."""

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
