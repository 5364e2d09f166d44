"""The first use of a command says that it compiles; a second compiles nothing.  Neither imports pandas.

The first use on a small file compiles nothing either: the interpreter takes less time.
"""

import os
import re
import subprocess
import sys

import pytest

from edgewise.device.numba_internals import HAS_CACHE
from edgewise.device.target import INTERPRETED, SIMULATED


@pytest.mark.skipif(INTERPRETED or SIMULATED or not HAS_CACHE, reason="it is the compiler that keeps kernels")
@pytest.mark.parametrize(("ids", "count"), [("{}", 1000), ("name{}", 40_000)])
def test_a_second_process_compiles_nothing(tmp_path, ids, count):
    lines = (f"{ids.format(u)},{ids.format(7 * u % (count // 2))}\n" for u in range(count))
    (tmp_path / "pairs.csv").write_text("source,target\n" + "".join(lines))
    settings = {**os.environ, "EDGEWISE_CACHE_DIR": str(tmp_path / "cache"), "EDGEWISE_QUIET": "0"}
    said, kept = [], []
    for turn in range(2):
        words = ["-m", "edgewise", "components", "pairs.csv", "-o", f"{turn}.csv"]
        command = [sys.executable, "-X", "importtime", *words]
        done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert not re.search(r"\| +pandas$", done.stderr, re.MULTILINE)  # which takes as long as the rest
        said.append(done.stderr.count("compiling kernels"))
        files = (tmp_path / "cache").rglob("*.nbc")
        kept.append({path.name: path.stat().st_mtime_ns for path in files})
    assert said == [int(count > 1000), 0]
    assert bool(kept[0]) == (count > 1000) and kept[0] == kept[1]
    assert (tmp_path / "0.csv").read_bytes() == (tmp_path / "1.csv").read_bytes()


@pytest.mark.skipif(INTERPRETED or SIMULATED, reason="it is the compiler that is not needed")
@pytest.mark.parametrize(
    "runs",
    (
        (
            "clusters open store --threshold 0.9",
            "clusters add store pairs.csv",
            "clusters remove store gone.csv",
        ),
        ("why pairs.csv ann rob --threshold 0.3",),
        ("partition grid.csv 8 -o parts.csv",),
        ("cycles grid.csv --length 5",),
    ),
    ids=lambda runs: runs[0].split()[0],
)
def test_little_work_compiles_nothing(tmp_path, runs):
    (tmp_path / "pairs.csv").write_text("left_id,right_id,score\nann,anne,0.97\nbob,rob,0.95\nann,bob,0.4\n")
    across = "".join(f"{u},{u + 1}\n" for u in range(1024) if u % 32 != 31)
    (tmp_path / "grid.csv").write_text(across + "".join(f"{u},{u + 32}\n" for u in range(992)))
    (tmp_path / "gone.csv").write_text("left_id,right_id\nbob,rob\n")
    settings = {**os.environ, "EDGEWISE_CACHE_DIR": str(tmp_path / "cache"), "EDGEWISE_QUIET": "0"}
    for words in runs:
        command = [sys.executable, "-m", "edgewise", *words.split()]
        done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True)
        assert done.returncode == 0 and "compiling" not in done.stderr, done.stderr
    assert not [*tmp_path.rglob("*.nbc")]
