"""The public capabilities of the package: none is added or lost without a change of ``tests/public.txt``.

``python tests/test_public.py`` writes that file.  Its lines are the public names with their arguments, the
public classes with theirs, the methods of every table with their devices and options, the formats that are
read and written, and the options of the subcommands.  No line names a page, which may move.
"""

import ast
import dataclasses
import enum
import inspect
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import get_args

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "public.txt"
#: Other tables whose keys users name.
NAMES = {
    "merge of connected_components": ("edgewise.components", "MERGES"),
    "preset of partition": ("edgewise.partitions", "PRESETS"),
    "preset of edgewise bench": ("edgewise.experiments", "PRESETS"),
    "protocol of transactions": ("edgewise.transactions.protocols", "PROTOCOLS"),
    "graph of a publication": ("edgewise.generators", "NAMED"),
}
#: Classes of values that users get, beside results.
CLASSES = {"GraphPartition", "Mesh", "MeshPartition", "SplitGraph", "TransactionalMemory"}


def arguments_of(function):
    """The arguments of a function: those by position in order, then those by keyword only, sorted."""
    parameters = list(inspect.signature(function).parameters.values())
    by_position = [
        f"{'*' * (one.kind is one.VAR_POSITIONAL)}{one.name}"
        for one in parameters
        if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD, one.VAR_POSITIONAL)
        and one.name not in ("self", "cls")
    ]
    by_keyword = {
        f"{'**' * (one.kind is one.VAR_KEYWORD)}{one.name}"
        for one in parameters
        if one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD)
    }
    return ", ".join([*by_position, *(["*", *sorted(by_keyword)] if by_keyword else [])])


def members_of(kind):
    """The public attributes and methods of a class."""
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    fields = {field.name for field in fields} | {*getattr(kind, "_fields", ())}
    for name in sorted({*dir(kind), *fields}):
        if name.startswith("_"):
            continue
        value = getattr(kind, name, None)
        if inspect.isroutine(value) and not getattr(value, "__module__", "").startswith("edgewise."):
            continue  # of a class of another library
        is_method = (inspect.isfunction(value) or inspect.ismethod(value)) and name not in fields
        yield f"{name}({arguments_of(value)})" if is_method else name


def classes():
    """The classes of results, and the others."""
    homes, bases = {}, {}
    for page in (ROOT / "edgewise").rglob("*.py"):
        module = ".".join(page.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.parse(page.read_text()).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name] = module
                bases[node.name] = {base.id for base in node.bases if isinstance(base, ast.Name)}
    found = {"Result"}
    while more := {name for name, of in bases.items() if of & found} - found:
        found |= more
    return [getattr(import_module(homes[name]), name) for name in sorted(found | CLASSES)]


def of_kind(kind):
    """The lines of a class."""
    made = "" if dataclasses.is_dataclass(kind) or issubclass(kind, tuple) else f"({arguments_of(kind)})"
    yield f"class {kind.__name__}{made}"
    yield from (f"{kind.__name__}.{member}" for member in members_of(kind))


def public_names():
    """The names of the package, of its modules that have public names, and of the classes of results."""
    import edgewise

    kinds = classes()
    for name in edgewise.__all__:
        value = getattr(edgewise, name)
        if inspect.isclass(value):
            kinds.append(value)
        elif isinstance(value, ModuleType):
            for inner in getattr(value, "__all__", None) or sorted(vars(value)):
                one = getattr(value, inner)
                if not inner.startswith("_") and getattr(one, "__module__", "").startswith("edgewise."):
                    yield f"{name}.{inner}" + (f"({arguments_of(one)})" if inspect.isfunction(one) else "")
        else:
            yield name + (f"({arguments_of(value)})" if callable(value) else "")
    for kind in kinds:
        yield from of_kind(kind)


