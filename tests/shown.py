"""Running what a page of the documentation shows: commands on a terminal, and examples of Python."""

import doctest
import io
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from unittest.mock import patch

from edgewise.command import run
from tests.processes import ended

#: A command with its here-document, if it has one, and what it prints.
COMMAND = re.compile(r"^\$ ([^\n]*<<'END'\n.*?^END|[^\n]*)\n(.*?)(?=^\$ |\Z)", re.MULTILINE | re.DOTALL)
#: A block of a language, without its fences.
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: A line that no shell needs to read.
PLAIN = re.compile(r"edgewise [^|&;<>()$`*?~{}]*")
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def environment():
    """The environment of commands: this Python's folder of programs, no progress, and lines of 80 signs."""
    search = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {"PATH": search, "EDGEWISE_QUIET": "1", "COLUMNS": "80"}


def without_times(text):
    """What a command has printed, without the seconds, the number of threads, and the method for it."""
    text = re.sub(r"[\d.]+ m?s\b", "... s", text)
    text = re.sub(r"\d+ threads? of", "... threads of", text)
    return text.replace("(rem-sequential, ... threads of", "(rem, ... threads of")


class Untimed(doctest.OutputChecker):
    """Compares what examples print without the seconds."""

    def check_output(self, want, got, optionflags):
        return super().check_output(without_times(want), without_times(got), optionflags)


class Terminal(io.TextIOWrapper):
    """Text that says that it is a terminal."""

    def isatty(self):
        return True


def on_a_terminal(command, folder):
    """Run a command whose standard output is a terminal; return its status, and what it has printed."""
    if PLAIN.fullmatch(command):
        return in_this_process(shlex.split(command)[1:], folder)
    ours, theirs = pty.openpty()
    how = {"cwd": folder, "env": environment(), "stdin": subprocess.DEVNULL}
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(["bash", "-c", command], stdout=theirs, stderr=messages, **how)
        os.close(theirs)
        printed = b""
        with ended(process):
            with suppress(OSError):  # Linux ends with an error when the other end is closed
                while part := os.read(ours, 1 << 16):
                    printed += part
            os.close(ours)
            process.wait()
        messages.seek(0)
        return process.returncode, (printed + messages.read()).decode().replace("\r\n", "\n")


def in_this_process(words, folder):
    """The same for a command of edgewise alone, without another Python to start."""
    printed, messages = Terminal(io.BytesIO(), "utf-8"), io.StringIO()
    with (
        chdir(folder),
        patch.dict(os.environ, environment()),
        redirect_stdout(printed),
        redirect_stderr(messages),
    ):
        status = run(words)
    printed.flush()
    return status, printed.buffer.getvalue().decode() + messages.getvalue()


def run_page(text, folder):
    """Run the blocks of a page in their order, in a folder; return how many commands and examples ran."""
    names, ran = {}, 0
    runner, parser = doctest.DocTestRunner(Untimed(), optionflags=OPTIONS), doctest.DocTestParser()
    for language, block in BLOCK.findall(text):
        if language == "python":
            example = parser.get_doctest(block, names, f"example {ran}", None, 0)
            failed, tried = runner.run(example, clear_globs=False)
            names = example.globs
            assert not failed, block
            ran += tried
        elif language == "console":
            for command, shown in COMMAND.findall(block):
                if command.startswith("pip "):
                    continue
                status, printed = on_a_terminal(command, folder)
                assert status == 0, f"{command}: {printed}"
                assert without_times(printed) == without_times(shown), command
                ran += 1
    return ran
