"""Help of the subcommands: the options, then examples, then where the documentation is."""

from pathlib import Path

from typer.core import TyperCommand, TyperGroup

import edgewise
from edgewise.command.values import without_checks

#: Settings of the whole command line: they hold for subcommands too.
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 1000}
#: A hyphen at which no line ends, so that names of methods and options stay whole.
UNBROKEN = "\N{NON-BREAKING HYPHEN}"


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

    def get_short_help_str(self, limit=0):
        """Return the first sentence of the help, whole."""
        return super().get_short_help_str(max(limit, len(self.help or "")))

    def format_options(self, ctx, formatter):
        """Show the arguments and the options under their headings, and then the subcommands."""
        sections: dict[str, list] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
            heading = getattr(parameter, "rich_help_panel", None) or kind
            if record := parameter.get_help_record(ctx):  # none of an option that is hidden
                names, text = record
                sections.setdefault(heading, []).append((names, text.replace("-", UNBROKEN)))
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
        if hasattr(self, "format_commands"):
            self.format_commands(ctx, formatter)

    def get_help(self, ctx):
        """Return the help with plain hyphens."""
        return super().get_help(ctx).replace(UNBROKEN, "-")

    def format_epilog(self, ctx, formatter):
        """Show the epilog, whose lines would be joined and wrapped otherwise."""
        formatter.write(f"\n{self.epilog or ''}")


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
    lines = "".join(f"  {line}\n" for line in examples)
    return f"Examples:\n{lines}\nDocumentation: {documentation() / page}\n"


def documentation():
    """Folder of the documentation: in the installed package, or beside it in a checkout."""
    package = Path(edgewise.__file__).parent
    inside = package / "docs"
    return inside if inside.is_dir() else package.parent / "docs"
