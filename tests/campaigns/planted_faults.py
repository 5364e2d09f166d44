"""Planted faults of concurrency, each of which the explorer must find.

``python tests/campaigns/planted_faults.py --processes 2``

The faults are in ``planted_faults.toml``: lost atomic operations, missing barriers and fences, stale reads,
wrong shuffles, places beside the right ones in shared memory, and values that come back.  Each names a
scenario of ``planted_scenarios.py`` and the model of memory that it needs.  Each process has a copy of the
tree, in which a fault is planted while its scenario runs by one seed after another.  The scenarios run
without faults first, and must find nothing.  The last line is one of JSON.

With ``--before STATE`` the same faults are planted in that state of the package, which had Numba's simulator
of CUDA and a scheduler of single steps, and the scenarios run there as well.
"""

import json
import os
import subprocess
import sys
import time
import tomllib
from functools import partial
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.campaigns.mutants import COPIED, ROOT, by_copies, copy_tree, options_of, planted_in

TABLE = Path(__file__).with_suffix(".toml")
SCENARIOS = "planted_scenarios.py"
#: Seeds that a fault has, processor seconds for all of them, and how many times as long a process may take.
SEEDS, SECONDS, WATCHDOG = 400, 60, 20
ENVIRONMENTS = {
    "explorer": {"EDGEWISE_SIMULATOR": "1", "NUMBA_DISABLE_JIT": "1"},
    "threads": {"NUMBA_DISABLE_JIT": "1"},
    "simulator": {"NUMBA_ENABLE_CUDASIM": "1", "NUMBA_DISABLE_JIT": "1"},
    "jitter": {"NUMBA_DISABLE_JIT": "1"},
}


class Planted(NamedTuple):
    """A planted fault.

    Attributes
    ----------
    name, kind : str
        What is wrong.
    file, old, new : str
        The text, which occurs once in the file, and what takes its place.
    scenario : str
        A name in ``planted_scenarios.py``.
    memory : str
        The model of memory without which the fault cannot be seen, if any.
    races : bool
        Whether it shows as an undocumented race only.
    simulator, jitter : str
        The scenarios that reach it in the simulator, and by single steps, before the explorer.
    """

    name: str
    kind: str
    file: str
    old: str
    new: str
    scenario: str
    memory: str = ""
    races: bool = False
    simulator: str = ""
    jitter: str = ""


def faults() -> list[Planted]:
    """All rows of the table."""
    return [Planted(**row) for row in tomllib.loads(TABLE.read_text())["fault"]]


def scenarios():
    """The names of the scenarios on a GPU, which are read without running anything."""
    from tests.campaigns import planted_scenarios

    return planted_scenarios.ON_GPU, planted_scenarios.BY_THREADS


def run(folder: Path, engine: str, name: str, *options: str, seconds=SECONDS) -> dict:
    """Run a scenario in a tree; return what it prints, or why it prints nothing."""
    own = {"PYTHONPATH": str(folder), "EDGEWISE_CACHE_DIR": str(folder / "kernels"), "EDGEWISE_TUNED": "0"}
    dropped = ("NUMBA_DISABLE_JIT", "NUMBA_ENABLE_CUDASIM", "EDGEWISE_SIMULATOR", "EDGEWISE_SEED")
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    environment |= own | ENVIRONMENTS[engine] | {"PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, str(folder / "tests" / "campaigns" / SCENARIOS), name, f"--seconds={seconds}"]
    try:
        child = subprocess.run(
            [*command, *options],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=WATCHDOG * seconds,
        )
    except subprocess.TimeoutExpired:
        return {"seed": 0, "tried": 1, "said": "it does not come to an end", "seconds": WATCHDOG * seconds}
    if child.returncode:
        lines = child.stderr.splitlines() or [""]
        return {"seed": -2, "tried": 0, "said": lines[-1][:300], "seconds": 0}
    return json.loads(child.stdout.splitlines()[-1])


def found_by_explorer(folder: Path, fault: Planted, seeds: int, seconds: int) -> dict:
    """Plant a fault in a copy of the tree; return what its scenario finds."""
    options = [f"--seeds={seeds}"] + ([f"--memory={fault.memory}"] if fault.memory else [])
    engine = "explorer" if fault.scenario in scenarios()[0] else "threads"
    with planted_in(folder, fault):
        return run(
            folder, engine, fault.scenario, *options, *(["--races"] if fault.races else []), seconds=seconds
        )


def found_before(folder: Path, fault: Planted, seeds: int, seconds: int) -> dict:
    """The same in a state before the explorer: by its simulator, and by single steps."""
    on_gpu, _ = scenarios()
    ways = {
        "simulator": fault.simulator or (fault.scenario if fault.scenario in on_gpu else ""),
        "jitter": fault.jitter or ("" if fault.scenario in on_gpu else fault.scenario),
    }
    found = {}
    with planted_in(folder, fault):
        for engine, name in ways.items():
            if name:
                found[engine] = run(folder, engine, name, "--plain", f"--seeds={seeds}", seconds=seconds)
    return found


def copy_for(folder: Path, state: str | None = None) -> None:
    """Copy the tree, or that of a state, with the scenarios."""
    if state is None:
        copy_tree(folder)
    else:
        folder.mkdir()
        archive = subprocess.run(
            ["git", "archive", state, *COPIED], cwd=ROOT, capture_output=True, check=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    campaigns = folder / "tests" / "campaigns"
    campaigns.mkdir(exist_ok=True)
    for name in ("__init__.py", SCENARIOS):
        if (TABLE.parent / name).exists():
            (campaigns / name).write_text((TABLE.parent / name).read_text())


def main(arguments=None) -> dict[str, int]:
    """Run the campaign; return the counts by outcome."""
    parser = options_of(__doc__, "names, kinds or files")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="processor time for each fault")
    parser.add_argument("--before", metavar="STATE", help="a state with the simulator")
    given = parser.parse_args(arguments)
    rows = [one for one in faults() if any(given.only in text for text in (one.name, one.kind, one.file))]
    start, counts = time.monotonic(), {"found": 0, "missed": 0, "broken": 0}
    limits = {"seeds": given.seeds, "seconds": given.seconds}
    with by_copies(given.processes, partial(copy_for, state=given.before)) as mapped:
        call = found_before if given.before else found_by_explorer
        for one, found in mapped(partial(call, **limits), rows):
            told = {"name": one.name, "kind": one.kind, "file": one.file, **found}
            if not given.before:
                outcome = {-1: "missed", -2: "broken"}.get(found["seed"], "found")
                counts[outcome] += 1
                told = {"outcome": outcome, **told}
            print(json.dumps(told), flush=True)
    if given.before:
        return {}
    seconds = round(time.monotonic() - start, 1)
    print(json.dumps({"campaign": "planted faults", "cases": len(rows), **counts, "seconds": seconds}))
    return counts


if __name__ == "__main__":
    counts = main()
    sys.exit(bool(counts.get("missed", 0) + counts.get("broken", 0)))
