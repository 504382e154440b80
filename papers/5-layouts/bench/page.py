# SPDX-License-Identifier: Apache-2.0
"""Sections of text, tables and plots as Markdown and as one page of HTML."""

from __future__ import annotations

import html
from dataclasses import dataclass, field


@dataclass
class Section:
    title: str
    paragraphs: list[str] = field(default_factory=list)
    tables: list[tuple[list[str], list[list[str]]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # behind the tables
    plots: list[str] = field(default_factory=list)  # files beside the page


def markdown(title: str, introduction: str, sections: list[Section]) -> str:
    lines = [f"# {title}", "", introduction, ""]
    for section in sections:
        lines += [f"## {section.title}", ""]
        for paragraph in section.paragraphs:
            lines += [paragraph, ""]
        for head, rows in section.tables:
            all_rows = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
            lines += ["| " + " | ".join(row) + " |" for row in all_rows] + [""]
        for note in section.notes:
            lines += [note, ""]
    return "\n".join(lines)


STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 90%; }
th, td { padding: 0.2rem 0.7rem; border-bottom: 1px solid #ddd; text-align: right; }
th:first-child, td:first-child { text-align: left; }
img { max-width: 100%; }
"""


def page(title: str, introduction: str, sections: list[Section]) -> str:
    """Complete: nothing is loaded but the plots beside it."""
    def paragraphs(texts: list[str]) -> list[str]:
        return [f"<p>{html.escape(text)}</p>" for text in texts]

    def row(cells: list[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    lines = ["<!doctype html>", '<html lang="en"><head><meta charset="utf-8">',
             f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>",
             f"<h1>{html.escape(title)}</h1>", *paragraphs([introduction])]
    for section in sections:
        lines += [f"<h2>{html.escape(section.title)}</h2>", *paragraphs(section.paragraphs)]
        for head, rows in section.tables:
            lines += ["<table>", row(head, "th"), *(row(cells, "td") for cells in rows),
                      "</table>"]
        lines += paragraphs(section.notes)
        lines += [f'<p><img src="{html.escape(file)}" alt="{html.escape(section.title)}"></p>'
                  for file in section.plots]
    return "\n".join([*lines, "</body></html>", ""])
