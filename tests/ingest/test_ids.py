"""Numbering ids, held against a dictionary in plain Python."""

import tracemalloc
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgewise import tuning
from edgewise.device import arrays, threads
from edgewise.device.target import INTERPRETED
from edgewise.errors import GraphError
from edgewise.ingest import arrow, ids, integers, string_table, string_words, strings
from edgewise.ingest.growing import Growing
from edgewise.ingest.ids import number

pytestmark = pytest.mark.interpreter

INT64, UINT64 = np.iinfo(np.int64), np.iinfo(np.uint64)
#: Bytes of a long string, which the interpreter reads one by one.
LONG = 1_000 if INTERPRETED else 100_000
TEXT = st.text(alphabet=st.characters(codec="utf-8"), max_size=30)


@pytest.fixture(scope="module", autouse=True, params=[0, 40, tuning.CPU.ingest_strings])
def some(request):
    """Strings that Arrow numbers before the loops do: none, some, or all of a test.

    So many pairs of integers are numbered by NumPy.
    """
    with pytest.MonkeyPatch.context() as patch:
        limits = replace(tuning.CPU, ingest_strings=request.param, ingest_first=request.param)
        patch.setattr(tuning, "CPU", limits)
        yield request.param


def first_come(lefts, rights):
    """Numbers in order of first appearance, source before target."""
    known = {}
    numbers = [
        [known.setdefault(one, len(known)) for one in pair] for pair in zip(lefts, rights, strict=True)
    ]
    return [left for left, _ in numbers], [right for _, right in numbers], list(known)


def ascending(lefts, rights):
    known = {one: place for place, one in enumerate(sorted({*lefts, *rights}))}
    return [known[one] for one in lefts], [known[one] for one in rights], list(known)


def check(sources, targets, lefts=None, rights=None, order=first_come):
    """Number columns and compare with the oracle on the lists they stand for."""
    lefts = list(sources.tolist() if lefts is None else lefts)
    rights = list(targets.tolist() if rights is None else rights)
    expected = order(lefts, rights)
    found = number(sources, targets)
    assert (found[0].tolist(), found[1].tolist()) == expected[:2]
    assert found[0].dtype == found[1].dtype == np.uint32
    assert found[3] == len(expected[2])
    assert (list(range(found[3])) if found[2] is None else found[2].tolist()) == expected[2]
    return found


def check_strings(lefts, rights):
    return check(pa.array(lefts, pa.string()), pa.array(rights, pa.string()), lefts, rights)


def test_order_is_of_first_appearance():
    sources, targets, ids, count = check_strings(["c", "a", "c"], ["a", "b", "d"])
    assert (sources.tolist(), targets.tolist(), count) == ([0, 1, 0], [1, 2, 3], 4)
    assert ids.to_pylist() == ["c", "a", "b", "d"]


@pytest.mark.parametrize(
    "lefts",
    [
        [],
        ["one"],
        [""],
        ["", "a", ""],
        ["same"] * 300,
        ["é", "é", "日本", "🙂", "\0", "\0\0", "a\0", "a"],
        ["x" * size for size in range(40)],
        ["x" * LONG, "x" * (LONG - 1) + "y", "x" * LONG],
        [str(place % 70) for place in range(200)],
    ],
    ids=["none", "one", "empty", "empties", "all equal", "unicode", "lengths", "long", "again"],
)
def test_strings(lefts):
    check_strings(lefts, lefts[::-1])


@given(st.lists(st.tuples(TEXT, TEXT), max_size=40))
def test_any_strings(pairs):
    check_strings([left for left, _ in pairs], [right for _, right in pairs])


@given(st.lists(st.tuples(st.binary(max_size=20), st.binary(max_size=20)), max_size=30))
def test_any_bytes(pairs):
    lefts, rights = [left for left, _ in pairs], [right for _, right in pairs]
    check(pa.array(lefts, pa.binary()), pa.array(rights, pa.large_binary()), lefts, rights)


