"""Clusters in Polars, pandas and DuckDB are those of the same pairs in memory."""

import numpy as np
import pyarrow as pa
import pytest

import edgewise as ew
from edgewise.errors import GraphError, OptionError


def pairs(kind="int64"):
    """Columns of ids of a type, and scores."""
    rng = np.random.default_rng(7)
    ends = (pa.array(one).cast(kind) for one in rng.integers(0, 90, (2, 60)))
    return pa.table([*ends, pa.array(rng.random(60))], ["l", "r", "score"])


def clusters(table, name, **how):
    """Rows of the table of clusters, in order."""
    graph = ew.Graph.from_frame(table, "l", "r", weight=False, **how)
    return sorted(tuple(row.values()) for row in ew.connected_components(graph).to_frame(name).to_pylist())


@pytest.mark.parametrize("kind", ["int32", "uint64", "string"])
class TestPolars:
    @pytest.fixture
    def frame(self, kind):
        pl = pytest.importorskip("polars")
        pytest.importorskip("edgewise.integrations.polars")
        return pl.from_arrow(pairs(kind))

    def test_frames(self, frame, kind):
        found = frame.edgewise.clusters("l", "r", threshold=0.3, name="min")
        assert sorted(found.rows()) == clusters(pairs(kind), "min", threshold=0.3)

    @pytest.mark.parametrize("engine", ["in-memory", "streaming"])
    def test_lazy_frames(self, frame, kind, engine):
        wanted = clusters(pairs(kind), "min", threshold=0.3)
        lazy = frame.lazy().filter(score=frame["score"]).filter(frame["score"] >= 0.3)
        found = lazy.edgewise.clusters("l", "r", name="min")
        table = found.collect(engine=engine)
        assert sorted(table.rows()) == wanted
        assert table.schema == found.collect_schema()
        assert found.collect_schema()["id"] == frame.schema["l"]
        rows = lazy.edgewise.clusters("l", "r", name="row").collect()
        assert rows["cluster"].n_unique() == len({row[1] for row in wanted})
        assert lazy.head(0).edgewise.clusters("l", "r").collect().rows() == []

    def test_expressions(self, frame, kind):
        import polars as pl

        found = frame.with_columns(found=pl.col("l").edgewise.cluster("r"))
        names = {id: cluster for id, cluster, _ in clusters(pairs(kind), "min")}
        assert (
            found["found"].to_list() == [names[id] for id in frame["l"]] == [names[id] for id in frame["r"]]
        )
        assert found.schema["found"] == frame.schema["l"]
        assert frame.head(0).select(pl.col("l").edgewise.cluster("r")).rows() == []
        halves = frame.with_columns(half=pl.int_range(60) // 30)
        found = halves.select(pl.col("l").edgewise.cluster("r").over("half"))["l"].to_list()
        parts = [
            half.select(pl.col("l").edgewise.cluster("r"))["l"].to_list() for half in (frame[:30], frame[30:])
        ]
        assert found == [*parts[0], *parts[1]]


def test_polars_says_what_is_wrong():
    pl = pytest.importorskip("polars")
    pytest.importorskip("edgewise.integrations.polars")
    frame = pl.DataFrame({"l": ["a", None], "r": ["b", "c"]})
    for call in (
        lambda: frame.edgewise.clusters("l", "r"),
        lambda: frame.lazy().edgewise.clusters("l", "r").collect(),
        lambda: frame.select(pl.col("l").edgewise.cluster("r")),
    ):
        with pytest.raises(GraphError, match="'l' is null in row 2"):
            call()


def test_pandas():
    pytest.importorskip("pandas")
    pytest.importorskip("edgewise.integrations.pandas")
    frame = pairs("string").to_pandas()
    found = frame.edgewise.clusters("l", "r", name="min", where="score >= 0.3")
    assert sorted(found.itertuples(index=False, name=None)) == clusters(
        pairs("string"), "min", where="score >= 0.3"
    )
    with pytest.raises(OptionError, match="belong together"):
        frame.edgewise.clusters("l")


@pytest.mark.parametrize("kind", ["int64", "int32", "string", "date32"])
def test_duckdb(kind):
    """Clusters of a relation are stored by SQL."""
    connection = pytest.importorskip("duckdb", minversion="2.0").connect()
    table = pairs("int32")
    table = table.set_column(0, "l", table["l"].cast(kind)).set_column(1, "r", table["r"].cast(kind))
    close = connection.sql('FROM "table" WHERE score >= 0.3')
    found = ew.connected_components(ew.Graph.from_frame(close, "l", "r", weight=False))
    connection.register("found", found.to_reader("min"))
    wanted = clusters(table, "min", threshold=0.3, score="score")
    assert sorted(connection.execute("FROM found").fetchall()) == wanted
