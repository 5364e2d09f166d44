"""Opening files, compressed or not, decoding their text, and turning every failure into an error of one line.

The compression is detected by the first bytes, never by the name.  Everything is read as a stream, so that a
compressed file is never in memory as a whole.  A small file that holds all too much is refused.
"""

import io
import os
import stat
from contextlib import contextmanager
from itertools import islice
from typing import NamedTuple

from edgewise import memory
from edgewise.cached_property import cached_property
from edgewise.errors import EdgewiseError, FileError, GraphError, OptionError, argument
from edgewise.files.encodings import MARKS, Decoded, encoding_of

#: First bytes of what each compressor writes.
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
SUFFIXES = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz", ".zst": "zstd", ".zstd": "zstd"}
#: Bytes that are examined to detect the format.
HEAD = 1 << 16
#: Bytes that are examined at most, where blanks or comments fill the first ones.
WHOLE_HEAD = 1 << 24
#: Places of a file at which lines are looked at beside its first ones, and bytes there.
PLACES, PLACE = 16, 1 << 14
#: Bytes that decompressed content may have, however small its file is.
FREE_BYTES = 1 << 24
#: Decompressed content beyond ``FREE_BYTES`` may be so many times as large as its file.
EXPANSION = 200
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
#: Bytes that are decompressed into memory at a time.
BLOCK = 1 << 24
#: Characters of a wrong argument that are shown.
SHOWN = 60
#: Endings of files of binary records without a header: any first bytes, or none, are right.
HEADLESS = (".dups",)


class TextStyle(NamedTuple):
    """How a text is written: the separator of fields, if it is given, the decimal mark, and the encoding."""

    sep: str | None = None
    decimal: str = "."
    encoding: str | None = None


class StyledPath(os.PathLike):
    """A path of text that is written in a style."""

    def __init__(self, path, style):
        self.path, self.style = os.fspath(path), style

    def __fspath__(self):
        return self.path


def styled(path, style):
    """The path of a text written in a style; the path itself if that is the usual one."""
    return path if style == TextStyle() else StyledPath(path, style)


