# SPDX-License-Identifier: Apache-2.0
"""Draws a network of roads and the fixes that it was inferred from (prepare.py)."""
import math

MARGIN_M = 50
Point = tuple[float, float]  # metres east and north


def middle_of(values: list[float], least: float, most: float) -> Point:
    """The span of the middle four fifths, half of it wider at both ends, inside of the bounds."""
    values = sorted(values)
    low, high = values[len(values) // 10], values[len(values) * 9 // 10]
    margin = (high - low) / 2 + MARGIN_M
    return max(least, low - margin), min(most, high + margin)


def draw(path: str, title: str, points: list[Point], roads: list[list[Point]],
         width: int = 900) -> None:
    """An SVG: fixes in motion as dots of one pixel, roads as lines on the right of their way."""
    on_roads = [point for road in roads for point in road]
    (west, east), (south, north) = (
        middle_of([point[axis] for point in points],
                  min(point[axis] for point in on_roads) - MARGIN_M,
                  max(point[axis] for point in on_roads) + MARGIN_M) for axis in (0, 1))
    scale = width / (east - west)
    height = round((north - south) * scale) + 60

    def at(point: Point, right: Point = (0, 0)) -> Point:
        return ((point[0] - west) * scale + right[0], 30 + (north - point[1]) * scale - right[1])

    dots = sorted({tuple(map(round, at(point))) for point in points})
    lines = {True: [], False: []}
    for road in roads:
        x, y = road[-1][0] - road[0][0], road[-1][1] - road[0][1]
        norm = math.hypot(x, y) or 1
        lines[x > 0].append("M" + "L".join("{:.1f} {:.1f}".format(*at(point, (y / norm, -x / norm)))
                                           for point in road))
    legend = f"{title}: grey the fixes, blue roads eastward, red westward"
    bar = 10 ** math.floor(math.log10((east - west) / 3))
    with open(path, "w", encoding="utf-8") as out:
        out.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                  'font-family="sans-serif" font-size="13">\n'
                  f'<rect width="{width}" height="{height}" fill="white"/>\n'
                  f'<text x="8" y="20">{legend}</text>\n'
                  f'<text x="{16 + bar * scale:.0f}" y="{height - 8}">{bar} m</text>\n'
                  f'<path stroke="black" d="M8 {height - 12}h{bar * scale:.1f}"/>\n'
                  f'<svg y="30" width="{width}" height="{height - 60}" '
                  f'viewBox="0 30 {width} {height - 60}">\n<path stroke="#bbb" fill="none" d="'
                  + "".join(f"M{x} {y}h1" for x, y in dots
                            if 0 <= x < width and 30 <= y < height - 30) + '"/>\n')
        for to_east, colour in ((True, "#1f5fbf"), (False, "#c0392b")):
            out.write(f'<path stroke="{colour}" stroke-width="1.2" fill="none" d="'
                      + "".join(lines[to_east]) + '"/>\n')
        out.write("</svg>\n</svg>\n")
