"""Put compiled kernels into a wheel, so that a first call compiles nothing.

    python .ci/kernels.py WHEEL FOLDER PYTHON ...

``WHEEL`` has sources only.  For each interpreter ``PYTHON`` it is installed into a new environment, where
``edgewise.warmup`` compiles everything for each level of processors, and the usual kernels of GPUs are
compiled for some compute capabilities, which needs no GPU.  ``FOLDER`` receives a wheel for that version of
Python and this kind of machine.  The environment that runs this page needs the package ``wheel``.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

#: Run by the interpreter: what is compiled for, and the tags of the wheel.
FACTS = """
import json, platform, sys
from llvmlite import binding
from edgewise.device import cache, shipped
levels = list(shipped.LEVELS.get(binding.get_process_triple().partition("-")[0], {}))
python = f"cp{sys.version_info.major}{sys.version_info.minor}"
tags = python, python, f"manylinux_2_17_{platform.machine()}"
print(json.dumps([levels, shipped.CAPABILITIES, cache.digest(), tags]))
"""
FOR_CPU = "import edgewise; edgewise.warmup(device='cpu')"
FOR_GPU = (
    "import sys; from edgewise.device.ahead import compile_all; compile_all(tuple(map(int, sys.argv[1:])))"
)
#: The other files of a cache are locks, and notes of what has begun.
ENDINGS = ".nbc", ".ptx", ".cubin"
#: Settings by which builds differ less.  Numba still orders declarations in the text of a GPU kernel by their
#: addresses, which differ from one process to the next.
SAME = {
    "PYTHONHASHSEED": "0",
    "SOURCE_DATE_EPOCH": "1577836800",
    "EDGEWISE_QUIET": "1",
    "NUMBA_NUM_THREADS": "2",
}


def run(*command, **own):
    """What a command prints; it is an error if it fails."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("EDGEWISE", "NUMBA"))}
    kept.pop("PYTHONPATH", None)
    words = list(map(str, command))
    return subprocess.run(words, env=kept | SAME | own, check=True, stdout=subprocess.PIPE, text=True).stdout


def compile_kernels(python, folder):
    """Compile into folders of ``folder``; return the digest of the sources and versions, and the tags."""
    levels, capabilities, digest, tags = json.loads(run(python, "-c", FACTS))
    words, jobs = [python, "-c", FOR_CPU], []
    for level in levels:
        jobs.append((words, {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": "", "EDGEWISE_CACHE_DIR": level}))
    for numbers in capabilities:
        jobs.append(([python, "-c", FOR_GPU, *numbers], {"EDGEWISE_CACHE_DIR": "sm{}{}".format(*numbers)}))
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        for _, own in jobs:
            own["EDGEWISE_CACHE_DIR"] = str(folder / own["EDGEWISE_CACHE_DIR"])
        list(threads.map(lambda job: run(*job[0], **job[1]), jobs))
    for _, own in jobs:
        made = Path(own["EDGEWISE_CACHE_DIR"], "kernels", digest)
        if not any(file.suffix in ENDINGS for file in made.iterdir()):
            sys.exit(f"nothing was compiled into {own['EDGEWISE_CACHE_DIR']}")
    return digest, tags


def with_kernels(wheel, python, folder, target):
    """Make a wheel with kernels in ``target``, by means of ``folder``, which is empty; return its path."""
    environment = folder / "environment"
    run(python, "-m", "venv", environment)
    inside = environment / "bin" / "python"
    run(
        inside,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        f"edgewise[kernels] @ {wheel.as_uri()}",
    )
    digest, (of_python, of_interface, of_platform) = compile_kernels(inside, folder)
    run(sys.executable, "-m", "wheel", "unpack", "--dest", folder / "unpacked", wheel)
    (package,) = (folder / "unpacked").iterdir()
    kernels = package / "edgewise" / "kernels" / digest
    kernels.mkdir(parents=True)
    for file in sorted(folder.glob(f"*/kernels/{digest}/*")):
        if file.suffix in ENDINGS:
            shutil.copyfile(file, kernels / file.name)
    (facts,) = package.glob("*.dist-info/WHEEL")
    facts.write_text(facts.read_text().replace("Root-Is-Purelib: true", "Root-Is-Purelib: false"))
    run(sys.executable, "-m", "wheel", "pack", "--dest-dir", folder, package)
    (packed,) = folder.glob("*.whl")
    tags = ["--python-tag", of_python, "--abi-tag", of_interface, "--platform-tag", of_platform]
    name = run(sys.executable, "-m", "wheel", "tags", "--remove", *tags, packed).strip()
    return shutil.copyfile(folder / name, target / name)


def main():
    """Make a wheel for each interpreter."""
    wheel, target, *interpreters = sys.argv[1:]
    if not interpreters:
        sys.exit("no interpreter is named; put Python 3.11 or newer on the path")
    Path(target).mkdir(parents=True, exist_ok=True)
    for python in interpreters:
        folder = Path(tempfile.gettempdir(), "edgewise-kernels")  # kernels have the paths of their sources
        folder.mkdir(mode=0o700)
        try:
            made = with_kernels(Path(wheel).resolve(), python, folder, Path(target))
            print(f"{made}: {made.stat().st_size / 1e6:.1f} MB", flush=True)
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
