"""``edgewise generate FAMILY``: the options of each family are those of its Python function.

A graph that a function takes becomes a file to read, and the graph or table that it makes is written.
"""

import inspect
import re
from typing import Annotated

import typer

import edgewise
from edgewise.command import help_text, options
from edgewise.command.convert import To, graph_facts, tell
from edgewise.command.outputs import check_output, on_terminal
from edgewise.command.report import counted, graph_in_words
from edgewise.command.stages import stages
from edgewise.errors import OptionError
from edgewise.files.destinations import name_of
from edgewise.graph import Graph

Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        help="File to write; its suffix sets the format. - is standard output.",
        **options.PATH,
    ),
]
Weights = options.option(str, "Give every edge a random integer weight.", "--weights", metavar="LOW:HIGH")
#: An example for every family.
EXAMPLES = {
    "components": "edgewise generate components 100000 --mean-size 4 -o components.parquet",
    "delaunay": "edgewise generate delaunay 20000 -o delaunay.mtx",
    "grid": "edgewise generate grid 300 --dropped 0.25 --weights 1:100 -o roads.gr",
    "mesh2d": "edgewise generate mesh2d 300 --holes 0.3 -o mesh.graph",
    "named": "edgewise generate named rmat20 -o rmat20.sg",
    "pairs": "edgewise generate pairs 100000 -o pairs.parquet",
    "paths": "edgewise generate paths 100000 --mean-length 50 -o paths.el",
    "replicate": "edgewise generate replicate graph.mtx 8 -o copies.npz",
    "rgg": "edgewise generate rgg 20000 --mean-degree 12 -o rgg.sg",
    "rmat": "edgewise generate rmat 14 --edge-factor 8 --simple -o rmat14.sg",
    "scale_free": "edgewise generate scale-free 20000 --hubs 0.002 -o hubs.parquet",
    "stencil3d": "edgewise generate stencil3d 20 --points 7 -o stencil.mtx",
    "uniform": "edgewise generate uniform 20000 100000 --seed 5 -o uniform.el",
    "with_weights": "edgewise generate with-weights graph.mtx 1 10 -o weighted.wel",
}
DOCUMENTATION = "generate.md"
#: Values of options, where the type alone says too little.
METAVARS = {"device": "auto|cpu|cuda|cuda:N", "probabilities": "P P P P"}
#: Functions without edges of their own: a table, and one that only adds weights.
WITHOUT_WEIGHTS = ("pairs", "with_weights")


def add(app, name, summary):
    """Put the subcommand, with one subcommand a family, into ``app``."""
    few = [EXAMPLES[family] for family in ("pairs", "rmat", "grid")]
    families = typer.Typer(
        cls=help_text.Group, epilog=help_text.ending(few, DOCUMENTATION), suggest_commands=False
    )
    for family in edgewise.generate.__all__:
        make = getattr(edgewise.generate, family)
        if callable(make):
            summary_of_family = options.plain((inspect.getdoc(make) or "").partition("\n")[0])
            how = {"help": summary_of_family, "epilog": help_text.ending([EXAMPLES[family]], DOCUMENTATION)}
            families.command(family.replace("_", "-"), cls=help_text.Command, **how)(_subcommand(make))
    app.add_typer(families, name=name, help=summary)


def _subcommand(make):
    """The function behind ``edgewise generate FAMILY``: makes a graph as ``make`` does, and writes it."""

    def generate(output: Output, shown: options.Shown, to: To = None, weights: Weights = None, **arguments):
        span = None if weights is None else _span(weights)
        sources = [arguments["graph"]] if arguments.get("graph") else []
        is_table = make is edgewise.generate.pairs
        check_output(output, sources=sources, table=is_table, to=to, json=shown.json)
        with stages(shown.quiet or shown.json or on_terminal(output)) as (stage, clock):
            if "graph" in arguments:
                with stage("read", f"reading {arguments['graph']}"):
                    arguments["graph"] = edgewise.read(arguments["graph"])
            with stage("make", f"making {make.__name__}"):
                made = make(**arguments)
                if span is not None:
                    made = edgewise.generate.with_weights(made, *span, seed=arguments.get("seed", 0))
            with stage("write", f"writing {name_of(output)}"):
                edgewise.write(made, output, format=to)
        if isinstance(made, Graph):
            tell(shown, clock, output, graph_facts(made), f"{graph_in_words(made)}; ")
        else:
            facts = {"rows": made.num_rows, "columns": made.column_names}
            tell(shown, clock, output, facts, f"{counted(made.num_rows, 'row')}; ")

    without = ("profile", "weights") if make.__name__ in WITHOUT_WEIGHTS else ("profile",)
    return options.subcommand(DOCUMENTATION, leave_out=without, more=list(_parameters(make)))(generate)


def _span(weights):
    """The least and the greatest weight of ``LOW:HIGH``."""
    match = re.fullmatch(r"(-?\d+):(-?\d+)", weights)
    if not match:
        raise OptionError(f"--weights {weights!r} is not LOW:HIGH; use two whole numbers such as 1:100")
    return int(match[1]), int(match[2])


def _parameters(make):
    """Parameters of ``make`` with its docstring's text: required ones as arguments, others as options."""
    texts = options.texts_of(make)
    for parameter in inspect.signature(make).parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            kind = options.kind_of(parameter, make)
            shown = _shown(parameter, texts.get(parameter.name, ""))
            yield parameter.replace(annotation=Annotated[str if kind is Graph else kind, shown])


def _shown(parameter, text):
    """A parameter on the command line; a switch that is off has no name for that."""
    if parameter.default is parameter.empty:
        return typer.Argument(help=text)
    names = [f"--{parameter.name}"] if parameter.default is False else []
    return typer.Option(*names, metavar=METAVARS.get(parameter.name), help=text)
