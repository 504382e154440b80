# SPDX-License-Identifier: Apache-2.0
"""The values of the tables of paper 5, out of the rows that layouts.py wrote."""

from __future__ import annotations

from pathlib import Path

from figure_values import Value, of_rounds, read_rows

FILES = ("cells.csv", "allocators.csv")
# Tables that have some cells of another one: that one, the rows and, unless all, the columns.
PARTS = {"cache": ("hash_sets", ["std::unordered_set"], None),
         "trees": ("trees", ["standard allocator", "perfect allocator", "scattered allocator",
                             "Strid search tree", "Strid search tree, in batches"], None),
         "offsets": ("trees", ["perfect allocator", "offsets of 32 bits"],
                     ["BFS", "DFS", "van Emde Boas"])}
UNITS = {"access": "ns an integer", "stride": "ns an integer", "trees": "ns a lookup",
         "offsets": "ns a lookup", "hash_sets": "ns a search", "cache": "ns a search",
         "changing": "ns a key",
         "streams": "ns a record"}  # the others are of objects


def cells_of(table: str, rows: list[dict]) -> list[dict]:
    source, names, columns = PARTS.get(table, (table, None, None))
    return [row for row in rows if row["table"] == source
            and (names is None or row["row"] in names)
            and (columns is None or row["column"] in columns)]


def tables_of(rows: list[dict]) -> list[str]:
    present = dict.fromkeys(row["table"] for row in rows)
    return list(present) + [table for table, (source, _, _) in PARTS.items()
                            if source in present and table != source]


def values_of_table(table: str, rows: list[dict]) -> list[Value]:
    """Nanoseconds of an element: sizes differ between cells."""
    found: dict[tuple[str, str], list[float]] = {}
    for row in cells_of(table, rows):
        found.setdefault((row["row"], row["column"]), []).append(
            float(row["seconds"]) / float(row["elements"]) * 1e9)
    return [of_rounds(table, row, column, values, UNITS.get(table, "ns an object"))
            for (row, column), values in found.items()]


def allocators(rows: list[dict]) -> list[Value]:
    values = []
    for name in dict.fromkeys(row["allocator"] for row in rows):
        same = [row for row in rows if row["allocator"] == name]
        values += [of_rounds("allocators", name, "runtime",
                             [float(row["seconds"]) for row in same], "s"),
                   of_rounds("allocators", name, "memory",
                             [float(same[0]["resident_bytes"])], "MB", 1e-6)]
    return values


def values_of(folder: Path) -> list[Value]:
    cells, lists = (read_rows(folder / name) for name in FILES)
    return allocators(lists) + [value for table in tables_of(cells)
                                for value in values_of_table(table, cells)]
