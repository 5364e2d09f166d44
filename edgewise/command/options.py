"""Options of the subcommands: each stands once, as a field of a record or as an option of a public function.

A subcommand is a function with :func:`subcommand` above it.  Its parameters are options or arguments of the
command line, except for:

* a record, such as :class:`Run`, which stands for the options of its fields;
* ``reading``, for the options of :func:`edgewise.read`, of which a dict holds those that were given;
* one whose default is :func:`of`, for options of a public function, whose texts, types and defaults they
  have; a dict holds those that have another value than the default.

The function is called with the records and dicts.
"""

import inspect
import re
from enum import StrEnum
from functools import cache, wraps
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import typer

from edgewise import memory
from edgewise.errors import OptionError

INPUT = "The input"
RUN = "The run"
#: Paths remain text, since ``Path`` would take a slash out of ``s3://``; shells still complete their names.
PATH: dict[str, Any] = {"allow_dash": True}


class Text(NamedTuple):
    """The help of an option, its names if they are not that of its parameter, and settings of typer.

    A ``{}`` in the help stands for words that the subcommand gives; without them it has no such option.
    """

    help: str
    names: tuple[str, ...]
    settings: dict[str, Any]


def option(kind, help, *names, **settings):
    """An option of a type, which may be missing unless it is a switch."""
    return Annotated[kind if kind is bool else kind | None, Text(help, names, settings)]


def argument(kind, metavar, help, **settings):
    """An argument."""
    return Annotated[kind, typer.Argument(metavar=metavar, help=help, **settings)]


_FILE = "File of pairs, or of a graph in any format edgewise reads; - for standard input; an address"
Input = argument(str, "FILE", f"{_FILE}.", **PATH)
Inputs = argument(list[str], "FILE", f"{_FILE}; or tables, a folder, a pattern.", **PATH)

#: Options of :func:`edgewise.read`, which has the defaults: their types, help, names and values.
READING = {
    "source": (str, "Column of one endpoint: name, or position from 0; or DATASET,ID."),
    "target": (str, "Column of the other endpoint."),
    "weight": (str, "Column of the weights."),
    "no_weight": (bool | None, "Leave weights out: every edge counts one.", "--no-weight"),
    "where": (str, "Keep only rows such as 'score >= 0.9'."),
    "threshold": (float, "Keep only rows with at least this score, such as 0.95."),
    "score": (str, "Column of the scores for --threshold."),
    "null": (str, "What to do with rows without an id.", "error|drop"),
    "sep": (str, "Separator of fields, where it is misjudged.", "';'|tab|..."),
    "decimal": (str, "Decimal mark of weights and scores.", "','|'.'"),
    "encoding": (str, "Encoding of text, such as latin-1, if not UTF-8.", "NAME"),
    "format": (str, "Format, where the content is ambiguous."),
    "directed": (bool | None, "Whether edges have a direction.", "--directed/--undirected"),
    "one_based": (bool | None, "Ids are vertex numbers from 1 or 0.", "--one-based/--zero-based"),
    "header": (bool | None, "Whether the first row names the columns.", "--header/--no-header"),
    "ids": (str, "Type of the ids.", "string|integer"),
}
#: Names of the column options on pages with a ``--source`` of their own.
COLUMNS = {"source": "source_column", "target": "target_column"}


Profile = option(bool, "Show how long each step took.", rich_help_panel=RUN)
Json = option(bool, "Print one JSON object.", rich_help_panel=RUN)
Quiet = option(bool, "No progress, no closing line.", "--quiet", "-q", rich_help_panel=RUN)


class Shown(NamedTuple):
    """What is printed."""

    profile: Profile = False
    json: Json = False
    quiet: Quiet = False


class Run(NamedTuple):
    """Where is computed, and what is printed."""

    device: option(str, "Where to compute.", metavar="auto|cpu|cuda|cuda:N", rich_help_panel=RUN) = None
    devices: option(
        str, "Several devices: all, cpu+cuda, or cuda:0,cuda:1.", metavar="NAMES", rich_help_panel=RUN
    ) = None
    threads: option(
        int, "CPU threads; all cores by default.", "--threads", metavar="N", min=1, rich_help_panel=RUN
    ) = None
    memory: option(
        str,
        "What the command may hold in memory, such as 4GB; it is refused, or does with less.",
        metavar="SIZE",
        rich_help_panel=RUN,
    ) = None
    profile: Profile = False
    json: Json = False
    quiet: Quiet = False