class Source:
    """A file to read: its name, its first bytes, and fresh streams of its decompressed content.

    ``stem`` and the lower-case ``suffix`` are those before a suffix that only names a compression.  ``head``
    are the first bytes after decompression and a byte order mark, in UTF-8; everything if ``whole``.
    ``style`` is a :class:`TextStyle`, and ``encoding`` the codec of text that is not UTF-8.
    """

    def __init__(self, path):
        self.path = os.fspath(path)
        self.style: TextStyle = getattr(path, "style", TextStyle())
        self.sep, self.decimal = self.style.sep, self.style.decimal
        self.encoding: str | None = self.style.encoding
        with reading(self.path):
            self.size = _regular_size(self.path)
            with open(self.path, "rb") as file:
                start = b"" if is_headless(self.path) else file.read(6)
        self.compression = next((name for magic, name in MAGIC.items() if start.startswith(magic)), None)
        if self.compression is not None:
            with reading(self.path), self._decompressed() as stream:
                start = read_fully(stream, max(map(len, MARKS)))
        self.encoding = encoding_of(start, self.encoding)
        self.reach = HEAD
        stem, suffix = os.path.splitext(self.path)
        if suffix.lower() in SUFFIXES:
            stem, suffix = os.path.splitext(stem)
        self.stem, self.suffix = stem, suffix.lower()

    def error(self, problem, line=None):
        """An error of this file, perhaps at a line of it."""
        return FileError(self.path, problem, line)

    def open(self):
        """Return a new stream of the decompressed bytes after a byte order mark; close it after use."""
        stream = self._opened()
        read_fully(stream, len(self._start) - len(without_marks(self._start)))
        return stream

    def _opened(self):
        """A new stream of all bytes, decompressed and in UTF-8."""
        stream = self._decompressed()
        return stream if self.encoding is None else Decoded(self, stream, self.encoding)

    def _decompressed(self):
        return native(self.path) if self.compression is None else Decompressed(self)

    @cached_property
    def _start(self):
        with reading(self.path), self._opened() as stream:
            return read_fully(stream, self.reach + 1)

    @property
    def head(self) -> bytes:
        return without_marks(self._start[: self.reach])

    @property
    def whole(self) -> bool:
        return len(self._start) <= self.reach

    def lines(self, comments: bytes = b"") -> list[bytes]:
        """Lines of the head, without line ends; a line cut off by the end of the head is left out.

        The head grows until it holds two lines that are neither blank nor begin with one of ``comments``.
        """
        if b"\r" in self.head and b"\n" not in self.head:
            raise self.error("has lines that end in carriage returns (old Mac); convert it to Unix line ends")
        while True:
            lines = self.head.replace(b"\r\n", b"\n").split(b"\n")
            lines = lines if self.whole and lines[-1] else lines[:-1]
            rows = (line for line in lines if line.strip() and line[0] not in comments)
            found = len(list(islice(rows, 2)))
            if self.whole or found == 2 or (found and self.reach >= WHOLE_HEAD):
                return lines
            if self.reach >= WHOLE_HEAD:
                problem = f"no row ends in the first {WHOLE_HEAD:,} bytes (blanks, comments or one line)"
                raise self.error(f"{problem}; take them out, if this is a graph")
            self.reach *= 16
            del self._start

    def later_lines(self) -> list[bytes]:
        """Whole lines at places that are spread over the file; none of a compressed or a small one."""
        lines: list[bytes] = []
        if self.compression is None and not self.whole:
            with reading(self.path), open(self.path, "rb") as file:
                for place in range(1, PLACES + 1):
                    file.seek((self.size - PLACE) * place // PLACES)
                    lines += read_fully(file, PLACE).split(b"\n")[1:-1]
        return lines

    def number_of_lines(self) -> int:
        """About how many lines there are, by some of them, the size, and how well this is compressed."""
        first = self.lines()
        if self.whole:
            return len(first)
        lines = self.later_lines() or first
        size = sum(map(len, lines)) + len(lines)
        return max(len(first), int(self.text_bytes() * len(lines) / size))

    def text_bytes(self) -> float:
        """About the bytes after decompression, by the beginning."""
        if self.compression is None:
            return self.size
        import pyarrow as pa

        with reading(self.path), native(self.path) as file:
            if self.compression == "xz":
                from lzma import LZMADecompressor

                text = LZMADecompressor().decompress(file.read(BLOCK >> 4))
            else:
                packed = pa.CompressedInputStream(file, self.compression)
                text = read_fully(packed, BLOCK)
            return self.size * len(text) / max(1, file.tell())

    def seekable(self):
        """Return a stream that can seek: the file itself, or its decompressed content in memory."""
        if self.compression is None:
            return open(self.path, "rb")
        content = io.BytesIO()
        with self.open() as stream:
            while part := stream.read(BLOCK):
                check_memory(content.tell() + len(part), "the decompressed content needs another")
                content.write(part)
        content.seek(0)
        return content


def check_memory(needed: int, problem: str) -> None:
    """Raise unless ``needed`` bytes are free on the host; ``problem`` says what needs them."""
    from edgewise.device import arrays

    if needed > memory.UNCHECKED_BYTES and needed > (free := arrays.free_memory("cpu")):
        sizes = f"{needed:,} bytes of memory, and {free:,} are free"
        raise GraphError(f"{problem} {sizes}; correct the file, or use a machine with more memory")


class Decompressed(io.RawIOBase):
    """The decompressed content of a source, which is refused if it is out of proportion to the file."""

    def __init__(self, source):
        self.source, self.count, self.stream = source, 0, _decompressing(source)

    def readable(self):
        return True

    def read(self, count=-1):
        part = self.stream.read(count)
        self._add(len(part))
        return part

    def readinto(self, space):
        count = self.stream.readinto(space)
        self._add(count)
        return count

    def _add(self, count):
        self.count += count
        if self.count > max(FREE_BYTES, EXPANSION * self.source.size):
            problem = f"holds more than {EXPANSION} times its {self.source.size:,} bytes"
            raise self.source.error(f"{problem}; if this is right, decompress it first")

    def close(self):
        self.stream.close()
        super().close()


def _decompressing(source):
    """A stream of the decompressed content."""
    import pyarrow as pa

    if source.compression == "xz":
        import lzma

        return lzma.open(source.path)
    return pa.input_stream(native(source.path), compression=source.compression)


def native(path):
    """A file as pyarrow opens it, also if its name is not UTF-8."""
    import pyarrow as pa

    return pa.OSFile(os.fsencode(path))


def check_path(path):
    """The path or paths, or objects to read from, after a check of their types; bytes are decoded."""
    if isinstance(path, list | tuple):
        return [check_path(one) for one in path]
    if isinstance(path, bytes):
        return os.fsdecode(path)
    if not (isinstance(path, str | os.PathLike) or hasattr(path, "read")):
        is_table = isinstance(path, dict) or hasattr(path, "__arrow_c_stream__")
        is_long = is_table or len(repr(path)) >= SHOWN
        given = f"a {type(path).__name__}" if is_long else argument("path", path)
        problem = f"{given} is no path; give a file, folder or pattern, or a list of them"
        raise OptionError(problem + "; Graph.from_frame takes tables" * is_table)
    return path


def without_marks(start: bytes) -> bytes:
    """The first bytes of a text without byte order marks; programs that add one do not look for another."""
    while start.startswith(BYTE_ORDER_MARK):
        start = start[len(BYTE_ORDER_MARK) :]
    return start


def has_byte_order_mark(text: bytes) -> bool:
    """Whether a line of a text begins with a byte order mark, as where files have been joined."""
    if text.find(BYTE_ORDER_MARK[:1]) < 0:  # several times as fast
        return False
    return text.startswith(BYTE_ORDER_MARK) or text.find(b"\n" + BYTE_ORDER_MARK) >= 0


def read_fully(stream, count: int) -> bytes:
    """Read ``count`` bytes, or up to the end."""
    parts, missing = [], count
    while missing and (part := stream.read(min(missing, BLOCK))):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def is_headless(path) -> bool:
    """Whether a file holds records without a header, by its ending."""
    return os.fsdecode(path).lower().endswith(HEADLESS)


def _regular_size(path):
    state = os.stat(path)
    if stat.S_ISDIR(state.st_mode):
        raise FileError(path, "is a directory; name a file in it")
    if not stat.S_ISREG(state.st_mode):
        raise FileError(path, "is a device or a pipe; save its content to a file first")
    if state.st_size == 0 and not is_headless(path):
        raise FileError(path, "is empty; a graph file has at least a header or one edge")
    return state.st_size


@contextmanager
def reading(path, passing=()):
    """Turn what goes wrong while ``path`` is read into a :class:`FileError` of one line.

    Errors of the classes ``passing`` go through unchanged.
    """
    from zlib import error as ZlibError

    try:
        yield
    except passing:
        raise
    except GraphError as error:
        raise FileError(path, error.message) from error
    except EdgewiseError:
        raise
    except (OSError, EOFError, ZlibError) as error:
        raise FileError(path, _unreadable(error)) from error
    except UnicodeDecodeError as error:
        content = error.object
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - content.rfind(b"\n", 0, error.start)
        raise FileError(path, not_utf8(column, content[error.start]), line) from error
    except ValueError as error:
        raise FileError(path, one_line(error)) from error
    except MemoryError as error:
        problem = f"needs more memory than is free ({one_line(error)})"
        raise FileError(path, f"{problem}; use a machine with more memory") from error
    except Exception as error:
        if "ArrowException" in [kind.__name__ for kind in type(error).__mro__]:
            cause = " or too large" if isinstance(error, MemoryError) else ""
            raise FileError(
                path, f"the table is damaged{cause} ({one_line(error)}); write it again"
            ) from error
        if type(error).__name__ != "LZMAError":
            raise
        raise FileError(path, "the compressed data are cut off or damaged; fetch the file again") from error


def not_utf8(column: int, byte: int) -> str:
    """What is wrong with a byte of a line that is not UTF-8, and what to do."""
    problem = f"byte {column} of this line (0x{byte:02x}) is not UTF-8"
    return f"{problem}; name the encoding of the file, such as {argument('encoding', 'latin-1')}"


def _unreadable(error):
    if isinstance(error, FileNotFoundError):
        return "no such file; check the path"
    if isinstance(error, PermissionError):
        return "may not be read; check its permissions"
    text = one_line(error)
    words = "Truncated", "inflate", "ompress", "ZSTD", "bz2"
    if isinstance(error, EOFError) or any(word in text for word in words):
        return f"the compressed data are cut off or damaged ({text}); fetch the file again"
    if isinstance(error, OSError) and error.errno is None:  # of a library that has read all it wanted
        return f"is damaged, or cannot be read ({text}); write or fetch it again"
    return f"cannot be read ({text}); check the disk or the network share"


def one_line(error) -> str:
    """Text of an error, on one line."""
    return " ".join(str(error).split()) or type(error).__name__
