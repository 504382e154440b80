# SPDX-License-Identifier: Apache-2.0
"""The figures of paper 3, to compare with: tables I to VI and the numbers of its section IV."""

import dataclasses

# Our names of what the paper measured, as far as it is the same design: ptmalloc2 is the C
# library's. Versions are fifteen years apart.
NAMES = {
    "hoard": "Hoard",
    "jemalloc": "Jemalloc",
    "glibc": "Ptmalloc2",
    "ptmalloc3": "Ptmalloc3",
    "tcmalloc": "TCMalloc",
    "strid-tlsf": "TLSF",
    "strid-miser": "Miser",
}
# Of all allocation requests of App1 to App3, a second.
REQUESTS_PER_SECOND = {"core": 4_600, "session": 80_000, "data": 50_000}
MOST_FREQUENT_BYTES = 24
SMALL_BYTES = 64


@dataclasses.dataclass
class PaperTable:
    """A measure in the paper: the sums of squares of its table of variance (allocator, cores, both,
    error), and mean and lower case letters by allocator on one to four cores."""

    figure: str
    variance: str
    tukey: str
    ss: tuple[float, float, float, float]
    means: dict[str, list[tuple[float, str]]]


def row(text: str) -> list[tuple[float, str]]:
    words = text.split()
    return [(float(number), letters) for number, letters in zip(words[::2], words[1::2])]


PAPER = {
    "wall_s": PaperTable(
        "11",
        "I",
        "II",
        (0.00005745, 0.00083792, 0.00004319, 0.00000303),
        {
            "Hoard": row("479.63 c 357.53 ab 220.33 e 159.33 d"),
            "Jemalloc": row("461.47 cd 332.19 c 210.30 f 151.43 e"),
            "Ptmalloc2": row("492.94 ab 358.52 ab 233.02 c 201.81 b"),
            "Ptmalloc3": row("474.94 bc 350.71 b 243.69 b 190.07 c"),
            "Miser": row("486.72 bc 348.52 bc 226.33 d 162.07 d"),
            "TCMalloc": row("445.42 d 311.56 d 201.81 g 146.30 f"),
            "TLSF": row("519.50 a 368.76 a 276.42 a 232.40 a"),
        },
    ),
    "mean_bytes": PaperTable(
        "12",
        "III",
        "IV",
        (0.08418, 0.04416, 0.02605, 0.00462),
        {
            "Hoard": row("1809.0 d 2028.0 b 2139.8 b 2212.2 ab"),
            "Jemalloc": row("1820.2 d 2028.6 b 2049.8 c 2200.6 ab"),
            "Ptmalloc2": row("1940.0 b 1979.4 b 2070.0 bc 2164.2 bc"),
            "Ptmalloc3": row("1869.6 cd 1965.6 b 2025.0 c 2112.0 cd"),
            "Miser": row("1922.4 bc 1999.0 b 1957.2 d 2212.6 ab"),
            "TCMalloc": row("1917.8 bc 1963.4 b 1927.0 d 2072.6 d"),
            "TLSF": row("2362.2 a 2387.4 a 2409.8 a 2272.0 a"),
        },
    ),
    "extfrag_events": PaperTable(
        "13",
        "V",
        "VI",
        (0.1218, 0.1688, 0.0358, 0.0143),
        {
            "Hoard": row("645.0 a 78.2 ab 103.0 a 167.8 a"),
            "Jemalloc": row("604.6 ab 81.8 a 86.4 a 160.6 a"),
            "Ptmalloc2": row("179.8 bc 52.6 bc 67.0 ab 128.2 a"),
            "Ptmalloc3": row("267.4 abg 43.8 g 44.6 g 95.2 a"),
            "Miser": row("255.4 abg 46.0 g 53.2 bg 142.2 a"),
            "TCMalloc": row("140.2 c 27.6 d 23.2 d 96.4 a"),
            "TLSF": row("130.4 c 29.2 d 21.2 d 25.8 b"),
        },
    ),
}