class Goals(NamedTuple):
    """What is written, and checked before."""

    output: option(
        str,
        "Table to write (Parquet, CSV, Arrow, JSON Lines); - is standard output. Otherwise a terminal shows "
        "its head, and a pipe gets it whole.",
        "--output",
        "-o",
        metavar="FILE",
        **PATH,
    ) = None
    to: option(
        str,
        "Format of the table, whatever the suffix; without -o it is written to standard output.",
        metavar="csv|tsv|jsonl|parquet|arrow",
    ) = None
    plot: option(Path, "Picture of the {} to draw (.png, .svg, .pdf).") = None
    verify: option(bool, "Check the {}.") = False
    certificate: option(
        Path, "File (.npz) for the {} and a proof, which edgewise check checks.", metavar="FILE"
    ) = None


def scheduler(what):
    """Option to share ``what`` among workers."""
    text = f"Share {what} among the workers of a Dask cluster, or of N processes."
    return option(str, text, metavar="ADDRESS|local:N")


def choice(name, text, *tables):
    """Option to choose ``auto`` or a method in ``tables``; the help names those that are baselines."""
    methods = {name: method for table in tables for name, method in table.items()}
    baselines = ", ".join(name for name, method in methods.items() if method.baseline)
    text = f"{text}: {', '.join(methods)}."
    if baselines:
        text += f" Baselines, for comparison only: {baselines}."
    # Named, since typer 0.27.2 and 0.27.3 take a metavar that is the name in capitals for the name.
    return Annotated[
        names_of(name, ("auto", *methods)), Text(text, (f"--{name.lower()}",), {"metavar": name.upper()})
    ]


def names_of(name, names):
    """The type of an option that is one of several names."""
    return StrEnum(name, {one: one for one in names})


class Of(NamedTuple):
    """Options of a public function, with settings of typer, and the first words of their help.

    With such words they are of one kind of run only, and are missing by default.
    """

    function: Any
    settings: dict[str, dict]
    before: str

    def default(self, name):
        """Default of an option of the subcommand."""
        return None if self.before else inspect.signature(self.function).parameters[name].default

    def parameters(self):
        """The options as parameters of the subcommand, with the defaults of the function."""
        texts, own = texts_of(self.function), inspect.signature(self.function).parameters
        for name, settings in self.settings.items():
            kind = kind_of(own[name], self.function)
            text = _first_sentence(texts[name], self.before)
            yield _parameter(name, option(kind, text, **settings), self.default(name))


def of(function, *names, before="", **settings):
    """The default of a parameter that stands for options of a public function; see :class:`Of`."""
    return Of(function, {name: {} for name in names} | settings, before)


def kind_of(parameter, function):
    """Type of a parameter; it is evaluated alone, as others may name what is not imported."""
    kind = parameter.annotation
    return eval(kind, inspect.unwrap(function).__globals__) if isinstance(kind, str) else kind


@cache
def texts_of(function):
    """Text of each parameter in a numpydoc docstring, without marks."""
    section = re.search(
        r"Parameters\n-+\n(.*?)(?:\n\n[A-Z]\w+\n-+|\Z)", inspect.getdoc(function) or "", re.DOTALL
    )
    texts: dict[str, str] = {}
    names: list[str] = []
    for line in section.group(1).splitlines() if section else ():
        if line.startswith(" "):
            for name in names:
                texts[name] = plain(f"{texts.get(name, '')} {line.strip()}".strip())
        elif line:
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
    return texts


def plain(text):
    """``text`` without reStructuredText's marks."""
    return re.sub(r":\w+:(?=`)|`", "", text)


def _first_sentence(text, before):
    first = re.split(r"(?<=\w)[.:;](?:\s|$)", text, maxsplit=1)[0]
    return f"{before}{first[0].lower() if before else first[0]}{first[1:]}."


