# SPDX-License-Identifier: Apache-2.0
"""Kills programs whose threads push into a graph, or pop from it, at random moments, and starts
them again until they end. Each number that was pushed has its row once, with the sum of all before
it; each number that was popped has its effect once.

    doors_killed_test.py PROGRAM [KILLS]      kills of each case, 5 unless given

The oracles are computed here."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = str(Path(sys.argv[1]).resolve())
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
COUNT = 20_000
SEED = int(os.environ.get("STRID_SEED", random.randrange(2**31)))
RANDOM = random.Random(SEED)


def end_killed(door: str, how: str, folder: Path) -> tuple[int, bool]:
    """Runs and kills until a run has ended; returns how often, and whether the last one was killed
    behind the snapshot that says that the stream has ended."""
    killed = 0
    while True:
        started = subprocess.Popen([PROGRAM, door, str(folder), str(COUNT), how],
                                   stderr=subprocess.PIPE)
        if killed < KILLS:
            time.sleep(RANDOM.uniform(0, 0.5 / max(1, KILLS / 4)) + 0.01)
            started.kill()
        text = started.stderr.read().decode()
        started.wait(timeout=120)
        if started.returncode == 0:
            return killed, False
        if killed and "has reached its end" in text:
            return killed, True
        assert started.returncode == -signal.SIGKILL, (door, how, started.returncode, text)
        killed += 1


def check_inlet(how: str) -> int:
    folder = Path(f"inlet-{how}")
    folder.mkdir()
    killed, behind_its_end = end_killed("inlet", how, folder)
    total, expected = 0, []
    for number in range(COUNT):
        total += number
        expected.append(f"{number},{total},order-{number % 100}")
    rows = (folder / "out.csv").read_text().splitlines()
    assert rows == expected, f"{how}: {len(rows)} rows, first difference at " + str(
        next((i for i, (a, b) in enumerate(zip(rows, expected)) if a != b), "the end"))
    if not behind_its_end:
        assert not list((folder / "journal").glob("*.journal")), "the journal of an ended stream"
    return killed


def check_outlet(how: str) -> int:
    folder = Path(f"outlet-{how}")
    folder.mkdir()
    killed, _ = end_killed("outlet", how, folder)
    rows = [line.split(",") for line in (folder / "effects").read_text().splitlines()]
    assert [row[1] for row in rows] == [str(i) for i in range(len(rows))], "an order, or a gap"
    assert [row[2] for row in rows] == [str(3 * i) for i in range(len(rows))], "other records"
    epochs = [int(row[0]) for row in rows]
    assert epochs == sorted(epochs), "epochs that go back"
    # The memory of a process that is killed behind the end of its stream goes with it.
    assert len(rows) == COUNT or killed, len(rows)
    print(f"outlet {how}: {len(rows)} of {COUNT} effects in {len(set(epochs))} epochs")
    return killed


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        killed = sum(check_inlet(how) for how in ("chunk", "times", "never"))
        killed += sum(check_outlet(how) for how in ("committed", "at_once"))
        os.chdir("/")
    print(f"{killed} kills (STRID_SEED={SEED})")


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        print(f"STRID_SEED={SEED}", file=sys.stderr)
        raise
