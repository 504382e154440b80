# SPDX-License-Identifier: Apache-2.0
"""Letters for multiple comparisons, as in tables II, IV and VI of paper 3: two levels share one
if, and only if, they do not differ significantly.

Insert and absorb (Piepho 2004, "An algorithm for a letter-based representation of all-pairwise
comparisons"): begins with one letter for all; each pair that differs divides every letter that
holds both; a letter whose levels all have another letter in common is absorbed.
"""

from collections.abc import Callable, Sequence


def sets_of(count: int, differ: Callable[[int, int], bool]) -> list[frozenset[int]]:
    """The sets of levels 0...count-1 that get a letter each. O(count^2 * sets^2)."""
    sets = {frozenset(range(count))} if count else set()
    for i in range(count):
        for j in range(i + 1, count):
            if not differ(i, j):
                continue
            inserted = set()
            for members in sets:
                both = i in members and j in members
                inserted |= {members - {i}, members - {j}} if both else {members}
            sets = {one for one in inserted if not any(one < other for other in inserted)}
    return list(sets)


def letter(index: int) -> str:
    """a...z, then a1...z1, a2 and so on."""
    return chr(ord("a") + index % 26) + (str(index // 26) if index >= 26 else "")


def letters(values: Sequence[float], differ: Callable[[int, int], bool]) -> list[str]:
    """The letters of each level. `a` belongs to the largest value, as in the paper's tables."""
    order = sorted(range(len(values)), key=lambda i: (-values[i], i))
    rank = {level: place for place, level in enumerate(order)}
    ranked = sorted(sets_of(len(values), differ), key=lambda s: sorted(rank[i] for i in s))
    return [
        "".join(letter(at) for at, members in enumerate(ranked) if level in members)
        for level in range(len(values))
    ]