KINDS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("left", KINDS, ids=str)
@pytest.mark.parametrize("right", KINDS, ids=str)
def test_every_kind_of_string(left, right):
    lefts = ["b", "long enough to be no view inside", "a", "b", "c"]
    rights = ["c", "b", "long enough to be no view inside", "e", "a"]
    ids = check(pa.array(lefts).cast(left), pa.array(rights).cast(right), lefts, rights)[2]
    assert ids.type == pa.string()


def test_fixed_size_bytes_and_strings_beside_bytes():
    ids = check(pa.array([b"ab", b"cd"], pa.binary(2)), pa.array(["cd", "x"]), [b"ab", b"cd"], [b"cd", b"x"])[
        2
    ]
    assert ids.type == pa.binary()


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_chunks_and_slices(kind):
    values = [f"id {place % 11}" for place in range(60)]
    column = pa.array(values).cast(kind)
    lefts = pa.chunked_array([column[3:10], column[10:10], column[10:33]])
    rights = pa.chunked_array([column[20:21], column[25:54]])
    check(lefts, rights, values[3:33], values[20:21] + values[25:54])


def test_dictionaries_with_unused_and_repeated_values():
    values = pa.array(["unused", "b", "a", "b"])
    lefts = pa.DictionaryArray.from_arrays(pa.array([3, 2, 1]), values)
    rights = pa.DictionaryArray.from_arrays(pa.array([1, 1, 2]), values)
    check(lefts, rights, ["b", "a", "b"], ["b", "b", "a"])


HIDDEN = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", None, ""]))


def test_nulls_inside_a_dictionary_are_nulls():
    for column in HIDDEN, pa.chunked_array([HIDDEN.slice(0, 1), HIDDEN.slice(1)]):
        with pytest.raises(GraphError, match=r"targets\[1\] is null"):
            number(pa.array(["a", "b", "c"]), column)
    there = HIDDEN.take(pa.array([2, 0]))
    check(there, there, ["", "a"], ["", "a"])
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 2]), pa.array([7, None, 5]))
    check(coded, coded, [7, 5], [7, 5], order=ascending)
    with pytest.raises(GraphError, match=r"sources\[0\] is null"):
        number(coded.__class__.from_arrays(pa.array([1]), coded.dictionary), pa.array([1]))


def test_dictionaries_of_views():
    values = pa.array(["b", "a name too long to be inside", "unused"]).cast(pa.string_view())
    column = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1], pa.uint32()), values)
    names = ["a name too long to be inside", "b", "a name too long to be inside"]
    check(column, pa.chunked_array([column]), names, names)
    check(column, pa.array(names[::-1]), names, names[::-1])


@pytest.mark.parametrize("kind", [pa.null(), pa.string(), pa.int64(), pa.string_view()], ids=str)
def test_columns_of_no_type_without_rows(kind):
    for columns in (pa.nulls(0), pa.array([], kind)), (pa.array([], kind), np.array([], object)):
        sources, targets, ids, count = number(*columns)
        assert (len(sources), len(targets), count) == (0, 0, 0)
        assert ids is None or len(ids) == 0
    with pytest.raises(GraphError, match=r"sources\[0\] is null"):
        number(pa.nulls(1), pa.array(["a"]))


@pytest.mark.parametrize(
    "convert", [np.array, lambda values: np.array(values, object), np.dtypes.StringDType]
)
def test_numpy_strings(convert):
    lefts, rights = ["b", "", "a"], ["a", "ü", "b"]
    if convert is np.dtypes.StringDType:
        columns = [np.array(values, convert()) for values in (lefts, rights)]
    else:
        columns = [convert(values) for values in (lefts, rights)]
    check(*columns, lefts, rights)


