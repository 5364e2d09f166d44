"""The guides show what happens: their commands and examples run, one after the other."""

from pathlib import Path
from urllib.error import URLError

import pytest

from tests.how_tos import HOW_TOS, has_data, put_data
from tests.shown import run_page

DOCS = Path(__file__).resolve().parent.parent / "docs"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_clusters(folder):
    assert run_page((DOCS / "clusters.md").read_text(), folder) > 20


def test_forest(folder):
    assert run_page((DOCS / "forest.md").read_text(), folder) > 5


def test_results(folder):
    assert run_page((DOCS / "results.md").read_text(), folder) > 8


def test_certificates(folder):
    assert run_page((DOCS / "certificates.md").read_text(), folder) > 4


def test_thresholds(folder):
    assert run_page((DOCS / "thresholds.md").read_text(), folder) > 15


def test_dask(folder):
    assert run_page((DOCS / "dask.md").read_text(), folder) > 10


def test_routes(folder):
    assert run_page((DOCS / "routes.md").read_text(), folder) > 8


def test_partitions(folder):
    assert run_page((DOCS / "partitions.md").read_text(), folder) > 5


@pytest.mark.parametrize("name", HOW_TOS)
def test_how_tos(name, folder):
    if not has_data(name):
        pytest.skip("the real graphs of ../shared/data are not there")
    put_data(name, folder)
    assert run_page((DOCS / f"{name}.md").read_text(), folder) > 10


@pytest.mark.filterwarnings("default")
def test_splink(folder):
    splink = pytest.importorskip("splink", minversion="5.0")
    try:
        assert splink.splink_datasets.fake_1000
    except URLError:
        pytest.skip("Splink's demo data cannot be downloaded")
    assert run_page((DOCS / "splink.md").read_text(), folder) > 10


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize(
    ("page", "libraries"),
    [
        ("duckdb", ["duckdb"]),
        ("polars", ["polars", "pandas"]),
        ("datatrove", ["datatrove.pipeline.dedup.minhash"]),
        ("spark", ["pyspark"]),
        ("dbt", ["duckdb"]),
        ("osmnx", ["osmnx"]),
        ("pandana", ["pandana"]),
    ],
)
def test_pages_of_other_tools(page, libraries, folder):
    for library in libraries:
        pytest.importorskip(library)
    assert run_page((DOCS / f"{page}.md").read_text(), folder) > 2
