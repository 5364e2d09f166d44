"""A store on disk: a folder with a manifest, files for each entry, and a base.

============================  ======================================================================
file                          holds
============================  ======================================================================
``manifest.json``             the entries and their files; an entry that it does not name is not there
``00000007-asked.parquet``    what was asked: pairs, records and decisions, by numbers of records
``00000007-ids.parquet``      the records that are new: number and id
``00000007-members.parquet``  the records that got another cluster or tree: number, cluster, tree
``00000007-log.parquet``      the log of clusters
``base-00000005``             the arrays of the store after an entry, to be mapped into memory
============================  ======================================================================

The files of Parquet are never written again, and everything else can be made of them.  A store is opened by
its base and the entries after that, whose tables say what came of them.  Its arrays have room for a quarter
more, so that changes are taken in where they are mapped, in pages of the process alone.

An entry is there when the manifest is, which is replaced after the tables of the entry are on disk.  They
are written at the same time, by all cores.  Files of an entry that is not in the manifest, since its process
was killed or the disk was full, are written again.  One process writes, with a lock that ends with it;
readers need none, since files that are there do not change.

Once the changes after the base are more than a quarter of it, another one is written while the process goes
on, of the arrays that only grow, and copies of the others.  The manifest does not name it: it is what some
entries, which do not change any more, have made of nothing, so it may come whenever it is complete, or not at
all.  It is renamed then, and says what it holds.  Where it is away, of another
length or of other entries, all entries are taken in.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from edgewise.clusters.history import Entry, asked_table, delta_in, ids_table, log_schema, members_table
from edgewise.clusters.runs import Run
from edgewise.clusters.state import SETTINGS, Delta, Facts, State
from edgewise.device import threads
from edgewise.errors import EdgewiseError, FileError
from edgewise.files import checksum
from edgewise.files.atomic_write import LOCKS, atomic_folder, atomic_write, writing
from edgewise.files.store import MANIFEST, new_folder
from edgewise.files.streams import reading
from edgewise.files.write_tables import write_parquet
from edgewise.ownership import check_owner

#: The fact that says that a manifest is one of clusters, and its version.
MARK, VERSION = "edgewise_clusters", 3
DAMAGED = "is damaged; restore it from a copy"
#: Rows of the row groups, each of which is encoded by one core.
ROW_GROUP = 1 << 17
#: Columns whose values repeat, by file; of what was asked, a sample shows them.
REPEATING = {"ids": (), "members": (), "log": ("entry", "time", "cause", "change")}
#: Items that a thread copies at a time.
PIECE = 1 << 20
#: Parts of a state whose items change in place.
CHANGING = ("scores", "trees", "clusters")
#: The facts of a base where there is none.
NO_BASE = {"entry": 0, "bytes": 0}
#: Name of the file with the lock of the process that writes.
LOCK = "lock"
#: Share of the base that changes after it may have, and that is left free in its files.
SPARE = 0.25
#: Bytes of changes for which no base is written.
FEW_BYTES = 1 << 20
#: How often a reader looks for a newer manifest, if files that it was to read are not there any more.
TRIES = 3


def create(path, settings) -> "Folder":
    """A new store in a new folder."""
    with new_folder(path) as part:
        folder = Folder(path)
        folder.facts = {MARK: VERSION, **settings, "entries": []}
        _write_facts(part / MANIFEST, folder.facts)
    return folder


class Folder:
    """The files of a store.

    Attributes
    ----------
    facts : dict
        Those of its manifest.
    base : dict
        Those of the base that was read, or that was begun last, whether it could be written or not.
    """

    def __init__(self, path):
        self.path = Path(path)
        self.facts: dict[str, Any] = {}
        self.base = NO_BASE
        self._writing: Future | None = None
        self._writer = 0

    def load(self, _=None) -> State:
        """The state after the last entry: that of the base, and what entries after it have changed."""
        self.wait()
        for _ in range(TRIES):
            self.facts, self.base = read_manifest(self.path), NO_BASE
            bases = list(self.path.glob("base-*"))
            if not bases:
                break
            own = [one for one in bases if self._number(one) <= self.n_entries]  # none, if all are newer
            with suppress(OSError, ValueError, LookupError, TypeError, EdgewiseError):
                return self._continued(*self._from_base(max(own)))
        return self._continued(self._empty(), NO_BASE)

    @property
    def n_entries(self) -> int:
        """Number of entries of the manifest."""
        return len(self.facts["entries"])

    @staticmethod
    def _number(path):
        """The entry of a base by its name."""
        number = path.name.partition("-")[2]
        return int(number) if number.isdigit() else sys.maxsize

    def _empty(self):
        """The state before the first entry."""
        return State({name: self.facts[name] for name in SETTINGS})

    def _from_base(self, folder):
        """The state in a base, and the facts of that; ValueError if it is not one of this store."""
        base, state = _read_facts(folder / MANIFEST), self._empty()
        _take_base(state, folder, base)
        entries = self.facts["entries"][: state.facts.entry]
        is_own = state.facts == Facts(**entries[-1]["facts"])
        if not is_own or base["history"] != _checksum({"entries": entries}):
            raise ValueError("the base is of another store")
        return state, base

    def _continued(self, state, base):
        """A state of some entries after those that follow."""
        for entry in self.facts["entries"][state.facts.entry :]:
            tables = {name: self.table(entry, name) for name in ("asked", "ids", "members")}
            with threads.few_steps(state.n_records + state.n_pairs + tables["asked"].num_rows):
                state.take(delta_in(tables, Facts(**entry["facts"]), state))
        self.base = base
        return state

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Context in which no other process writes."""
        with writing(self.path / LOCK), open(self.path / LOCK, "ab") as file:
            if LOCKS:
                import fcntl

                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    problem = "another process is writing to this store; repeat this when it is done"
                    raise FileError(self.path, problem) from None
            yield

    def is_current(self) -> bool:
        """Whether no other process has added an entry."""
        return len(read_manifest(self.path)["entries"]) == self.n_entries

    def append(self, entry: Entry, state: State) -> Any:
        """Append an entry, which a state takes in; return its log.

        Loops of several threads end before tables are encoded, since both would use every core.
        """
        log, ids = entry.table(), partial(ids_table, entry.request, state.n_records)
        state.take(entry.delta)
        makers: dict[str, Callable] = {"asked": partial(asked_table, entry.request), "ids": ids}
        makers |= {"members": partial(members_table, entry.delta), "log": lambda: log}
        about = {"entry": entry.number, "time": entry.time.isoformat(), "cause": entry.cause}
        about |= {"facts": entry.delta.facts._asdict(), "bytes": bytes_of(entry.delta)}
        with ThreadPoolExecutor(len(makers), "edgewise-write") as pool:
            files = pool.map(partial(self._write_table, entry.number), makers, makers.values())
            table = log.cast(log_schema())
            about["files"] = dict(zip(makers, files))
        facts = self.facts | {"entries": [*self.facts["entries"], about]}
        _write_facts(self.path / MANIFEST, facts)
        self.facts = facts
        if self._needs_base():
            with suppress(MemoryError, RuntimeError, OSError):  # the entry is there
                self._begin_base(state)
        return table

    def _write_table(self, number, name, make):
        """Write the table that ``make()`` returns, on disk; return what the manifest says of it."""
        path = self.file(number, f"{name}.parquet")
        with threads.limited(1):
            table = make()
        with open(path, "wb") as file:
            stream = checksum.CheckedWriter(path, file)
            write_parquet(table, stream, ROW_GROUP, REPEATING.get(name), keeps_types=name == "ids")
        _sync(path)
        return {"bytes": path.stat().st_size, "crc32": stream.checksum()}

    def _needs_base(self):
        """Whether what has changed since the base is too long, and none is written yet."""
        if (writing := self._own_writing()) and not writing.done():
            return False
        n_bytes = sum(one["bytes"] for one in self.facts["entries"][self.base["entry"] :])
        return n_bytes > max(SPARE * self.base["bytes"], FEW_BYTES)

    def _begin_base(self, state):
        """Write the arrays of a state as the base, with room for more, while the caller goes on.

        Other threads do this, to the end of the process if need be.  If it cannot be done, the base before
        stays, and another one is begun once as much has changed after this one.
        """
        arrays = _arrays(state)
        base: dict[str, Any] = {MARK: VERSION, "entry": state.facts.entry, "facts": state.facts._asdict()}
        base |= {"n_removed": state.n_removed, "history": _checksum({"entries": self.facts["entries"]})}
        base["bytes"] = sum(array.nbytes for array in arrays.values())
        self.base = base
        arrays |= _copied({name: arrays[name] for name in CHANGING})
        pool = ThreadPoolExecutor(1, "edgewise-base")
        self._writing, self._writer = pool.submit(self._write_base, arrays, base), os.getpid()
        pool.shutdown(wait=False)

    def _write_base(self, arrays, base):
        """Write a base, and remove those before it."""
        with atomic_folder(self.path / "base") as part:
            base["arrays"] = {name: _write_array(part / f"{name}.npy", one) for name, one in arrays.items()}
            _write_facts(part / MANIFEST, base)
            goal = self.path / f"base-{base['entry']:08}"
            shutil.rmtree(goal, ignore_errors=True)  # which was damaged
            os.replace(part, goal)
        _sync(self.path)
        for one in self.path.glob("base-*"):
            if self._number(one) < base["entry"]:
                shutil.rmtree(one, ignore_errors=True)

    def wait(self) -> None:
        """Wait until no base is being written."""
        if writing := self._own_writing():
            writing.exception()
        self._writing = None

    def _own_writing(self):
        """The base that this process writes, or None; a process that was forked writes none."""
        return self._writing if self._writer == os.getpid() else None

    def __getstate__(self):
        return self.__dict__ | {"_writing": None}

    def file(self, entry, name) -> Path:
        """Path of a file of an entry."""
        return self.path / f"{entry:08}-{name}"

    def table(self, entry, name, columns=None):
        """A table of an entry of the manifest, after a check that it is what was written."""
        import pyarrow.parquet as parquet

        path, written = self.file(entry["entry"], f"{name}.parquet"), entry["files"][name]
        with reading(path):
            if path.stat().st_size != written["bytes"] or checksum.of_file(path) != written["crc32"]:
                raise FileError(path, DAMAGED)
            return parquet.read_table(path, columns=columns)

    def log_tables(self):
        """The log, a table for each entry."""
        return [self.table(entry, "log") for entry in self.facts["entries"]]

    def changed(self, last):
        """Records and their clusters by entry, up to the ``last`` one."""
        for entry in self.facts["entries"][:last]:
            table = self.table(entry, "members", ["record", "cluster"])
            yield tuple(table[name].to_numpy() for name in ("record", "cluster"))


