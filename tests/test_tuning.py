"""The record of limits: each says what it separates and where it was measured, and is read somewhere."""

import json
import math
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import make_dataclass, replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest

import edgewise
from edgewise import crossover, limit_trials, tuning
from edgewise.command import run
from edgewise.device import arrays, cache
from edgewise.device.target import SIMULATED
from edgewise.tuning import CPULimits, GPULimits

PACKAGE = Path(tuning.__file__).parent
ROOMS = {folder.name for folder in PACKAGE.iterdir() if folder.is_dir()}
LIMITS = tuning.described()
pytestmark = pytest.mark.interpreter


def test_a_limit_says_what_it_separates_where_and_when():
    for _, name, value, limit in LIMITS:
        assert value > 0, name
        assert limit.unit and limit.measured, name
        assert re.fullmatch(r"\S.* \| .*\S", limit.separates), name
        assert date.fromisoformat(limit.date), name


def test_a_limit_is_named_by_its_room_and_read_there():
    for kind, name, _, _ in LIMITS:
        room, record = name.partition("_")[0], {"cpu": "CPU", "cuda": "GPU"}[kind]
        assert room in ROOMS, name
        pages = [page.read_text() for page in (PACKAGE / room).rglob("*.py")]
        assert any(f"tuning.{record}" in page and f".{name}" in page for page in pages), name


