"""Values of options are read without typer's validator where that would change nothing."""

import subprocess
import sys
from enum import StrEnum
from typing import Annotated

import pytest
import typer

from edgewise.command import help_text, run, values

pytestmark = pytest.mark.interpreter

Colour = StrEnum("Colour", {"red": "red", "dark-red": "dark-red"})
LIMITED = Annotated[int | None, typer.Option(min=1, max=9)]


@pytest.mark.parametrize(
    "kind, value, read",
    [
        (str, "7", "7"),
        (Annotated[str | None, typer.Option()], "", ""),
        (int, "0012", 12),
        (int, 3, 3),
        (LIMITED, "9", 9),
        (float, "0.5", 0.5),
        (float, "2", 2.0),
        (list[str], ("a", "b"), ["a", "b"]),
        (Annotated[Colour, typer.Option()], "dark-red", Colour["dark-red"]),
    ],
)
def test_plain_values_are_read(kind, value, read):
    found = values._read(*values._types_of(kind), value)
    assert found == read and type(found) is type(read)


@pytest.mark.parametrize(
    "kind, value",
    [
        *((int, value) for value in ("-1", " 1", "1_0", "1.0", "1e3", "", "9" * 30, True, "\u0663")),
        *((float, value) for value in ("nan", "inf", "1e3", ".5", "-0.5", "1_0.0")),
        *((LIMITED, value) for value in ("0", "10", 0)),
        *((Colour, value) for value in ("Red", "blue", "")),
        *((list[str], value) for value in ((), "ab", (1,))),
        (str, 5),
        (bool, "yes"),
        (tuple[str, str], ("a", "b")),
    ],
)
def test_others_are_left_to_typer(kind, value):
    assert values._read(*values._types_of(kind), value) is None


def test_a_command_gets_the_values_that_typer_reads():
    asked = []

    def subcommand(
        files: list[str],
        limited: LIMITED = None,
        share: float = 0.25,
        colour: Colour = "red",
        pair: tuple[int, float] = (1, 2.0),
        names: Annotated[list[str] | None, typer.Option()] = None,
        flag: bool = False,
    ):
        asked.append((files, limited, share, str(colour), pair, names or None, flag))

    for words in (
        ["a"],
        ["a", "b", "--limited", "3", "--share", "0.5", "--colour", "dark-red", "--pair", "3", "4", "--flag"],
        ["a", "--share", "-1e3", "--names", "x", "--names", "y"],
    ):
        for own in (True, False):
            app = typer.Typer()
            app.command(**({"cls": help_text.Command} if own else {}))(subcommand)
            typer.main.get_command(app).main(words, standalone_mode=False)
        assert asked[-1] == asked[-2]


@pytest.mark.parametrize(
    "words, message",
    [
        ("--threads 0", "--threads"),
        ("--threads two", "--threads"),
        ("--method remm", "did you mean rem?"),
        ("--min-size 1.5", "--min-size"),
    ],
)
def test_mistakes_are_still_found_by_typer(words, message, capsys):
    assert run(["components", "pairs.csv", *words.split()]) == 2
    assert message in capsys.readouterr().err


def test_the_help_imports_little():
    script = "import sys; from edgewise import command; command.run(['cores', '-h']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "--verify" in done.stdout and not {"rich", "pydantic"} & set(done.stdout.split())
