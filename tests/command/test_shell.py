"""What a shell does to a command: closed and full descriptors, pipes, signals, names that are not UTF-8."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.processes import ended

pytestmark = pytest.mark.skipif(os.name == "nt", reason="shells of POSIX")

EDGEWISE = f"{sys.executable} -m edgewise"


def shell(line):
    """Run a line of bash, in which EDGEWISE is the command, in the working folder; return what it did."""
    return subprocess.run(
        ["bash", "-c", line.replace("EDGEWISE", EDGEWISE)], capture_output=True, timeout=120, text=True
    )


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("EDGEWISE --version >&-", 2, "edgewise: standard output: is closed; "),
        ("EDGEWISE info pairs.csv >/dev/full", 2, "edgewise: standard output: cannot be written (No space"),
        ("EDGEWISE --help >/dev/full", 2, "edgewise: standard output: cannot be written (No space"),
        ("EDGEWISE components pairs.csv -q -o out.csv >&- 2>&- <&-", 0, ""),
        ("EDGEWISE components pairs.csv -o out.csv --profile --json 2>/dev/full", 0, ""),
        ("EDGEWISE info absent.csv 2>&-", 2, ""),
        ("EDGEWISE info absent.csv 2>/dev/full", 2, ""),
        ("EDGEWISE convert pairs.csv /dev/full --to csv", 2, "edgewise: /dev/full: the disk is full; "),
        (
            "mkfifo out.csv; EDGEWISE components pairs.csv -o out.csv",
            2,
            "edgewise: out.csv: is a pipe that no",
        ),
        ("EDGEWISE convert pairs.csv /dev/stdout --to csv -q | true; exit ${PIPESTATUS[0]}", 141, ""),
    ],
)
def test_descriptors(line, status, words, pairs):
    pairs.write_text("a,b\nx,y\n")
    done = shell(line)
    assert done.returncode == status
    assert done.stderr.startswith(words) and done.stderr.count("\n") == bool(words)
    if "-o out.csv" in line and not status:
        assert (pairs.parent / "out.csv").read_text() == "id,component\nx,0\ny,0\n"


def test_a_pipe_with_a_reader_gets_the_result(pairs):
    pairs.write_text("a,b\nx,y\n")
    done = shell("mkfifo out.csv; cat out.csv & EDGEWISE components pairs.csv -q -o out.csv; wait")
    assert (done.stdout, done.stderr) == ("id,component\nx,0\ny,0\n", "")


@pytest.mark.skipif(sys.platform == "darwin", reason="all names are UTF-8 there")
@pytest.mark.parametrize(
    "ending", ["parquet", "arrow", "csv", "csv.gz", "csv.xz", "txt", "npz", "mtx", "sg", "graph"]
)
def test_names_that_are_not_utf8(ending, tmp_path, capsys):
    from edgewise.command import run

    edges, path = tmp_path / "edges.txt", str(tmp_path / os.fsdecode(b"caf\xe9.")) + ending
    edges.write_text("0 1\n1 2\n")
    assert run(["convert", str(edges), path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["output"] == path
    assert run(["components", path, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["components"] == 1


@pytest.mark.skipif(sys.platform == "darwin", reason="all names are UTF-8 there")
def test_messages_with_names_that_are_not_utf8(pairs):
    name = os.fsdecode(b"caf\xe9.csv")
    pairs.write_text("a,b\nx,y\n")
    command = (
        ["convert", "pairs.csv", name],
        ["components", "--stream", name, "-o", f"x{name}"],
        ["info", f"y{name}"],
    )
    done = [
        subprocess.run([sys.executable, "-m", "edgewise", *words], capture_output=True, timeout=120)
        for words in command
    ]
    assert [one.returncode for one in done] == [0, 0, 2]
    assert done[0].stdout.endswith(b" -> caf\\udce9.csv\n")
    assert done[1].stdout.endswith(b" -> xcaf\\udce9.csv\n")
    assert done[2].stderr == b"edgewise: ycaf\\udce9.csv: no such file; check the path\n"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_leave_nothing(number, tmp_path):
    """Status and one line, and no part, when the process is ended while it writes."""
    command = [sys.executable, "-m", "edgewise", "generate", "pairs", "200000", "-o", "pairs.csv.xz"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    with ended(process):
        while not list(tmp_path.iterdir()) and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert err in ("edgewise: terminated\n", "edgewise: the terminal was closed\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("delay", [0, 0.1, 0.2, 0.4, 0.8])
def test_an_interrupt_while_it_starts_is_one_line(delay, pairs):
    """While modules are imported, and afterwards."""
    started = (
        "import edgewise.__main__ as page; opened = page._open_if_closed\n"
        "page._open_if_closed = lambda number: (number or print(end='.', flush=True), opened(number))\n"
        "page.main()"
    )
    options = ["components", str(pairs), "--source", "left_id", "--target", "right_id"]
    command = [sys.executable, "-c", started, *options]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_default_interrupt
    )
    with ended(process):
        assert process.stdout.read(1) == "."
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    *report, last = err.splitlines() or [""]
    if process.returncode == 0:  # it had ended
        report += [last] * (last != "")
    else:
        assert (process.returncode, last) == (130, "edgewise: interrupted")
    assert report == [] or (len(report) == 1 and report[0].startswith("7 vertices"))


def test_its_import_changes_nothing():
    """As ``pydoc``, ``autodoc`` and ``pkgutil.walk_packages`` import it, perhaps in a thread."""
    script = (
        "import signal, threading; before = signal.getsignal(signal.SIGINT)\n"
        "thread = threading.Thread(target=__import__, args=('edgewise.__main__',))\n"
        "thread.start(); thread.join()\n"
        "import edgewise.__main__\n"
        "assert signal.getsignal(signal.SIGINT) is before"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_forest_of_a_stream_is_written_by_a_new_process(pairs):
    pairs.write_text("a,b,score\nx,y,0.5\ny,z,0.75\n")
    done = shell("EDGEWISE forest pairs.csv --stream --weight score -q -o out.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert len((pairs.parent / "out.csv").read_text().splitlines()) == 3


def _default_interrupt():
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_signals_that_the_shell_ignores_are_ignored(pairs):
    """``nohup`` and ``&`` in a script."""
    script = "trap '' HUP INT; EDGEWISE components pairs.csv --source left_id --target right_id -q -o out.csv"
    process = subprocess.Popen(["bash", "-c", script.replace("EDGEWISE", "exec " + EDGEWISE)])
    with ended(process):
        for number in (signal.SIGHUP, signal.SIGINT) * 4:
            time.sleep(0.1)
            process.send_signal(number)
        assert process.wait(timeout=60) == 0
