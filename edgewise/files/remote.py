"""Addresses such as ``s3://bucket/pairs.parquet``: what is there, and copies of it in both directions.

pyarrow reads and writes Amazon S3, Google Cloud Storage and HDFS.  The web and all others are reached by
fsspec, which is an optional package (``pip install 'edgewise[remote]'``).
"""

import errno
import os
import re
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from edgewise.errors import FileError
from edgewise.files.formats import is_part
from edgewise.files.streams import one_line

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
#: Schemes of pyarrow, by other names that are in use; and those of the web, which has no folders.
BY_ARROW = {"s3": "s3", "s3a": "s3", "s3n": "s3", "gs": "gs", "gcs": "gs", "hdfs": "hdfs", "viewfs": "viewfs"}
WEB = ("http", "https")
#: Environment variables with the address of another server that speaks as S3 does, in order.
ENDPOINTS = "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"
#: Bytes that are copied at a time.
BLOCK = 1 << 24
#: Characters of a server's message that are shown.
SHOWN = 200
#: Seconds until a web server answers, and between two pieces of its answer.
PATIENCE = {"sock_connect": 30, "sock_read": 300}
#: Errors of this machine rather than of a server.
LOCAL = errno.ENOSPC, errno.EDQUOT, errno.EFBIG
#: Words and numbers in the errors of servers, and what they mean.
MEANINGS = {
    r"NO_SUCH_BUCKET": "the bucket does not exist; check the address",
    r"ACCESS_DENIED|Access ?Denied|\b40[13]\b": "access is denied; check the credentials and permissions",
    r"NO_SUCH_KEY|Path does not exist|\b404\b": "there is no such file; check the address",
}


class Place(NamedTuple):
    """A path in a file system, and its address; ``system`` is of fsspec if ``by_fsspec``, else of pyarrow."""

    address: str
    system: Any
    path: str
    by_fsspec: bool

    def at(self, path):
        """The place of another path in the same file system."""
        return Place(self.address[: self.address.index("://") + 3] + path, self.system, path, self.by_fsspec)


def is_address(path) -> bool:
    """Whether a path is the address of something that may be elsewhere."""
    return isinstance(path, str) and ADDRESS.match(path) is not None


def find(address: str) -> list[Place]:
    """The files at an address, at least one: itself, all that match a pattern, or the tables of a folder."""
    with reaching(address):
        place = _place(address)
        if _scheme(address) in WEB:
            return [place]
        from pyarrow.fs import FileSelector, FileType

        system = _as_arrow(place)
        kind = system.get_file_info(place.path).type
        if kind == FileType.File:
            return [place]
        is_pattern = bool(set("*?[") & set(place.path))
        if kind == FileType.NotFound and not is_pattern:
            _check_bucket(place)
            raise FileNotFoundError
        folder = re.split(r"[^/]*[*?[]", place.path)[0].rstrip("/")
        found = system.get_file_info(FileSelector(folder, recursive=True))
        paths = sorted(one.path for one in found if one.type == FileType.File)
        if is_pattern:
            paths = [path for path in paths if PurePosixPath("/" + path).match("/" + place.path)]
        else:
            paths = [path for path in paths if _is_table(path, folder)]
        if not paths:
            raise FileError(address, "no file of pairs is there; check the address")
        return [place.at(path) for path in paths]


def _is_table(path, folder):
    """Whether a file in a folder is a table that is not hidden."""
    inside = PurePosixPath(path).relative_to(folder)
    return is_part(inside) and not any(name.startswith((".", "_")) for name in inside.parts)


def fetch(place: Place, path, check=lambda: None) -> None:
    """Copy what is at a place to a file; ``check()``, which is called between its parts, may raise."""
    with reaching(place.address):
        if place.by_fsspec:
            place.system.get_file(place.path, os.fspath(path), callback=_calling(check))
            return
        with place.system.open_input_stream(place.path, compression=None) as stream, open(path, "wb") as file:
            while part := stream.read(BLOCK):
                file.write(part)
                check()


def _calling(check):
    """What fsspec calls for each part of a copy."""
    from fsspec.callbacks import Callback

    class Calling(Callback):
        def relative_update(self, inc=1):
            check()

    return Calling()