def read_manifest(path: Path) -> dict:
    """The facts of a store; FileError if there is none, or it is damaged, of another version or user."""
    file = Path(path) / MANIFEST
    try:
        return _read_facts(file)
    except (FileNotFoundError, NotADirectoryError):
        remedy = "create one with ClusterStore.create, or edgewise clusters open"
        raise FileError(path, f"holds no store of clusters; {remedy}") from None
    except FileError:
        raise
    except OSError as error:
        raise FileError(path, f"cannot be read ({error.strerror}); check its permissions") from error
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FileError(file, DAMAGED) from None


def _read_facts(file):
    """The facts in a file, after a check that they are what this version has written."""
    with open(file, "rb") as stream:
        facts = json.loads(stream.read())
        check_owner(file, stream.fileno(), "copy the store if it is right")
    if not isinstance(facts, dict) or MARK not in facts:
        raise FileError(file.parent, "is no store of clusters; name the folder of one")
    if facts[MARK] != VERSION:
        problem = f"is of another version of edgewise (format {facts[MARK]!r}, not {VERSION})"
        raise FileError(file.parent, f"{problem}; open it with that version")
    if facts.pop("checksum") != _checksum(facts):
        raise ValueError("other facts than were written")
    return facts


def _checksum(facts):
    return checksum.of_bytes([json.dumps(facts, sort_keys=True).encode()])


