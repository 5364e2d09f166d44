"""What every benchmark writes beside its figures: the machine and the versions."""

import json
import os
import platform
import statistics
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"
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
    path.write_text(
        json.dumps({"machine": machine(), "versions": versions(), **facts, "rows": rows}, indent=1)
    )
    return path


def results(name):
    """What ``results/NAME.json`` holds."""
    return json.loads((RESULTS / f"{name}.json").read_text())


def table(header, rows):
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
