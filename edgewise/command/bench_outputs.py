"""What the benchmarks of the command line write: a folder of tables and pictures."""

import json
from pathlib import Path
from typing import Annotated

import typer

import edgewise
from edgewise import plots
from edgewise.command.info import machine
from edgewise.errors import FileError
from edgewise.files.atomic_write import atomic_write

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for tables, pictures and JSON."),
]
#: Suffix of the pictures in a folder.
PICTURE = ".png"


def check_output(output):
    """Refuse what cannot be written before anything is measured."""
    if output is None:
        return
    if not output.parent.is_dir():
        raise FileError(output, f"the folder {output.parent} does not exist; create it first")
    plots.check(output / f"picture{PICTURE}")
    if output.exists() and not output.is_dir():
        raise FileError(output, "is a file; name a folder")


def write(report, output, stage):
    """Write a report into a folder, if one is wanted."""
    if output is None:
        return
    with stage("write", f"writing {output}"):
        output.mkdir(exist_ok=True)
        _write_into(output, report)


def _write_into(folder, report):
    _write_text(folder / f"{report.preset}.json", json.dumps(as_dict(report), indent=1))
    tables = [f"## {table.title}\n\n{table.markdown()}" for table in report.tables]
    _write_text(folder / f"{report.preset}.md", "\n\n".join([*heading(report), *tables, ""]))
    for figure in report.figures:
        plots.experiment(figure, folder / f"{figure.name}{PICTURE}")


def _write_text(path, text):
    with atomic_write(path) as part:
        Path(part).write_text(text)


def as_dict(report):
    """A report with the machine and the version, for JSON."""
    here = {name: fact for name, fact in machine().items() if name != "kernels"}  # a path of this machine
    return report.as_dict() | {"machine": here, "version": edgewise.__version__}


def heading(report):
    """What stands above the tables of a report: the machine, and a note where graphs are smaller."""
    here = machine()
    gpus = [f"{gpu['name']} (cuda:{gpu['index']})" for gpu in here["gpus"]]
    where = "; ".join([f"{here['processor']}, {here['cores']} cores, {here['threads']} threads", *gpus])
    return [where, *([report.note] if report.note else [])]
