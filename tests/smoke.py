"""A first use of an installed edgewise, outside of its checkout: ``python smoke.py FOLDER``.

It needs nothing but edgewise and what is installed with it, and fails with an error if anything is missing.
"""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import edgewise as ew
from edgewise.device import cache


def command(*arguments):
    """Run the command of the environment that this Python belongs to, and return what it prints."""
    edgewise = Path(sys.executable).with_name("edgewise")
    return subprocess.run([edgewise, *arguments], check=True, capture_output=True, text=True).stdout


def main(folder):
    """Use Python and the command line once each, and the documentation that is installed."""
    assert version("edgewise") == ew.__version__
    package = Path(ew.__file__).parent
    assert (package / "py.typed").exists()
    assert (package / "docs" / "quickstart.md").exists()

    pairs, clusters = folder / "pairs.csv", folder / "clusters.parquet"
    pairs.write_text("left_id,right_id,score\na,b,0.97\nb,c,0.91\nd,e,0.95\nc,d,0.40\n")
    result = ew.connected_components(ew.read(pairs, threshold=0.9)).verify()
    assert result.sets() == [{"a", "b", "c"}, {"d", "e"}], result
    print(result)

    command("components", str(pairs), "--threshold", "0.9", "--name", "min", "-o", str(clusters))
    assert ew.connected_components(ew.read(pairs, threshold=0.9)).to_frame("min").num_rows == 5
    assert clusters.exists()
    assert f"edgewise {ew.__version__}" in command("--version")
    forest = ew.minimum_spanning_forest(ew.read(pairs, weight="score"), maximum=True)
    assert forest.explain("a", "e").threshold == 0.4
    assert ew.bfs(ew.read(pairs, weight=False), "a").path_to("e") == ["a", "b", "c", "d", "e"]
    if (package / "kernels").exists():
        use_kernels(folder)
        assert not [*cache.root().rglob("*.nbc")], "something was compiled that is not in the wheel"


def use_kernels(folder):
    """Run what README shows, on files of its sizes; the kernels that this needs came with the package."""
    pairs, roads, friends, mesh = (str(folder / name) for name in ("p.parquet", "r.mtx", "f.csv", "m.mtx"))
    command("generate", "pairs", "300000", "-o", pairs)
    command("generate", "grid", "300", "--dropped", "0.2", "--weights", "1:100", "-o", roads)
    command("generate", "rmat", "12", "--simple", "-o", friends)
    command("generate", "grid", "200", "-o", mesh)
    table = str(folder / "table.parquet")
    for words in ([], ["--name", "min"], ["--stream"], ["--threshold", "0.95"]):
        command("components", pairs, "--threshold", "0.9", *words, "-o", table)
    for words in ([], ["--stream"]):
        command("components", pairs, "--thresholds", "0.5,0.9", *words, "-o", table)
        command("forest", pairs, "--maximum", *words, "-o", table)
    command("paths", roads, "--source", "17", "--to", "5018")
    command("paths", friends, "--bfs", "--source", "1")
    for length in ("3", "4", "5"):
        command("cycles", friends, "--length", length, "-o", table)
    for name in ("strong", "cores"):
        command(name, friends, "-o", table)
    for file in (roads, mesh):
        command("partition", file, "8", "-o", str(folder / "parts.part"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
