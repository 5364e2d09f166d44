"""All presets at a tiny size: every table whole, every result compared, every mistake one line."""

import json

import numpy as np
import pytest

import edgewise as ew
from edgewise import experiments
from edgewise.errors import DeviceError, OptionError, VerificationError
from edgewise.experiments import cs406 as cs406_page
from edgewise.experiments import graphs, measure, streets
from edgewise.experiments.graphs import BALTZAKIS, HELLAS, ONE_A_FAMILY, STREETS
from edgewise.experiments.harish import affordable
from edgewise.experiments.measure import Stopwatch
from edgewise.experiments.report import Table
from edgewise.workers import device_team

TWO = "cpu:0,cpu:1"
METHODS_OF_HARISH = ("harish", "dijkstra", "auto")
SAMPLE = dict.fromkeys((*ONE_A_FAMILY, *STREETS))


@pytest.fixture(scope="module")
def hellas():
    return experiments.run("hellas-2018", size="tiny", devices=TWO, runs=1)


@pytest.fixture(scope="module")
def baltzakis():
    return experiments.run("baltzakis", size="tiny", devices=TWO, runs=1)


@pytest.fixture(scope="module")
def harish():
    return experiments.run("harish", size="tiny", devices="cpu:0", runs=1)


@pytest.fixture(scope="module")
def cs406(tmp_path_factory):
    file = tmp_path_factory.mktemp("graphs") / "com-dblp.ungraph.txt"
    file.write_text("".join(f"{u} {v}\n" for u in range(8) for v in range(u)))
    return experiments.run("cs406", size="tiny", devices=TWO, runs=1, files=[file])


@pytest.fixture(scope="module")
def ecl():
    return experiments.run("ecl-mst", size="tiny", devices="cpu:0", runs=1)


def test_a_file_takes_the_place_of_the_stand_in_of_its_name(tmp_path):
    file = tmp_path / "kmer_A2a.mtx"
    ew.write(ew.generate.grid(7), file)
    only = {"without": ["rgg_n_2_24_s0", "Queen_4147"], "files": [file, tmp_path / "Queen_4147.mtx"]}
    report = experiments.run("baltzakis", size="tiny", devices="cpu:0", runs=1, **only)
    assert report.graphs == {"kmer_A2a": {"vertices": 49, "edges": 84}}
    assert report.note.endswith("Given, but not read: Queen_4147.mtx.")


def test_a_file_is_the_graph_whose_whole_name_it_begins_with():
    assert experiments._graph_of("USA-road-d.USA.gr.gz", experiments.PRESETS["ecl-mst"]) == "USA-road-d.USA"


@pytest.mark.release
def test_forests_of_ecl_mst(ecl):
    (table,) = ecl.tables
    assert [row["method"] for row in table.rows[:2]] == ["boruvka", "kruskal"]
    assert len(table.rows) == 7 * 2


@pytest.fixture(scope="module")
def manoochehri():
    """Two protocols; the others are measured in the interpreter, which compiles nothing."""
    only = {"only": ["retries"], "without": ["warm"]}
    return experiments.run("manoochehri-2017", size="tiny", devices="cpu:0", runs=1, **only)


def test_every_experiment_of_the_thesis_has_all_its_rows(hellas):
    assert {table.name: len(table.rows) for table in hellas.tables} == {
        "iterations": 2 * len(SAMPLE),
        "hook-rem": 2 * len(HELLAS),
        "compress": 2 * 2,
        "strong": 2 * 6,
        "weak": 2,
        "expanded": 2 * 2,
        "streets": 2 * len(SAMPLE),
        "host-link": 2 * len(ONE_A_FAMILY),
        "bulk": 2 * 2 * 4,
    }
    assert hellas.devices == ("cpu:0", "cpu:1")


def test_shares_of_the_best(hellas):
    for row in hellas.tables[0].rows:
        shares = [row[f"percent_{count}"] for count in range(5)]
        assert max(shares) == shares[row["best"]] == 100


