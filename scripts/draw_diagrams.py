# SPDX-License-Identifier: Apache-2.0
"""Mermaid diagrams as SVG, for a site that loads no script from elsewhere to draw them.

Only what our pages use: flowcharts with subgraphs, laid out by Graphviz, and sequence diagrams of
participants, messages and notes. Unknown is raised for anything else.
"""

import html
import re
import subprocess

BREAK = re.compile(r"<br\s*/?>")
NODE = re.compile(r'(\w+)(?:(\[\(|\[|\()"?(.*?)"?(?:\)\]|\]|\)))?')
ARROW = re.compile(r'\s+(?:--\s+"?(.+?)"?\s+-->|(<?-->))\s+')
MESSAGE = re.compile(r"(\w+)(-?)->>(\w+): (.*)")
NOTE = re.compile(r"Note over (\w+): (.*)")
PARTICIPANT = re.compile(r"participant (\w+) as (.*)")


class Unknown(Exception):
    """A line of a diagram that is not understood here."""


class Flowchart:
    """Nodes, the subgraphs that they lie in, and edges."""

    def __init__(self, lines: list[str]):
        self.labels: dict[str, str] = {}
        self.stores: set[str] = set()
        self.titles: dict[str, str] = {}
        self.inside: dict[str, list[str]] = {}
        self.edges: list[tuple[str, str, str, str]] = []
        group = ""
        for line in lines:
            if line.startswith("subgraph "):
                found = NODE.fullmatch(line.removeprefix("subgraph "))
                if not found:
                    raise Unknown(line)
                group = found.group(1)
                self.titles[group] = found.group(3) or group
                self.inside[group] = []
            elif line == "end":
                group = ""
            else:
                self.add_edges(line, group)

    def add_edges(self, line: str, group: str) -> None:
        parts = ARROW.split(line)  # nodes, label, arrow, nodes, ...
        before = self.nodes(parts[0], group)
        for label, arrow, names in zip(parts[1::3], parts[2::3], parts[3::3]):
            here = self.nodes(names, group)
            self.edges += [(a, b, label or "", arrow or "-->") for a in before for b in here]
            before = here

    def nodes(self, text: str, group: str) -> list[str]:
        names = []
        for part in text.split(" & "):
            found = NODE.fullmatch(part.strip())
            if not found:
                raise Unknown(text)
            name, shape, label = found.groups()
            names.append(name)
            if label or name not in self.labels:
                self.labels[name] = label or name
            if shape == "[(":
                self.stores.add(name)
            if group and name not in self.inside[group]:
                self.inside[group].append(name)
        return names

    def dot(self, direction: str) -> str:
        lines = [
            f"digraph {{ rankdir={direction}; compound=true; bgcolor=transparent;",
            'graph [fontname="sans-serif" fontsize=12 color="#90a4ae"];',
            'node [fontname="sans-serif" fontsize=12 shape=box style="rounded,filled"'
            ' fillcolor="#eceff1" color="#90a4ae"];',
            'edge [fontname="sans-serif" fontsize=11 color="#607d8b"];',
        ]
        for name, label in self.labels.items():
            if name not in self.titles:
                shape = " shape=cylinder style=filled" if name in self.stores else ""
                text = BREAK.sub(r"\\n", label)
                lines.append(f'"{name}" [label="{text}"{shape}];')
        for group, title in self.titles.items():
            members = "; ".join(f'"{name}"' for name in self.inside[group])
            lines.append(f'subgraph cluster_{group} {{ label="{title}"; {members} }}')
        for a, b, label, arrow in self.edges:
            options = [f'label="{label}"'] if label else []
            if a in self.titles:
                options.append(f"ltail=cluster_{a}")
                a = self.inside[a][0]
            if b in self.titles:
                options.append(f"lhead=cluster_{b}")
                b = self.inside[b][0]
            if arrow.startswith("<"):
                options.append("dir=both")
            lines.append(f'"{a}" -> "{b}" [{" ".join(options)}];')
        return "\n".join([*lines, "}"])


