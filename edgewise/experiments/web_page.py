"""Reports as one HTML page, with its pictures inside (extra ``plot``), in light and dark colours."""

import base64
from importlib.util import find_spec

from edgewise import plots
from edgewise.experiments.report import Report, Table, shown
from edgewise.printable import in_html

STYLE = """
:root { color-scheme: light dark; --line: #8884; --faint: #777; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; } h3 { font-size: 1rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; }
th, td { padding: .2rem .7rem; border-bottom: 1px solid var(--line); text-align: left; white-space: nowrap; }
td.number, th.number { text-align: right; }
img { max-width: 100%; background: #fff; border-radius: 4px; margin-top: 1rem; }
.source, dt { color: var(--faint); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; } dd { margin: 0; }
"""


def page(title: str, facts: dict[str, object], reports: list[Report]) -> str:
    """Return the text of a page.

    Parameters
    ----------
    title : str
    facts : dict
        What is said of the machine, the versions and the date, by name.
    reports : list of Report
    """
    known = "".join(f"<dt>{in_html(name)}</dt><dd>{in_html(fact)}</dd>" for name, fact in facts.items())
    body = "".join(_of_report(report) for report in reports)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{in_html(title)}</title><style>{STYLE}</style></head>\n"
        f"<body><h1>{in_html(title)}</h1><dl>{known}</dl>\n{body}</body></html>\n"
    )


def _of_report(report):
    graphs = "; ".join(
        f"{name}: {sizes['vertices']:,} vertices, {sizes['edges']:,} edges"
        for name, sizes in report.graphs.items()
    )
    how = f"size {report.size}, {', '.join(report.devices)}, median of {report.runs}. {report.note}"
    head = f"<h2>{in_html(report.preset)}</h2><p>{in_html(how)}</p><p class='source'>{in_html(graphs)}</p>\n"
    return head + "".join(_of_table(table) for table in report.tables)


def _of_table(table: Table):
    numeric = [any(isinstance(row.get(key), int | float) for row in table.rows) for key in table.columns]
    kinds = [' class="number"' if number else "" for number in numeric]
    heads = "".join(f"<th{kind}>{in_html(text)}</th>" for kind, text in zip(kinds, table.columns.values()))
    rows = "".join(
        "<tr>"
        + "".join(f"<td{kind}>{in_html(shown(row.get(key)))}</td>" for kind, key in zip(kinds, table.columns))
        + "</tr>\n"
        for row in table.rows
    )
    published = "".join(f"<p class='source'>published: {in_html(words)}</p>" for words in table.published)
    pictures = "".join(_picture(figure) for figure in table.figures if any(figure.series.values()))
    return (
        f"<h3>{in_html(table.title)} <span class='source'>({in_html(table.source)})</span></h3>"
        f"<div class='table'><table><thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table></div>"
        f"{published}{pictures}\n"
    )


def _picture(figure):
    if find_spec("matplotlib") is None:
        return ""
    data = base64.b64encode(plots.experiment_as_svg(figure).encode()).decode()
    return f'<img alt="{in_html(figure.title)}" src="data:image/svg+xml;base64,{data}">'
