"""Small files that promise more than fits into memory are refused before it is allocated."""

import gzip
import os
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import edgewise as ew
from edgewise import memory
from edgewise.device import arrays
from edgewise.errors import FileError

MANY = 2**47
HEADERS = {
    "a.mtx": f"%%MatrixMarket matrix coordinate pattern general\n{MANY} {MANY} 1\n1 2\n",
    "a.gr": f"p sp {MANY} 1\na 1 2 1\n",
    "a.smat": f"{MANY} {MANY} 1\n1 2 1\n",
    "a.jlg": f"{MANY},1,u\n1,2\n",
    "a.lg": f"t {MANY} 1\nv 1 1 1\ne 1 2\n",
    "a.txt": f"# edgewise: vertices={MANY} directed=0 numbered=1\n1 2\n",
    "a.tntp": f"<NUMBER OF NODES> {MANY}\n<NUMBER OF LINKS> 1\n<END OF METADATA>\n~\ta\tb\t;\n\t1\t2\t;\n",
}
LIMIT = 4 << 30
#: Reads each file within the limit; the exit status is 0 if all are refused.
CHILD = """
import resource, sys, edgewise as ew
limit, *paths = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
for path in paths:
    try:
        ew.read(path)
    except ew.errors.FileError as error:
        print(error)
    else:
        sys.exit(f"{path} was read")
"""


@pytest.mark.parametrize("name", HEADERS)
def test_promised_vertices(tmp_path, name):
    (tmp_path / name).write_text(HEADERS[name])
    with pytest.raises(FileError, match=f"{MANY:,} vertices need {16 * MANY:,} bytes of memory, and "):
        ew.read(tmp_path / name)


def test_numbers_of_ids_as_vertices(tmp_path):
    (tmp_path / "a.txt").write_text(f"1 {MANY}\n")
    with pytest.raises(FileError, match=r"vertices need .* bytes of memory"):
        ew.read(tmp_path / "a.txt", one_based=True)


def bombs(folder):
    """Paths of small files that would take more than the limit."""
    (folder / "a.mtx").write_text(HEADERS["a.mtx"].replace(str(MANY), str(2**31 - 1)))
    zeros = gzip.compress(bytes(1 << 26), 1)
    (folder / "a.npz.gz").write_bytes(gzip.compress(b"PK\x03\x04" + bytes(60)) + zeros * (LIMIT >> 26))
    header = struct.pack("<?qq", False, 2**31, 2**31 - 1)
    (folder / "a.sg.gz").write_bytes(gzip.compress(header) + zeros)
    np.savez_compressed(folder / "a.npz", shape=[3, 0], sources=[0], targets=[0])
    with zipfile.ZipFile(folder / "a.npz", "a") as archive:
        archive.getinfo("sources.npy").file_size = 2 * LIMIT
        archive.writestr("more", "")  # so that the sizes are written again
    return sorted(map(str, folder.iterdir()))


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of the address space")
def test_under_a_limit_of_the_address_space(tmp_path):
    paths = bombs(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(LIMIT), *paths],
        env={**os.environ, "NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "EDGEWISE_QUIET": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == len(paths)
    for path, line in zip(paths, lines, strict=True):
        assert line.startswith(path)
        limit = "hold more than 200 times its " if path.endswith(".npz") else "bytes of memory, and "
        assert limit in line


def test_free_memory_is_within_the_limit(monkeypatch):
    import psutil

    before = arrays.free_memory("cpu")
    used = psutil.Process().memory_info().vms
    monkeypatch.setattr(memory, "address_limit", lambda: used + (1 << 20))
    assert arrays.free_memory("cpu") <= min(before, 1 << 20) + (1 << 20)
