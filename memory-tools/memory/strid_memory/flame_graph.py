# SPDX-License-Identifier: Apache-2.0
"""The call stacks of a trace as a flame graph: one SVG without scripts or anything from outside.

A box is a function, as wide as the bytes that it and what it calls ask for; the functions that it
calls stand on it. Boxes of one row are in the order of their names.
"""

from __future__ import annotations

import shlex
import zlib
from xml.sax.saxutils import escape, quoteattr

from strid_memory.symbols import all_named_stacks
from strid_memory.trace_report import share, size
from strid_memory.traced import TracedRun

_WIDTH = 1200
_ROW = 18
_MARGIN = 10
_HEADER = 46
_LETTER = 7.0  # at most, of a monospaced font of 11 pixels
_WIDTH_MIN = 0.3


class _Node:
    def __init__(self) -> None:
        self.bytes = 0.0
        self.calls = 0.0
        self.children: dict[str, _Node] = {}


def _tree(run: TracedRun) -> _Node:
    root = _Node()
    for frames, (bytes_, calls) in all_named_stacks(run.processes).items():
        node = root
        node.bytes += bytes_
        node.calls += calls
        for name in frames:
            node = node.children.setdefault(name, _Node())
            node.bytes += bytes_
            node.calls += calls
    return root


def _color(name: str) -> str:
    """Warm, and the same for a name in every graph."""
    mark = zlib.crc32(name.encode())
    return f"rgb({205 + mark % 50},{80 + mark // 50 % 130},{mark // 6500 % 55})"


def _clean(text: str) -> str:
    return "".join(letter if letter >= " " else " " for letter in text)


def _boxes(root: _Node) -> list[tuple[str, _Node, int, float, float]]:
    """(name, node, row, left, width)."""
    boxes = []
    scale = (_WIDTH - 2 * _MARGIN) / max(root.bytes, 1)
    open_ = [("all", root, 0, float(_MARGIN))]
    while open_:
        name, node, row, left = open_.pop()
        width = node.bytes * scale
        if width < _WIDTH_MIN:
            continue
        boxes.append((name, node, row, left, width))
        for child, below in sorted(node.children.items()):
            open_.append((child, below, row + 1, left))
            left += below.bytes * scale
    return boxes


def svg(run: TracedRun) -> bytes:
    root = _tree(run)
    boxes = _boxes(root)
    rows = 1 + max((row for _, _, row, _, _ in boxes), default=0)
    height = _HEADER + rows * _ROW + _MARGIN
    title = _clean(shlex.join(run.command))[:120]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}"'
        f' viewBox="0 0 {_WIDTH} {height}" font-family="monospace" font-size="11">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{_MARGIN}" y="18" font-size="13">Requested bytes by call stack: '
        f"{escape(title)}</text>",
        f'<text x="{_MARGIN}" y="36" fill="dimgray">about {size(root.bytes)} in'
        f" {root.calls:,.0f} requests, a stack for {size(run.stack_period)}</text>",
    ]
    for name, node, row, left, width in boxes:
        name = _clean(name)
        top = height - _MARGIN - (row + 1) * _ROW
        hint = (
            f"{name}: {size(node.bytes)} ({share(node.bytes, root.bytes)}),"
            f" {node.calls:,.0f} requests"
        )
        letters = int((width - 6) / _LETTER)
        shown = name if len(name) <= letters else name[: letters - 2] + ".." * (letters > 2)
        lines.append(
            f'<g><title>{escape(hint)}</title><rect x="{left:.2f}" y="{top}"'
            f' width="{width:.2f}" height="{_ROW - 1}" rx="1" fill={quoteattr(_color(name))}/>'
        )
        if letters > 2:
            lines.append(f'<text x="{left + 3:.2f}" y="{top + 12}">{escape(shown)}</text>')
        lines.append("</g>")
    lines.append("</svg>")
    return ("\n".join(lines) + "\n").encode()
