"""Text in other encodings than UTF-8: which it is, by its byte order mark or the caller, and its content.

A mark of UTF-16 or UTF-32 decides; without one, text is UTF-8 unless the caller names another encoding.
Everything behind this page is UTF-8.
"""

import codecs
import io

from edgewise.errors import OptionError, argument, closest

#: Byte order marks, the longest first, and the codecs that they stand for; ``None`` is UTF-8.
MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    codecs.BOM_UTF8: None,
}
#: Encodings for which text is not decoded.
AS_IT_IS = ("utf-8", "utf-8-sig", "ascii")
#: Names that are suggested for those that are misspelt.
USUAL = (
    "utf-8",
    "utf-16",
    "utf-32",
    "latin-1",
    "iso-8859-15",
    "cp1252",
    "cp850",
    "mac-roman",
    "shift_jis",
    "gb18030",
)
BLOCK = 1 << 20


def encoding_named(given: str) -> str | None:
    """The codec of an encoding that a caller names; ``None`` for UTF-8.

    >>> encoding_named("Latin-1"), encoding_named("UTF8"), encoding_named("windows-1252")
    ('iso8859-1', None, 'cp1252')
    """
    try:
        codec = codecs.lookup(given)
        "a".encode(codec.name)  # raises for codecs of bytes, such as base64
    except (LookupError, TypeError, ValueError):
        meant = f"did you mean {near}? Others" if (near := closest(given, USUAL)) else "usual ones"
        problem = f"{argument('encoding', given)} is unknown"
        raise OptionError(f"{problem}; {meant} are {', '.join(USUAL)}") from None
    return None if codec.name in AS_IT_IS else codec.name


def encoding_of(start: bytes, given: str | None) -> str | None:
    """The codec of a text, by the byte order mark at its start, or as given."""
    return next((name for mark, name in MARKS.items() if start.startswith(mark)), given)


class Decoded(io.RawIOBase):
    """The text of a stream in UTF-8; what is not in its encoding is an error of the source at a line."""

    def __init__(self, source, stream, encoding):
        self.source, self.stream, self.encoding = source, stream, encoding
        self.decoder = codecs.getincrementaldecoder(encoding)()
        self.ready, self.ended, self.position, self.line = b"", False, 0, 1

    def readable(self):
        return True

    def read(self, count=-1):
        while not (self.ready or self.ended):
            self._decode(self.stream.read(BLOCK))
        count = len(self.ready) if count < 0 else count
        part, self.ready = self.ready[:count], self.ready[count:]
        return part

    def _decode(self, block):
        held = len(self.decoder.getstate()[0])  # the beginning of a character
        self.ended = not block
        try:
            text = self.decoder.decode(block, self.ended)
        except UnicodeDecodeError as error:
            text, place = bytes(error.object), self.position - held + error.start
            before = text[: error.start].decode(error.encoding, "replace").count("\n")
            problem = f"byte {place + 1:,} of the file (0x{text[error.start]:02x}) is not {self.encoding}"
            remedy = f"name the right encoding with {argument('encoding')}, or correct the file"
            raise self.source.error(f"{problem}; {remedy}", self.line + before) from error
        self.position += len(block)
        self.line += text.count("\n")
        self.ready = text.encode("utf-8", "replace")

    def close(self):
        self.stream.close()
        super().close()
