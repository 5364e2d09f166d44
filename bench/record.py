"""What every benchmark writes beside its figures: the machine and the versions."""

import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
PEERS = Path(__file__).parent / "peers"
PACKAGES = (
    "numpy",
    "scipy",
    "numba",
    "numba-cuda",
    "cupy-cuda13x",
    "pyarrow",
    "igraph",
    "networkit",
    "rustworkx",
)


def machine():
    """Processor, cores and GPU, without anything that names the host."""
    facts = {"processor": _processor(), "cores": os.cpu_count(), "system": platform.system()}
    try:
        import cupy

        facts["gpu"] = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        facts["driver"] = cupy.cuda.runtime.driverGetVersion()
    except Exception:
        facts["gpu"] = None
    return facts


def _processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "")


def versions():
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def spread(times):
    """Median, least and largest of a list of times."""
    return {
        "median": statistics.median(times),
        "least": min(times),
        "largest": max(times),
        "runs": len(times),
    }


def write(name, rows, **facts):
    """Write ``rows`` to ``results/NAME.json`` (or ``$OUT/NAME.json``) and return the path."""
    folder = Path(os.environ.get("OUT") or RESULTS)
    path = folder / f"{name}.json"
    origin = {"command": command(), "state": state(), "date": time.strftime("%Y-%m-%d")}
    found = {**origin, "machine": machine(), "versions": versions(), **facts, "rows": rows}
    path.write_text(json.dumps(found, indent=1))
    return path


def command():
    """The command line of this process, without the folders of this machine."""
    words = (Path(word).name if word.startswith("/") else shlex.quote(word) for word in sys.argv[1:])
    return " ".join(["python", "bench/" + Path(sys.argv[0]).name, *words])


def state():
    """The commit that is measured, or ``$EDGEWISE_STATE`` where the copy has no history."""
    if "EDGEWISE_STATE" in os.environ:
        return os.environ["EDGEWISE_STATE"]
    words = ["git", "describe", "--always", "--dirty"]
    done = subprocess.run(words, cwd=RESULTS, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def peers(name):
    """What ``peers/NAME.json`` holds: a list of peers, each with its version, command and figures."""
    return json.loads((PEERS / f"{name}.json").read_text())["peers"]


def origin(name, *, drawn=False):
    """A line that says of which state and command the figures, or a picture, of ``results/NAME.json`` are."""
    found = json.loads((RESULTS / f"{name}.json").read_text())
    figures = f"; figures in `bench/results/{name}.json`" if drawn else ""
    return f"*`{found['command']}`, state {found['state']}, {found['date']}{figures}*"


#: Names of the results that were read, so that a table can say where its figures are from.
USED: list[str] = []


def results(name):
    """What ``results/NAME.json`` holds."""
    USED.append(name)
    return json.loads((RESULTS / f"{name}.json").read_text())


def table(header, rows):
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
