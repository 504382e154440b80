# SPDX-License-Identifier: Apache-2.0
"""The page of an experiment: one HTML file with its plots and data inside, readable offline."""

import html

from strid_memory import tables
from strid_memory.analysis import Analysis

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #1c1e21; background: #fff; margin: 2rem auto;
  max-width: 60rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .3rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
pre { background: #f6f7f8; padding: .8rem; overflow: auto; max-height: 24rem; }
table { border-collapse: collapse; margin: .8rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem; text-align: right; border-bottom: 1px solid #e2e5e9; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
thead th { border-bottom: 1px solid #8a9099; font-weight: 600; }
.advice { background: #eef5ee; border-left: 4px solid #3d8b40; padding: .8rem 1rem; }
.note { color: #5a6068; font-size: .9rem; }
svg { max-width: 100%; height: auto; }
.scroll { overflow-x: auto; }
"""


def table(rows: list[list[str]]) -> str:
    def line(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

    head, *body = rows
    lines = "\n".join(line(row, "td") for row in body)
    return (
        f'<div class="scroll"><table><thead>{line(head, "th")}</thead>\n'
        f"<tbody>{lines}</tbody></table></div>\n"
    )


def paragraph(text: str, kind: str = "") -> str:
    mark = f' class="{kind}"' if kind else ""
    return f"<p{mark}>{html.escape(text)}</p>\n" if text else ""


def inline_svg(svg: str) -> str:
    """Without the head of an XML file, which HTML does not take."""
    return svg[svg.index("<svg") :]


def section(analysis: Analysis, allocators: list[str], cores: list[int], plot: str | None) -> str:
    measure = analysis.measure
    text = f"<h2>{html.escape(measure.label)}</h2>\n" + paragraph(measure.note, "note")
    if not analysis.cells:
        return text + paragraph(f"Not measured: {analysis.missing}.")
    text += inline_svg(plot) if plot else ""
    text += table(tables.means_rows(analysis, allocators, cores))
    if analysis.missing:
        return text + paragraph(f"No tests: {analysis.missing}.")
    text += paragraph(tables.notes_of_letters(analysis), "note")
    text += table(tables.anova_rows(analysis))
    return text + paragraph(tables.assumptions_text(analysis))


def page(title: str, lead: list[str], advice: str, sections: list[str], notes: list[str]) -> str:
    """The whole page; `sections` is HTML, the rest is text."""
    body = f"<h1>{html.escape(title)}</h1>\n"
    body += "".join(paragraph(text, "note") for text in lead)
    body += paragraph(advice, "advice")
    body += "\n".join(sections)
    if notes:
        items = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
        body += f"<h2>Notes</h2>\n<ul>{items}</ul>\n"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style></head>\n"
        f"<body>\n{body}</body></html>\n"
    )


def raw_data(text: str, name: str) -> str:
    return (
        f"<h2>Raw data</h2>\n<details><summary>{html.escape(name)}, every run in the order in which"
        f" it was made</summary>\n<pre>{html.escape(text)}</pre></details>\n"
    )
