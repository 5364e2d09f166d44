"""Least and largest value of integer columns, from the footer of a Parquet file.

Arrow reads footers too, but a damaged statistic ends the process: its C++ raises an error that its Python
interface does not catch (measured with pyarrow 26).  Here damage means that nothing is known.

The footer is a structure of Thrift's compact protocol, followed by its length and ``PAR1``.  The protocol
numbers the fields of a structure and writes the type of each, so that unknown fields can be read too:
https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md.  The numbers of the fields
are those of https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift.
"""

#: Longest footer that is read, in bytes, in less than a second.
LONGEST = 1 << 21
#: Types of the compact protocol.
TRUE, FALSE, BYTE, INTEGERS, DOUBLE, BINARY, LISTS, STRUCT = 1, 2, 3, (4, 5, 6), 7, 8, (9, 10), 12
#: Fields: of the file, of a row group, of a chunk of a column, of its metadata, and of its statistics.
ROW_GROUPS, COLUMNS, ROWS, METADATA, PATH, STATISTICS = 4, 1, 3, 3, 3, 12
OLD_MOST, OLD_LEAST, MOST, LEAST = 1, 2, 5, 6


def integer_range(path, signed):
    """Least and largest integer in some columns, as the footer of the file states them.

    ``signed`` tells for each column, by its name, whether its type is signed.  Returns ``()`` if there is no
    row, and ``None`` where the footer does not say.
    """
    try:
        groups = [group for group in _footer(path)[ROW_GROUPS] if group[ROWS]]
        chunks = [chunk[METADATA] for group in groups for chunk in group[COLUMNS]]
        chunks = [(chunk[PATH][0].decode(), chunk[STATISTICS]) for chunk in chunks if len(chunk[PATH]) == 1]
        limits = [limit for name, facts in chunks if name in signed for limit in _limits(facts, signed[name])]
    except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return None
    complete = len(limits) == 2 * len(signed) * len(groups)
    return (min(limits), max(limits)) if limits and complete else () if not groups else None


def _limits(facts, signed):
    """Least and largest value of a chunk; the old fields are for signed integers alone."""
    least, most = (LEAST, MOST) if LEAST in facts or not signed else (OLD_LEAST, OLD_MOST)
    if {len(facts[least]), len(facts[most])} - {4, 8}:
        raise ValueError
    return [int.from_bytes(facts[field], "little", signed=signed) for field in (least, most)]


def _footer(path):
    with open(path, "rb") as file:
        file.seek(-8, 2)
        length = int.from_bytes(file.read(4), "little")
        if length > LONGEST:
            raise ValueError
        file.seek(-8 - length, 2)
        return value_at(file.read(length), 0, STRUCT)[0]


def value_at(data, at, kind):
    """A value of some type, and where the next one begins; structures are dicts by the numbers of fields."""
    if kind in (TRUE, FALSE):
        return kind == TRUE, at
    if kind in INTEGERS:
        number, at = unsigned_at(data, at)
        return number >> 1 ^ -(number & 1), at
    if kind == STRUCT:
        return _struct(data, at)
    if kind in LISTS:
        return _list(data, at)
    if kind not in (BYTE, DOUBLE, BINARY):
        raise ValueError
    length, at = unsigned_at(data, at) if kind == BINARY else ({BYTE: 1, DOUBLE: 8}[kind], at)
    if at + length > len(data):
        raise ValueError
    return data[at : at + length], at + length


def unsigned_at(data, at):
    """A number in groups of seven bits, the lowest first."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at


def _list(data, at):
    count, kind = data[at] >> 4, data[at] & 15
    at += 1
    if count == 15:
        count, at = unsigned_at(data, at)
    values = []
    for _ in range(count):
        value, at = (data[at], at + 1) if kind in (TRUE, FALSE) else value_at(data, at, kind)
        values.append(value)
    return values, at


def _struct(data, at):
    fields, field = {}, 0
    while data[at]:
        step, kind = data[at] >> 4, data[at] & 15
        at += 1
        if step:
            field += step
        else:
            field, at = value_at(data, at, INTEGERS[0])
        fields[field], at = value_at(data, at, kind)
    return fields, at + 1