def subcommand(
    documentation, *examples, leave_out=(), hidden=(), names=MappingProxyType({}), more=(), **words
):
    """Make a function a subcommand: see the top of the page.

    Parameters
    ----------
    documentation : str
        Page of the documentation, such as ``"components.md"``.
    examples : str
        Command lines.
    leave_out, hidden : sequence of str
        Options that it does not have after all, and that the help does not show.
    names : mapping of str to str
        Other names of options of records.
    more : sequence of inspect.Parameter
        What it takes by ``**arguments``.
    words : str
        Words in the help of an option, or another help if that has no place for them.
    """

    def decorate(function):
        own = inspect.signature(function).parameters
        clash = any("--source" in _names_in(parameter) for parameter in own.values())
        reading = {COLUMNS.get(name, name) if clash else name: name for name in READING}
        shown: list[inspect.Parameter] = []
        last: list[inspect.Parameter] = []
        groups: dict[str, tuple] = {}
        for parameter in [*own.values(), *more]:
            if parameter.kind is parameter.VAR_KEYWORD or parameter.name in leave_out:
                continue
            group = _members(parameter, reading)
            if group is None:
                shown.append(_described(parameter, words, names))
                continue
            group = [_described(one, words, names) for one in group if one.name not in leave_out]
            groups[parameter.name] = parameter, [one.name for one in group if one.annotation is not None]
            group = [one for one in group if one.annotation is not None]
            (last if parameter.name == "reading" else shown).extend(group)
        shown += last
        for one in shown:
            if one.name in hidden:
                one.annotation.__metadata__[0].hidden = True

        @wraps(function)
        def call(**given):
            made = {
                name: _made(parameter, {member: given.pop(member) for member in members}, reading)
                for name, (parameter, members) in groups.items()
            }
            with memory.limited(getattr(made.get("run"), "memory", None)):
                return function(**made, **given)

        call.documentation, call.examples = documentation, examples
        return with_parameters(call, shown)

    return decorate


def _names_in(parameter):
    """Names of options that a parameter has, or the record that it stands for."""
    texts = getattr(parameter.annotation, "__annotations__", {}).values()
    return [name for kind in texts for name in kind.__metadata__[0].names]


def _members(parameter, reading):
    """The options that a parameter stands for, or ``None`` if it is one itself."""
    if parameter.name == "reading":
        return [_parameter(name, _of_reading(*READING[of_read])) for name, of_read in reading.items()]
    if isinstance(parameter.default, Of):
        return list(parameter.default.parameters())
    record = parameter.annotation
    if hasattr(record, "_fields"):
        defaults = record._field_defaults
        kinds = record.__annotations__.items()
        return [_parameter(name, kind, defaults.get(name, inspect.Parameter.empty)) for name, kind in kinds]
    return None


def _parameter(name, annotation, default=None):
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _of_reading(kind, help, shown=None):
    """An option of :func:`edgewise.read`."""
    names, metavar = ((shown,), None) if shown and shown.startswith("--") else ((), shown)
    return option(kind, help, *names, metavar=metavar, rich_help_panel=INPUT)


def _described(parameter, words, renamed):
    """A parameter with its option as typer has it; without a type if words for it are missing."""
    kind = parameter.annotation
    text = kind.__metadata__[0] if hasattr(kind, "__metadata__") else None
    if not isinstance(text, Text):
        return parameter
    help, given = text.help, words.get(parameter.name)
    if "{}" in help and given is None:
        return parameter.replace(annotation=None)
    if given is not None:
        help = help.format(given) if "{}" in help and not given.endswith(".") else given
    names = (renamed[parameter.name],) if parameter.name in renamed else text.names
    names = names or ((f"--{parameter.name.replace('_', '-')}",) if kind.__origin__ is bool else ())
    return parameter.replace(
        annotation=Annotated[kind.__origin__, typer.Option(*names, help=help, **text.settings)]
    )


def _made(parameter, given, reading):
    """The record, or the dict, of the options of a parameter."""
    if isinstance(parameter.default, Of):
        return {name: value for name, value in given.items() if value != parameter.default.default(name)}
    if parameter.name != "reading":
        return parameter.annotation(**given)
    found = {reading[name]: value for name, value in given.items() if value is not None}
    if found.pop("no_weight", None):
        if "weight" in found:
            raise OptionError("--weight and --no-weight contradict each other; give one of the two")
        found["weight"] = False
    return found


def with_parameters(function, parameters):
    """Give ``function``, which takes any keyword, a signature for typer."""
    function.__signature__ = inspect.Signature(
        [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters]
    )
    function.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return function


def team(device, devices):
    """The requested devices; by default a GPU if there is one, else the CPU."""
    from edgewise.device import arrays
    from edgewise.workers import device_team

    if devices is None:
        return device_team(arrays.resolve(device or "auto"))
    if device is not None:
        raise OptionError("--device is for one device and --devices for several; give one of the two")
    return device_team(devices)
