"""Clusters inside Splink are those of its own SQL, in tables of the same columns and types."""

import numpy as np
import pyarrow as pa
import pytest

from edgewise.errors import GraphError, OptionError

splink = pytest.importorskip("splink", minversion="5.0")
clustering = pytest.importorskip("splink.internals.clustering")
ours = pytest.importorskip("edgewise.integrations.splink")
AT_ONE = "cluster_pairwise_predictions_at_threshold"
AT_SEVERAL = "cluster_pairwise_predictions_at_multiple_thresholds"
SPLINKS = {name: getattr(clustering, name) for name in (AT_ONE, AT_SEVERAL)}


def tables(seed, kind="string"):
    """Records, one of them twice, and pairs, some with a probability that is null or NaN."""
    rng = np.random.default_rng(seed)
    ids = pa.array([f"p{one}" if kind == "string" else one for one in range(60)], kind)
    left, right = (ids.take(pa.array(one)) for one in rng.integers(0, 60, (2, 50)))
    scores = pa.array([[None, float("nan"), 0.5, 0.7, 0.9, 1.0][one] for one in rng.integers(0, 6, 50)])
    nodes = pa.table({"my_id": pa.concat_arrays([ids, ids[:1]])})
    return nodes, pa.table({"my_id_l": left, "my_id_r": right, "match_probability": scores})


def found(db_api, function, nodes, pairs, **how):
    frame = function(nodes, pairs, db_api, "my_id", **how)
    schema = db_api.duckdb_con.sql(f"DESCRIBE {frame.physical_name}").fetchall()
    return [column[:2] for column in schema], sorted(db_api.duckdb_con.table(frame.physical_name).fetchall())


@pytest.mark.parametrize("kind", ["int64", "int32", "string"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("how", [{}, {"threshold_match_probability": 0.7}, {"threshold_match_weight": 0.0}])
def test_one_threshold(how, seed, kind):
    db_api, given = splink.DuckDBAPI(), tables(seed, kind)
    assert found(db_api, getattr(ours, AT_ONE), *given, **how) == found(
        db_api, SPLINKS[AT_ONE], *given, **how
    )


@pytest.mark.parametrize("summary", [False, True])
@pytest.mark.parametrize("kind", ["int32", "string"])
@pytest.mark.parametrize(
    "how", [{"match_probability_thresholds": [0.0, 0.7, 1.0, 0.9]}, {"match_weight_thresholds": [0.0, 4.25]}]
)
def test_several_thresholds(how, kind, summary):
    how = how | {"output_cluster_summary_stats": summary}
    db_api, (nodes, pairs) = splink.DuckDBAPI(), tables(5, kind)
    nodes, pairs = nodes[:-1], pairs.drop_null()
    given = {name: list(value) if isinstance(value, list) else value for name, value in how.items()}
    assert found(db_api, getattr(ours, AT_SEVERAL), nodes, pairs, **how) == found(
        db_api, SPLINKS[AT_SEVERAL], nodes, pairs, **given
    )


def test_names_of_columns_are_sql():
    db_api = splink.DuckDBAPI()
    nodes, pairs = pa.table({"my id": [1, 2, 3]}), pa.table({"the left": [3], "the right": [2]})
    columns = {"edge_id_column_name_left": '"the left"', "edge_id_column_name_right": '"the right"'}
    frame = getattr(ours, AT_ONE)(nodes, pairs, db_api, '"my id"', **columns)
    assert frame.as_pyarrow_table().sort_by("my id").to_pydict() == {
        "my id": [1, 2, 3],
        "cluster_id": [1, 2, 2],
    }


def test_nothing_is_left_in_the_database():
    db_api = splink.DuckDBAPI()
    before = len(db_api.duckdb_con.sql("SHOW TABLES").fetchall())
    found(db_api, getattr(ours, AT_ONE), *tables(1))
    assert len(db_api.duckdb_con.sql("SHOW TABLES").fetchall()) == before + 3  # both inputs, one output


def test_tables_in_memory_are_not_copied_and_those_of_files_remain(tmp_path):
    import duckdb

    for file, kind in ((":memory:", "VIEW"), (str(tmp_path / "a.duckdb"), "BASE TABLE")):
        database = duckdb.connect(file)
        api = splink.DuckDBAPI(database)
        frame = getattr(ours, AT_ONE)(*tables(1), api, "my_id")
        name = frame.physical_name
        of = f"SELECT table_type FROM information_schema.tables WHERE table_name = '{name}'"
        assert database.sql(of).fetchall() == [(kind,)] and frame.created_by_splink
        counted = f"SELECT count(*) FROM {name}"
        assert database.cursor().sql(counted).fetchall() == [(60,)]
        if kind == "BASE TABLE":
            database.close()
            assert duckdb.connect(file).sql(counted).fetchall() == [(60,)]
        else:
            frame.drop_table_from_database_and_remove_from_cache()
            assert database.sql(of).fetchall() == []
            again = getattr(ours, AT_ONE)(*tables(1), api, "my_id")
            api.delete_tables_created_by_splink_from_db()
            assert again.physical_name not in str(database.sql("SHOW TABLES").fetchall())


def test_tables_of_files_of_splink_remain(tmp_path):
    api = splink.DuckDBAPI(materialisation="parquet", materialisation_dir=tmp_path)
    frame = getattr(ours, AT_ONE)(*tables(1), api, "my_id")
    assert len(frame.as_pyarrow_table()) == 60 and list(tmp_path.rglob("*.parquet"))


def test_errors():
    db_api = splink.DuckDBAPI()
    nodes = pa.table({"my_id": [1]})
    for id, problem in (
        (9, "the id 9 in row 1 is not in column 'id' of the records; add"),
        (None, "my_id_r.* is null; give"),
    ):
        pairs = pa.table({"my_id_l": [1], "my_id_r": pa.array([id], pa.int64())})
        with pytest.raises(GraphError, match=problem):
            found(db_api, getattr(ours, AT_ONE), nodes, pairs)
    for id in (1.0, True):
        nodes, pairs = pa.table({"my_id": [id]}), pa.table({"my_id_l": [id], "my_id_r": [id]})
        with pytest.raises(GraphError, match=r"column 'id' of the records holds (double|bool) .*ids are int"):
            found(db_api, getattr(ours, AT_ONE), nodes, pairs)
    with pytest.raises(OptionError, match="there is no threshold; give match_probability_thresholds"):
        found(db_api, getattr(ours, AT_SEVERAL), *tables(1))
    with pytest.raises(ValueError, match="Please specify only one"):
        both = {"threshold_match_probability": 0.5, "threshold_match_weight": 0.5}
        found(db_api, getattr(ours, AT_ONE), *tables(1), **both)


def test_patch():
    ours.patch()
    try:
        assert clustering.solve_connected_components is ours.solve_connected_components
        assert getattr(clustering, AT_SEVERAL) is getattr(ours, AT_SEVERAL)
    finally:
        ours.unpatch()
    assert {name: getattr(clustering, name) for name in SPLINKS} == SPLINKS
