"""The examples in the docstrings of all pages run."""

import doctest
import inspect
import pkgutil
import re
from importlib import import_module

import edgewise

MODULES = [m.name for m in pkgutil.walk_packages(edgewise.__path__, "edgewise.")]
MODULES = [name for name in MODULES if name not in ("edgewise.__main__", "edgewise.device.grid")]


class Examples(doctest.DocTestFinder):
    """Finds the examples of decorated functions too, where the function that is called is another one."""

    def _from_module(self, module, object):
        return super()._from_module(module, inspect.unwrap(object) if callable(object) else object)


def test_examples_of_decorated_functions_are_found():
    module = import_module("edgewise.paths.bfs")
    found = {example.name: len(example.examples) for example in Examples().find(module)}
    assert found["edgewise.paths.bfs.bfs"] > 1


def test_examples_in_docstrings_run():
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for name in MODULES:
        if name.startswith("edgewise.integrations."):
            try:
                import_module(name)
            except ModuleNotFoundError:  # of the library that the page is for
                continue
        for example in Examples().find(import_module(name), name):
            runner.run(example)
    assert runner.summarize().failed == 0


def test_generators_have_whole_docstrings():
    """They are put together of their own parts and of what all have in common."""
    for name in edgewise.generate.__all__:
        text = inspect.getdoc(getattr(edgewise.generate, name))
        first, *headings = text.split("\n\n")[0], *re.findall(r"^(\w+)\n-+$", text, re.MULTILINE)
        assert first.endswith((".", ":")) and len(first) > 20, name
        assert {"Parameters", "Returns"} <= set(headings), name
