# SPDX-License-Identifier: Apache-2.0
"""The requests of the programs of the exchange by size, as CSV: figures 8 to 10 of paper 3."""

from __future__ import annotations

import csv
import io

APPS = ["core", "session", "data"]


def sizes_csv(traces: dict) -> str:
    """Requests by program and size: exact to 1,024 bytes, then each octave by its largest size."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["program", "seconds", "bytes_at_most", "requests"])
    for name in APPS:
        counters = traces[name].counters
        seconds = max(1e-9, (traces[name].last_seen_ns() - traces[name].begin_ns) / 1e9)
        for size in range(1025):
            if count := counters.calls_of_size(size):
                writer.writerow([name, f"{seconds:.6f}", size, count])
        for octave in range(10, 64):
            if count := counters.calls_of_octave(octave)[0]:
                writer.writerow([name, f"{seconds:.6f}", 2 << octave, count])
    return text.getvalue()
