"""What is taken as a column of ids: nothing that the caller tells apart becomes one vertex."""

import datetime
import decimal
import uuid

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import edgewise as ew
from edgewise.errors import GraphError
from edgewise.ingest.arrow import arrow_array, numpy_array

pytestmark = pytest.mark.interpreter


def of_objects(values):
    array = np.empty(len(values), object)
    array[:] = values
    return array


def from_edges(convert):
    return lambda values: ew.Graph.from_edges(convert(values), convert(values))


def from_frame(convert):
    return lambda values: ew.Graph.from_frame({"a": convert(values), "b": convert(values)})


WAYS = {
    "list": from_edges(list),
    "tuple": from_edges(tuple),
    "objects": from_edges(of_objects),
    "series": from_edges(lambda values: pd.Series(values, dtype=object)),
    "dict of lists": from_frame(list),
    "dict of objects": from_frame(of_objects),
    "data frame": lambda values: ew.Graph.from_frame(pd.DataFrame({"a": values, "b": values}, dtype=object)),
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@ways
@pytest.mark.parametrize(
    "values",
    [
        ["a\0", "a"],
        ["\0", ""],
        [b"a\0", b"a"],
        ["", "a"],
        ["nan", "None"],
        [np.str_("a\0"), "a"],
        [-(2**63), 5],
    ],
)
def test_distinct_values_are_distinct_vertices(way, values):
    graph = way(values)
    assert graph.ids.tolist() == values
    assert graph.vertices_of(values).tolist() == [0, 1]


@ways
@pytest.mark.parametrize(
    "values",
    [
        ["a", b"a"],
        [True, 1],
        [np.True_, 1],
        [True, False],
        ["True", True],
        ["1", 1],
        [b"1", 1],
        [1, 1.0],
        [1, 1.5],
        [0.0, -0.0],
        [1, decimal.Decimal(1)],
        ["a", None],
        ["nan", float("nan")],
        ["<NA>", pd.NA],
        ["NaT", pd.NaT],
        [1, None],
        [2**64, 1],
        [2**63, -1],
        [-(2**63) - 1, 0],
        ["\ud800", "a"],
        [1j, 1],
        [["a"], ["b"]],
        [datetime.date(2020, 1, 1), datetime.datetime(2020, 1, 1)],
        [datetime.date(2020, 1, 1), "2020-01-01"],
        [uuid.UUID(int=1), str(uuid.UUID(int=1))],
        [decimal.Decimal("1.5"), decimal.Decimal(1)],
        [("a", 1), ("a", "1")],
        [("a", 1), ("a", True)],
        [("a", 1), ("a", None)],
        [("a", 1), ("a",)],
        [("a", 1), "a"],
        [(), ()],
        [Ellipsis, "a"],
    ],
    ids=repr,
)
def test_what_could_be_mistaken_is_refused(way, values):
    with pytest.raises(GraphError) as caught:
        way(values)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("way", [WAYS[name] for name in ("list", "tuple", "objects", "series")])
def test_integers_beyond_the_signed_ones(way):
    assert way([2**63, 1]).ids.tolist() == [1, 2**63]
    assert way([np.int8(1), np.uint64(2**63)]).ids.tolist() == [1, 2**63]


def test_integers_in_the_other_order_of_bytes():
    for kind in (">u8", "<u8"):
        ids = np.array([2**63, 1], kind)
        assert ew.Graph.from_edges(ids, ids).ids.tolist() == [1, 2**63]


def test_strings_of_any_length_of_numpy():
    ids = np.array(["a\0", "a"], np.dtypes.StringDType())
    assert ew.Graph.from_edges(ids, ids).ids.tolist() == ["a\0", "a"]


def test_results_find_ids_that_end_in_zeros():
    graph = ew.Graph.from_edges(["a", "a\0"], ["b", "c"])
    assert ew.bfs(graph, "a\0").path_to("c") == ["a\0", "c"]
    assert ew.bfs(graph, "c").path_to("a\0") == ["c", "a\0"]
    assert ew.bfs(graph, "c").distance_to("a\0") == 1


@pytest.mark.parametrize("ids", [True, [True, 0], [np.True_]])
def test_booleans_are_found_nowhere(ids):
    for graph in (
        ew.Graph.from_edges([0], [1]),
        ew.Graph.from_edges([1], [7]),
        ew.Graph.from_edges(["1"], ["2"]),
    ):
        with pytest.raises(GraphError, match=r"True.* is not in the graph"):
            graph.vertices_of(ids)


def test_other_values_among_strings_are_found_nowhere():
    graph = ew.Graph.from_edges(["a"], ["b"])
    for other in (1, 2.5, None):
        with pytest.raises(GraphError, match=f"vertex {other!r} is not in the graph"):
            graph.vertices_of(["a", other])


def test_surrogates_are_found_nowhere():
    with pytest.raises(GraphError, match="is not in the graph"):
        ew.Graph.from_edges(["a"], ["b"]).vertices_of("\ud800")


def test_streams_take_no_booleans():
    with pytest.raises(GraphError, match="booleans"):
        ew.ComponentsStream().add([True, 2], [3, 4])


def test_strings_and_bytes_in_two_columns_are_refused():
    objects = of_objects([b"1"])
    for sources, targets in (["1"], [b"1"]), (["1"], objects), ([b"1"], pa.array(["1"])), (objects, ["1"]):
        with pytest.raises(GraphError, match=r"sources are .*, targets are .*; convert one of them"):
            ew.Graph.from_edges(sources, targets)
        with pytest.raises(GraphError, match=r"column 'a' holds .*, 'b' holds .*; convert one"):
            ew.Graph.from_frame({"a": sources, "b": targets})
    coded = pa.array(["1", "2"]).dictionary_encode()
    assert ew.Graph.from_edges(["1", "3"], coded).ids.tolist() == ["1", "3", "2"]


def test_masked_entries_are_refused():
    some, none = np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[0, 0])
    assert ew.Graph.from_edges(none, [2, 3], weights=none).weights.tolist() == [1, 2]
    rows, csr = [0, 1, 2], ew.Graph.from_csr
    for make, name in (
        (lambda: ew.Graph.from_edges(some, [3, 4]), "sources"),
        (lambda: ew.Graph.from_edges([3, 4], some, n_vertices=5), "targets"),
        (lambda: ew.Graph.from_edges([3, 4], [1, 2], weights=some), "weights"),
        (lambda: csr(rows, [1, 0], ids=some), "ids"),
        (lambda: csr(rows, [1, 0], vertex_weights=some), "vertex_weights"),
        (lambda: csr(np.ma.array(rows, mask=[0, 1, 0]), [1, 0]), "offsets"),
        (lambda: ew.ComponentsStream().add(some, [3, 4]), "sources"),
    ):
        with pytest.raises(GraphError, match=rf"^{name}\[1\] is masked; drop such edges first, or fill"):
            make()


