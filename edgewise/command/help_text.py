"""Help of the subcommands: the options, then examples, then where the documentation is."""

from pathlib import Path

from typer.core import TyperCommand, TyperGroup

import edgewise
from edgewise.command.values import without_checks

#: Settings of the whole command line: they hold for subcommands too.
CONTEXT = {"help_option_names": ["-h", "--help"]}


class _Help:
    """Part of a command: it shows its ``epilog`` as it is written, and no type beside a switch."""

    epilog: str | None

    def get_params(self, ctx):
        """Return the options; switches have an empty metavar, since typer shows ``<bool>`` otherwise."""
        parameters = super().get_params(ctx)
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
            without_checks(parameter, self.callback)
        return parameters

    def format_help(self, ctx, formatter):
        """Show the help, and then the epilog, whose lines rich would join and wrap."""
        epilog, self.epilog = self.epilog, None
        super().format_help(ctx, formatter)
        formatter.write(epilog or "")
        self.epilog = epilog


class Command(_Help, TyperCommand):
    """A subcommand."""


class Group(_Help, TyperGroup):
    """The command itself, or a subcommand with subcommands."""


def ending(examples, page):
    """Last lines of a page of help.

    Parameters
    ----------
    examples : sequence of str
        Command lines.
    page : str
        Page of the documentation, such as ``"components.md"``.
    """
    lines = "".join(f"   {line}\n" for line in examples)
    return f" Examples:\n{lines}\n Documentation: {documentation() / page}\n"


def documentation():
    """Folder of the documentation: in the installed package, or beside it in a checkout."""
    package = Path(edgewise.__file__).parent
    inside = package / "docs"
    return inside if inside.is_dir() else package.parent / "docs"