def test_speed_up_and_efficiency_are_those_of_the_thesis(hellas):
    strong = next(table for table in hellas.tables if table.name == "strong")
    one, two = strong.rows[:2]
    assert (one["speedup"], one["efficiency"]) == (1, 100)
    assert two["speedup"] == one["ms"] / two["ms"]
    assert two["efficiency"] == pytest.approx(100 * one["ms"] / (2 * two["ms"]))
    weak = next(table for table in hellas.tables if table.name == "weak").rows
    assert weak[1]["rem_efficiency"] == pytest.approx(100 * weak[0]["rem"] / weak[1]["rem"])
    assert weak[1]["edges"] == 2 * weak[0]["edges"]


def test_published_figures_stand_beside_ours(hellas):
    rows = next(table for table in hellas.tables if table.name == "hook-rem").rows
    published = {(row["graph"], row["devices"]): row["published"] for row in rows}
    assert published["hugebubbles-00000", 1] == 269
    assert published["hugebubbles-00000", 2] == 97
    assert published["nlpkkt120", 1] is None


def test_widths_of_baltzakis(baltzakis):
    (table,) = baltzakis.tables
    assert len(table.rows) == 5 * len(BALTZAKIS)
    assert [row["rows"] for row in table.rows[:4]] == ["thread", "warp", "block", "auto"]
    for row in table.rows:
        assert row["distinct"] == next(r["distinct"] for r in table.rows if r["graph"] == row["graph"])
        assert row["rows"] == "not by labels" or row["rounds"] >= 2
    queen = [row.get("published") for row in table.rows if row["graph"] == "Queen_4147"]
    assert queen == [None, 50, 50, None, None]


def test_searches_of_harish(harish):
    assert [table.name for table in harish.tables] == ["random", "scale-free", "all-pairs", "degree"]
    random, scale_free, pairs, degree = (table.rows for table in harish.tables)
    assert len(random) == len(scale_free) == len(degree) == 2 * 5
    searches = [(row["search"], row["method"]) for row in random[:5]]
    assert searches == [*(("BFS", m) for m in ("harish", "auto")), *(("SSSP", m) for m in METHODS_OF_HARISH)]
    assert random[0]["speedup"] == 1 and random[4]["speedup"] == random[2]["ms"] / random[4]["ms"]
    assert [row["degree"] for row in degree[::5]] == pytest.approx([6, 12], rel=0.05)
    assert [row["vertices"] for row in pairs] == [24] * 6 + [48] * 6
    for row in pairs:
        assert row["sources"] == (16 if "in turn" in row["method"] else row["vertices"])
        assert row["published"] is None  # the paper's figures are of a GPU


def test_cycles_of_cs406(cs406):
    assert [table.name for table in cs406.tables] == ["threads", "gpu", "gpus", "static", "queue"]
    assert set(cs406.graphs) == {"com-dblp", "amazon"}
    threaded, gpu, gpus, static, queue = (table.rows for table in cs406.tables)
    assert [len(rows) for rows in (gpu, gpus, static, queue)] == [2 * 3 * 3] * 4
    assert len(threaded) % (2 * 3 * 2) == 0
    assert [row["speedup"] for row in threaded if (row["method"], row["threads"]) == ("dfs", 1)] == [1.0] * 6
    assert {(row["method"], row["schedule"]) for row in queue} == {
        ("dfs", "queue:64"),
        ("auto", "queue:64"),
        ("auto", "auto"),
    }
    published = {(row["graph"], row["length"]): row["published"] for row in gpu if row["published"]}
    assert published == {("com-dblp", 3): 487.654, ("com-dblp", 4): pytest.approx(44543.335)}
    assert all(row["part"] == 100 for row in threaded)


def test_long_searches_of_cs406_begin_at_some_vertices(monkeypatch):
    monkeypatch.setattr(cs406_page, "PATIENCE", 1e-9)
    (table,) = experiments.run("cs406", size="tiny", devices="cpu:0", runs=1, only=["gpu"]).tables
    parts = [row["part"] for row in table.rows if row["method"] == "dfs"]
    assert all(0 < part < 30 for part in parts)


