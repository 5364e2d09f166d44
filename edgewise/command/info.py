"""``edgewise info``: what edgewise runs on, or what a graph file holds."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated

import typer

import edgewise
from edgewise.command import options, report
from edgewise.command.convert import graph_facts

PACKAGES = ("numpy", "scipy", "numba", "pyarrow", "numba-cuda", "cupy-cuda13x", "cupy-cuda12x", "matplotlib")

File = Annotated[str | None, typer.Argument(help="Graph file to look into.", allow_dash=True)]


@options.with_reading
def info(reading, file: File = None, json: options.Json = False):
    """Print versions, cores, GPUs and the cache folder; with a file, the facts of its graph."""
    facts = machine() if file is None else _graph(edgewise.read(file, **reading))
    if json:
        report.as_json(facts)
        return
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}}  {_words(value)}")


def _words(value):
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "; ".join(value) or "none"
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def machine():
    """Versions, cores, threads, memory and GPUs."""
    import psutil

    from edgewise.device import arrays, cache, threads

    reason = arrays.why_no_gpu()
    return {
        "edgewise": edgewise.__version__,
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
        "cores": os.cpu_count(),
        "threads": threads.count(),
        "memory": f"{psutil.virtual_memory().total / 2**30:.1f} GiB",
        "gpus": [f"none ({reason})"] if reason else _gpus(arrays.gpu_count()),
        "kernels": str(cache.folder() or "none: no folder is writable; set EDGEWISE_CACHE_DIR"),
    }


def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _gpus(count):
    """A line for each GPU and, of several, one on which GPUs cannot read each other's memory."""
    from edgewise.device import streams

    lines = [_gpu(number) for number in range(count)]
    names = [f"cuda:{number}" for number in range(count)]
    separate = [
        f"{one} of {other}"
        for one in names
        for other in names
        if one != other and not streams.peer_access(one, other)
    ]
    if count > 1:
        lines.append("no access: " + ", ".join(separate) if separate else "all read each other's memory")
    return lines


def _gpu(number):
    from edgewise.device import arrays

    runtime = arrays.namespace(f"cuda:{number}").cuda.runtime
    facts = runtime.getDeviceProperties(number)
    return f"cuda:{number} {facts['name'].decode()}, {facts['totalGlobalMem'] / 2**30:.0f} GiB"


def _graph(graph):
    degrees = graph.degrees()
    return graph_facts(graph) | {
        "self-loops": int((graph.sources == graph.targets).sum()),
        "isolated vertices": int((degrees == 0).sum()),
        "mean degree": round(float(degrees.mean()), 3) if graph.n_vertices else 0.0,
        "largest degree": int(degrees.max()) if graph.n_vertices else 0,
    }
