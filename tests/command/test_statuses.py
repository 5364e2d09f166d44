"""Whatever goes wrong: one line on standard error, the right exit status, nothing half-written."""

import os
import signal
import subprocess
import sys
import time

import pytest

import edgewise
from edgewise import command
from edgewise.command import keyboard, run
from edgewise.errors import FileError, OutOfMemoryError
from tests.processes import ended


def one_line(capsys):
    """The one line on standard error, nothing on standard output."""
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("edgewise: ")
    return err


def test_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"edgewise {edgewise.__version__}\n"


@pytest.mark.parametrize(
    "arguments", ([], ["--help"], ["components", "--help"], ["generate"], ["info", "--help"])
)
def test_help(arguments, capsys):
    assert run(arguments) == 0
    assert "Usage: edgewise" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cluster"], "No such command 'cluster'"),
        (["components"], "Missing argument 'FILE' (see edgewise components --help)"),
        (["components", "--sauce", "a", "x.csv"], "No such option"),
        (["components", "x.csv", "--method", "guess"], "rem-sequential"),
        (["components", "x.csv", "--threads", "0"], "--threads"),
        (["components", "x.csv", "--threads", "100000"], "NUMBA_NUM_THREADS"),
        (["components", "x.csv", "--device", "abacus"], "abacus"),
        (["generate", "grid"], "Missing"),
        (["generate", "unicorn", "-o", "x"], "unicorn"),
        (["components", "absent.csv"], "absent.csv"),
        (["components", "absent.csv", "-o", "nowhere/clusters.csv"], "create it first"),
        (["info", "absent.csv"], "absent.csv"),
        (["convert", "absent.csv", "x.gr"], "absent.csv"),
        (["components", "."], "."),
    ],
)
def test_mistakes(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    assert words in one_line(capsys)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (OutOfMemoryError("cuda:0 has too little memory: 9 bytes needed, 8 free"), 2, "9 bytes needed"),
        (MemoryError(), 2, "too little memory"),
        (OSError(28, "No space left on device", "x.parquet"), 2, "x.parquet: No space left"),
        (ValueError("several\nlines"), 1, "unexpected ValueError: several lines"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_errors_in_a_command(error, status, words, capsys, monkeypatch):
    def fail(*_):
        raise error

    monkeypatch.setattr(command, "_command", fail)
    assert run(["info"]) == status
    assert words in one_line(capsys)


def test_debugging_shows_the_traceback(capsys, monkeypatch):
    monkeypatch.setattr(command, "_command", lambda _: 1 / 0)
    monkeypatch.setenv("EDGEWISE_DEBUG", "1")
    assert run(["info"]) == 1
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.interpreter
def test_what_a_library_makes_of_an_interrupt(monkeypatch, capsys):
    """An error of edgewise after a signal is reported as the end that the signal has brought about."""

    def fail(_):
        monkeypatch.setattr(keyboard, "_pressed", signal.SIGTERM)
        raise FileError("so-far", "is no checkpoint, or a damaged one")

    monkeypatch.setattr(keyboard, "_pressed", 0)
    monkeypatch.setattr(command, "_command", fail)
    assert run(["info"]) == 143
    assert one_line(capsys) == "edgewise: terminated\n"


def test_input_is_not_overwritten(capsys, tmp_path):
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("a,b\nx,y\n")
    assert run(["components", str(pairs), "-o", str(pairs)]) == 2
    assert "the input itself" in one_line(capsys)
    assert pairs.read_text() == "a,b\nx,y\n"


def test_reader_that_goes_away():
    line = f"{sys.executable} -m edgewise --help"
    done = subprocess.run(
        ["bash", "-c", f"{line} | true; echo ${{PIPESTATUS[0]}}"], capture_output=True, text=True
    )
    assert done.stdout.strip() in ("0", "141")
    assert done.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize("delay", (0, 2))
def test_interruption(delay, tmp_path):
    """Ctrl-C so long after compiling began: status 130, and no file that is not whole."""
    command = [
        sys.executable,
        "-m",
        "edgewise",
        "generate",
        "pairs",
        "20000000",
        "-o",
        "pairs.csv",
        "--quiet",
    ]
    folder = tmp_path / "outputs"
    folder.mkdir()
    fresh = {"EDGEWISE_CACHE_DIR": str(tmp_path / "kernels"), "EDGEWISE_QUIET": "0"}
    process = subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, text=True, env=os.environ | fresh, start_new_session=True
    )
    with ended(process):
        assert "compiling" in process.stderr.readline()
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "edgewise: interrupted\n"
    assert list(folder.iterdir()) == []