def flowchart(direction: str, lines: list[str]) -> str:
    dot = Flowchart(lines).dot(direction)
    done = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Unknown(done.stderr)
    return done.stdout[done.stdout.index("<svg") :]


class Sequence:
    """A sequence diagram, drawn from the top: a column for each participant."""

    COLUMN, ROW, TEXT = 190, 34, 15

    def __init__(self) -> None:
        self.column: dict[str, int] = {}
        self.parts: list[str] = []
        self.y = 60

    def x(self, name: str) -> int:
        if name not in self.column:
            raise Unknown(name)
        return self.COLUMN // 2 + self.COLUMN * self.column[name]

    def text(self, x: int, y: int, text: str) -> None:
        self.parts.append(f'<text x="{x}" y="{y}" text-anchor="middle">{html.escape(text)}</text>')

    def box(self, x: int, y: int, width: int, lines: list[str], fill: str) -> None:
        height = self.TEXT * len(lines) + 12
        self.parts.append(
            f'<rect x="{x - width // 2}" y="{y}" width="{width}" height="{height}" rx="4"'
            f' fill="{fill}" stroke="#90a4ae"/>'
        )
        for number, line in enumerate(lines):
            self.text(x, y + 18 + self.TEXT * number, line)

    def message(self, sender: str, reply: str, receiver: str, text: str) -> None:
        a, b = self.x(sender), self.x(receiver)
        # A text that is wider than its arrow is broken into lines.
        room = max(abs(a - b), self.COLUMN) // 7
        lines = [""]
        for word in text.split():
            if lines[-1] and len(lines[-1]) + len(word) > room:
                lines.append("")
            lines[-1] = f"{lines[-1]} {word}".strip()
        middle = (a + b) // 2 if a != b else a + self.COLUMN // 2
        for line in lines:
            self.y += self.TEXT
            self.text(middle, self.y, line)
        self.y += 6
        way = f"M{a} {self.y} H{b}" if a != b else f"M{a} {self.y} h40 v14 h-38"
        dashes = ' stroke-dasharray="5 4"' if reply else ""
        self.parts.append(
            f'<path d="{way}" fill="none" stroke="#607d8b"{dashes} marker-end="url(#tip)"/>'
        )
        self.y += self.ROW - self.TEXT if a != b else self.ROW

    def note(self, over: str, text: str) -> None:
        lines = BREAK.split(text)
        width = max(len(line) for line in lines) * 7 + 20
        self.box(self.x(over), self.y, width, lines, "#fff8e1")
        self.y += self.TEXT * len(lines) + 22

    def svg(self, names: dict[str, str]) -> str:
        width = self.COLUMN * len(names)
        lives = "".join(
            f'<path d="M{self.x(name)} 40 V{self.y}" stroke="#b0bec5"/>' for name in names
        )
        heads = Sequence()
        heads.column = self.column
        for name, label in names.items():
            heads.box(self.x(name), 10, self.COLUMN - 30, [label], "#eceff1")
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {self.y + 10}"'
            f' width="{width}" font-family="sans-serif" font-size="12">'
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8"'
            ' markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#607d8b"/></marker>'
            f"</defs>{lives}{''.join(heads.parts)}{''.join(self.parts)}</svg>"
        )


def sequence(lines: list[str]) -> str:
    drawing = Sequence()
    names: dict[str, str] = {}
    for line in lines:
        if found := PARTICIPANT.fullmatch(line):
            drawing.column[found.group(1)] = len(names)
            names[found.group(1)] = found.group(2)
        elif found := MESSAGE.fullmatch(line):
            drawing.message(*found.groups())
        elif found := NOTE.fullmatch(line):
            drawing.note(*found.groups())
        else:
            raise Unknown(line)
    return drawing.svg(names)


def svg(text: str) -> str:
    """The diagram `text` as an SVG element. Raises Unknown."""
    first, *lines = [line.strip() for line in text.splitlines() if line.strip()]
    if first == "sequenceDiagram":
        return sequence(lines)
    if found := re.fullmatch(r"(?:flowchart|graph) (LR|TD|TB)", first):
        return flowchart(found.group(1).replace("TD", "TB"), lines)
    raise Unknown(first)