def test_another_record_takes_the_place(monkeypatch):
    kind, name, value, _ = LIMITS[0]
    assert kind == "cpu"
    monkeypatch.setattr(tuning, "CPU", replace(tuning.CPU, **{name: value + 1}))
    assert tuning.described()[0][:3] == (kind, name, value + 1)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder of caches of its own, whose tuned limits are read."""
    monkeypatch.setenv("EDGEWISE_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("EDGEWISE_TUNED", "1")
    monkeypatch.setattr(limit_trials, "others_use", lambda: 0.0)
    forget()
    yield tmp_path
    forget()


def forget():
    """Let the records be read anew."""
    for name in tuning.NAMES.values():
        vars(tuning).pop(name, None)


def keep(value, name="paths_alone"):
    """Write a file with one tuned limit, and return it."""
    one = limit_trials.Finding("cpu", name, "", 1, value, 0.25, True, "")
    file = tuning.tuned_file("cpu")
    limit_trials._check_writable(file)
    limit_trials._keep("cpu", {}, [one])
    return file


def test_no_file_is_needed(place):
    assert CPULimits() == tuning.CPU
    assert GPULimits() == tuning.GPU
    assert list(place.iterdir()) == []
    with pytest.raises(AttributeError, match="no attribute 'TPU'"):
        tuning.TPU  # noqa: B018


def test_a_tuned_limit_is_in_force(place, capsys):
    file = keep(12345)
    assert file.parent == place / "tuned"
    assert replace(CPULimits(), paths_alone=12345) == tuning.CPU
    facts = json.loads(file.read_text())
    assert facts["machine"] == tuning.machine("cpu")
    assert facts["limits"]["paths_alone"] == {"value": 12345, "gain": 0.25, "date": date.today().isoformat()}
    assert run(["info"]) == 0
    text = capsys.readouterr().out
    assert re.search(rf"^limits +{re.escape(str(file))}$", text, re.MULTILINE)
    words = f"12,345 n + m: sequential | parallel (tuned {date.today()}, 25% faster; default 65,536)"
    assert re.search(rf"^paths_alone +{re.escape(words)}$", text, re.MULTILINE)
    assert run(["info", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    (one,) = [one for one in facts["limits"] if one["tuned"]]
    assert (one["name"], one["value"], one["default"], one["gain"]) == ("paths_alone", 12345, 65536, 0.25)
    assert (facts["limit_files"], facts["limit_notes"]) == ([str(file)], [])


def test_another_process_reads_it(place):
    keep(12345)
    words = [sys.executable, "-c", "from edgewise import tuning; print(tuning.CPU.paths_alone)"]
    for value, shown in (("1", "12345"), ("0", "65536")):
        done = subprocess.run(
            words, env=os.environ | {"EDGEWISE_TUNED": value}, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == shown


@pytest.mark.parametrize("what", ["machine", "record"])
def test_a_file_of_another_machine_or_record_is_ignored(what, place, monkeypatch, capsys):
    keep(12345)
    if what == "machine":
        monkeypatch.setattr(tuning, "machine", lambda kind: "another")
    else:
        other = tuning.limit(3, "other units", "one | other", "2 cores", "2026-11-27")
        kind = make_dataclass("CPULimits", [("paths_alone", int, other)], frozen=True)
        monkeypatch.setitem(tuning.RECORDS, "cpu", kind)
    forget()
    assert tuning.CPU.paths_alone == tuning.limits_of("cpu")["paths_alone"].default
    assert run(["info"]) == 0
    assert "defaults; 1 file of limits of other machines or versions: ignored\n" in capsys.readouterr().out


def with_limit(**facts):
    return json.dumps({"limits": {"paths_alone": {"value": 5, "gain": 0.2, "date": "2026-11-27"} | facts}})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"limits": 3}',
        '{"limits": {"nothing": {"value": 5, "gain": 0.2, "date": "2026-11-27"}}}',
        "[" * 100_000,
        with_limit(value=-1),
        with_limit(value=True),
        with_limit(value=0.5),
        with_limit(value="5"),
        with_limit(value=1 << 62),
        with_limit(value=math.nan),
        with_limit(date=3),
        with_limit(gain="x"),
        with_limit(more=1),
        None,
    ],
    ids=range(17),
)
def test_a_damaged_file(text, place, capsys):
    """It changes no result; only ``tune`` fails, and says what to do, and ``info`` tells."""
    file = tuning.tuned_file("cpu")
    file.parent.mkdir()
    file.mkdir() if text is None else file.write_text(text)
    assert CPULimits() == tuning.CPU
    graph = edgewise.Graph.from_edges([0, 1, 3], [1, 2, 4])
    assert edgewise.connected_components(graph).labels.tolist() == [0, 0, 0, 3, 3]
    assert run(["info"]) == 0
    assert f"limits              defaults; {file}: " in capsys.readouterr().out
    assert run(["tune", "--device", "cpu"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"edgewise: {file}: ") and line.endswith("edgewise tune --reset removes it")
    if text is not None:
        assert run(["tune", "--device", "cpu", "--reset"]) == 0
        assert not file.exists()


def test_a_folder_that_cannot_be_written(place, capsys, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert run(["tune", "--device", "cpu"]) == 2
    assert "may not be written; check the permissions of the folder" in capsys.readouterr().err
    shutil.rmtree(place / "tuned")
    (place / "tuned").touch()
    assert CPULimits() == tuning.CPU
    assert run(["tune", "--device", "cpu"]) == 2
    assert "edgewise: " in capsys.readouterr().err


def test_without_a_home_folder(place, monkeypatch):
    def nowhere():
        raise RuntimeError("no home")

    monkeypatch.setattr(cache, "root", nowhere)
    assert CPULimits() == tuning.CPU
    assert run(["info"]) == 0


def test_two_writers_and_a_reader(place):
    def write(value):
        for _ in range(20):
            keep(value)

    file = keep(1)
    with ThreadPoolExecutor(2) as pool:
        writers = [pool.submit(write, value) for value in (2, 3)]
        while not all(writer.done() for writer in writers):
            assert tuning.tuned("cpu")["paths_alone"].value in (1, 2, 3)
    assert [writer.result() for writer in writers] == [None, None]
    assert [one.name for one in file.parent.iterdir()] == [file.name]


def test_every_limit_has_a_trial_or_a_reason():
    for kind, trials in limit_trials.TRIALS.items():
        assert list(trials) == list(tuning.limits_of(kind))
        for name, how in trials.items():
            if isinstance(how, limit_trials.Trial):
                assert [*how.sizes] == sorted(how.sizes), name


@pytest.mark.interpreter
def test_inputs_have_the_size_of_the_limit():
    for limit in ("components_alone", "paths_alone"):
        graphs = limit_trials.TRIALS["cpu"][limit].inputs(10_000, "cpu")()
        for graph in graphs if isinstance(graphs, list) else [graphs]:
            links = len(graph.neighbours) if graph.has_rows else graph.n_edges
            assert abs(graph.n_vertices + links - 10_000) < 10


def results(kind, name, monkeypatch):
    """What both ways of a trial return on a small input."""
    monkeypatch.setattr(limit_trials, "LIST_VERTICES", 64)
    monkeypatch.setattr(limit_trials, "PAIR_VERTICES", 24)
    monkeypatch.setattr(limit_trials, "ENTRIES", 200)
    trial = limit_trials.TRIALS[kind][name]
    size = min(trial.sizes[0], 64)
    for run_of in limit_trials.pair_of(kind, name, trial, size):
        _, record, call, make, _ = run_of.args
        with limit_trials._in_force(kind, record):
            found = call(make())
        found = found if isinstance(found, list | tuple) else [found]
        yield [arrays.move(getattr(one, VALUES.get(type(one).__name__, ""), one), "cpu") for one in found]
        assert run_of() > 0


#: What is compared of each result.
VALUES = {
    "Components": "labels",
    "SpanningForest": "edges",
    "Distances": "distances",
    "AllPairs": "distances",
    "Partition": "parts",
}
TIMED = [name for name, how in limit_trials.TRIALS["cpu"].items() if isinstance(how, limit_trials.Trial)]


@pytest.mark.parametrize("name", TIMED)
def test_a_limit_changes_no_result(name, monkeypatch):
    for one, other in zip(*results("cpu", name, monkeypatch), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.simulator
@pytest.mark.parametrize("name", ["paths_matrix", "paths_pairs"])
def test_a_limit_of_gpus_changes_no_result(name, monkeypatch):
    if not SIMULATED:
        pytest.skip("needs the simulator")
    for one, other in zip(*results("cuda", name, monkeypatch), strict=True):
        np.testing.assert_array_equal(one, other)


def times(ratio):
    """Measurements of a limit, the other way of which takes so many times less on every size."""
    return lambda pair_of, sizes, seconds: [crossover.Measurement(size, [ratio] * 7) for size in sizes]


def test_tune(place, monkeypatch, capsys):
    monkeypatch.setattr(crossover, "measure", times(2.0))
    assert run(["tune", "--device", "cpu", "--only", "paths_alone, ingest_first", "--dry-run"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^paths_alone +n \+ m +65,536 +4,100 +100% +yes$", text, re.MULTILINE)
    assert re.search(r"^ingest_first +edges +262,144 +- +- +no: work of NumPy ", text, re.MULTILINE)
    assert "1 limit would be kept; measured " in text
    assert not tuning.files("cpu")
    assert run(["tune", "--device", "cpu", "--only", "paths_alone", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["limits"][0]["kept"] and facts["files"] == [str(tuning.tuned_file("cpu"))]
    assert tuning.CPU.paths_alone == 4100
    assert run(["tune", "--device", "cpu", "--only", "components_cached"]) == 0
    assert "1 limit kept, " in capsys.readouterr().out
    assert (tuning.CPU.paths_alone, tuning.CPU.components_cached) == (4100, 16000)
    monkeypatch.setattr(crossover, "measure", times(1.0))  # so the defaults are as good
    found = edgewise.tune(device="cpu", only="paths_alone", report=lambda *words: None)
    assert [(one.measured, one.kept) for one in found] == [(65536, False)]
    assert (tuning.CPU.paths_alone, tuning.CPU.components_cached) == (65536, 16000)
    assert run(["tune", "--device", "cpu", "--reset"]) == 0
    assert capsys.readouterr().out.startswith("the limits are the defaults; ")
    assert CPULimits() == tuning.CPU and not tuning.files("cpu")


def test_what_gains_little_is_not_kept(place, monkeypatch):
    monkeypatch.setattr(crossover, "measure", times(1.05))
    found = edgewise.tune(device="cpu", only="paths_alone")
    assert [(one.kept, one.note) for one in found] == [(False, "gains less than 10 %")]
    assert not tuning.files("cpu")


@pytest.mark.parametrize("how", ["others", "spread", "none"])
def test_measurements_that_count_for_nothing(how, place, monkeypatch):
    monkeypatch.setattr(crossover, "measure", times(2.0))
    note = limit_trials.BUSY
    if how == "others":
        use = iter([0.0, 0.0, 54.3])
        monkeypatch.setattr(limit_trials, "others_use", lambda: next(use))
    elif how == "spread":
        ratios = [1.0, 1.0, 1.0, 2.0, 3.0, 3.0, 3.0]
        monkeypatch.setattr(
            crossover, "measure", lambda *_: [crossover.Measurement(size, ratios) for size in (1, 2)]
        )
    else:
        monkeypatch.setattr(crossover, "measure", lambda *_: [])
        note = "not enough seconds"
    (one,) = edgewise.tune(device="cpu", only="paths_alone")
    assert (one.measured, one.kept, one.note) == (None, False, note)


def test_a_busy_machine(monkeypatch, capsys):
    assert 0 <= limit_trials.others_use() <= 100
    monkeypatch.setattr(limit_trials, "others_use", lambda: 54.3)
    assert run(["tune", "--device", "cpu", "--dry-run"]) == 2
    assert "the machine is busy: other programs use 54 % of the processors, " in capsys.readouterr().err


def test_wrong_options(place, capsys):
    assert run(["tune", "--device", "cpu", "--only", "paths_alon"]) == 2
    assert "--only paths_alon is no limit of cpu; did you mean paths_alone? " in capsys.readouterr().err
    assert run(["tune", "--seconds", "0"]) == 2
    assert "--seconds 0.0 must be larger than 0" in capsys.readouterr().err
    assert run(["tune", "--device", "tpu"]) == 2


def test_a_limit_is_measured(place):
    """One that takes little time, on whatever machine this is."""
    (one,) = edgewise.tune(device="cpu", only="ingest_few", seconds=0.5)
    assert one.note or one.kept
    assert tuning.CPU.ingest_few == (one.measured if one.kept else one.default)
