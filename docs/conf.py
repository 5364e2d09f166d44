"""Sphinx configuration."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import edgewise

project = "edgewise"
author = "The edgewise developers"
version = release = edgewise.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"
autodoc_mock_imports = ["splink", "pyspark", "datatrove"]  # of edgewise.integrations
autosummary_generate = True
autosummary_ignore_module_all = False
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "edgewise"
html_static_path = ["_static"]
html_css_files = ["edgewise.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_center": [],  # the pages are listed at the left
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"**": ["globaltoc.html"]}
html_copy_source = False
html_extra_path = ["llms.txt"]
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True


def without_last_blank_lines(app, page, source):
    """Drop the blank line with which examples end in the sources, where doctest needs it."""
    source[0] = re.sub(r"\n+^```$", "\n```", source[0], flags=re.MULTILINE)


def with_all_guides(app, page, source):
    """List the pages that the index does not name after the guides, as those of new problems."""
    if page == "index":
        named = {page, *source[0].splitlines()}
        others = sorted({path.stem for path in Path(__file__).parent.glob("*.md")} - named)
        source[0] = source[0].replace("\nnetworkx\n```", "\n".join(["", "networkx", *others, "```"]))


def without_constructors_of_results(app, what, name, obj, options, signature, returns):
    """Show no arguments of results, which only edgewise makes."""
    from edgewise.result import Result

    is_result = what == "class" and issubclass(obj, Result)
    return ("", None) if is_result else None


def setup(app):
    app.connect("source-read", without_last_blank_lines)
    app.connect("source-read", with_all_guides)
    app.connect("autodoc-process-signature", without_constructors_of_results)