def test_a_run_that_would_take_long_is_left_out():
    before = {"slow": (1000, 4_000.0)}
    assert affordable(before, "slow", 2000) and affordable(before, "unknown", 10**9)
    assert not affordable(before, "slow", 4000)
    assert not affordable(before, "unknown", 10**12)


@pytest.mark.parametrize(
    "preset",
    [
        pytest.param(preset, marks=[pytest.mark.release] if preset == "ecl-mst" else [])
        for preset in experiments.PRESETS
    ],
)
def test_everything_goes_into_json(preset, request):
    report = request.getfixturevalue(preset.partition("-")[0])
    back = json.loads(json.dumps(report.as_dict()))
    assert [len(table["rows"]) for table in back["tables"]] == [len(table.rows) for table in report.tables]
    assert all(facts["vertices"] for facts in back["graphs"].values())


@pytest.mark.parametrize("preset", experiments.PRESETS)
def test_every_column_of_every_table_is_filled(preset, request):
    report = request.getfixturevalue(preset.partition("-")[0])
    for table in report.tables:
        lines = table.text().splitlines()
        assert len(lines) == 3 + len(table.rows) + len(table.published)
        assert table.markdown().count("\n") == 1 + len(table.rows)
        for key in table.columns:
            known = key == "published" or any(row.get(key) is not None for row in table.rows)
            assert known, f"{table.name}: nothing in column {key}"
        for figure in table.figures:
            assert figure.series, f"{figure.name} shows nothing"
    names = [figure.name for figure in report.figures]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"preset": "hellas"},
            "preset 'hellas' is unknown; did you mean hellas-2018[?] The choices are hellas-2018, baltzakis",
        ),
        ({"size": "huge"}, "size 'huge' is unknown; use one of paper, small, tiny"),
        ({"runs": 0}, "runs=0 is too few"),
        ({"files": ["graph.txt"]}, "graph 'graph' is unknown; use one of kmer_A2a"),
        ({"only": ["width"]}, "experiment 'width' is unknown; did you mean widths"),
        (
            {"without": ["queen"]},
            "graph 'queen' is unknown; did you mean Queen_4147[?] The choices are kmer_A2a,",
        ),
    ],
)
def test_unknown_names(options, words):
    with pytest.raises(OptionError, match=words):
        experiments.run(**{"preset": "baltzakis", "size": "tiny", "devices": TWO} | options)


def test_missing_and_repeated_devices():
    with pytest.raises(DeviceError, match="'cuda:57'"):
        experiments.run("baltzakis", size="tiny", devices="cuda:57")
    with pytest.raises(DeviceError, match="'cpu:0' is given twice"):
        experiments.run("baltzakis", size="tiny", devices="cpu:0,cpu:0")


def test_a_wrong_labelling_is_no_row():
    watch = Stopwatch(device_team("cpu:0"), "tiny", 1)
    watch.time("pair", "the right way", lambda: (np.array([0, 0]), 1e-3))
    with pytest.raises(VerificationError, match="pair: a wrong way gives another result than the right way"):
        watch.time("pair", "a wrong way", lambda: (np.array([0, 1]), 1e-3))


@pytest.mark.interpreter
@pytest.mark.parametrize(
    ("seconds", "runs"), [([9, 3e-3, 1e-3, 2e-3, 2e-3], 4), ([9, 2, 1, 3], 3), ([9, 9], 1)]
)
def test_runs_and_their_median(seconds, runs):
    left = iter(seconds)
    watch = Stopwatch(device_team("cpu:0"), "tiny", 4)
    found = watch.time("one", "again and again", lambda: (np.zeros(1), next(left)))
    timed = [1e3 * second for second in seconds[1:]]
    assert found == {"ms": np.median(timed), "least": min(timed), "largest": max(timed), "runs": runs}
    assert list(left) == []


