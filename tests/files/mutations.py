"""Mutations of files: of their bytes, of their words, and inside of archives and compressed files.

Every function takes a ``random.Random`` and bytes, and returns other bytes.
"""

import ast
import bz2
import gzip
import io
import lzma
import re
import struct
import zipfile
from contextlib import suppress

import numpy as np
import pyarrow as pa

from tests.files.seed_files import pack

WORD = re.compile(rb'[^\s,;"\[\]<>{}:=]+')
#: Words in place of numbers and names.
EXTREMES = (
    b"-1 0 1 2 3 4 7 007 +1 1.0 1. .5 1,5 1d3 1e3 1e400 -1e400 nan inf 1_000 0x10 ' \" # % x NULL None true "
    b"127 128 255 256 32767 65536 2147483647 2147483648 4294967295 4294967296 9007199254740993 "
    b"9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 -9223372036854775809 "
    b"99999999999999999999999999"
).split()
EXTREMES += [b"", b" ", b"\xff", b"\0", b"\xef\xbb\xbf", "é".encode(), "\u2028".encode(), b"1" * 5000]
#: Numbers in place of stored integers.
STORED = (-1, 0, 1, 2, 127, 255, 2**15, 2**31 - 1, -(2**31), 2**32 - 1, 2**40, 2**62, 2**63 - 1, -(2**63))
KINDS = ("<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<f8", "<f4", "|b1", ">i8", "|S3", "<U2", "<c16", "|O")


def flip_bits(random, content):
    content = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 8))):
        content[_place(random, content)] ^= 1 << random.randrange(8)
    return bytes(content)


def set_bytes(random, content):
    content = bytearray(content)
    for _ in range(random.choice((1, 1, 4))):
        content[_place(random, content)] = random.choice((0, 1, 10, 13, 32, 34, 44, 127, 128, 255))
    return bytes(content)


def _place(random, content):
    """A position, often near the beginning or the end, where formats keep what matters."""
    span = min(len(content), random.choice((64, 1024, len(content), len(content))))
    return random.randrange(span) if random.random() < 0.5 else len(content) - 1 - random.randrange(span)


def set_number(random, content):
    """Write a number over some bytes that are aligned as integers in memory are."""
    form = random.choice(("<q", "<i", "<h"))
    width = struct.calcsize(form)
    if len(content) < 2 * width:
        return content
    at = _place(random, content[: len(content) - width]) // width * width
    number = random.choice(STORED) & (256**width - 1)
    return content[:at] + number.to_bytes(width, "little") + content[at + width :]


def cut(random, content):
    at = random.randrange(len(content))
    return content[:at] if random.random() < 0.8 else content[at:]


def remove(random, content):
    at = random.randrange(len(content))
    return content[:at] + content[at + random.choice((1, 1, 2, 4, 8, 64)) :]


def repeat(random, content):
    first = random.randrange(len(content))
    part = content[first : first + random.choice((1, 4, 16, 256, len(content)))]
    at = random.choice((first, len(content), random.randrange(len(content))))
    return content[:at] + part * random.choice((1, 1, 2, 50)) + content[at:]


def replace_word(random, content):
    """Replace a word by an extreme one, or by another word of the file."""
    words = list(WORD.finditer(content[: 1 << 14]))
    if not words:
        return set_bytes(random, content)
    word = random.choice(words)
    other = random.choice(EXTREMES) if random.random() < 0.7 else random.choice(words)[0]
    return content[: word.start()] + other + content[word.end() :]


def change_lines(random, content):
    """Remove, double, exchange or shuffle lines."""
    lines = content.split(b"\n")
    at, other = random.randrange(len(lines)), random.randrange(len(lines))
    match random.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines.insert(at, random.choice((b"", b" ", b"# c", b"% c", b"\t", b"1", b"1 2 3 4", b'"')))
    return b"\n".join(lines)


def change_line_ends(random, content):
    end = random.choice((b"\r\n", b"\r", b"\n\n", b" \n", b"\0\n", b"\x0b", b""))
    return content.replace(b"\n", end, random.choice((-1, -1, 1)))


def add_around(random, content):
    """Put a mark, blanks or zeros before or behind the content."""
    match random.randrange(4):
        case 0:
            return b"\xef\xbb\xbf" + content
        case 1:
            return content + bytes(random.choice((1, 8, 70000)))
        case 2:
            return random.choice((b" ", b"\n\n", b"\t", b"\0", b"\xff\xfe", b"# c\n")) + content
        case _:
            return content + random.choice((b"\n\n", b" ", b"\r\n \r\n", b"\x1a", b"\n# c", b"#"))


