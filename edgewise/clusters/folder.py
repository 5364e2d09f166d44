"""A store on disk: a folder with a manifest, files for each entry, and a base.

=========================  ======================================================================
file                       holds
=========================  ======================================================================
``manifest.json``          the entries, their files, and the base; what it does not name is not there
``00000007-asked.parquet``    what was asked: pairs, records and decisions, by numbers of records
``00000007-members.parquet``  the records that got another cluster: number, id and cluster
``00000007-log.parquet``      the log of clusters
``00000007-delta.npz``     the same as changes of arrays, to open the store quickly
``base-00000005``          the arrays of the store after an entry, to be mapped into memory
=========================  ======================================================================

The files of Parquet are never written again, and everything else can be made of them: a store whose base or
deltas are damaged does its entries anew.  The base has room for a quarter more, so that deltas are taken in
where it is mapped, in pages of the process alone.  Once deltas are longer than that, the next entry writes
another base, without the pairs that are removed.

An entry is there when the manifest is, which is replaced after the tables of the entry are on disk.  They
are written at the same time; what was asked is, while it is worked out what that changes.  Files of an entry
that was killed or refused are written again.  One process writes, with a lock that ends with it; readers need
none, since files that are there do not change.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from edgewise.clusters.batch import Request, worked_out
from edgewise.clusters.history import Entry, asked_table, members_table, request_in
from edgewise.clusters.ids import column_of, parts_of
from edgewise.clusters.runs import Run
from edgewise.clusters.state import SETTINGS, Delta, Facts, State
from edgewise.errors import EdgewiseError, FileError
from edgewise.files import checksum
from edgewise.files.atomic_write import LOCKS, atomic_write, writing
from edgewise.files.store import MANIFEST, new_folder
from edgewise.files.streams import reading
from edgewise.files.write_tables import write_parquet
from edgewise.ownership import check_owner
from edgewise.streams.checkpoint import load_state, save_state

#: The fact that says that a manifest is one of clusters, and its version; older ones can be read, too.
MARK, VERSION, OLDEST = "edgewise_clusters", 2, 1
DAMAGED = "is damaged; restore it from a copy"
#: Most files that are written at the same time, those of an entry.
FILES = 4
#: Name of the file with the lock of the process that writes.
LOCK = "lock"
#: Share of the base that deltas may have, and that is left free in its files.
SPARE = 0.25
#: Bytes of deltas for which no base is written.
FEW_BYTES = 1 << 20
#: How often a reader looks for a newer manifest, if files that it was to read are not there any more.
TRIES = 3


def create(path, settings) -> "Folder":
    """A new store in a new folder."""
    with new_folder(path) as part:
        folder = Folder(path)
        folder.facts = {MARK: VERSION, **settings, "entries": [], "base": None}
        _write_manifest(part, folder.facts)
    return folder


class Folder:
    """The files of a store; ``facts`` are those of its manifest.

    ``needs_base`` tells that the next entry writes a base, since that or a delta is damaged.
    """

    def __init__(self, path):
        self.path = Path(path)
        self.facts: dict[str, Any] = {}
        self.needs_base = False

    def load(self, _=None) -> State:
        """The state after the last entry."""
        for _ in range(TRIES):
            self.facts = read_manifest(self.path)
            with suppress(OSError, ValueError, KeyError, EdgewiseError):
                return self._from_arrays()
            if read_manifest(self.path) == self.facts:
                break
        return self._done_again()

    def _empty(self):
        """The state before the first entry; a store of version 1 has a threshold only."""
        return State({name: self.facts.get(name) for name in SETTINGS})

    def _from_arrays(self):
        """The state out of the base and the deltas."""
        state, base = self._empty(), self.facts["base"]
        if base is not None:
            _take_base(state, self.path / base["name"], base)
        for entry in self.facts["entries"][state.facts.entry :]:
            state.take(delta_in(load_state(self.file(entry["entry"], "delta.npz"), DAMAGED), entry))
        return state

    def _done_again(self):
        """The state out of what was asked, entry by entry; the next entry writes a base."""
        state = self._empty()
        for entry in self.facts["entries"]:
            asked, members = (self.table(entry, name) for name in ("asked", "members"))
            request = request_in(asked, members, Facts(**entry["facts"]), state)
            state.take(worked_out(state, request)[0])
        self.needs_base = True
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
        return len(read_manifest(self.path)["entries"]) == len(self.facts["entries"])

    @contextmanager
    def appending(self, request: Request, state: State) -> Iterator[Callable[[Entry], None]]:
        """Context with a function that appends the entry of a request, and has the state take it in.

        What was asked is written in the meantime.
        """
        number = state.facts.entry + 1
        with ThreadPoolExecutor(FILES, "edgewise-write") as pool:

            def write(name, make):
                return pool.submit(self._write_file, number, name, make)

            asked = write("asked", partial(asked_table, request))
            yield partial(self._append, state, write, asked)

    def _append(self, state, write, asked, entry):
        self._remove_leftovers()
        needs_base = self.needs_base or self._needs_base(_bytes_of(entry.delta))
        files = {"asked": asked, "log": write("log", lambda: entry.table)}
        if not needs_base:
            files["delta"] = write("delta", lambda: entry.delta)
        members = members_table(entry, state)  # before the state takes the entry in
        files["members"] = write("members", lambda: members)
        facts = dict(self.facts, entries=[*self.facts["entries"]]) | {MARK: VERSION}
        state.take(entry.delta)
        if needs_base:
            state.leave_out_removed()
            facts["base"] = _write_base(state, self.path)
        about = {"entry": entry.number, "time": entry.time.isoformat(), "cause": entry.cause}
        about |= {"facts": entry.delta.facts._asdict()}
        about |= {"files": {name: written.result() for name, written in files.items()}}
        facts["entries"].append(about)
        _write_manifest(self.path, facts)
        self.facts, self.needs_base = facts, False

    def _write_file(self, number, name, make):
        """Write the table or the delta that ``make()`` returns; return what the manifest says of it.

        A table is on disk then.  A delta, which has a checksum of its own, is soon: if it is lost with the
        power, entries are done anew.
        """
        made = make()
        if isinstance(made, Delta):
            path = self.file(number, f"{name}.npz")
            save_state(path, {}, arrays_of(made))
            return {"bytes": path.stat().st_size}
        path = self.file(number, f"{name}.parquet")
        with open(path, "wb") as file:
            stream = checksum.CheckedWriter(path, file)
            write_parquet(made, stream)
        _sync(path)
        return {"bytes": path.stat().st_size, "crc32": stream.checksum()}

    def _needs_base(self, n_bytes):
        """Whether the deltas with another one of so many bytes are too long."""
        base = self.facts["base"]
        since = 0 if base is None else base["entry"]
        deltas = [one["files"].get("delta") for one in self.facts["entries"][since:]]
        n_bytes += sum(one["bytes"] for one in deltas if one is not None)
        if None in deltas or n_bytes > SPARE * (0 if base is None else base["bytes"]):
            return None in deltas or n_bytes > FEW_BYTES
        return False

    def _remove_leftovers(self):
        """Remove bases and deltas that the manifest does not need, and what was left of a kill.

        A part of a delta, whose name begins with a dot, is removed when the delta is written.
        """
        base = self.facts["base"] or {"name": "", "entry": 0}
        for one in os.scandir(self.path):
            if one.name.startswith("base-") and one.name != base["name"]:
                shutil.rmtree(one.path, ignore_errors=True)
                continue
            number, _, kind = one.name.partition("-")
            if kind == "delta.npz" and number.isdigit() and int(number) <= base["entry"]:
                os.unlink(one.path)

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
        with open(file, "rb") as stream:
            facts = json.loads(stream.read())
            check_owner(file, stream.fileno(), "copy the store if it is right")
        if not isinstance(facts, dict) or MARK not in facts:
            raise FileError(path, "is no store of clusters; name the folder of one")
        if not isinstance(facts[MARK], int) or not OLDEST <= facts[MARK] <= VERSION:
            problem = f"is of another version of edgewise (format {facts[MARK]!r}, not {VERSION})"
            raise FileError(path, f"{problem}; open it with that version")
        if facts.pop("checksum") != _checksum(facts):
            raise ValueError("other facts than were written")
        return facts
    except (FileNotFoundError, NotADirectoryError):
        remedy = "create one with ClusterStore.create, or edgewise clusters open"
        raise FileError(path, f"holds no store of clusters; {remedy}") from None
    except FileError:
        raise
    except OSError as error:
        raise FileError(path, f"cannot be read ({error.strerror}); check its permissions") from error
    except (ValueError, KeyError, TypeError, RecursionError):
        raise FileError(file, DAMAGED) from None


def _checksum(facts):
    return checksum.of_bytes([json.dumps(facts, sort_keys=True).encode()])


def _write_manifest(path, facts):
    """Replace a manifest, on disk."""
    with atomic_write(path / MANIFEST) as part:
        part.write_text(json.dumps(facts | {"checksum": _checksum(facts)}, indent=1))
        _sync(part)
    _sync(path)


def _sync(path):
    """Wait until a file, or what a folder says of its files, is on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def arrays_of(delta: Delta) -> dict:
    """The arrays of a delta by name."""
    arrays = {name: value for name, value in delta._asdict().items() if name not in ("facts", "new_ids")}
    return arrays | ({} if delta.new_ids is None else parts_of(delta.new_ids))


