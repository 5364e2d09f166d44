"""Clusters of frames of Spark are those of the same pairs in memory, however the pairs are divided."""

import os
import sys

import numpy as np
import pytest

import edgewise as ew
from edgewise.errors import GraphError, OptionError

pytest.importorskip("pyspark", minversion="4.0", reason="Spark is not installed (edgewise[spark])")
pyspark = pytest.importorskip("edgewise.integrations.pyspark")


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    folder = tmp_path_factory.mktemp("spark")
    session = builder.config("spark.sql.warehouse.dir", str(folder)).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(("kind", "partitions"), [("int", 4), ("string", 3)])
def test_clusters(spark, kind, partitions):
    ends = np.random.default_rng(3).integers(0, 80, (2, 60)).tolist()
    pairs = spark.createDataFrame(list(zip(*ends)), "l int, r int").selectExpr(f"l::{kind}", f"r::{kind}")
    found = pyspark.clusters(pairs.repartition(partitions), "l", "r")
    assert [one.dataType.simpleString() for one in found.schema] == [kind, kind, "bigint"]
    ids = [list(map(str if kind == "string" else int, end)) for end in ends]
    own = ew.connected_components(ew.Graph.from_edges(*ids)).to_frame("min").to_pylist()
    rows = sorted(tuple(row) for row in found.collect())
    assert rows == sorted(tuple(row.values()) for row in own)
    large = pyspark.clusters(pairs, "l", "r", min_size=3)
    assert sorted(tuple(row) for row in large.collect()) == [row for row in rows if row[2] >= 3]


@pytest.mark.filterwarnings("default")
def test_no_pairs_and_errors(spark):
    pairs = spark.createDataFrame([(1, "a")], "l int, r string")
    assert pyspark.clusters(pairs.selectExpr("r", "r as s").where("r = 'b'"), "r", "s").collect() == []
    with pytest.raises(OptionError, match="there is no column 'x'; use one of l, r"):
        pyspark.clusters(pairs, "l", "x")
    with pytest.raises(GraphError, match="column 'l' holds int and 'r' holds string; cast one to the other"):
        pyspark.clusters(pairs, "l", "r")