@pytest.mark.parametrize("rows", [1, 7, 64])
def test_batches_of_any_size_number_alike(monkeypatch, rows):
    lefts = [str(place * place % 83) for place in range(150)]
    rights = [str(place * 7 % 97) for place in range(150)]
    monkeypatch.setattr("edgewise.ingest.ids.BATCH_ROWS", rows)
    check_strings(lefts, rights)


def test_batches_of_many_bytes_are_halved(monkeypatch):
    monkeypatch.setattr(arrow, "BATCH_BYTES", 200)
    check_strings(["x" * (place % 50) for place in range(40)], ["y" * (place % 90) for place in range(40)])


def test_ids_too_long_to_be_counted_are_refused(monkeypatch):
    monkeypatch.setattr(arrow, "BATCH_BYTES", 50)
    monkeypatch.setattr(arrow, "PAIR_BYTES", 100)
    with pytest.raises(GraphError, match="longer than 100 bytes"):
        check_strings(["a", "x" * 200, "b"], ["b", "c", "d"])


def test_offsets_widen_when_the_text_grows_long(monkeypatch):
    narrow = np.iinfo(np.int32)

    class Narrower:
        min, max = narrow.min, 1000

    monkeypatch.setattr(strings.np, "iinfo", lambda kind: Narrower if kind == np.int32 else narrow)
    monkeypatch.setattr("edgewise.ingest.ids.BATCH_ROWS", 8)
    lefts = ["x" * 60 + str(place) for place in range(40)]
    ids = check_strings(lefts, lefts[::-1])[2]
    assert ids.type == pa.large_string()


