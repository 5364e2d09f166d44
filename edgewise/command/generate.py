"""``edgewise generate FAMILY``: the options of each family are those of its Python function."""

import inspect
import re
from functools import wraps
from pathlib import Path
from typing import Annotated

import typer

import edgewise
from edgewise.command import options
from edgewise.command.convert import tell
from edgewise.command.outputs import check_output
from edgewise.command.stages import stages

Output = Annotated[Path, typer.Option("--output", "-o", help="File to write; its ending says the format.")]


def add(app, name, gist):
    """Put the subcommand, with one subcommand a family, into ``app``."""
    families = typer.Typer()
    for family in edgewise.generate.__all__:
        make = getattr(edgewise.generate, family)
        gist_of_family = inspect.getdoc(make).partition("\n")[0]
        families.command(family.replace("_", "-"), help=gist_of_family)(_subcommand(make))
    app.add_typer(families, name=name, help=gist)


def _subcommand(make):
    """The function behind ``edgewise generate FAMILY``: makes a graph as ``make`` does, and writes it."""

    @wraps(make)
    def generate(output, json=False, quiet=False, **arguments):
        check_output(output)
        with stages(quiet or json) as (stage, clock):
            with stage("make", f"making a {make.__name__} graph"):
                graph = make(**arguments)
            with stage("write", f"writing {output}"):
                edgewise.write(graph, output)
        tell(graph, clock, output, json=json, quiet=quiet)

    parameters = [*_parameters(make), *_ours()]
    generate.__signature__ = inspect.Signature(parameters)
    generate.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return generate


def _parameters(make):
    """Parameters of ``make`` with its docstring's text: required ones as arguments, others as options."""
    told = _told(inspect.getdoc(make))
    for parameter in inspect.signature(make, eval_str=True).parameters.values():
        required = parameter.default is inspect.Parameter.empty
        how = typer.Argument if required else typer.Option
        annotation = Annotated[parameter.annotation, how(help=told.get(parameter.name, ""))]
        yield parameter.replace(annotation=annotation, kind=inspect.Parameter.KEYWORD_ONLY)


def _ours():
    kind = inspect.Parameter.KEYWORD_ONLY
    yield inspect.Parameter("output", kind, annotation=Output)
    yield inspect.Parameter("json", kind, annotation=options.Json, default=False)
    yield inspect.Parameter("quiet", kind, annotation=options.Quiet, default=False)


def _told(docstring):
    """What the section "Parameters" of a numpydoc docstring says of each name."""
    section = re.search(r"Parameters\n-+\n(.*?)(?:\n\n[A-Z]\w+\n-+|\Z)", docstring, re.DOTALL)
    told, names = {}, []
    for line in section.group(1).splitlines() if section else ():
        if line.startswith(" "):
            for name in names:
                told[name] = f"{told.get(name, '')} {line.strip()}".strip()
        elif line:
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
    return told
