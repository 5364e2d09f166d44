"""Commands do not import what they do not need."""

import subprocess
import sys

import pytest

CODE = "import sys; from edgewise.command import run; run(sys.argv[1:]); assert 'pandas' not in sys.modules"


@pytest.mark.parametrize(
    "words", ["components -o c.csv", "paths --bfs --source 1 -o d.csv", "cycles --length 3 -o c.csv"]
)
def test_pandas_is_not_imported(words, tmp_path):
    """PyArrow imports it for some calls, which takes 0.2 s."""
    (tmp_path / "pairs.csv").write_text("a,b\n1,2\n2,3\n3,1\n")
    name, *options = words.split()
    done = subprocess.run(
        [sys.executable, "-c", CODE, name, "pairs.csv", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
