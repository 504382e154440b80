# SPDX-License-Identifier: Apache-2.0
"""Kills a program with snapshots at random moments, starts it again until it ends, and compares its
result with that of a run that was not disturbed: equal as sorted lines, the rows of each key in
order, with other numbers of replicas from run to run; byte for byte with one source and one
replica. SIGTERM ends a run at a snapshot, without the rows of windows that are open.

    killed_test.py PROGRAM [KILLS]      kills of each operator, 6 unless given

The oracle of sums is awk-like: the running sums of each sensor, added here."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = str(Path(sys.argv[1]).resolve())
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 6
READINGS = 40_000
RATE = 40_000  # a second: a run takes one
SEED = int(os.environ.get("STRID_SEED", random.randrange(2**31)))
RANDOM = random.Random(SEED)


def write_readings(path: Path, salt: int) -> None:
    chosen = random.Random(SEED + salt)
    now = 0
    with open(path, "w") as file:
        for _ in range(READINGS):
            now += chosen.randrange(4)
            time_ms = max(0, now - chosen.randrange(150))
            file.write(f"s{chosen.randrange(20)},{time_ms},{chosen.randrange(100_000) / 1000}\n")


def command(operator: str, output: str, *options: str) -> list[str]:
    return [PROGRAM, "--operator", operator, "--input", "a.csv", "--other", "b.csv", "--output",
            output, "--quiet", *options]


def run(*words: str, expect: int = 0) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == expect, f"{words}: status {done.returncode}\n{done.stderr}"
    return done.stderr


def begun(folder: str, started: subprocess.Popen) -> None:
    """Returns once the run has taken its first snapshot."""
    deadline = time.monotonic() + 60
    while not any(Path(folder).glob("*.snapshot")):
        assert time.monotonic() < deadline and started.poll() is None, f"{folder}: not begun"
        time.sleep(0.01)


def by_key(path: str) -> dict[str, list[str]]:
    rows: dict[str, list[str]] = {}
    for line in Path(path).read_text().splitlines():
        rows.setdefault(line.split(",")[0], []).append(line)
    return rows


def end_killed(operator: str, output: str, replicas) -> int:
    """Runs and kills until a run has ended; returns how often."""
    killed = 0
    while True:
        words = command(operator, output, "--rate", str(RATE), "--snapshots", f"state-{output}",
                        "--snapshot-every", "20ms", "--parallelism", str(replicas()))
        started = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
        if killed < KILLS:
            time.sleep(RANDOM.uniform(0.02, 0.35))
            started.kill()
        _, errors = started.communicate(timeout=120)
        # A kill may come between the end of a run and that of its process.
        if started.returncode == 0 or (killed and "has reached its end" in errors):
            return killed
        assert started.returncode == -signal.SIGKILL, f"{words}: {errors}"
        killed += 1


def check_killed() -> None:
    for operator in ("windows", "join", "timers", "sums"):
        run(*command(operator, "whole.csv", "--rate", "0", "--parallelism", "1"))
        expected = by_key("whole.csv")
        killed = end_killed(operator, f"{operator}.csv", lambda: RANDOM.choice((1, 2, 4)))
        found = by_key(f"{operator}.csv")
        assert found.keys() == expected.keys(), operator
        for key, rows in expected.items():
            # A join of two sources has its rows in the order in which the records met.
            same = sorted(found[key]) == sorted(rows) if operator == "join" else found[key] == rows
            assert same, f"{operator}, {key}: {len(found[key])} rows for {len(rows)}, seed {SEED}"
        print(f"{operator}: {killed} kills, {sum(map(len, expected.values()))} rows")
        if operator == "join":
            continue
        end_killed(operator, f"{operator}-1.csv", lambda: 1)
        same = Path(f"{operator}-1.csv").read_bytes() == Path("whole.csv").read_bytes()
        assert same, f"{operator} with one replica: seed {SEED}"


def check_sums() -> None:
    """The sums of the readings, added here."""
    sums: dict[str, float] = {}
    last: dict[str, float] = {}
    for line in Path("a.csv").read_text().splitlines():
        sensor, _, value = line.split(",")
        sums[sensor] = sums.get(sensor, 0.0) + float(value)
    for sensor, rows in by_key("sums.csv").items():
        last[sensor] = float(rows[-1].split(",")[1])
    assert last == sums


def check_stop() -> None:
    """SIGTERM: a last snapshot, and no row of an open window; then to the end."""
    words = command("windows", "stopped.csv", "--rate", "8000", "--snapshots", "state-stopped",
                    "--parallelism", "1", "--zero-on-sigterm")
    started = subprocess.Popen(words)
    begun("state-stopped", started)
    time.sleep(0.5)
    started.terminate()
    assert started.wait(timeout=60) == 0
    assert not Path("stopped.csv").exists()
    [unfinished] = Path().glob("stopped.csv.*.strid-unfinished")
    rows = unfinished.read_text()
    assert 0 < rows.count("\n")
    words[words.index("8000")] = "0"
    run(*words)
    run(*command("windows", "whole.csv", "--rate", "0", "--parallelism", "1"))
    whole = Path("whole.csv").read_text()
    assert whole.startswith(rows) and Path("stopped.csv").read_text() == whole
    errors = run(*words, expect=2)
    assert "has reached its end" in errors, errors
    run(*words, "--restart")


def check_refusals() -> None:
    run(*command("sums", "r.csv", "--snapshots", "state-r", "--rate", "0"))
    shutil.rmtree("state-r")
    errors = run(*command("sums", "r.csv", "--snapshots", "state-windows.csv"), expect=2)
    assert "reached its end" in errors, errors
    # Another graph's folder: the difference is named.
    started = subprocess.Popen(command("sums", "r.csv", "--rate", "1000", "--snapshots", "state-o"))
    begun("state-o", started)
    errors = run(*command("sums", "other.csv", "--snapshots", "state-o"), expect=1)
    assert "another run takes its snapshots here" in errors, errors
    started.terminate()
    started.wait(timeout=60)
    errors = run(*command("windows", "r.csv", "--snapshots", "state-o"), expect=2)
    assert "are of the graph 'sums', and this one is 'windows'" in errors, errors
    # A damaged snapshot is passed over with a warning.
    snapshots = sorted(Path("state-o").glob("*.snapshot"))
    assert len(snapshots) == 2, snapshots  # the first one, and that of the stop
    damaged = bytearray(snapshots[-1].read_bytes())
    damaged[len(damaged) // 2] ^= 1
    snapshots[-1].write_bytes(damaged)
    errors = run(*command("sums", "r.csv", "--rate", "0", "--snapshots", "state-o"))
    assert "the snapshot before it is taken" in errors, errors
    # A pipe cannot be read once more.
    words = command("sums", "p.csv", "--snapshots", "state-p")
    words[words.index("a.csv")] = "/dev/stdin"
    with open("a.csv") as rows:
        piped = subprocess.Popen(["cat"], stdin=rows, stdout=subprocess.PIPE)
        refused = subprocess.run(words, stdin=piped.stdout, capture_output=True, text=True)
        piped.stdout.close()
        piped.wait()
    assert refused.returncode == 2, refused.stderr
    assert "cannot be read once more" in refused.stderr, refused.stderr


def main() -> None:
    print(f"STRID_SEED={SEED}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_readings(Path("a.csv"), 1)
        write_readings(Path("b.csv"), 2)
        check_killed()
        check_sums()
        check_stop()
        check_refusals()
        os.chdir("/")


if __name__ == "__main__":
    main()