def test_graphs_may_be_left_out():
    report = experiments.run("baltzakis", size="tiny", devices="cpu:0", runs=1, without=["kmer_A2a"])
    assert set(report.graphs) == {"rgg_n_2_24_s0", "Queen_4147"}


@pytest.mark.parametrize("preset", experiments.PRESETS)
def test_nothing_is_begun_when_time_is_up(preset):
    with experiments.time_limit(0):
        report = experiments.run(preset, size="tiny", devices="cpu:0", runs=1)
    assert (report.tables, report.graphs, report.text()) == ([], {}, "")
    assert report.left_out
    assert "Left out for lack of time: " in report.note


def test_what_was_measured_before_time_was_up_is_kept(monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(measure, "monotonic", lambda: 60 * next(clock))
    with experiments.time_limit(2):
        report = experiments.run("baltzakis", size="tiny", devices="cpu:0", runs=1)
    assert list(report.graphs) == ["kmer_A2a", "rgg_n_2_24_s0"]
    assert {row["graph"] for row in report.tables[0].rows} == set(report.graphs)
    assert report.left_out == ["Queen_4147"]


def test_few_graphs_are_kept():
    watch = Stopwatch(device_team("cpu:0"), "tiny", 1)
    made = []

    def make(name):
        made.append(name)
        return ew.generate.grid(3)

    for name in ("a", "b", "b", "c", "c", "b", "a"):
        watch.graph(name, lambda name=name: make(name))
    assert made == ["a", "b", "c", "a"]


@pytest.mark.parametrize(
    ("name", "degree", "tolerance"),
    [
        ("hugebubbles-00000", 3.0, 0.1),
        ("rgg_n_2_22_s0", 14.5, 0.15),
        ("af_shell10", 33.7, 0.15),
        ("nlpkkt120", 26.3, 0.25),
        ("europe_osm", 2.12, 0.05),
        ("kron_g500-logn20", 85.1, 0.01),
    ],
)
def test_stand_ins_have_the_published_degree(name, degree, tolerance):
    graph = HELLAS[name].generate("small", "cpu")
    assert 2 * graph.n_edges / graph.n_vertices == pytest.approx(degree, rel=tolerance)


def test_streets_have_ways_numbered_in_a_row():
    graph = streets.street(4000, seed=2)
    degrees = np.bincount(graph.degrees())
    assert abs(graph.n_vertices - 4000) < 400
    assert degrees[2] > 0.75 * graph.n_vertices
    assert (graph.targets == graph.sources + 1).mean() > 0.7
    assert ew.connected_components(graph).verify().largest > 0.95 * graph.n_vertices


def test_relabelling_keeps_the_shape_and_scatters_the_ids():
    graph = graphs.HELLAS["europe_osm"].generate("tiny", "cpu")
    other = streets.relabelled(graph)
    assert sorted(other.degrees().tolist()) == sorted(graph.degrees().tolist())
    sizes = [sorted(ew.connected_components(g).sizes().tolist()) for g in (graph, other)]
    assert sizes[0] == sizes[1]
    assert streets.without_lower_neighbour(graph) < 0.05
    assert 0.25 < streets.without_lower_neighbour(other) < 0.45


@pytest.mark.interpreter
def test_vertices_without_a_lower_neighbour():
    graph = ew.Graph.from_edges([0, 3, 2, 0], [1, 1, 2, 4], n_vertices=6)
    assert streets.without_lower_neighbour(graph) == pytest.approx(3 / 6)  # 0, 2 and 5
    assert streets.without_lower_neighbour(ew.Graph.from_edges([], [], n_vertices=0)) == 1


def test_cells():
    rows = [{"name": "a", "ms": 12345.6, "right": True}, {"name": "b", "ms": 0.01234, "right": False}]
    table = Table("t", "Title", "source", {"name": "name", "ms": "ms", "right": "right"}, rows)
    assert table.text().splitlines()[3:] == ["a     12,346    yes", "b     0.0123     no"]