def _write_facts(path, facts):
    """Replace a file of facts, on disk."""
    with atomic_write(path) as part:
        part.write_text(json.dumps(facts | {"checksum": _checksum(facts)}))
        _sync(part)
    _sync(path.parent)


def _sync(path):
    """Wait until a file, or what a folder says of its files, is on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _parts(state):
    """What grows in a state, by name."""
    return state.parts | ({} if state.ids is None else state.ids.parts)


def _runs(state):
    """The runs of a state, by name."""
    return {"pair": state.pair_runs} | ({} if state.ids is None else {"id": state.ids.runs})


def bytes_of(delta: Delta) -> int:
    """Bytes of the arrays of a delta."""
    ids = 0 if delta.new_ids is None else delta.new_ids.nbytes
    return ids + sum(one.nbytes for one in delta if isinstance(one, np.ndarray))


def _arrays(state):
    """The arrays of a state by name."""
    arrays = {name: part.used_items() for name, part in _parts(state).items()}
    for name, one in _runs(state).items():
        for number, run in enumerate(one.runs):
            arrays[f"{name}-keys-{number}"], arrays[f"{name}-rows-{number}"] = run
    return arrays | {"musts": state.musts, "cannots": state.cannots}


def _copied(arrays):
    """Copies of arrays by name, by all threads."""
    copies = {name: np.empty_like(array) for name, array in arrays.items()}
    pieces = (
        (copies[name][first : first + PIECE], array[first : first + PIECE])
        for name, array in arrays.items()
        for first in range(0, len(array), PIECE)
    )
    with ThreadPoolExecutor(threads.count(), "edgewise-copy") as pool:
        list(pool.map(lambda piece: np.copyto(*piece), pieces))
    return copies


def _write_array(path, array):
    """Write an array with room for more items, on disk; return its items and the bytes of the file."""
    room = len(array) + int(SPARE * len(array))
    with open(path, "wb") as stream:
        header = {"descr": array.dtype.str, "fortran_order": False, "shape": (room,)}
        np.lib.format.write_array_header_1_0(stream, header)
        array.tofile(stream)
        stream.truncate(stream.tell() + (room - len(array)) * array.itemsize)
    _sync(path)
    return len(array), path.stat().st_size


def _take_base(state, folder, about):
    """Map the arrays of a base into a state; ValueError if they are not those that were written."""
    arrays, used = {}, {}
    for name, (count, size) in about["arrays"].items():
        file = folder / f"{name}.npy"
        if file.stat().st_size != size:
            raise ValueError(f"{file} is damaged")
        arrays[name] = np.asarray(np.load(file, mmap_mode="c")) if count else np.load(file)
        used[name] = count
    state.facts = Facts(**about["facts"])
    state.set_ids()
    for name, part in _parts(state).items():
        part.array, part.used = arrays[name], used[name]
    arrays = {name: array[: used[name]] for name, array in arrays.items()}
    for name, one in _runs(state).items():
        numbers = range(sum(other.startswith(f"{name}-keys-") for other in arrays))
        one.runs = [Run(*(arrays[f"{name}-{of}-{number}"] for of in ("keys", "rows"))) for number in numbers]
    state.musts, state.cannots, state.n_removed = arrays["musts"], arrays["cannots"], about["n_removed"]
