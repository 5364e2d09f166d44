"""Files that hold the state of a stream: checkpoints of interrupted runs, and streams that were saved.

A state is one ``.npz`` file, written under another name and renamed: facts as JSON, arrays, and a checksum
over all of them.  A checkpoint stores the inputs and options of the run and its position; a run with other
inputs is refused with a message that names the difference.

What is read is the state that was written, by this user or the administrator, or it is refused.  Files of
versions that wrote no checksum are read, too.
"""

import json
import os
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from edgewise.errors import EdgewiseError, FileError
from edgewise.files import checksum
from edgewise.files.atomic_write import atomic_write, writing
from edgewise.files.npz import check_expansion
from edgewise.files.streams import reading
from edgewise.ownership import check_owner

FORMAT = 2
DAMAGED = "is no checkpoint, or a damaged one; remove it to start again"
#: Name of the checksum, both of the array that holds it and of the fact that says that there is one.
CHECKSUM = "checksum"
FOREIGN = "copy it if it is right, or remove it"


def save_state(path, facts, arrays):
    """Write facts and arrays by name to a file, whole or not at all."""
    text = json.dumps(facts | {CHECKSUM: "crc32"}).encode()
    arrays = {"facts": np.frombuffer(text, np.uint8), **arrays}
    found = np.frombuffer(_checksum(arrays).encode(), np.uint8)
    with atomic_write(path) as part, writing(path), open(part, "wb") as file:
        np.savez(file, **(arrays | {CHECKSUM: found}))


def load_state(path, damaged):
    """Return the facts and arrays of a file; FileError, with the message ``damaged``, if it has none."""
    with reading(path), open(path, "rb") as stream:
        check_owner(path, stream.fileno(), FOREIGN)
        with damage_reported(path, damaged), np.load(stream, allow_pickle=False) as file:
            check_expansion(os.fstat(stream.fileno()).st_size, file.zip)
            arrays = {name: file[name] for name in file.files}
            found = arrays.pop(CHECKSUM, None)
            facts = json.loads(arrays["facts"].tobytes())
            if not isinstance(facts, dict):
                raise ValueError("the facts are no record")
            if (CHECKSUM in facts) != (found is not None):
                raise ValueError("there is a checksum where none was written, or none where one was")
            if found is not None and found.tobytes() != _checksum(arrays).encode():
                raise ValueError("the arrays are not those that were written")
            del arrays["facts"]
            facts.pop(CHECKSUM, None)
    return facts, arrays


def _checksum(arrays):
    """Checksum of arrays with their names, types and shapes."""
    parts = []
    for name, array in sorted(arrays.items()):
        parts += [f"{name} {array.dtype.str} {array.shape}".encode(), np.ascontiguousarray(array).data]
    return checksum.of_bytes(parts)


@contextmanager
def damage_reported(path, damaged):
    """Context that reports any error as the damage of a file, except those of edgewise itself.

    An interrupt is no damage, nor is the ``SystemError`` that libraries make of one if they expect none.
    """
    try:
        yield
    except (EdgewiseError, MemoryError, SystemError):
        raise
    except Exception as error:
        raise FileError(path, damaged) from error


def check_labels(labels):
    """Raise ValueError unless each label is the smallest vertex of a tree, and its own label."""
    vertices = np.arange(len(labels), dtype=np.int64)
    integers = labels.ndim == 1 and labels.dtype.kind in "iu"
    if not integers or bool(((labels < 0) | (labels > vertices)).any()):
        raise ValueError("a label is no vertex")
    if bool((labels[labels] != labels).any()):
        raise ValueError("a label has another label")


class Checkpoint:
    """A checkpoint at a path, for certain ``inputs``: a dict of what the run depends on, as JSON.

    Its ``files`` are a list of (path, bytes, time of the last change).
    """

    def __init__(self, path, inputs):
        self.path, self.inputs = Path(path), json.loads(json.dumps(inputs))

    def load(self):
        """Return what :meth:`save` was given, or ``None`` if there is no checkpoint.

        FileError if it is damaged, or belongs to other inputs; the message names what differs.
        """
        if not self.path.exists():
            return None
        facts, state = load_state(self.path, DAMAGED)
        with self.report_damage():
            self._compare(facts.pop("inputs"), facts.pop("format"))
        return facts, state

    def report_damage(self):
        """Context that uses what was loaded; missing entries are reported as damage."""
        return damage_reported(self.path, DAMAGED)

    def _compare(self, inputs, form):
        if form != FORMAT:
            raise FileError(self.path, "is of another version of edgewise; remove it to start again")
        for name, now in self.inputs.items():
            if inputs.get(name) != now:
                difference = f"{name} was {inputs.get(name)!r} and is {now!r} now"
                if name == "files":
                    difference = _differing_file(inputs[name], now)
                problem = f"belongs to another run: {difference}; remove it to start again, or name another"
                raise FileError(self.path, problem)

    def save(self, facts, arrays):
        """Write the checkpoint, whole or not at all."""
        save_state(self.path, {**facts, "inputs": self.inputs, "format": FORMAT}, arrays)

    def remove(self):
        """Remove the checkpoint, if there is one."""
        with suppress(FileNotFoundError):
            os.remove(self.path)


def _differing_file(before, now):
    """The first difference between two lists of files, in words."""
    for (path, *facts), (other, *other_facts) in zip(before, now):
        if path != other:
            return f"{path} was replaced by {other}"
        if facts != other_facts:
            return f"{path} has changed since"
    more = len(now) - len(before)
    return f"{abs(more)} file{'' if abs(more) == 1 else 's'} {'more' if more > 0 else 'fewer'}"
