"""Tables in shards on disk: a folder of files, and a manifest that says which belong to it.

A store is written shard by shard, so that memory holds a few row groups, into a folder with another name,
which is renamed when the manifest is written: there is no store of which a part is missing, whatever
interrupts the writer.  Readers take the shards of a folder with a manifest in its order, and compare their
sizes and checksums with it.

A manifest says what else is read, so it is read only if this user or the administrator owns it, and it names
nothing but files of its own folder.  Such a file may be a symbolic link, as a shard on another disk is: what
it leads to must be what was written, too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from edgewise.errors import FileError
from edgewise.files import checksum
from edgewise.files.atomic_write import atomic_folder, writing
from edgewise.ownership import check_owner, of_another

#: Name of the file that says what a store holds.
MANIFEST = "manifest.json"
#: Version of the manifests that are written.
VERSION = 2
#: Version of the manifests that have no checksums.
UNCHECKED = 1
DAMAGED = "is damaged; convert the edges again, or remove it"
#: Rows of a shard, where no number of shards is given.
SHARD_ROWS = 1 << 22


class Shape(NamedTuple):
    """How rows are divided: shards of ``rows`` rows, of which the last of ``most`` takes all further ones."""

    rows: int
    most: int | None = None


@contextmanager
def new_folder(folder: str | os.PathLike, part: str = "", *, lasts: bool = False) -> Iterator[Path]:
    """Context with an empty folder, which is renamed to ``folder`` when the block ends without an error.

    With ``part``, the name of the empty folder has that in it.  If it ``lasts``, it stays after an error, and
    the next writer with the same ``part`` continues with what is there.
    """
    path = Path(os.path.abspath(folder))
    with writing(path):
        check_new(path)
        with _lasting(path, part) if lasts else atomic_folder(path) as unfinished:
            yield unfinished
            os.replace(unfinished, path)


@contextmanager
def _lasting(path, part):
    """Context with a folder that stays after an error."""
    unfinished = path.with_name(f".part-{part}-{path.name}")
    unfinished.mkdir(exist_ok=True)
    yield unfinished


def check_new(path: Path) -> None:
    """Raise FileError if something other than an empty folder is at a path."""
    if path.exists() and (not path.is_dir() or os.listdir(path)):
        whole = ", a whole store" if (path / MANIFEST).is_file() else ""
        raise FileError(path, f"is there already{whole}; name a new folder, or remove it first")


def write_store(
    tables: Iterable[Any], folder: str | os.PathLike, shape: Shape, writer: Callable, holds: str = "edges"
) -> dict:
    """Write tables with the same columns to a new folder; return the manifest.

    ``writer(table, stream)`` writes a shard, in the format that its name, ``write_parquet``, ends with;
    ``holds`` says what the rows are.
    """
    with new_folder(folder) as path:
        rows = Rows(tables)
        shards: list[dict] = []
        while not shards or rows.left():
            file = path / shard_name(len(shards), writer)
            last = len(shards) + 1 == shape.most
            with open(file, "wb") as stream:
                writer(rows.take(None if last else shape.rows), stream)
            shards.append(shard_facts(file, rows.counts[-1]))
        return write_manifest(path, shards, (holds, rows.schema.names))


def shard_name(number: int, writer: Callable) -> str:
    """Name of a shard."""
    return f"{number:05}.{writer.__name__.rpartition('_')[2]}"


def shard_facts(path: Path, rows: int) -> dict:
    """What the manifest says of a shard that has been written to a path."""
    size = path.stat().st_size
    return {"name": path.name, "rows": rows, "bytes": size, "crc32": checksum.of_file(path)}


def write_manifest(folder: Path, shards: list[dict], content: tuple) -> dict:
    """Write the manifest of shards (:func:`shard_facts`); ``content`` is what they hold, and the columns."""
    facts: dict[str, Any] = {"edgewise_store": VERSION, "holds": content[0], "columns": list(content[1])}
    facts |= {"rows": sum(one["rows"] for one in shards), "shards": shards}
    facts["checksum"] = _checksum(facts)
    (folder / MANIFEST).write_text(json.dumps(facts, indent=1))
    return facts


def _checksum(facts):
    """Checksum of a manifest without its own."""
    facts = {name: value for name, value in facts.items() if name != "checksum"}
    return checksum.of_bytes([json.dumps(facts, sort_keys=True).encode()])


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
    """The manifest of a store, or ``None`` if a folder is no store.

    FileError if it is damaged, or belongs to another user.
    """
    manifest = Path(folder) / MANIFEST
    try:
        with open(manifest, "rb") as file:
            facts = json.loads(file.read())
            if not isinstance(facts, dict) or "edgewise_store" not in facts:
                return None
            pattern = os.path.join(folder, "*.parquet")
            check_owner(manifest, file.fileno(), f"name the shards to read them as tables: {pattern}")
        if facts["edgewise_store"] not in (UNCHECKED, VERSION):
            raise FileError(manifest, "was written by another version of edgewise; convert the edges again")
        facts = {"holds": "edges"} | facts
        _check_manifest(facts)
        return facts
    except (FileNotFoundError, NotADirectoryError):
        return None
    except FileError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise FileError(manifest, DAMAGED) from None


def _check_manifest(facts):
    """Raise ValueError unless a manifest is what was written, as far as it says so itself."""
    if (facts["edgewise_store"] == VERSION or "checksum" in facts) and facts["checksum"] != _checksum(facts):
        raise ValueError("other facts than were written")
    names = [one["name"] for one in facts["shards"]]
    if len(set(names)) < len(names) or not all(map(_is_plain, names)):
        raise ValueError("a shard is no file of the folder")
    counts = [facts["rows"], *(one["bytes"] for one in facts["shards"])]
    if any(type(one) is not int for one in counts) or not all(
        isinstance(one, str) for one in facts["columns"]
    ):
        raise ValueError("rows, columns and bytes are something else")


def _is_plain(name):
    """Whether a name is that of a file in the folder of the manifest, on every system."""
    return isinstance(name, str) and bool(name) and not set(name) & set("/\\:\0") and name not in (".", "..")


def shards_of(folder: Path) -> list[Path] | None:
    """Paths of the shards of a store, in order; ``None`` if a folder is no store.

    FileError if a shard is missing, or is not the one that was written.
    """
    facts = manifest_of(folder)
    if facts is None:
        return None
    for one in facts["shards"]:
        path, size = folder / one["name"], one["bytes"]
        try:
            found = path.stat().st_size
        except OSError:
            raise FileError(path, f"is missing, and {MANIFEST} names it; restore it") from None
        if found != size:
            problem = f"has {found:,} bytes, and {size:,} according to {MANIFEST}"
            raise FileError(path, f"{problem}; restore it, or convert the edges again")
        if "crc32" in one and one["crc32"] != checksum.of_file(path):
            problem = f"is not what was written, according to its checksum in {MANIFEST}"
            raise FileError(path, f"{problem}; restore it, or convert the edges again")
    return _paths(folder, facts)


def _paths(folder, facts):
    return [folder / one["name"] for one in facts["shards"]]


def is_store(paths: Iterable[str | os.PathLike]) -> bool:
    """Whether files are all shards of one store, in order; the store of another user is none."""
    files = [Path(path) for path in paths]
    folder = files[0].parent
    if len(files) < 2 or not (folder / MANIFEST).is_file() or of_another(folder / MANIFEST):
        return False
    facts = manifest_of(folder)
    return facts is not None and _paths(folder, facts) == files
