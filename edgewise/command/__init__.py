"""The command line: ``edgewise components pairs.parquet -o clusters.parquet`` and its other subcommands.

Each subcommand is a function of its name on a page, or a page with a function ``add``, and only the page of
the requested one is imported, so that ``--help`` is quick.  Every error ends in one line on
standard error and an exit status:

====  =========================================================================
0     success
1     a bug in edgewise itself (``EDGEWISE_DEBUG=1`` shows the traceback); answers of ``torture`` differ
2     wrong input, option or file, or a device that does not exist
129   the terminal was closed; no half-written file is left
130   interrupted with Ctrl-C; no half-written file is left
141   the reader of standard output closed it
143   ended by ``kill``; no half-written file is left
====  =========================================================================
"""

import gc
import os
import re
import sys
import traceback
import warnings
from ast import literal_eval
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import cache, partial
from importlib import import_module
from itertools import pairwise

import typer

import edgewise
from edgewise import driver, memory, notices
from edgewise.command import help_text, keyboard, standard
from edgewise.errors import EdgewiseError, EdgewiseWarning, closest

#: Subcommands and their one-line help; each is a page of this package.
PAGES = {
    "components": "Find the clusters (connected components) of a file of pairs.",
    "clusters": "Keep clusters up to date: pairs and decisions come and go, names stay.",
    "strong": "Find the strongly connected components of a directed graph.",
    "cores": "Find the core number of every vertex of a graph.",
    "paths": "Find shortest paths from a vertex, or between all pairs.",
    "cycles": "Count the cycles of a given length through every vertex.",
    "forest": "Find the minimum or maximum spanning forest of a weighted graph.",
    "why": "Show why two records are in one cluster, and when they part.",
    "partition": "Divide the vertices of a graph into parts of equal weight with few edges between them.",
    "partition-eval": "Measure the parts of a graph that any program has made.",
    "check": "Check a result of any program against its graph, without solving again.",
    "generate": "Generate a graph of a known family and write it.",
    "bench": "Run published experiments on this machine.",
    "convert": "Read a graph in one format and write it in another.",
    "plan": "Show how much memory a job needs, before it begins.",
    "info": "Show the versions and devices, or what a graph file holds.",
    "warmup": "Compile the kernels now, so that later runs start at once.",
    "tune": "Measure the limits that choose a method on this machine.",
    "torture": "Ask other libraries the same, and show where answers differ.",
}
#: Pages of subcommands that share one.
HOMES = {"partition-eval": "partition", "why": "forest"}
#: Subcommands that compute on no GPU; the others do, if there is one, unless ``--device`` or ``--devices``
#: says otherwise.
ON_CPU = (
    None,
    "clusters",
    "partition-eval",
    "check",
    "generate",
    "bench",
    "convert",
    "info",
    "plan",
    "torture",
)
#: Subcommands that may follow ``plan``.
PLANNED = {"components", "strong", "cores", "paths", "cycles", "forest", "partition"}
#: Examples at the end of the help of the command itself.
EXAMPLES = (
    "edgewise generate pairs 100000 -o pairs.parquet",
    "edgewise components pairs.parquet --source left_id --target right_id",
    "edgewise components --help",
)
#: Options that are not called as the argument is, with hyphens, by page ("" stands for all pages).
SPELLINGS = {
    ("", "client"): "scheduler",
    ("", "force"): "yes",
    ("", "n_vertices"): "vertices",
    ("", "weights"): "weight",
    ("generate", "weights"): "weights",
    ("components", "vertices"): "records",
    ("bench", "files"): "graph",
    ("components", "duplicate_free"): "one-to-one",
    ("components", "datasets"): "records",
    ("components", "vertex_id"): "id",
    ("check", "vertex_id"): "id",
    ("clusters", "vertex_id"): "id",
    ("paths", "source"): "source-column",
    ("paths", "vertex_id"): "id-column",
    ("paths", "target"): "target-column",
}
#: Switches that are called differently when they are off.
OFF = {"directed": "undirected", "one_based": "zero-based", "header": "no-header", "weight": "no-weight"}
#: Around values of type str.
QUOTES = "'\""
#: What typer says of unknown names of subcommands, and of unknown values of options.
UNKNOWN_COMMAND = re.compile(r"No such command '(.*)'")
UNKNOWN_CHOICE = re.compile(r"'([^']*)' is not one of (.*)")
#: Parts of messages that say nothing to users: the validator of newer versions of typer adds them.
NOISE = re.compile("Value error, |, unable to parse string as an? .*")
#: Exit status after Ctrl-C, as shells have it.
INTERRUPTED = 130
#: Exit status after the reader of a pipe has ended.
UNREAD = 141