def of_syntax(node):
    """The name and the arguments of a function, which is not imported."""
    by_position = [one.arg for one in (*node.args.posonlyargs, *node.args.args) if one.arg != "self"]
    by_keyword = {one.arg for one in node.args.kwonlyargs}
    by_keyword |= {f"**{one.arg}" for one in (node.args.kwarg,) if one}
    return f"{node.name}({', '.join([*by_position, *(['*', *sorted(by_keyword)] if by_keyword else [])])})"


def integrations():
    """The public names of pages whose libraries need not be there."""
    pages = {page.stem: ast.parse(page.read_text()) for page in (ROOT / "edgewise/integrations").glob("*.py")}
    kinds = {one.name: one for page in pages.values() for one in page.body if isinstance(one, ast.ClassDef)}
    for page, tree in sorted(pages.items()):
        named = (one for one in tree.body if isinstance(one, ast.Assign) and one.targets[0].id == "__all__")
        public = [name for one in named for name in ast.literal_eval(one.value)]
        for node in tree.body:
            if getattr(node, "name", None) not in public:
                continue
            if isinstance(node, ast.FunctionDef):
                yield f"integrations.{page}.{of_syntax(node)}"
                continue
            yield f"class integrations.{page}.{node.name}"
            for kind in (node, *(kinds[one.id] for one in node.bases if one.id in kinds)):
                inner = (one for one in kind.body if isinstance(one, ast.FunctionDef) and one.name[0] != "_")
                yield from (f"integrations.{page}.{node.name}.{of_syntax(one)}" for one in inner)


def methods():
    """The methods of every table, with their devices and options, and other names that users give."""
    from tests.problems import PROBLEMS

    for front, problem in PROBLEMS.items():
        for name, method in problem.methods.items():
            devices, options = ", ".join(method.devices), ", ".join(sorted(method.options)) or "none"
            yield f"method of {front}: {name} on {devices}; options: {options}"
    for words, (page, table) in NAMES.items():
        yield f"{words}: {', '.join(sorted(getattr(import_module(page), table)))}"


def formats():
    """The formats, the suffixes with which they are written, and the functions of NetworkX's backend."""
    from _edgewise_nx import PAGES
    from edgewise.files.formats import ALIASES, FORMATS

    for name, form in FORMATS.items():
        yield f"format {name}: read" + (f", written ({' '.join(form.suffixes)})" if form.writer else "")
    yield f"other names of formats: {', '.join(sorted(ALIASES))}"
    for name in sorted(PAGES):
        yield f"networkx {name}"


def choices_of(kind):
    """The values of an option that is one of several names, or nothing."""
    for one in (kind, *get_args(kind), *(inner for arg in get_args(kind) for inner in get_args(arg))):
        if isinstance(one, type) and issubclass(one, enum.Enum):
            return ": " + "|".join(member.value for member in one)
    return ""


def of_command(command, path):
    """The lines of a subcommand, and of those inside it."""
    for inner in sorted(getattr(command, "commands", {})):
        yield from of_command(command.commands[inner], f"{path} {inner}")
    kinds = getattr(command.callback, "__annotations__", {})
    for one in sorted(command.params, key=lambda one: one.opts):
        if one.param_type_name == "argument":
            yield f"{path} {one.metavar or one.name.upper()}"
        else:
            names = "/".join([*one.opts, *one.secondary_opts])
            yield f"{path} {names}{choices_of(kinds.get(one.name))}"


def commands():
    """The subcommands with their options."""
    from edgewise.command import PAGES, _command

    for page in PAGES:
        yield from of_command(_command([page]).commands[page], f"edgewise {page}")


def capabilities():
    """All lines of the file."""
    return [*public_names(), *integrations(), *methods(), *formats(), *commands()]


def test_all_public_capabilities_are_listed():
    listed, there = LIST.read_text().splitlines(), capabilities()
    lost, new = [line for line in listed if line not in there], [line for line in there if line not in listed]
    assert (lost, new) == ([], []), "if that is intended: python tests/test_public.py"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    LIST.write_text("".join(f"{line}\n" for line in capabilities()))