PLAIN = (
    flip_bits,
    set_bytes,
    set_number,
    cut,
    remove,
    repeat,
    replace_word,
    replace_word,
    replace_word,
    change_lines,
    change_line_ends,
    add_around,
)


def mutate(random, content: bytes, other: bytes) -> bytes:
    """Mutate a file once or a few times; ``other`` is another file, a part of which may be put in."""
    for _ in range(random.choice((1, 1, 1, 1, 2, 3))):
        if not content:
            return content
        unpacked = _unpacked(content) if random.random() < 0.85 else None
        if unpacked is not None:
            inside, kind = unpacked
            content = pack(mutate(random, inside, other), kind)
        elif content[:4] == b"PK\x03\x04" and random.random() < 0.7:
            content = mutate_archive(random, content)
        elif random.random() < 0.04:
            content = content[: random.randrange(len(content))] + other[random.randrange(len(other) + 1) :]
        else:
            content = random.choice(PLAIN)(random, content)
    return content


def _unpacked(content):
    """The content of a compressed file and the suffix of its compression, or ``None``."""
    try:
        if content.startswith(b"\x1f\x8b"):
            return gzip.decompress(content), "gz"
        if content.startswith(b"BZh"):
            return bz2.decompress(content), "bz2"
        if content.startswith(b"\xfd7zXZ\0"):
            return lzma.decompress(content), "xz"
        if content.startswith(b"\x28\xb5\x2f\xfd"):
            return pa.CompressedInputStream(io.BytesIO(content), "zstd").read(), "zst"
    except Exception:
        return None
    return None


def mutate_archive(random, content):
    """Mutate the members of a zip archive of arrays, and pack it again."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except Exception:
        members = {}
    if not members:
        return flip_bits(random, content)
    name = random.choice([*members])
    match random.randrange(6):
        case 0:
            members.pop(name, None)
        case 1:
            other = random.choice([*members])
            members[name], members[other] = members[other], members[name]
        case 2:
            members[random.choice([*members, "ids.npy", "weights.npy", "ids_offsets.npy"])] = members[name]
        case 3:
            members[name] = random.choice((flip_bits, cut, set_number))(random, members[name] or b"0")
        case _:
            members[name] = mutate_array(random, members[name])
    kind = random.choice((zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", kind) as archive:
        for one, part in members.items():
            archive.writestr(one, part)
    return packed.getvalue()


def mutate_array(random, content):
    """Change the type, the shape, the length or a value of an array in NumPy's format."""
    try:
        array = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except Exception:
        return content
    match random.randrange(5):
        case 0:
            return _with_header(random, content)
        case 1 if array.dtype.kind in "iuf" and array.size:
            array = array.copy()
            number = random.choice((*STORED, *range(20)))
            with np.errstate(all="ignore"):
                array.reshape(-1)[random.randrange(array.size)] = np.array(number).astype(array.dtype)
        case 2:
            with np.errstate(all="ignore"), suppress(ValueError, TypeError, np.exceptions.ComplexWarning):
                array = array.astype(random.choice(KINDS[:-1]))
        case 3 if array.ndim:
            array = random.choice((array[:-1], array[::-1], array[:0], np.concatenate([array, array[:1]])))
        case _:
            array = random.choice((array.reshape(1, -1), array.reshape(-1, 1), array[..., None]))
            array = (
                array
                if random.random() < 0.7
                else array.reshape(-1)[:1].reshape(())[()]
                if array.size
                else array
            )
    packed = io.BytesIO()
    np.lib.format.write_array(packed, np.asarray(array), allow_pickle=False)
    return packed.getvalue()


def _with_header(random, content):
    """Change what the header of an array says, but not its data."""
    length = struct.unpack("<H", content[8:10])[0]
    header = ast.literal_eval(content[10 : 10 + length].decode("latin-1"))
    match random.randrange(3):
        case 0:
            header["descr"] = random.choice(KINDS)
        case 1:
            header["shape"] = random.choice(((), (0,), (1,), (5,), (2**40,), (-1,), (2, 2), (2**62, 2**62)))
        case _:
            header["fortran_order"] = random.choice((True, 1, None))
    text = repr(header).encode("latin-1")
    return content[:6] + b"\1\0" + struct.pack("<H", len(text) + 1) + text + b"\n" + content[10 + length :]
