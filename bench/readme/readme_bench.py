#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program that the README prints (tests/examples builds it), on generated readings, from a file
to a file: beside the hand-written single-threaded one, with one worker and with two. All three
answers are compared with one that is computed here. The contenders take turns and are timed from
start to exit; the table has the medians of the rounds, and of the ratios of each round.

    readme_bench.py BUILD [--readings N] [--devices N] [--rounds N]    BUILD: build/release
"""

import argparse
import collections
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WINDOW = 1_000
THRESHOLD = 1.25


def generated(readings, devices):
    """Device and value. Sums of these values are exact, in whatever order; none is so far below the
    mean that it is a spike by the hand-written program, to which these are spikes as well."""
    rng = random.Random(1)
    return [(int(rng.random() * devices),
             20 + int(rng.random() * 32) / 8 + (10 if rng.random() < 0.01 else 0))
            for _ in range(readings)]


def spikes(readings):
    """The spikes of each device in order, by the sum of all readings so far."""
    sums = collections.defaultdict(lambda: [0.0])
    answer = collections.defaultdict(list)
    for device, value in readings:
        of_device = sums[device]
        of_device.append(of_device[-1] + value)
        count = min(len(of_device) - 1, WINDOW)
        mean = (of_device[-1] - of_device[-1 - count]) / count
        if value > THRESHOLD * mean:
            answer[device].append((value, mean))
    return answer


def read(path):
    """The same from a file: the order among devices depends on the run."""
    answer = collections.defaultdict(list)
    for line in path.read_text(encoding="ascii").splitlines():
        device, value, mean = line.split(",")
        answer[int(device)].append((float(value), float(mean)))
    return answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--readings", type=int, default=4_000_000)
    parser.add_argument("--devices", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    program = (options.build / "tests/examples/example_spike_detection").resolve()
    by_hand = (options.build / "bench/hand/hand_spike_detection").resolve()
    contenders = {
        "by hand": [by_hand, "sensors.csv", "--once", "--output", "spikes.csv"],
        "one worker": [program, "--workers", "1"],
        "two workers": [program, "--workers", "2"],
    }
    seconds = {name: [] for name in contenders}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        readings = generated(options.readings, options.devices)
        source = place / "sensors.csv"
        source.write_text("".join(f"{device},{value}\n" for device, value in readings),
                          encoding="ascii")
        expected = spikes(readings)
        for _ in range(options.rounds):
            for name, command in contenders.items():
                (place / "spikes.csv").unlink(missing_ok=True)
                began = time.monotonic()
                subprocess.run(command, cwd=place, check=True, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
                seconds[name].append(time.monotonic() - began)
                if read(place / "spikes.csv") != expected:
                    sys.exit(f"{name}: not the spikes that there are")
        megabytes = source.stat().st_size / 1e6
    number = sum(map(len, expected.values()))
    print(f"{options.readings} readings of {options.devices} devices, {megabytes:.1f} MB, "
          f"{number} spikes, {options.rounds} rounds\n")
    print("| the README's program | s | M readings/s | MB/s | by hand takes times as long |")
    print("|---|---:|---:|---:|---:|")
    for name, times in seconds.items():
        median = statistics.median(times)
        ratio = statistics.median(hand / s for hand, s in zip(seconds["by hand"], times))
        print(f"| {name} | {median:.3f} | {options.readings / median / 1e6:.2f} | "
              f"{megabytes / median:.0f} | {ratio:.2f} |")
    print()
    for name in ("one worker", "two workers"):
        rate = options.readings / statistics.median(seconds[name]) / 1e6
        print(f"bar | the README's program, {name} | {rate:.3g} M readings/s | | reported |")


if __name__ == "__main__":
    main()