class Chunked:
    """An array in chunks on a disk, as zarr and h5py have them; Arrow arrays have ``chunks`` too."""

    chunks = (1,)

    def __init__(self, values):
        self.values = np.array(values)
        self.dtype, self.shape = self.values.dtype, self.values.shape

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        return self.values


def test_arrays_in_chunks():
    graph = ew.Graph.from_edges(Chunked([1, 5]), Chunked([5, 9]), weights=Chunked([0.5, 2]))
    assert (graph.ids.tolist(), graph.weights.tolist()) == ([1, 5, 9], [0.5, 2])


def test_what_is_no_array():
    for make, name in (
        (lambda: ew.Graph.from_edges([[1], [2, 3]], [2, 3]), "sources"),
        (lambda: ew.Graph.from_edges([1, 2], [2, 3], weights=[[1], [2, 3]]), "weights"),
    ):
        with pytest.raises(
            GraphError, match=f"^{name} cannot be made an array; give one value for every edge"
        ):
            make()


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["a", None]),
        pd.Series(["a", None], dtype=object),
        pd.Series(["a", None], dtype="string"),
        pd.Series([1, None]),
        pd.Series([1, None], dtype="Int64"),
        of_objects(["a", float("nan")]),
        of_objects([1, pd.NaT]),
        ["a", np.nan],
        [1, None],
        pa.array([1, None]),
        pa.chunked_array([["a"], [None]]),
    ],
)
def test_nulls_are_named_by_their_position(values):
    with pytest.raises(GraphError, match=r"^sources\[1\] is null; drop such edges first(; a gap makes|$)"):
        ew.Graph.from_edges(values, values)


def test_nulls_among_vertex_numbers():
    with pytest.raises(GraphError, match=r"^targets\[1\] is null; drop such edges first$"):
        ew.Graph.from_edges(pa.array([1, 2]), pa.array([1, None]), n_vertices=4)


KINDS = {
    "string": pa.array(["a", "b", "a", "a\0"]),
    "large_string": pa.array(["a", "b", "a", "a\0"], pa.large_string()),
    "string_view": pa.array(["a", "b", "a", "a\0"], pa.string_view()),
    "binary": pa.array([b"a", b"b", b"a", b"a\0"]),
    "fixed": pa.array([b"aa", b"ab", b"aa", b"a\0"], pa.binary(2)),
    "uint64": pa.array([2**63, 1, 2**63, 2**64 - 1], pa.uint64()),
    "repeated values": pa.DictionaryArray.from_arrays([0, 1, 2, 4], ["a", "b", "a", "unused", "a\0"]),
    "integers": pa.DictionaryArray.from_arrays([0, 1, 2, 3], pa.array([2**60, 1, 2**60, -1])),
}


@pytest.mark.parametrize("column", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("cut", ["whole", "slice", "chunks", "chunks with other dictionaries"])
def test_arrow_columns_of_any_layout(column, cut):
    values = column.to_pylist()
    if cut == "slice":
        column = pa.concat_arrays([column, column])[3:7]
        values = [values[3], *values[:3]]
    elif cut != "whole":
        later = column[2:]
        if pa.types.is_dictionary(column.type) and "other" in cut:
            later = later.dictionary_decode().dictionary_encode()
            later = later.cast(pa.dictionary(column.type.index_type, column.type.value_type))
        column = pa.chunked_array([column[:0], column[:2], column[:0], later])
    for graph in (
        ew.Graph.from_edges(column, column),
        ew.Graph.from_frame(pa.table({"a": column, "b": column})),
    ):
        expected = list(dict.fromkeys(values))
        expected = sorted(expected) if isinstance(values[0], int) else expected
        assert graph.ids.tolist() == expected
        assert [expected[vertex] for vertex in graph.sources] == values


@pytest.mark.parametrize("kind", [*"bhilBHIL", "float32", "float64"])
def test_columns_of_numbers_as_arrays_and_back(kind):
    values, nulls = np.arange(20).astype(kind), np.arange(20) % 3 == 0
    assert arrow_array(values).equals(pa.array(values))
    assert arrow_array(values[::2]).equals(pa.array(values[::2]))
    assert arrow_array(values, nulls).equals(pa.array(values, mask=nulls))
    assert arrow_array(values[:0], nulls[:0]).equals(pa.array(values[:0]))
    array = pa.array(values)
    for column in (array, pa.chunked_array([array[:3], array[3:]]), pa.chunked_array([], array.type)):
        found = numpy_array(column)
        assert found.dtype == kind and found.tolist() == column.to_pylist()