def _bytes_of(delta):
    return sum(array.nbytes for array in arrays_of(delta).values())


def delta_in(saved, entry) -> Delta:
    """The delta of an entry of the manifest out of what was saved."""
    arrays, facts = saved[1], Facts(**entry["facts"])
    own = {name: arrays[name] for name in Delta._fields if name in arrays}
    return Delta(facts=facts, new_ids=column_of(arrays, facts.kind), **own)


def _parts(state):
    """What grows in a state, by name."""
    return state.parts | ({} if state.ids is None else state.ids.parts)


def _runs(state):
    """The runs of a state, by name."""
    return {"pair": state.pair_runs} | ({} if state.ids is None else {"id": state.ids.runs})


def _base_arrays(state):
    """The arrays of a state by name."""
    arrays = {name: part.used_items() for name, part in _parts(state).items()}
    for name, one in _runs(state).items():
        arrays[f"{name}-keys"], arrays[f"{name}-rows"] = one.whole()
    return arrays | {"musts": state.musts, "cannots": state.cannots}


def _write_base(state, path):
    """Write the arrays of a state, with room for more; return what the manifest says of them."""
    name = f"base-{state.facts.entry:08}"
    shutil.rmtree(path / name, ignore_errors=True)
    (path / name).mkdir()
    about: dict[str, Any] = {"name": name, "entry": state.facts.entry, "facts": state.facts._asdict()}
    arrays, parts = _base_arrays(state), _parts(state)
    with ThreadPoolExecutor(FILES, "edgewise-write") as pool:
        rooms = (len(array) + (one in parts) * int(SPARE * len(array)) for one, array in arrays.items())
        files = (path / name / f"{one}.npy" for one in arrays)
        sizes = pool.map(_write_array, files, arrays.values(), rooms)
        about["arrays"] = {one: [len(arrays[one]), size] for one, size in zip(arrays, sizes)}
    about["bytes"] = sum(array.nbytes for array in arrays.values())
    _sync(path / name)
    return about


def _write_array(path, array, room):
    """Write an array with room for so many items, on disk; return the bytes of the file."""
    with open(path, "wb") as stream:
        header = {"descr": array.dtype.str, "fortran_order": False, "shape": (room,)}
        np.lib.format.write_array_header_1_0(stream, header)
        array.tofile(stream)
        stream.truncate(stream.tell() + (room - len(array)) * array.itemsize)
    _sync(path)
    return path.stat().st_size


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
    for name, one in _runs(state).items():
        keys, rows = (arrays[f"{name}-{of}"][: used[f"{name}-{of}"]] for of in ("keys", "rows"))
        one.runs = [Run(keys, rows)] if len(keys) else []
    state.musts, state.cannots = (arrays[name][: used[name]] for name in ("musts", "cannots"))