@pytest.mark.parametrize("kind", [pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str)
def test_halves_of_any_kind_are_smaller(monkeypatch, kind):
    lefts, rights = [f"{place:050d}" for place in range(64)], [f"{place % 9:050d}" for place in range(64)]
    sizes, add = [], strings.StringNumbers.add

    def add_and_note(self, columns, numbers):
        sizes.append(len(columns[0].starts) - 1)
        return add(self, columns, numbers)

    monkeypatch.setattr(arrow, "BATCH_BYTES", 2000)
    monkeypatch.setattr(strings.StringNumbers, "add", add_and_note)
    for columns in (
        (pa.array(lefts).cast(kind), pa.array(rights)),
        (pa.array(lefts), pa.array(rights).cast(kind)),
    ):
        check(*columns, lefts, rights)
    assert min(sizes) > 8


def test_a_batch_beyond_the_room_of_the_table_is_taken_in_parts(monkeypatch, some):
    for name, value in (("FIRST_SLOTS", 16), ("MILLIONS", 16), ("PART_ROWS", 2)):
        monkeypatch.setattr(strings, name, value)
    rows, add = [], strings.StringNumbers._add_many
    monkeypatch.setattr(
        strings.StringNumbers,
        "_add_many",
        lambda self, columns, numbers: (rows.append(len(columns[0].starts) - 1), add(self, columns, numbers))[
            1
        ],
    )
    lefts = [f"id {place * 7 % 300}" for place in range(600)]
    assert check_strings(lefts, lefts[::-1])[3] == 300
    if some == 0:
        assert len(rows) > 3 and max(rows) < 600


def test_rows_are_taken_in_parts_for_each_thread(monkeypatch):
    monkeypatch.setattr(strings, "THREAD_ROWS", 7)
    monkeypatch.setattr(strings.StringNumbers, "_are_some", lambda self, count, columns: False)
    lefts = [f"id {place * 7 % 300}" for place in range(600)]
    assert check_strings(lefts, lefts[::-1])[3] == 300


@pytest.mark.parametrize("others", [[4], [3, 5], [0], [12, 36], [16, 8, 24]])
def test_strings_of_one_length_until_others_come(monkeypatch, others):
    monkeypatch.setattr("edgewise.ingest.ids.BATCH_ROWS", 16)
    same = [f"{place * 7 % 50:04d}" for place in range(90)]
    mixed = [f"{place * 11 % 60:04d}".rjust(others[place % len(others)], "0")[:36] for place in range(90)]
    assert check_strings(same + mixed + same, mixed + same + mixed)[3] <= 111
    check_strings(same + same + mixed, same + same + mixed)
    check_strings([one * 9 for one in same + same + mixed], same + same + mixed)


def test_hashing_and_comparing_see_every_byte():
    data = np.random.default_rng(0).integers(0, 256, 200).astype(np.uint8)
    for length in range(41):
        one, other = data[7 : 7 + length].copy(), np.concatenate([data[:3], data[7 : 7 + length]])
        code = string_words.hash_bytes(one, 0, length)
        assert string_words.hash_bytes(other, 3, 3 + length) == code
        assert string_words.same_bytes(one, 0, other, 3, length)
        room = np.zeros(60, np.uint8)
        seen = int(string_words.copy_bytes(one, 0, room, 5, length))
        assert room[5 : 5 + length].tolist() == one.tolist() and not room[:5].any()
        assert not room[5 + length :].any()
        assert (seen & 0x8080808080808080 != 0) == bool((one > 127).any())
        for place in range(length):
            changed = one.copy()
            changed[place] ^= 1
            assert string_words.hash_bytes(changed, 0, length) != code
            assert not string_words.same_bytes(changed, 0, other, 3, length)


def test_too_many_strings_are_refused(monkeypatch):
    monkeypatch.setattr(strings, "CAPACITY", 10)
    check_strings(["a", "b"], ["c", "d"])
    with pytest.raises(GraphError, match="distinct strings"):
        check_strings(list("abcdef"), list("ghijkl"))


@pytest.mark.skipif(not INTERPRETED, reason="compiled kernels cannot be patched")
@pytest.mark.parametrize("code", [0, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF])
def test_strings_of_one_hash_stay_apart(monkeypatch, code):
    monkeypatch.setattr(string_table, "hash_bytes", lambda data, start, stop: np.uint64(code))
    monkeypatch.setattr("edgewise.ingest.ids.BATCH_ROWS", 16)
    check_strings([str(place % 41) for place in range(90)], [str(place % 57) for place in range(90)])


@pytest.mark.skipif(not INTERPRETED, reason="compiled kernels cannot be patched")
@pytest.mark.parametrize("slot", [0, 0xFFFFF])
def test_strings_of_one_slot_stay_apart(monkeypatch, slot):
    """Slots of other tags are passed over, also the last one; the search goes on at the first."""

    def of_one_slot(data, start, stop):
        return string_words.hash_bytes(data, start, stop) << np.uint64(20) | np.uint64(slot)

    monkeypatch.setattr(string_table, "hash_bytes", of_one_slot)
    monkeypatch.setattr("edgewise.ingest.ids.BATCH_ROWS", 16)
    check_strings([str(place % 41) for place in range(90)], [str(place % 57) for place in range(90)])


@pytest.mark.skipif(INTERPRETED, reason="too slow in the interpreter")
def test_a_million_strings_some_with_one_tag():
    count = 1_000_000
    column = pa.array(np.arange(count)).cast(pa.string())
    sources, targets, ids, found = number(column, column.take(pa.array(np.arange(count)[::-1].copy())))
    assert found == count
    assert np.array_equal(np.asarray(ids.cast(pa.int64()))[sources], np.arange(count))
    assert np.array_equal(np.asarray(ids.cast(pa.int64()))[targets], np.arange(count)[::-1])


def test_hashes_spread():
    text = "".join(f"{place:08d}" for place in range(500)).encode()
    data = np.frombuffer(text, np.uint8)
    codes = {
        int(string_words.hash_bytes(data, 8 * place, 8 * place + 8)) & 0xFFFFFFFF for place in range(500)
    }
    assert len(codes) == 500


@pytest.mark.skipif(INTERPRETED, reason="there are no threads in the interpreter")
@pytest.mark.parametrize("kind", ["strings", "integers"])
def test_every_number_of_threads_gives_the_same_numbers(kind):
    draw = np.random.default_rng(1)
    if kind == "strings":
        columns = [pa.array(draw.integers(0, 70_000, 100_000)).cast(pa.string()) for _ in range(2)]
    else:
        columns = [draw.integers(-(2**62), 2**62, 5000)[draw.integers(0, 5000, 50_000)] for _ in range(2)]
    found = []
    for count in sorted({1, min(2, threads.most()), threads.most()}):
        with threads.limited(count):
            assert threads.count() == count
            sources, targets, _, distinct = number(*columns)
        found.append((sources.tobytes(), targets.tobytes(), distinct))
    assert len({*found}) == 1


@pytest.mark.parametrize(
    "kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
)
def test_extreme_integers(kind):
    limits = np.iinfo(kind)
    values = np.array([limits.max, limits.min, 5, limits.max - 1, limits.min + 1, 5], kind)
    check(values, values[::-1].copy(), order=ascending)


def test_both_ends_of_64_bits():
    least, most = np.array([INT64.min]), np.array([INT64.max])
    check(least, most, order=ascending)
    check(least + 1, most, order=ascending)
    top = np.array([UINT64.max], np.uint64)
    check(top - np.uint64(1), top, order=ascending)


def test_integers_of_a_gpu_are_numbered_there(monkeypatch):
    guarded, distinct = [], ids.unique

    @contextmanager
    def guard(place):
        guarded.append(place)
        yield
        guarded.append("left")

    def unique(values):
        guarded.append("unique")
        return distinct(values)

    monkeypatch.setattr(arrays, "SIMULATED", True)
    monkeypatch.setattr(arrays, "guard", guard)
    monkeypatch.setattr(ids, "unique", unique)
    columns = [arrays.move(np.array(values), "cuda:0") for values in ([9, 3], [3, 5])]
    sources, targets, found, count = number(*columns)
    assert guarded == ["cuda:0", "unique", "left"]
    assert (sources.tolist(), targets.tolist(), found.tolist(), count) == ([2, 0], [0, 1], [3, 5, 9], 3)


@pytest.mark.gpu
@pytest.mark.skipif(INTERPRETED, reason="there are no GPUs in the interpreter")
def test_integers_of_the_last_gpu_stay_there():
    place = f"cuda:{arrays.gpu_count() - 1}"
    columns = [arrays.move(np.array(values), place) for values in ([9, 3], [3, 5])]
    sources, targets, found, count = number(*columns)
    assert arrays.device_of(sources, targets) == place
    assert (sources.tolist(), targets.tolist(), found.tolist(), count) == ([2, 0], [0, 1], [3, 5, 9], 3)


def test_plain_numbers_keep_no_ids():
    assert check(np.array([2, 0, 1]), np.array([1, 1, 0]), order=ascending)[2] is None
    assert check(np.array([3, 1, 2]), np.array([1, 1, 2]), order=ascending)[2] is not None
    assert number(np.array([], np.int64), np.array([], np.int64))[2:] == (None, 0)


def test_signed_beside_unsigned():
    signed, unsigned = np.array([5, -1]), np.array([7, 5], np.uint64)
    assert check(signed, unsigned, order=ascending)[2].dtype == np.int64
    big = np.array([UINT64.max, 5], np.uint64)
    assert check(np.abs(signed), big, order=ascending)[2].dtype == np.uint64
    with pytest.raises(GraphError, match="no integer type holds both"):
        number(signed, big)


@given(
    st.lists(
        st.tuples(st.integers(INT64.min, INT64.max), st.integers(-50, 50)),
        min_size=1,
        max_size=60,
    )
)
def test_any_integers(pairs):
    sources, targets = np.array(pairs, np.int64).T.copy()
    check(sources, targets, order=ascending)
    check(targets, targets[::-1].copy(), order=ascending)


@pytest.mark.parametrize("last", [62, 63, 64, 65, 127, 128, 200])
def test_marks_at_the_ends_of_words(last):
    values = np.array([0, last, 1, last - 1, last // 2] * 6) + 1000
    check(values, np.roll(values, 2), order=ascending)
    check(np.arange(last + 1), np.arange(last + 1), order=ascending)


@pytest.mark.skipif(INTERPRETED, reason="too slow in the interpreter")
def test_marking_takes_twice_the_input_at_most(monkeypatch):
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, ingest_first=0))
    count = 200_000
    columns = np.random.default_rng(5).integers(0, 8 * count - 9, (2, count))
    integers.number_distinct(*columns)  # so that everything is compiled
    tracemalloc.start()
    sources, targets, ids = integers.number_distinct(*columns)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * columns.nbytes
    assert np.array_equal(ids[np.stack([sources, targets])], columns)
    assert np.array_equal(ids, np.unique(columns))


def test_sparse_integers_outgrow_the_table(monkeypatch):
    monkeypatch.setattr(integers, "FIRST_SLOTS", 16)
    values = np.arange(200) ** 2 * 1_000_003 % 2**31
    check(values, np.roll(values, 3), order=ascending)


def test_arrow_integers():
    column = pa.chunked_array([[3, 9], [4]])
    check(column, pa.array([9, 9, 3], pa.uint8()), [3, 9, 4], [9, 9, 3], order=ascending)
    coded = pa.array([30, 9, 30]).dictionary_encode()
    check(coded, coded, [30, 9, 30], [30, 9, 30], order=ascending)


@pytest.mark.parametrize(
    ("sources", "targets", "message"),
    [
        (np.array(["a"]), np.array([1]), "sources are strings, targets are integers"),
        (pa.array(["a"]), np.array([b"b"]), "sources are strings, targets are bytes"),
        (np.array([b"b"]), pa.array(["a"]), "sources are bytes, targets are strings"),
        (pa.array(["a", None]), pa.array(["a", "b"]), r"sources\[1\] is null"),
        (pa.array([1, None]), pa.array([1, 2]), r"sources\[1\] is null"),
        (np.array([1.5]), np.array([2.5]), "hold double .float, DOUBLE.; ids are integers or strings"),
        (np.array(["a", 1], object), np.array(["a", "b"]), "integers only or strings only"),
        (pa.array(["a"]), pa.array(["a", "b"]), "1 sources but 2 targets"),
    ],
)
def test_what_is_no_id_is_refused(sources, targets, message):
    with pytest.raises(GraphError, match=message):
        number(sources, targets)


def test_arrays_grow_and_widen():
    array = Growing(np.int32)
    for size in (1, 1000, 3000):
        array.extend(size)[:] = size
    array.widen(np.int64)
    array.reserve(10_000)
    assert array.used_items().dtype == np.int64
    assert array.used_items().tolist() == [1] + [1000] * 1000 + [3000] * 3000


@pytest.mark.interpreter
@pytest.mark.parametrize("known, left, right", [("", "", ""), ("a b", "b c b", "a d c"), ("x", "y", "y")])
def test_few_strings_are_numbered_as_by_arrow(known, left, right):
    columns = [
        string_words.strings_of(pa.array(words.split(), pa.string())) for words in (known, left, right)
    ]
    found, expected = (
        way(columns[0], columns[1:]) for way in (strings.number_few, strings.number_by_dictionary)
    )
    if left:
        assert [one.tolist() for one in found[0]] == [one.tolist() for one in expected[0]]
    texts = [bytes(new.text[new.starts[0] : new.starts[-1]]) for _, new in (found, expected)]
    assert texts[0] == texts[1]
    assert np.diff(found[1].starts).tolist() == np.diff(expected[1].starts).tolist()
