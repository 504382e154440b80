# SPDX-License-Identifier: Apache-2.0
"""The report as one page that loads nothing: sections of text, plots and tables."""

from __future__ import annotations

import base64
import html
from dataclasses import dataclass, field
from pathlib import Path

Table = tuple[list[str], list[list[str]]]


@dataclass
class Section:
    title: str  # "Figure 13: chaining"
    shows: str = ""  # one sentence
    worse: str = ""  # where a peer, or another way, is better; behind the first line a list
    plots: list[Path] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    captions: list[str] = field(default_factory=list)  # of the plots, where they need some


STYLE = """
:root { --ink: #23272b; --soft: #6a7178; --line: #e3e5e8; --green: #2e7d4f; --amber: #9a6a1c; }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); max-width: 54rem;
       margin: 0 auto; padding: 2.5rem 1.25rem 5rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.25rem; margin: 3.2rem 0 .4rem; padding-top: 1.2rem;
     border-top: 1px solid var(--line); }
p { margin: .5rem 0; }
.note { color: var(--soft); font-size: .92rem; }
.worse { border-left: 3px solid var(--amber); padding-left: .8rem; margin: .7rem 0; }
.better { border-left: 3px solid var(--green); padding-left: .8rem; margin: .7rem 0; }
.quick { background: #fff6e0; border: 1px solid #ecd9a8; border-radius: 6px; padding: .6rem .9rem; }
nav a { color: var(--green); text-decoration: none; margin-right: .9rem; white-space: nowrap; }
ul { margin: .2rem 0; padding-left: 1.2rem; font-size: .94rem; }
figure { margin: 1rem 0; } figure img { display: block; width: 100%; height: auto; }
figure.drawing img { width: auto; max-width: 100%; max-height: 30rem; }
figcaption { color: var(--soft); font-size: .9rem; margin-bottom: .2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; margin: .8rem 0;
        font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .75rem; border-bottom: 1px solid var(--line); text-align: right; }
th { font-weight: 600; color: var(--soft); } tr:last-child td { border-bottom: 0; }
td { white-space: nowrap; } td:first-child, table.words td { white-space: normal; }
small { color: var(--soft); font-size: .82em; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
table.words td, table.words th { text-align: left; vertical-align: top; }
code { font: .86em ui-monospace, monospace; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; font-size: .92rem; }
dt { color: var(--soft); } dd { margin: 0; }
"""


def text(words: str) -> str:
    """Text between ` is code."""
    parts = html.escape(words).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


def table(found: Table, of_words: bool = False) -> list[str]:
    head, rows = found

    def inside(cell: str) -> str:
        first, *spread = cell.split("\n")
        return text(first) + "".join(f"<br><small>{text(more)}</small>" for more in spread)

    def row(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{inside(cell)}</{tag}>" for cell in cells) + "</tr>"
    kind = ' class="words"' if of_words else ""
    return [f'<div class="wide"><table{kind}>', row(head, "th"),
            *(row(cells, "td") for cells in rows), "</table></div>"]


def picture(path: Path, title: str, caption: str) -> list[str]:
    data = base64.b64encode(path.read_bytes()).decode()
    told = f"<figcaption>{text(caption)}</figcaption>" if caption else ""
    kind = ' class="drawing"' if path.name.startswith("graph") else ""
    return [f"<figure{kind}>{told}", f'<img alt="{html.escape(title)}" '
            f'src="data:image/svg+xml;base64,{data}"></figure>']


def anchor(title: str) -> str:
    return title.split(":")[0].lower().replace(" ", "-")


def page(title: str, about: list[tuple[str, str]], warning: str, introduction: list[str],
         sections: list[Section]) -> str:
    lines = ["<!doctype html>", '<html lang="en"><head><meta charset="utf-8">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>",
             f"<h1>{html.escape(title)}</h1>"]
    if warning:
        lines.append(f'<p class="quick">{text(warning)}</p>')
    lines += [f"<p>{text(words)}</p>" for words in introduction]
    lines += ["<dl>", *(f"<dt>{text(name)}</dt><dd>{text(value)}</dd>" for name, value in about),
              "</dl>"]
    links = [f'<a href="#{anchor(section.title)}">{html.escape(section.title.split(":")[0])}</a>'
             for section in sections]
    lines += ["<nav>", *links, "</nav>"]
    for section in sections:
        lines.append(f'<h2 id="{anchor(section.title)}">{html.escape(section.title)}</h2>')
        if section.shows:
            lines.append(f"<p>{text(section.shows)}</p>")
        if section.worse:
            good = section.worse.startswith(("No ", "Nothing "))
            first, *items = section.worse.split("\n")
            more = "".join(f"<li>{text(item)}</li>" for item in items)
            lines.append(f'<div class="{"better" if good else "worse"}">{text(first)}'
                         + (f"<ul>{more}</ul>" if more else "") + "</div>")
        for place, path in enumerate(section.plots):
            caption = section.captions[place] if place < len(section.captions) else ""
            lines += picture(path, section.title, caption)
        for found in section.tables:
            lines += table(found, section.title == "Commands")
        lines += [f'<p class="note">{text(note)}</p>' for note in section.notes]
    return "\n".join([*lines, "</body></html>", ""])
