"""The pages for Spark and datatrove with stand-ins for these libraries, which the tests do not install.

``test_pyspark.py`` and ``test_datatrove.py`` test them with the libraries.  Here is what the pages compute
from the rows and bytes that a library hands to them.
"""

import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

from edgewise.errors import FileError, GraphError, OptionError

pytestmark = pytest.mark.interpreter
PAIRS = {"l": ["b", "c", "e", "a", "x"], "r": ["a", "b", "d", "c", "y"]}
INDEX = 2**32 - 1


def page(monkeypatch, name, **modules):
    """A page of :mod:`edgewise.integrations`, imported anew with modules that stand in for others."""
    for module, attributes in modules.items():
        parts = module.split("__")
        for length in range(1, len(parts) + 1):
            one = ".".join(parts[:length])
            monkeypatch.setitem(sys.modules, one, ModuleType(one))
        vars(sys.modules[one]).update(attributes)
    monkeypatch.delitem(sys.modules, f"edgewise.integrations.{name}", raising=False)
    found = import_module(f"edgewise.integrations.{name}")
    monkeypatch.delitem(sys.modules, f"edgewise.integrations.{name}")
    return found


class Kind(NamedTuple):
    """A type of Spark."""

    name: str

    def simpleString(self):
        return self.name


class Frame:
    """A frame of Spark, as record batches: a list of them for each partition."""

    def __init__(self, partitions, kinds):
        self.partitions, self.schema = (
            partitions,
            {one: SimpleNamespace(dataType=kinds[one]) for one in kinds},
        )
        self.columns = list(kinds)

    def select(self, *names):
        return Frame(
            [[one.select(names) for one in batches] for batches in self.partitions], self._kinds(names)
        )

    def repartition(self, number):
        assert number == 1
        return Frame([[one for batches in self.partitions for one in batches]], self._kinds(self.columns))

    def mapInArrow(self, function, schema):
        kinds = {field.name: field.dataType for field in schema}
        return Frame([[*function(iter(batches))] for batches in self.partitions], kinds)

    def rows(self):
        return [row for batches in self.partitions for batch in batches for row in batch.to_pylist()]

    def _kinds(self, names):
        return {name: self.schema[name].dataType for name in names}


class Field(NamedTuple):
    """A column of a schema of Spark."""

    name: str
    dataType: Any


@pytest.fixture
def spark(monkeypatch):
    types = {"LongType": lambda: Kind("bigint"), "StructField": Field, "StructType": list}
    return page(monkeypatch, "pyspark", pyspark__sql__types=types)


def pairs_of_spark(rows=5, kinds=("string", "string")):
    batches = pa.table(PAIRS).slice(0, rows).to_batches(max_chunksize=1)
    return Frame([batches[:2], batches[2:], []], dict(zip(PAIRS, map(Kind, kinds))))


def test_partitions_of_spark_are_solved_and_merged(spark):
    found = spark.clusters(pairs_of_spark(), "l", "r")
    assert [found.schema[name].dataType.name for name in found.columns] == ["string", "string", "bigint"]
    expected = {
        "a": ("a", 3),
        "b": ("a", 3),
        "c": ("a", 3),
        "d": ("d", 2),
        "e": ("d", 2),
        "x": ("x", 2),
        "y": ("x", 2),
    }
    assert {row["id"]: (row["cluster"], row["size"]) for row in found.rows()} == expected
    assert {row["id"] for row in spark.clusters(pairs_of_spark(), "l", "r", min_size=3).rows()} == {*"abc"}
    assert spark.clusters(pairs_of_spark(0), "l", "r").rows() == []


def test_columns_of_spark_that_do_not_fit(spark):
    with pytest.raises(OptionError, match="there is no column 'x'; use one of l, r"):
        spark.clusters(pairs_of_spark(), "l", "x")
    with pytest.raises(GraphError, match="column 'l' holds int and 'r' holds string; cast one to the other"):
        spark.clusters(pairs_of_spark(kinds=("int", "string")), "l", "r")


class Folder(NamedTuple):
    """A folder of datatrove."""

    path: Path

    def list_files(self, glob_pattern):
        return sorted(one.name for one in self.path.glob(glob_pattern))

    def open(self, name, how):
        return (self.path / name).open(how)


class Step:
    """A step of datatrove."""

    def __init__(self, folder, ignore_index_matches=False):
        self.input_folder = self.output_folder = Folder(folder)
        self.config = SimpleNamespace(num_buckets=2)
        self.save_cluster_id = self.save_cluster_size = True
        self.ignore_index_matches, self.stats = ignore_index_matches, {}
        self.track_time = nullcontext

    def stat_update(self, name, value):
        self.stats[name] = value


@pytest.fixture
def datatrove(monkeypatch):
    step = {"MinhashDedupCluster": Step}
    return page(monkeypatch, "datatrove", datatrove__pipeline__dedup__minhash=step).MinhashDedupCluster


def written_by(step, folder, records):
    """What a step makes of two files of pairs: rank and position of a document, and of its duplicate."""
    for number, part in enumerate((records[::2], records[1::2])):
        (folder / f"{number}.dups").write_bytes(np.array(part, "<u4").tobytes())
    step.run()
    files = [one for one in folder.iterdir() if one.suffix != ".dups"]
    return {one.name: np.frombuffer(one.read_bytes(), "<u4").tolist() for one in files}


def test_duplicates_of_datatrove(datatrove, tmp_path):
    step = datatrove(tmp_path)
    found = written_by(step, tmp_path, [(0, 5, 1, 7), (1, 2, 1, 3), (1, 7, 0, 9), (1, 3, 1, 2)])
    assert found == {
        "000000.remove": [9],
        "000000.clusters": [5, 0, 9, 0],
        "000000.sizes": [5, 3, 9, 3],
        "000001.remove": [3, 7],
        "000001.clusters": [2, 1, 3, 1, 7, 0],
        "000001.sizes": [2, 2, 3, 2, 7, 3],
    }
    assert step.stats == {"duplicates": 5, "to_remove": 3, "clusters": 2}


@pytest.mark.parametrize(("ignored", "removed"), [(False, [4, 6]), (True, [6])])
def test_documents_of_an_index_of_datatrove(datatrove, tmp_path, ignored, removed):
    pairs = [(INDEX, INDEX, 0, 4), (0, 5, 0, 6)]
    assert written_by(datatrove(tmp_path, ignored), tmp_path, pairs)["000000.remove"] == removed


def test_files_of_datatrove_that_do_not_fit(datatrove, tmp_path):
    (tmp_path / "0.dups").write_bytes(bytes(16))
    with pytest.raises(FileError, match=r"1 \.dups files for 2 buckets"):
        datatrove(tmp_path).run()
    (tmp_path / "1.dups").write_bytes(bytes(15))
    with pytest.raises(FileError, match="15 bytes are no whole records of 16"):
        datatrove(tmp_path).run()
    with pytest.raises(GraphError, match="one task, not by 2; use tasks=1"):
        datatrove(tmp_path).run(world_size=2)
