"""Arguments and options that several subcommands share."""

from pathlib import Path
from typing import Annotated

import typer

_COLUMNS = "Columns and rows of the input"
_RUN = "How to run"

Input = Annotated[
    Path, typer.Argument(metavar="FILE", help="File of pairs, or of a graph in any format edgewise reads.")
]
Source = Annotated[str | None, typer.Option(help="Column of one end.", rich_help_panel=_COLUMNS)]
Target = Annotated[str | None, typer.Option(help="Column of the other end.", rich_help_panel=_COLUMNS)]
Weight = Annotated[str | None, typer.Option(help="Column of the weights.", rich_help_panel=_COLUMNS)]
Where = Annotated[
    str | None,
    typer.Option(
        help="Keep only rows for which this holds, such as 'score >= 0.9'.", rich_help_panel=_COLUMNS
    ),
]
Null = Annotated[
    str,
    typer.Option(
        metavar="error|drop", help="What to do with rows that lack an end.", rich_help_panel=_COLUMNS
    ),
]
Format = Annotated[
    str | None, typer.Option(help="Format of the input; found out by default.", rich_help_panel=_COLUMNS)
]
Directed = Annotated[
    bool | None,
    typer.Option("--directed/--undirected", help="Take pairs as arrows or not.", rich_help_panel=_COLUMNS),
]
OneBased = Annotated[
    bool | None,
    typer.Option(
        "--one-based/--zero-based", help="What vertex numbers start from.", rich_help_panel=_COLUMNS
    ),
]

Device = Annotated[
    str, typer.Option(metavar="auto|cpu|cuda|cuda:N", help="Where to compute.", rich_help_panel=_RUN)
]
Threads = Annotated[
    int | None,
    typer.Option("--threads", min=1, help="CPU threads; all cores by default.", rich_help_panel=_RUN),
]
Profile = Annotated[bool, typer.Option("--profile", help="Show where the time went.", rich_help_panel=_RUN)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=_RUN)]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress, no closing line.", rich_help_panel=_RUN)
]


def reading(source, target, weight, where, null, format, directed, one_based) -> dict:
    """The options given for the input, as keyword arguments of :func:`edgewise.read`."""
    chosen = {
        "source": source,
        "target": target,
        "weight": weight,
        "where": where,
        "format": format,
        "directed": directed,
        "one_based": one_based,
    }
    return {"null": null} | {name: value for name, value in chosen.items() if value is not None}
