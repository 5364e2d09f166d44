"""What can be read besides the files of this machine: standard input, pipes, addresses and file objects.

Readers look at a file several times, at its head, its footer or all of it.  Whatever can be read only once,
or is somewhere else, is therefore copied to a temporary file first.  Errors name what the caller has given.
"""

import os
import re
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import PurePath
from tempfile import gettempdir
from threading import Event
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from edgewise.errors import EdgewiseError, FileError, OptionError, argument
from edgewise.files.layout import UNNAMED
from edgewise.files.remote import BLOCK, LOCAL, fetch, find, is_address
from edgewise.files.streams import reading
from edgewise.unfinished import temporary_file

#: Copies that are made at the same time; one connection rarely fills a line.
COPIES = 16
#: Paths of standard input.
STANDARD_INPUT = "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"
#: The endings of a name that may decide its format.
ENDINGS = re.compile(r"(\.[A-Za-z0-9]{1,12}){1,2}$")
#: An address that ``pathlib`` has changed.
CUT = re.compile(r"(https?|s3|gs|gcs|ftp|hdfs):/[^/]")


class Copied(NamedTuple):
    """What is copied before it is read: its name in messages, its endings, and what copies it.

    ``copy(path, check)`` calls ``check()`` again and again, which raises where no copy is wanted any more.
    """

    name: str
    endings: str
    copy: Any


@contextmanager
def local(path):
    """Give ``path``, or the list of paths, with temporary copies in place of all that are no local files.

    The copies are removed at the end of the block.
    """
    names: dict[str, str] = {}
    with ExitStack() as copies:
        try:
            yield _localized(path, names, copies)
        except EdgewiseError as error:
            if not names:
                raise
            raise _renamed(error, names) from error.__cause__


def check_readable_again(path, option) -> None:
    """Raise OptionError if one of the paths cannot be read a second time, as ``option`` needs."""
    for one in _flat(path):
        if not is_local(one):
            problem = f"needs files that can be read again, and {name_of(one)} is none"
            raise OptionError(f"{argument(option)} {problem}; save it to a file first")


def is_local(path) -> bool:
    """Whether a path is that of a file or folder of this machine, or of nothing that can be read."""
    if hasattr(path, "read") or is_standard_input(path) or is_address(path):
        return False
    try:
        return not stat.S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return True


def is_standard_input(path) -> bool:
    """Whether a path is a name of standard input."""
    return not hasattr(path, "read") and os.fspath(path) in STANDARD_INPUT


def name_of(path) -> str:
    """The name of an input in a message."""
    if hasattr(path, "read"):
        name = getattr(path, "name", None)
        return name if isinstance(name, str) else f"the {type(path).__name__} object"
    return "standard input" if is_standard_input(path) else os.fsdecode(path)


def _flat(path):
    if not isinstance(path, list | tuple):
        return [path]
    return [one for inner in path for one in _flat(inner)]


def _localized(path, names, copies):
    """The path or paths with copies, whose names in messages are added to ``names``."""
    for one in _flat(path):
        if isinstance(one, PurePath) and CUT.match(str(one)) and not os.path.exists(one):
            raise FileError(
                one, "is an address without one of its slashes; give it as a string, not as a Path"
            )
    if all(map(is_local, _flat(path))):
        return path
    if sum(map(is_standard_input, _flat(path))) > 1:
        raise OptionError("standard input is given twice, and can be read only once; name it once")
    found, wanted = [], []
    for one in _flat(path):
        if is_local(one):
            found.append(one)
        elif is_address(one) and one.lower().startswith("file://"):
            found.append(unquote(urlsplit(one).path))
        else:
            for copied in _copied(one):
                file = copies.enter_context(temporary_file(copied.endings))
                names[str(file)] = copied.name
                wanted.append((copied, file))
                found.append(str(file))
    _make(wanted)
    return found if isinstance(path, list | tuple) or len(found) > 1 else found[0]


def _make(wanted):
    """Make copies, pairs of a :class:`Copied` and a path; of addresses several at the same time."""
    remote = [one for one in wanted if is_address(one[0].name)]
    stopped = Event()

    def check():
        if stopped.is_set():
            raise InterruptedError

    with ThreadPoolExecutor(COPIES, "edgewise-copies") as pool:
        try:
            made = [pool.submit(_make_one, copied, file, check) for copied, file in remote]
            for copied, file in wanted:
                if not is_address(copied.name):
                    _make_one(copied, file, check)
            for one in made:
                one.result()
        except BaseException:
            stopped.set()
            pool.shutdown(cancel_futures=True)
            raise


def _make_one(copied, file, check):
    with _room_for(copied.name):
        copied.copy(file, check)


def _copied(path):
    """What has to be copied of an input: itself, or several files at an address."""
    name = name_of(path)
    if is_address(path):
        for place in find(path):
            yield Copied(place.address, _endings(place.path), partial(fetch, place))
        return
    if is_standard_input(path):
        stream = sys.stdin
        if stream is None or stream.closed:
            raise FileError(name, "is closed; send data to it, or name a file")
        opened: Any = nullcontext(getattr(stream, "buffer", stream))
    elif hasattr(path, "read"):
        opened = nullcontext(path)
    else:
        opened = _opened(path)
    yield Copied(name, _endings(name), partial(_copy, opened, name))


def _endings(name):
    found = ENDINGS.search(urlsplit(name).path if is_address(name) else name)
    return found[0] if found else UNNAMED


@contextmanager
def _opened(path):
    with open(path, "rb") as stream:
        yield stream


def _copy(opened, name, file, check):
    """Copy a stream of bytes, or of text, to a file."""
    with reading(name, passing=OSError), opened as stream, open(file, "wb") as goal:
        while part := stream.read(BLOCK):
            if not isinstance(part, str | bytes | bytearray | memoryview):
                raise FileError(name, f"gives {type(part).__name__} when it is read; open it in binary mode")
            goal.write(part.encode() if isinstance(part, str) else part)
            check()


@contextmanager
def _room_for(name):
    """Turn a lack of space for the copy, and what goes wrong while it is made, into an error of one line."""
    with reading(name):
        try:
            yield
        except OSError as error:
            if error.errno not in LOCAL:
                raise
            problem = f"its temporary copy does not fit into {gettempdir()}"
            raise FileError(name, f"{problem}; free some space, or name another folder in TMPDIR") from error


def _renamed(error, names):
    """The error with the names of inputs in place of the paths of their copies."""

    def rename(part):
        for file, name in names.items() if isinstance(part, str | os.PathLike) else ():
            part = str(part).replace(file, name)
        return part

    kind, given = error.__reduce__()[:2]
    return kind(*map(rename, given))