def main(arguments=None):
    """Run the command line and leave with its exit status."""
    standard.prepare()
    memory.use_few_addresses()
    arguments = sys.argv[1:] if arguments is None else arguments
    notices.command = _page(arguments)
    on_gpu = "--help" not in arguments and not _words_to_complete() and start_driver(arguments)
    keyboard.leave(run(arguments, partial(_begin, on_gpu, arguments)))


def start_driver(arguments) -> bool:
    """Start the driver of GPUs before the subcommand is imported; return whether it may use one."""
    device = "cpu" if _page(arguments) in ON_CPU else "auto"
    for word, following in pairwise([*arguments, ""]):
        option, equals, value = word.partition("=")
        if option in ("--device", "--devices"):
            device = value if equals else following
    number = driver.number_of(device)
    return number is not None and driver.start(number)


def _begin(on_gpu, arguments):
    """Compile ahead; collect garbage again, but not among what has been imported; watch the keyboard."""
    if on_gpu:
        from edgewise.device import ahead

        driver.when_found(partial(ahead.start_for_gpu, command=notices.command))
    else:
        notices.first_kernel = partial(_compile_ahead, arguments)
    gc.freeze()
    gc.enable()
    keyboard.watch()


def _compile_ahead(arguments, *kernel):
    """Compile ahead for CPU cores after a kernel that the command needs now; return whether that is known."""
    from edgewise.device import ahead

    return ahead.start_on_cpu(arguments, *kernel)


def run(arguments, begin=lambda: None) -> int:
    """Run the command line, and ``begin()`` before the subcommand; return the exit status."""
    arguments = list(arguments)
    planning: AbstractContextManager = nullcontext()
    if arguments[:1] == ["plan"] and set(arguments[1:2]) & PLANNED:
        from edgewise.command import expected

        arguments, planning = arguments[1:], expected.planning()
    if arguments in ([], ["generate"], ["bench"], ["clusters"]):  # a group without its subcommand
        arguments.append("--help")
    try:
        command = _command(arguments)
        begin()
        with warnings.catch_warnings():
            warnings.simplefilter("always", EdgewiseWarning)
            warnings.showwarning = partial(_warn, warnings.showwarning)
            with planning:
                status = command.main(arguments, prog_name="edgewise", standalone_mode=False)
        sys.stdout.flush()
        return _fail(*keyboard.ending()) if status == INTERRUPTED else int(status or 0)
    except (KeyboardInterrupt, typer.Abort):  # older versions of typer abort, newer ones give the status
        return _fail(*keyboard.ending())
    except (BrokenPipeError, SystemExit) as error:
        if isinstance(error, SystemExit) and not error.code:  # words for the completion of a shell
            return 0
        return _unread()
    except EdgewiseError as error:
        if isinstance(error.__cause__, BrokenPipeError):  # an output that is a pipe
            return _unread()
        if keyboard.interrupted():  # a library may make an error of an interrupt, and a reader a damaged file
            return _fail(*keyboard.ending())
        return _fail(error.rendered(partial(_as_option, _page(arguments))), 2)
    except Exception as error:  # an interrupt may come out of a library as another error
        return _fail(*keyboard.ending()) if keyboard.interrupted() else _unexpected(error, arguments)


