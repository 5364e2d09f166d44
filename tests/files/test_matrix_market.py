"""Matrix Market files hold what their banner promises, to the last character, or the line is named."""

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import FileError

SPARSE, DENSE = "%%MatrixMarket matrix coordinate {} {}\n3 3 {}\n", "%%MatrixMarket matrix array {} {}\n3 3\n"


def sparse(path, field, rows, symmetry="general"):
    path.write_text(SPARSE.format(field, symmetry, len(rows)) + "".join(f"{row}\n" for row in rows))
    return path


def dense(path, field, values, symmetry="general"):
    path.write_text(DENSE.format(field, symmetry) + "".join(f"{value}\n" for value in values))
    return path


def edges(path, **options):
    graph = ew.read(path, **options)
    weights = [1] * graph.n_edges if graph.weights is None else graph.weights.tolist()
    return sorted(zip(graph.sources.tolist(), graph.targets.tolist(), weights))


def refused(path, **options):
    with pytest.raises(FileError) as caught:
        ew.read(path, **options)
    assert "\n" not in str(caught.value)
    return caught.value.line, caught.value.problem


CUT_OFF = [
    ("real", "1 2 1,5", "the weight '1,5' is not a number"),
    ("real", "1 2 0,25", "the weight '0,25' is not a number"),
    ("real", "1 2 1d3", "the weight '1d3' is not a number"),
    ("real", "1 2 1.5f", "'1.5f'"),
    ("real", "1 2 1_000", "the weight '1_000' is not a number"),
    ("real", "1 2 3.0 2 3 4.0", "3 columns expected, but found 6"),
    ("real", "1 2", "3 columns expected, but found 2"),
    ("integer", "1 2 1e3", "the weight '1e3' is not an integer of 64 bits"),
    ("integer", "1 2 2.9", "the weight '2.9' is not an integer of 64 bits"),
    ("integer", f"1 2 {2**63}", "is not an integer of 64 bits"),
    ("unsigned-integer", f"1 2 {2**63}", "is not an integer of 64 bits"),
    ("pattern", "1 2.9", "'2.9' is not an integer"),
    ("pattern", "1 2abc", "'2abc' is not an integer"),
    ("pattern", "1 2 2 3", "2 columns expected, but found 4"),
    ("pattern", "1 4", "vertex 4 is not in 1 .. 3"),
    ("complex", "1 2 1.0 0,5", "'0,5'"),
]


@pytest.mark.parametrize(("field", "row", "problem"), CUT_OFF)
def test_entries_that_are_no_numbers(tmp_path, field, row, problem):
    good = {"pattern": "3 1", "complex": "3 1 1 0"}.get(field, "3 1 1")
    line, found = refused(sparse(tmp_path / "a.mtx", field, [good, row]))
    assert line == 4
    assert problem in found


@pytest.mark.parametrize(("field", "value"), [("real", "2,5"), ("integer", "2.9"), ("real", "1 0")])
def test_values_that_are_no_numbers(tmp_path, field, value):
    line, _ = refused(dense(tmp_path / "a.mtx", field, [0, 1, 0, 1, 0, value, 0, 0, 0]))
    assert line == 8


def test_all_ways_to_write_a_number(tmp_path):
    rows = ["1 1 .5", "1 2 5.", "1 3 1E+03", "2 1 -2.8e2", "2 2 +1.5", "2 3 007", "3 1 1e-3"]
    weights = [weight for _, _, weight in edges(sparse(tmp_path / "a.mtx", "real", rows))]
    assert weights == [0.5, 5.0, 1000.0, -280.0, 1.5, 7.0, 0.001]
    graph = ew.read(sparse(tmp_path / "b.mtx", "integer", [f"1 2 {2**63 - 1}", f"2 3 {-(2**63)}"]))
    assert graph.weights.dtype == np.int64
    assert graph.weights.tolist() == [2**63 - 1, -(2**63)]


SYMMETRIES = [
    ("general", [0, 1, 0, 1, 0, 0, 0, 0, 2], ["2 1 1", "1 2 1", "3 3 2"], [(1, 0, 1), (2, 2, 2)], False),
    ("symmetric", [0, 1, 0, 0, 0, 2], ["2 1 1", "3 3 2"], [(1, 0, 1), (2, 2, 2)], False),
    ("hermitian", [0, 1, 0, 0, 0, 2], ["2 1 1", "3 3 2"], [(1, 0, 1), (2, 2, 2)], False),
    ("skew-symmetric", [1, 0, 2], ["2 1 1", "3 2 2"], [(0, 1, -1), (1, 0, 1), (1, 2, -2), (2, 1, 2)], True),
]


@pytest.mark.interpreter
@pytest.mark.parametrize(("symmetry", "values", "rows", "expected", "directed"), SYMMETRIES)
@pytest.mark.parametrize("field", ["real", "integer", "complex"])
def test_symmetries(tmp_path, field, symmetry, values, rows, expected, directed):
    if field == "complex":
        values, rows = [f"{value} 0" for value in values], [f"{row} 0.0" for row in rows]
    paths = (
        sparse(tmp_path / "a.mtx", field, rows, symmetry),
        dense(tmp_path / "b.mtx", field, values, symmetry),
    )
    for path in paths:
        assert edges(path) == expected
        assert ew.read(path).directed == directed
        both = {*expected, *((v, u, weight) for u, v, weight in expected)} if not directed else expected
        assert edges(path, directed=True) == sorted(both)
        assert not ew.read(path, weight=False).directed


def test_counts_of_lines(tmp_path):
    (tmp_path / "a.mtx").write_text(SPARSE.format("pattern", "general", 1) + "1 2\n\n% c\n2 3\n")
    assert refused(tmp_path / "a.mtx") == (6, "a line beyond the 1 that the header promises")
    (tmp_path / "a.mtx").write_text(SPARSE.format("pattern", "general", 3) + "1 2\n2 3\n")
    assert refused(tmp_path / "a.mtx")[1].startswith("3 lines promised, but 2 found")
    assert refused(dense(tmp_path / "a.mtx", "real", [1] * 8))[1].startswith("9 lines promised, but 8 found")
    assert refused(dense(tmp_path / "a.mtx", "real", [1] * 10))[0] == 12


HEADERS = {
    "%%MatrixMarket matrix coordinate real\n3 3 0\n": 1,
    "%%MatrixMarket matrix array pattern general\n3 3\n": 1,
    "%%MatrixMarket matrix coordinate pattern skew-symmetric\n3 3 0\n": 1,
    "%%MatrixMarket matrix coordinate pattern general\n% c\n\n3 3\n": 4,
    "%%MatrixMarket matrix coordinate pattern general\n3 3 1.0\n1 2\n": 2,
    f"%%MatrixMarket matrix coordinate pattern general\n3 3 {'9' * 5000}\n1 2\n": 2,
    "%%MatrixMarket matrix coordinate pattern general\n": 1,
}


@pytest.mark.parametrize("text", HEADERS, ids=range(len(HEADERS)))
def test_headers(tmp_path, text):
    (tmp_path / "a.mtx").write_text(text)
    assert refused(tmp_path / "a.mtx")[0] == HEADERS[text]


def test_a_tail_of_zeros(tmp_path):
    comment = f"%{'x' * 70_000}\n"
    path = tmp_path / "a.mtx"
    path.write_text(f"%%MatrixMarket matrix coordinate pattern general\n{comment}9 9 9\n1 2\n2 3\n")
    with open(path, "ab") as file:
        file.truncate(200_000)
    line, problem = refused(path)
    assert line == 6
    assert "2 columns expected, but found 1" in problem