def check_storable(address: str) -> None:
    """Raise FileError unless a file can be stored at an address, as far as this shows beforehand."""
    if _scheme(address) in WEB:
        raise FileError(address, "is on the web, where nothing can be stored; write a file and upload it")
    with reaching(address):
        _check_bucket(_place(address))


def store(path, address: str) -> None:
    """Copy a complete file to an address."""
    check_storable(address)
    with reaching(address):
        place = _place(address)
        if place.by_fsspec:
            place.system.put_file(os.fspath(path), place.path)
            return
        from pyarrow.fs import LocalFileSystem, copy_files

        # An interrupt waits until the copy ends, since closing a stream of pyarrow completes its file.
        ends = {"source_filesystem": LocalFileSystem(), "destination_filesystem": place.system}
        copy_files(os.fspath(path), place.path, **ends)


def _check_bucket(place):
    """Raise FileError if the bucket of a place is missing."""
    bucket, _, inside = place.path.partition("/")
    if not inside:
        raise FileError(place.address, "names no file; add its name")
    if not place.by_fsspec and _scheme(place.address) in BY_ARROW:
        from pyarrow.fs import FileType

        if place.system.get_file_info(bucket).type == FileType.NotFound:
            raise FileError(place.address, f"the bucket {bucket} does not exist; check the address")


def _scheme(address):
    return address.partition("://")[0].lower()


def _place(address):
    """The file system and the path of an address."""
    scheme = _scheme(address)
    if scheme in BY_ARROW:
        return _place_by_arrow(address, BY_ARROW[scheme])
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        remedy = "pip install 'edgewise[remote]'"
        raise FileError(address, f"needs the package fsspec, which is not installed; {remedy}") from error
    options = {}
    if scheme in WEB:
        from aiohttp import ClientTimeout

        options["client_kwargs"] = {"trust_env": True, "timeout": ClientTimeout(total=None, **PATIENCE)}
    system, path = url_to_fs(address, **options)
    return Place(address, system, path, True)


def _place_by_arrow(address, scheme):
    """Options of pyarrow may follow a question mark, which a pattern may hold too."""
    from pyarrow.fs import FileSystem

    rest = address.partition("://")[2]
    path, _, options = rest.rpartition("?") if re.search(r"\?[^/?]+=", rest) else (rest, "", "")
    endpoint = next((os.environ[name] for name in ENDPOINTS if os.environ.get(name)), None)
    if scheme == "s3" and endpoint and "endpoint_override=" not in options:
        server = urlsplit(endpoint)
        given = urlencode({"scheme": server.scheme, "endpoint_override": server.netloc + server.path})
        options = f"{options}&{given}".removeprefix("&")
    bucket = path.partition("/")[0]
    system, _ = FileSystem.from_uri(f"{scheme}://{bucket}/" + (options and f"?{options}"))
    inside = path.rpartition("@")[2] if "@" in bucket else path
    return Place(address, system, inside.rstrip("/"), False)


def _as_arrow(place):
    """The file system as one of pyarrow."""
    if not place.by_fsspec:
        return place.system
    from pyarrow.fs import FSSpecHandler, PyFileSystem

    return PyFileSystem(FSSpecHandler(place.system))


@contextmanager
def reaching(address):
    """Turn what goes wrong on the way to an address into a :class:`FileError` of one line."""
    try:
        yield
    except FileError:
        raise
    except ImportError as error:
        raise FileError(address, f"needs a package that is not installed ({one_line(error)})") from error
    except ValueError as error:
        remedy = "check it, above all what is before ://"
        raise FileError(address, f"is no address that can be used ({one_line(error)}); {remedy}") from error
    except Exception as error:
        if isinstance(error, OSError) and error.errno in LOCAL:
            raise
        raise FileError(address, _meaning(error)) from error


def _meaning(error):
    """What an error of a server means, and what to do."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file; check the address"
    text = one_line(error)
    known = next((meaning for pattern, meaning in MEANINGS.items() if re.search(pattern, text)), None)
    if known is None and isinstance(error, PermissionError):
        return "access is denied; check the credentials and permissions"
    return known or f"cannot be reached ({text[:SHOWN]}); check the address and the network"
