"""``edgewise info``: what edgewise runs on, or what a graph file holds."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

import edgewise
from edgewise import memory, tuning
from edgewise.command import expected, options, report
from edgewise.command.convert import graph_facts
from edgewise.errors import FileError
from edgewise.files.store import manifest_of

GIB = 2**30
PACKAGES = ("numpy", "scipy", "numba", "pyarrow", "numba-cuda", "cupy-cuda13x", "cupy-cuda12x", "matplotlib")
#: Facts about the limits.
NAMES_OF_LIMITS = "limits", "limit_files", "limit_notes"


@options.subcommand(
    "command.md",
    "edgewise info",
    "edgewise info --json",
    "edgewise info graph.mtx",
    leave_out=("profile", "quiet"),
)
def info(
    reading,
    shown: options.Shown,
    file: options.argument(str | None, None, "Graph file to look into.", **options.PATH) = None,
):
    """Print versions, cores, GPUs and the cache folder; with a file, the facts of its graph."""
    table = None if file is None else _table(file)
    if file is not None and table is None:
        expected.check([file], reading, None, undirected=False)
    facts = machine() if file is None else table or _graph(edgewise.read(file, **reading))
    if shown.json:
        report.as_json(facts)
        return
    words = _machine_in_words(facts) if file is None else _graph_in_words(facts)
    report.lines(words)


def machine():
    """Versions, cores, threads, memory and GPUs: numbers, lists, and ``None`` for what is not there."""
    import psutil

    from edgewise.device import arrays, cache, threads, usable_cores

    count, folder = arrays.gpu_count(), cache.folder()
    return {
        "edgewise": edgewise.__version__,
        "python": platform.python_version(),
        **{package: _version(package) for package in PACKAGES},
        "processor": tuning.processor(),
        "cores": os.cpu_count(),
        "threads": threads.count(),
        "threads_reason": usable_cores.default_threads().reason,
        "memory_bytes": psutil.virtual_memory().total,
        "memory_limit": memory.limit()._asdict(),
        "gpus": [_gpu(index) for index in range(count)],
        "gpu_reason": arrays.why_no_gpu(),
        "peer_access": _peer_access(count),
        "kernels": None if folder is None else str(folder),
        "package_kernels": cache.package_level(),
        **limits(["cpu", "cuda"] if count else ["cpu"]),
    }


def limits(kinds):
    """The limits in force on kinds of devices, the files of tuned ones, and what to know of these."""
    known: dict[str, dict] = {}
    notes = []
    for kind in kinds:
        known[kind] = {}
        try:
            known[kind] = tuning.tuned(kind) if tuning.is_used() else {}
        except FileError as error:
            notes.append(str(error))
    if not tuning.is_used():
        notes.append("EDGEWISE_TUNED is 0, so the defaults are used")
    elif words := ignored(kinds):
        notes.append(words)
    return {
        "limits": [_limit(*one, known[one[0]].get(one[1])) for one in tuning.described() if one[0] in kinds],
        "limit_files": [str(tuning.tuned_file(kind)) for kind in kinds if known[kind]],
        "limit_notes": notes,
    }


def _limit(kind, name, value, of, tuned):
    facts = {"device": kind, "name": name, "value": value, "unit": of.unit, "separates": of.separates}
    when = None if tuned is None else tuned.date
    return facts | {"default": of.default, "tuned": when, "gain": None if tuned is None else tuned.gain}


def ignored(kinds):
    """Words about files of tuned limits that are not read; ``None`` if there are none."""
    found = {kind: names for kind in kinds if (names := tuning.files(kind))}
    others = sum(len({*names} - {tuning.tuned_file(kind).name}) for kind, names in found.items())
    if not others:
        return None
    return f"{report.counted(others, 'file')} of limits of other machines or versions: ignored"


def number(value):
    """A limit as it is printed."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def _version(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _gpu(index):
    import psutil

    from edgewise.device import arrays

    memory = psutil.virtual_memory().total
    if not arrays.SIMULATED:
        runtime = arrays.namespace(f"cuda:{index}").cuda.runtime
        memory = runtime.getDeviceProperties(index)["totalGlobalMem"]
    return {"index": index, "name": arrays.gpu_name(index), "memory_bytes": memory}