def _unread():
    """Lose what is still to be written to standard output; return the exit status."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return UNREAD


def _command(arguments):
    """The command tree: the requested page in full, the others by name only."""
    app = typer.Typer(
        name="edgewise",
        cls=help_text.Group,
        epilog=help_text.ending(EXAMPLES, "index.md"),
        context_settings=help_text.CONTEXT,
        suggest_commands=False,
        rich_markup_mode=None,  # the import of rich takes longer than all other work of a help
        pretty_exceptions_enable=False,
    )
    app.callback()(overview)
    requested = _page(_words_to_complete() or arguments)
    for name, summary in PAGES.items():
        if name == requested:
            page = import_module(f"edgewise.command.{HOMES.get(name, name)}")
            if hasattr(page, "add"):
                page.add(app, name, summary)
            else:
                function = getattr(page, name.replace("-", "_"))
                how = {"help": summary, "epilog": help_text.ending(function.examples, function.documentation)}
                app.command(name, cls=help_text.Command, **how)(function)
        else:
            app.command(name, cls=help_text.Command, help=summary)(lambda: None)
    return typer.main.get_command(app)


def _page(words):
    return next((word for word in words if word in PAGES), None)


def _words_to_complete():
    if "_EDGEWISE_COMPLETE" not in os.environ:
        return []
    return (os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")).split()


def _print_version(requested: bool):
    if requested:
        standard.say(f"edgewise {edgewise.__version__}")
        raise typer.Exit


def overview(
    version: bool = typer.Option(
        False, "--version", "-V", help="Show the version and exit.", is_eager=True, callback=_print_version
    ),
):
    """Graph analytics on every CPU core and on NVIDIA GPUs."""


def _warn(show, message, category, *where):
    """Show a warning of edgewise in one line, and others as ``show`` does."""
    if issubclass(category, EdgewiseWarning):
        _tell(message)
    else:
        show(message, category, *where)


def _unexpected(error, arguments):
    if hasattr(error, "format_message"):  # a mistake in the options, found by typer
        context = getattr(error, "ctx", None)
        command = context.command_path if context else f"edgewise {_page(arguments) or ''}".rstrip()
        return _fail(
            f"{_mistake(error, context)}{_about_numbers(error, arguments)} (see {command} --help)", 2
        )
    if os.environ.get("EDGEWISE_DEBUG", "0") not in ("", "0"):
        standard.say(traceback.format_exc(), sys.stderr, kept="\n")
    if isinstance(error, MemoryError):
        return _fail("this machine has too little memory for the job", 2)
    if isinstance(error, OSError):
        return _fail(f"{error.filename or 'a file'}: {error.strerror or error}", 2)
    return _fail(f"unexpected {type(error).__name__}: {error} (EDGEWISE_DEBUG=1 shows where)", 1)


def _about_numbers(error, arguments):
    """What to do about an argument that is a number with a decimal comma, or in percent."""
    from edgewise.ingest.numerals import about_number, is_foreign

    if not re.search("valid (number|float)", error.format_message()):  # newer and older versions of typer
        return ""
    given = (word.partition("=")[2] or word for word in arguments)
    return next((f": {about_number(word)}" for word in given if is_foreign(word)), "")


def _mistake(error, context):
    """What typer says of a mistake in the options, with the closest name that there is."""
    message, meant = NOISE.sub("", error.format_message().rstrip(".")), None
    if hasattr(error, "possibilities"):  # an unknown option; those that typer suggests resemble its hyphens
        message = error.message
        names = [
            name for one in context.command.get_params(context) for name in one.opts + one.secondary_opts
        ]
        options = {name.lstrip("-"): name for name in names if name.startswith("--")}
        if error.option_name.startswith("--"):
            meant = options.get(closest(error.option_name[2:], options))
    elif found := UNKNOWN_COMMAND.search(message):
        meant = closest(found[1], context.command.list_commands(context))
    elif found := UNKNOWN_CHOICE.search(message):
        meant = closest(found[1], re.findall(r"'([^']*)'", found[2]))
    return f"{message}; did you mean {meant}?" if meant else message


@cache
def options_of(page) -> set:
    """The options of a page, and of its subcommands; none if there is no such page."""

    def of(command):
        names = (name for one in command.params for name in one.opts + one.secondary_opts)
        return set(names).union(*map(of, getattr(command, "commands", {}).values()))

    return of(_command([page]).commands[page]) if page in PAGES else set()


def _as_option(page, name, value):
    """A Python argument, such as ``one_based=True``, as the option that it is on ``page``.

    What is no option there is spelled as in Python.
    """
    option = SPELLINGS.get((page, name)) or SPELLINGS.get(("", name)) or name.replace("_", "-")
    given = value
    if value == "False" and name in OFF:
        option, value = OFF[name], ""
    if f"--{option}" not in options_of(page):
        return f"{name}={given}"
    with suppress(SyntaxError, ValueError):  # the text itself, which may end in quotes
        value = literal_eval(value) if value.startswith(tuple(QUOTES)) else value
    return f"--{option}" + (f" {value}" if value not in ("", "True") else "")


def _fail(problem, status):
    _tell(problem)
    return status


def _tell(words):
    """Write one line to standard error."""
    standard.say(f"edgewise: {' '.join(str(words).split())}", sys.stderr)
