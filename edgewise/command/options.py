"""Arguments and options that several subcommands share."""

import inspect
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from edgewise.errors import OptionError

_INPUT = "The input"
_RUN = "The run"


def _about_input(*names, **how):
    return typer.Option(*names, rich_help_panel=_INPUT, **how)


#: Paths remain text, since ``Path`` would take a slash out of ``s3://``; shells still complete their names.
_PATH: dict[str, Any] = {"allow_dash": True}

Input = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="File of pairs, or of a graph in any format edgewise reads; - for standard input; an address.",
        **_PATH,
    ),
]

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="File of pairs, or of a graph in any format edgewise reads; - for standard input; an address; "
        "or tables, a folder, a pattern.",
        **_PATH,
    ),
]

#: Options of :func:`edgewise.read`, which has the defaults.
READING = {
    "source": Annotated[
        str | None,
        _about_input(help="Column of one endpoint: name, or position from 0; or DATASET,ID."),
    ],
    "target": Annotated[str | None, _about_input(help="Column of the other endpoint.")],
    "weight": Annotated[str | None, _about_input(help="Column of the weights.")],
    "no_weight": Annotated[
        bool | None, _about_input("--no-weight", help="Leave weights out: every edge counts one.")
    ],
    "where": Annotated[str | None, _about_input(help="Keep only rows such as 'score >= 0.9'.")],
    "threshold": Annotated[
        float | None, _about_input(help="Keep only rows with at least this score, such as 0.95.")
    ],
    "score": Annotated[str | None, _about_input(help="Column of the scores for --threshold.")],
    "null": Annotated[
        str | None, _about_input(metavar="error|drop", help="What to do with rows without an id.")
    ],
    "sep": Annotated[
        str | None, _about_input(metavar="';'|tab|...", help="Separator of fields, where it is misjudged.")
    ],
    "decimal": Annotated[
        str | None,
        _about_input(metavar="','|'.'", help="Decimal mark of weights and scores."),
    ],
    "encoding": Annotated[
        str | None, _about_input(metavar="NAME", help="Encoding of text, such as latin-1, if not UTF-8.")
    ],
    "format": Annotated[str | None, _about_input(help="Format, where the content is ambiguous.")],
    "directed": Annotated[
        bool | None, _about_input("--directed/--undirected", help="Whether edges have a direction.")
    ],
    "one_based": Annotated[
        bool | None, _about_input("--one-based/--zero-based", help="Ids are vertex numbers from 1 or 0.")
    ],
    "header": Annotated[
        bool | None, _about_input("--header/--no-header", help="Whether the first row names the columns.")
    ],
    "ids": Annotated[str | None, _about_input(metavar="string|integer", help="Type of the ids.")],
}

#: Names of the column options on pages with a ``--source`` of their own.
COLUMNS = {"source": "source_column", "target": "target_column"}

Device = Annotated[
    str | None, typer.Option(metavar="auto|cpu|cuda|cuda:N", help="Where to compute.", rich_help_panel=_RUN)
]
Devices = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES", help="Several devices: all, cpu+cuda, or cuda:0,cuda:1.", rich_help_panel=_RUN
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads", metavar="N", min=1, help="CPU threads; all cores by default.", rich_help_panel=_RUN
    ),
]
Profile = Annotated[
    bool, typer.Option("--profile", help="Show how long each step took.", rich_help_panel=_RUN)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.", rich_help_panel=_RUN)]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress, no closing line.", rich_help_panel=_RUN)
]


def output(text):
    """Option for the output, with ``text`` as its help."""
    return Annotated[str | None, typer.Option("--output", "-o", metavar="FILE", help=text, **_PATH)]


def format_of_output(name="--to"):
    """Option for the format of a table, whatever the suffix of the output is."""
    text = "Format of the table, whatever the suffix; without -o it is written to standard output."
    return Annotated[str | None, typer.Option(name, metavar="csv|tsv|jsonl|parquet|arrow", help=text)]


def verify(what, reference):
    """Option to check the result."""
    return Annotated[bool, typer.Option("--verify", help=f"Check the {what} against the {reference}.")]


def plot(what):
    """Option for a picture."""
    return Annotated[Path | None, typer.Option(help=f"Picture of the {what} to draw (.png, .svg, .pdf).")]


def scheduler(what):
    """Option to share ``what`` among workers."""
    text = f"Share {what} among the workers of a Dask cluster, or of N processes."
    return Annotated[str | None, typer.Option(metavar="ADDRESS|local:N", help=text)]


def choice(name, text, *tables):
    """Option to choose ``auto`` or a method in ``tables``; the help names those that are baselines."""
    methods = {name: method for table in tables for name, method in table.items()}
    baselines = ", ".join(name for name, method in methods.items() if method.baseline)
    kind = StrEnum(name, {name: name for name in ("auto", *methods)})
    text = f"{text}: {', '.join(methods)}."
    if baselines:
        text += f" Baselines, for comparison only: {baselines}."
    # Named, since typer 0.27.2 and 0.27.3 take a metavar that is the name in capitals for the name.
    return Annotated[kind, typer.Option(f"--{name.lower()}", metavar=name.upper(), help=text)]


def team(device, devices):
    """The requested devices; by default a GPU if there is one, else the CPU."""
    from edgewise.device import arrays
    from edgewise.workers import device_team

    if devices is None:
        return device_team(arrays.resolve(device or "auto"))
    if device is not None:
        raise OptionError("--device is for one device and --devices for several; give one of the two")
    return device_team(devices)


def with_reading(function):
    """Add the options of the input to a subcommand, which receives those that were given as ``reading``.

    On a page with a ``--source`` of its own, the columns are ``--source-column`` and ``--target-column``.
    """
    own = [p for p in inspect.signature(function).parameters.values() if p.name != "reading"]
    clash = "source" in (parameter.name for parameter in own)
    named = {COLUMNS.get(name, name) if clash else name: name for name in READING}

    @wraps(function)
    def subcommand(**given):
        reading = {name: given.pop(option) for option, name in named.items()}
        if reading.pop("no_weight"):
            if reading["weight"] is not None:
                raise OptionError("--weight and --no-weight contradict each other; give one of the two")
            reading["weight"] = False
        return function(reading={name: v for name, v in reading.items() if v is not None}, **given)

    how: dict[str, Any] = {"kind": inspect.Parameter.KEYWORD_ONLY, "default": None}
    columns = [inspect.Parameter(option, annotation=READING[name], **how) for option, name in named.items()]
    return with_parameters(subcommand, [*own, *columns])


def with_parameters(function, parameters):
    """Give ``function``, which takes any keyword, a signature for typer."""
    function.__signature__ = inspect.Signature(
        [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters]
    )
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return function
