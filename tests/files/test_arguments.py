"""Arguments of the readers and the writer that are of another type than they must be."""

import re

import numpy as np
import pandas as pd
import pytest

import edgewise as ew
from edgewise.errors import OptionError


@pytest.mark.parametrize("path", [None, 3, [None], ["a.csv", [3]], {"a.csv"}, pd.DataFrame({"a": range(99)})])
@pytest.mark.parametrize("reader", [ew.read, ew.stream_components])
def test_what_is_no_path(reader, path):
    with pytest.raises(OptionError, match="is no path; give a file, folder or pattern, or a list of them"):
        reader(path)


@pytest.mark.parametrize("path", [None, 3, ["a.txt"]])
def test_where_nothing_can_be_written(path):
    with pytest.raises(OptionError, match=r"path= is a \w+, no path; give the name of a file"):
        ew.write(ew.Graph.from_edges([1], [2]), path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": 3}, "format=3 is unknown; use one of"),
        ({"format": ["csv"]}, "is unknown; use one of"),
        ({"format": "parket"}, "format='parket' is unknown; did you mean parquet? The choices are arrow"),
        ({"null": "dorp"}, "null='dorp' is unknown; did you mean drop?"),
        ({"nul": "drop"}, "read() has no option 'nul'; did you mean null? It has source"),
        ({"repeated": "frist"}, "repeated='frist' is unknown; did you mean first?"),
        ({"source": 1.5, "target": 2}, "source=1.5 is no column; give a name or a position"),
        ({"source": 0, "target": True}, "target=True is no column"),
        ({"weight": 2.0}, "weight=2.0 is no column"),
        ({"header": "no"}, "header='no' must be True or False"),
        ({"header": 0}, "header=0 must be True or False"),
        ({"directed": "no"}, "directed='no' must be True or False"),
        ({"one_based": 1}, "one_based=1 must be True or False"),
        ({"where": 3}, "where=3 is no condition; write it as a string"),
    ],
)
def test_options_of_other_types(tmp_path, options, message):
    for name, content in ("a.txt", "1 2 3\n4 5 6\n"), ("a.csv", "a,b,c\n1,2,3\n"):
        (tmp_path / name).write_text(content)
        with pytest.raises(OptionError, match=re.escape(message)):
            ew.read(tmp_path / name, **options)


def test_columns_by_numbers_of_numpy(tmp_path):
    (tmp_path / "a.txt").write_text("9 1 2 3\n9 4 5 6\n")
    numbers = np.arange(4)
    graph = ew.read(
        tmp_path / "a.txt", source=numbers[1], target=numbers[2], weight=numbers[3], header=np.False_
    )
    assert (graph.ids.tolist(), graph.weights.tolist()) == ([1, 2, 4, 5], [3, 6])
