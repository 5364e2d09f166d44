"""Limits of integer columns, and sizes of all columns, from the footer of a Parquet file.

Arrow reads footers too, but damage in the description of a column ends the process: where Python asks for a
column of a row group (``metadata.row_group(0).column(0)``), the C++ of Arrow raises an error that its Python
interface does not catch (measured with pyarrow 26).  Therefore nothing in this package asks for it.  Here
damage means that nothing is known.

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
ROW_GROUPS, COLUMNS, ROWS, METADATA, PATH, SIZE, STATISTICS = 4, 1, 3, 3, 3, 6, 12
OLD_MOST, OLD_LEAST, MOST, LEAST = 1, 2, 5, 6
#: Bits of the longest number.
BITS = 64
#: What a damaged footer raises.
DAMAGE = (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError)


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
    except DAMAGE:
        return None
    complete = len(limits) == 2 * len(signed) * len(groups)
    return (min(limits), max(limits)) if limits and complete else () if not groups else None


def column_sizes(path):
    """Bytes of each column in the first row group with rows, before compression, and the rows of that group.

    A column of several values in a row, such as a list, has the bytes of all.  Returns ``({}, 0)`` where the
    footer does not say.
    """
    sizes: dict[str, int] = {}
    try:
        group = _group_with_rows(_footer_bytes(path))
        for chunk in group[COLUMNS]:
            name, size = chunk[METADATA][PATH][0].decode(), chunk[METADATA][SIZE]
            sizes[name] = sizes.get(name, 0) + max(0, size)
        return sizes, max(0, group[ROWS])
    except DAMAGE:
        return {}, 0


def _group_with_rows(data):
    """The first row group with rows; what follows it is not read."""
    field = at = 0
    while data[at]:
        field, kind, at = _field(data, at, field)
        if field == ROW_GROUPS:
            break
        at = value_at(data, at, kind)[1]
    count, kind, at = _begin_of_items(data, at)
    for _ in range(count):
        group, at = value_at(data, at, STRUCT)
        if group[ROWS]:
            return group
    raise ValueError


def _limits(facts, signed):
    """Least and largest value of a chunk; the old fields are for signed integers alone."""
    least, most = (LEAST, MOST) if LEAST in facts or not signed else (OLD_LEAST, OLD_MOST)
    if {len(facts[least]), len(facts[most])} - {4, 8}:
        raise ValueError
    return [int.from_bytes(facts[field], "little", signed=signed) for field in (least, most)]


def _footer(path):
    return value_at(_footer_bytes(path), 0, STRUCT)[0]


def _footer_bytes(path):
    with open(path, "rb") as file:
        file.seek(-8, 2)
        length = int.from_bytes(file.read(4), "little")
        if length > LONGEST:
            raise ValueError
        file.seek(-8 - length, 2)
        return file.read(length)


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
        if shift > BITS:
            raise ValueError


def _begin_of_items(data, at):
    """Number and type of the items of a list, and where they begin."""
    count, kind = data[at] >> 4, data[at] & 15
    at += 1
    if count == 15:
        count, at = unsigned_at(data, at)
    return count, kind, at


def _list(data, at):
    count, kind, at = _begin_of_items(data, at)
    values = []
    for _ in range(count):
        value, at = (data[at], at + 1) if kind in (TRUE, FALSE) else value_at(data, at, kind)
        values.append(value)
    return values, at


def _field(data, at, before):
    """Number and type of a field, and where its value begins; ``before`` is the number of the last field."""
    step, kind = data[at] >> 4, data[at] & 15
    number, at = (before + step, at + 1) if step else value_at(data, at + 1, INTEGERS[0])
    return number, kind, at


def _struct(data, at):
    fields, field = {}, 0
    while data[at]:
        field, kind, at = _field(data, at, field)
        fields[field], at = value_at(data, at, kind)
    return fields, at + 1
