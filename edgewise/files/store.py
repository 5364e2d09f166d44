"""Tables in shards on disk: a folder of files, and a manifest that says which belong to it.

A store is written shard by shard, so that memory holds a few row groups, into a folder with another name,
which is renamed when the manifest is written: there is no store of which a part is missing, whatever
interrupts the writer.  Readers take the shards of a folder with a manifest in its order, and compare their
sizes with it.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from edgewise.errors import FileError
from edgewise.files.atomic_write import writing

MANIFEST, VERSION = "manifest.json", 1
#: Rows of a shard, where no number of shards is given.
SHARD_ROWS = 1 << 22


class Shape(NamedTuple):
    """How rows are divided: shards of ``rows`` rows, of which the last of ``most`` takes all further ones."""

    rows: int
    most: int | None = None


@contextmanager
def new_folder(folder: str | os.PathLike, part: str = "", *, lasts: bool = False) -> Iterator[Path]:
    """Context with an empty folder, which is renamed to ``folder`` when the block ends without an error.

    ``part`` tells its name from those of other writers of the same folder.  If it ``lasts``, it stays after
    an error, and the next writer with the same ``part`` continues with what is there.
    """
    path = Path(os.path.abspath(folder))
    unfinished = path.with_name(f".part-{part or os.getpid()}-{path.name}")
    with writing(path):
        check_new(path)
        unfinished.mkdir(exist_ok=lasts)
        try:
            yield unfinished
            os.replace(unfinished, path)
            lasts = False
        finally:
            if not lasts:
                shutil.rmtree(unfinished, ignore_errors=True)


def check_new(path: Path) -> None:
    """Raise FileError if something other than an empty folder is at a path."""
    if path.exists() and (not path.is_dir() or os.listdir(path)):
        raise FileError(path, "is there already; name a new folder")


def write_store(
    tables: Iterable[Any], folder: str | os.PathLike, shape: Shape, writer: Callable, holds: str = "edges"
) -> dict:
    """Write tables with the same columns to a new folder; return the manifest.

    ``writer(table, stream)`` writes a shard, in the format that its name, ``write_parquet``, ends with;
    ``holds`` says what the rows are.
    """
    with new_folder(folder) as path:
        rows = Rows(tables)
        names: list[str] = []
        while not names or rows.left():
            names.append(shard_name(len(names), writer))
            last = len(names) == shape.most
            with open(path / names[-1], "wb") as file:
                writer(rows.take(None if last else shape.rows), file)
        return write_manifest(path, names, rows.counts, (holds, rows.schema.names))


def shard_name(number: int, writer: Callable) -> str:
    """Name of a shard."""
    return f"{number:05}.{writer.__name__.rpartition('_')[2]}"


def write_manifest(folder: Path, names: list[str], rows: list[int], content: tuple) -> dict:
    """Write the manifest of shards that are in a folder; ``content`` is what they hold, and the columns."""
    shards = [
        {"name": name, "rows": count, "bytes": (folder / name).stat().st_size}
        for name, count in zip(names, rows, strict=True)
    ]
    facts = {"edgewise_store": VERSION, "holds": content[0], "columns": list(content[1])}
    facts |= {"rows": sum(rows), "shards": shards}
    (folder / MANIFEST).write_text(json.dumps(facts, indent=1))
    return facts


class Rows:
    """The rows of tables with the same columns; ``counts`` is how many of them each shard has taken."""

    def __init__(self, tables: Iterable[Any]):
        self.tables = iter(tables)
        self.rest = _as_table(next(self.tables))
        self.schema = self.rest.schema
        self.counts: list[int] = []

    def left(self) -> bool:
        """Whether there are rows that no shard has taken."""
        while not self.rest.num_rows and (table := next(self.tables, None)) is not None:
            self.rest = _as_table(table).cast(self.schema)
        return bool(self.rest.num_rows)

    def take(self, count: int | None) -> Any:
        """A reader of the next ``count`` rows, or of all that are left, which are read on request."""
        import pyarrow as pa

        self.counts.append(0)
        return pa.RecordBatchReader.from_batches(self.schema, self._taken(count))

    def _taken(self, count):
        while self.left() and (count is None or self.counts[-1] < count):
            table = self.rest.slice(0, None if count is None else count - self.counts[-1])
            self.rest = self.rest.slice(table.num_rows)
            self.counts[-1] += table.num_rows
            yield from table.to_batches()


def _as_table(table):
    import pyarrow as pa

    return pa.Table.from_batches([table]) if isinstance(table, pa.RecordBatch) else table


def manifest_of(folder: str | os.PathLike) -> dict | None:
    """The manifest of a store, with the ``bytes`` of shards by name, or ``None`` if a folder is no store.

    FileError if it is damaged.
    """
    manifest = Path(folder) / MANIFEST
    try:
        facts = json.loads(manifest.read_bytes())
        if not isinstance(facts, dict) or "edgewise_store" not in facts:
            return None
        if facts["edgewise_store"] == VERSION:
            return (
                {"holds": "edges"} | facts | {"bytes": {one["name"]: one["bytes"] for one in facts["shards"]}}
            )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, KeyError):
        raise FileError(manifest, "is damaged; convert the edges again, or remove it") from None
    raise FileError(manifest, "was written by another version of edgewise; convert the edges again")


def shards_of(folder: Path) -> list[Path] | None:
    """Paths of the shards of a store, in order; ``None`` if a folder is no store.

    FileError if a shard is missing, or has another size than the one that was written.
    """
    facts = manifest_of(folder)
    if facts is None:
        return None
    for name, size in facts["bytes"].items():
        try:
            found = (folder / name).stat().st_size
        except FileNotFoundError:
            raise FileError(folder / name, f"is missing, and {MANIFEST} names it; restore it") from None
        if found != size:
            problem = f"has {found:,} bytes, and {size:,} according to {MANIFEST}"
            raise FileError(folder / name, f"{problem}; restore it, or convert the edges again")
    return [folder / name for name in facts["bytes"]]


def is_store(paths: Iterable[str | os.PathLike]) -> bool:
    """Whether files are all shards of one store, in order."""
    files = [Path(path) for path in paths]
    return len(files) > 1 and (files[0].parent / MANIFEST).is_file() and shards_of(files[0].parent) == files