def _peer_access(count):
    """Pairs ``[one, other]`` of GPUs, of which ``one`` can read the memory of ``other``."""
    from edgewise.device import streams

    pairs = [[one, other] for one in range(count) for other in range(count) if one != other]
    return [pair for pair in pairs if streams.peer_access(*(f"cuda:{index}" for index in pair))]


def _machine_in_words(facts):
    """The facts of :func:`machine` as they are printed."""
    own = (
        "threads",
        "threads_reason",
        "memory_bytes",
        "memory_limit",
        "gpus",
        "gpu_reason",
        "peer_access",
        "kernels",
        "package_kernels",
        *NAMES_OF_LIMITS,
    )
    words = {name: value or "not installed" for name, value in facts.items() if name not in own}
    return words | {
        "threads": f"{facts['threads']} ({facts['threads_reason']})",
        "memory": f"{facts['memory_bytes'] / GIB:.1f} GiB",
        "memory limit": _memory_in_words(facts["memory_limit"]),
        "gpus": _gpus_in_words(facts) if facts["gpus"] else f"none ({facts['gpu_reason']})",
        "kernels": facts["kernels"] or "none: no folder is writable; set EDGEWISE_CACHE_DIR",
        "package kernels": facts["package_kernels"] or "none: they are compiled when first used",
        "limits": "; ".join([*(facts["limit_files"] or ["defaults"]), *facts["limit_notes"]]),
        **{_name_of_limit(one): _limit_in_words(one) for one in facts["limits"]},
    }


def _memory_in_words(limit):
    most, held = (memory.in_words(limit[name]) for name in ("bytes", "held"))
    return f"{most} ({limit['source']}), of which {held} are held"


def _name_of_limit(one):
    return one["name"] + (" (GPU)" if one["device"] == "cuda" else "")


def _limit_in_words(one):
    words = f"{number(one['value'])} {one['unit']}: {one['separates']}"
    if one["tuned"] is None:
        return words
    return f"{words} (tuned {one['tuned']}, {one['gain']:.0%} faster; default {number(one['default'])})"


def _gpus_in_words(facts):
    """All GPUs and, of several, which cannot read each other's memory."""
    gpus = facts["gpus"]
    words = [f"cuda:{gpu['index']} {gpu['name']}, {gpu['memory_bytes'] / GIB:.0f} GiB" for gpu in gpus]
    pairs = [[one, other] for one in range(len(gpus)) for other in range(len(gpus)) if one != other]
    separate = [
        f"cuda:{one} of cuda:{other}" for one, other in pairs if [one, other] not in facts["peer_access"]
    ]
    if pairs:
        words.append("no access: " + ", ".join(separate) if separate else "all read each other's memory")
    return "; ".join(words)


def _table(folder):
    """Facts of a table in shards, such as one of clusters, by its manifest; ``None`` of anything else."""
    manifest = manifest_of(folder)
    if manifest is None or manifest["holds"] != "table":
        return None
    sizes = [one["bytes"] for one in manifest["shards"]]
    columns = ", ".join(manifest["columns"])
    return {"rows": manifest["rows"], "columns": columns, "shards": len(sizes), "bytes": sum(sizes)}


def _graph(graph):
    degrees = graph.degrees()
    return graph_facts(graph) | {
        "self_loops": int((graph.sources == graph.targets).sum()),
        "isolated_vertices": int((graph.degrees(direction="both") == 0).sum()),
        "mean_degree": round(float(degrees.mean()), 3) if graph.n_vertices else 0.0,
        "largest_degree": int(degrees.max()) if graph.n_vertices else 0,
    }


def _graph_in_words(facts):
    """The facts of :func:`_graph` as they are printed."""
    absent = {"weights": "none", "ids": "vertex numbers"}

    def in_words(name, value):
        if value is None:
            return absent[name]
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:,}" if isinstance(value, int | float) else value

    words = {name: in_words(name, value) for name, value in facts.items()}
    return {name.replace("self_", "self-").replace("_", " "): value for name, value in words.items()}
