"""Checkpoints: what a stream of files has found so far, so that an interrupted run can go on.

A checkpoint is one ``.npz`` file, written under another name and renamed.  It says which inputs and options
it belongs to and how far the run had come; a run with others is refused, and told what differs.
"""

import json
import os
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from edgewise.errors import EdgewiseError, FileError
from edgewise.files.atomic_write import whole, writing
from edgewise.files.streams import reading

FORMAT = 1
DAMAGED = "is no checkpoint, or a damaged one; remove it to begin anew"


class Checkpoint:
    """A checkpoint at a path, for certain inputs.

    Parameters
    ----------
    path : path-like
    inputs : dict
        What the run depends on, in words; ``files`` is a list of (path, bytes, time of the last change).
    """

    def __init__(self, path, inputs):
        self.path, self.inputs = Path(path), json.loads(json.dumps(inputs))

    def load(self):
        """Return what :meth:`save` was given, or ``None`` if there is no checkpoint.

        Raises
        ------
        FileError
            It is damaged, or belongs to other inputs; the message names what differs.
        """
        if not self.path.exists():
            return None
        with reading(self.path):
            try:
                with open(self.path, "rb") as stream, np.load(stream, allow_pickle=False) as file:
                    facts = json.loads(file["facts"].tobytes())
                    self._compare(facts.pop("inputs"), facts.pop("format"))
                    return facts, {name: file[name] for name in file.files if name != "facts"}
            except FileError:
                raise
            except Exception as error:
                raise FileError(self.path, DAMAGED) from error

    @contextmanager
    def understood(self):
        """Context in which what was loaded is made use of; what is not there is a damage."""
        try:
            yield
        except EdgewiseError:
            raise
        except (LookupError, TypeError, ValueError) as error:
            raise FileError(self.path, DAMAGED) from error

    def _compare(self, inputs, form):
        if form != FORMAT:
            raise FileError(self.path, "is of another version of edgewise; remove it to begin anew")
        for name, now in self.inputs.items():
            if inputs.get(name) != now:
                what = _file_that_differs(inputs[name], now) if name == "files" else None
                what = what or f"{name} was {inputs.get(name)!r} and is {now!r} now"
                raise FileError(
                    self.path, f"belongs to another run: {what}; remove it to begin anew, or name another"
                )

    def save(self, facts, arrays):
        """Write the checkpoint, whole or not at all."""
        text = json.dumps({**facts, "inputs": self.inputs, "format": FORMAT}).encode()
        with whole(self.path) as part, writing(self.path), open(part, "wb") as file:
            np.savez(file, facts=np.frombuffer(text, np.uint8), **arrays)

    def remove(self):
        """Remove the checkpoint, if there is one."""
        with suppress(FileNotFoundError):
            os.remove(self.path)


def _file_that_differs(before, now):
    """What is different about the files, in words."""
    for (path, *facts), (other, *other_facts) in zip(before, now):
        if path != other:
            return f"{other} stands where {path} was"
        if facts != other_facts:
            return f"{path} has changed since"
    more = len(now) - len(before)
    return f"{abs(more)} file{'' if abs(more) == 1 else 's'} {'more' if more > 0 else 'fewer'}"
