# SPDX-License-Identifier: Apache-2.0
"""Kills programs that read a pipe by a journal at random moments. The producer of the rows learns
from the journal which lines were accepted, and sends those behind them to the next run. In the end
the result is that of a run that was not disturbed, and the journal is gone. Runs that SIGTERM ends
lose nothing of a named pipe that stays open, so that its producer asks for nothing.

    journal_killed_test.py PROGRAM STRID [KILLS]      kills of each case, 6 unless given

The oracles of sums and of counts by window are computed here. The figures of `strid state journal`
are compared with those that this file reads from the journal by itself."""

import os
import random
import re
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

PROGRAM = str(Path(sys.argv[1]).resolve())
STRID = str(Path(sys.argv[2]).resolve())
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 6
READINGS = 30_000
RATE = min(40_000, 250_000 // KILLS)  # a second: the runs of a case live so long
SEED = int(os.environ.get("STRID_SEED", random.randrange(2**31)))
RANDOM = random.Random(SEED)


def readings() -> list[bytes]:
    chosen = random.Random(SEED + 1)
    now = 0
    rows = []
    for _ in range(READINGS):
        now += chosen.randrange(4)
        time_ms = max(0, now - chosen.randrange(150))
        value = chosen.randrange(100_000) / 1000
        rows.append(b"s%d,%d,%s\n" % (chosen.randrange(20), time_ms, str(value).encode()))
    return rows


def files_of_journal(folder: Path):
    """Of each file with text: where it begins, the lines and their bytes before it, the text."""
    for path in sorted(folder.glob("*.journal")):
        data = path.read_bytes()
        if len(data) < 80:
            continue
        identity, first, lines, line_end = struct.unpack_from("<QQQQ", data, 16)
        assert data[:16] == b"strid journal 1\n" and path.name.endswith(f"{first:020}.journal")
        assert struct.unpack_from("<Q", data, 72)[0] == zlib.crc32(data[:72])
        at, text = 80, b""
        while at + 12 <= len(data):
            size, text_crc, crc = struct.unpack_from("<III", data, at)
            covered = struct.pack("<QQQQ", identity, first + len(text), size, text_crc)
            block = data[at + 12 : at + 12 + size]
            if crc != zlib.crc32(covered) or len(block) < size or text_crc != zlib.crc32(block):
                break
            text += block
            at += 12 + size
        if text:
            yield first, lines, line_end, text


def end_of_journal(folder: Path) -> tuple[int, int]:
    """How many lines the journal has accepted, and the bytes of these."""
    found = 0, 0
    for first, lines, line_end, text in files_of_journal(folder):
        end = first + text.rfind(b"\n") + 1 if b"\n" in text else line_end
        found = lines + text.count(b"\n"), end
    return found


def compared(folder: Path, sent: bytes) -> str:
    """Whether the journal has what was sent, as far as it goes."""
    for first, _, _, text in files_of_journal(folder):
        expected = sent[first : first + len(text)]
        if text != expected:
            same = len(os.path.commonprefix([text, expected]))
            return (f"the journal differs from byte {first + same} on: "
                    f"{text[max(0, same - 40) : same + 40]!r} where "
                    f"{expected[max(0, same - 40) : same + 40]!r} was sent")
    return "the journal has what was sent"


def accepted(folder: Path) -> int:
    if not folder.exists():
        return 0
    lines, line_bytes = end_of_journal(folder)
    shown = subprocess.run([STRID, "state", "journal", str(folder)], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr
    assert f"accepted  {lines} lines, {line_bytes} bytes" in shown.stdout, (shown.stdout, lines)
    return lines


class Producer(threading.Thread):
    """Sends rows until the pipe breaks, in pieces that end anywhere, with a pause behind each."""

    def __init__(self, pipe, text: bytes, seed: int, pause_s: float = 0):
        super().__init__(daemon=True)  # a failed test does not wait for it
        self.pipe, self.text, self.random, self.pause_s = pipe, text, random.Random(seed), pause_s

    def run(self) -> None:
        at = 0
        try:
            while at < len(self.text):
                size = self.random.choice((1, 7, 100, 1000, 30_000))
                piece = memoryview(self.text)[at : at + size]
                while piece:  # without a buffer a write may take a part only
                    piece = piece[self.pipe.write(piece) :]
                self.pipe.flush()
                at += size
                time.sleep(self.pause_s)
            self.pipe.close()
        except (BrokenPipeError, ValueError):
            pass


def end_killed(command, rows: list[bytes], journal: Path, wait, pause_s: float = 0) -> int:
    """Runs and kills until a run has ended; returns how often."""
    killed = 0
    files = 0
    while True:
        sent = accepted(journal)
        assert sent <= len(rows)
        words = command()
        started = subprocess.Popen(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        errors = started.stderr
        producer = Producer(started.stdin, b"".join(rows[sent:]), RANDOM.randrange(2**31),
                            pause_s)
        producer.start()
        if killed < KILLS:
            time.sleep(wait())
            files = max(files, len(list(journal.glob("*.journal"))))
            started.kill()
        text = errors.read().decode()
        started.wait(timeout=120)
        producer.join()
        if started.returncode == 0 or (killed and "has reached its end" in text):
            assert not list(journal.glob("*.journal")), "the journal of a stream that has ended"
            assert files < 40, f"{files} files: those behind snapshots are not removed"
            return killed
        assert started.returncode == -signal.SIGKILL, f"{words}: {text}"
        killed += 1


def by_key(path: str) -> dict[str, list[str]]:
    rows: dict[str, list[str]] = {}
    for line in Path(path).read_text().splitlines():
        rows.setdefault(line.split(",")[0], []).append(line)
    return rows


def command_of(operator: str, output: str, sync: str, source: str = "-"):
    def command() -> list[str]:
        return [PROGRAM, "--operator", operator, "--input", source, "--output", output, "--quiet",
                "--rate", str(RATE), "--snapshots", f"state-{output}", "--snapshot-every", "20ms",
                "--journal", f"journal-{output}", "--journal-sync", sync,
                "--file-bytes", str(RANDOM.choice((2_000, 20_000))),
                "--parallelism", str(RANDOM.choice((1, 2, 4)))]
    return command


def check_killed(rows: list[bytes]) -> None:
    Path("rows.csv").write_bytes(b"".join(rows))
    for operator in ("windows", "sums"):
        subprocess.run([PROGRAM, "--operator", operator, "--input", "rows.csv", "--output",
                        f"whole-{operator}.csv", "--quiet", "--rate", "0"], check=True)
    sums: dict[str, list[float]] = {}
    for row in rows:
        sensor, _, value = row.decode().split(",")
        of_sensor = sums.setdefault(sensor, [])
        of_sensor.append((of_sensor[-1] if of_sensor else 0.0) + float(value))
    for operator in ("windows", "sums"):
        expected = by_key(f"whole-{operator}.csv")
        if operator == "sums":
            expected_sums = {key: [float(row.split(",")[1]) for row in found]
                             for key, found in expected.items()}
            assert expected_sums == sums
        for sync in ("chunk", "times", "never"):
            output = f"{operator}-{sync}.csv"
            killed = end_killed(command_of(operator, output, sync), rows, Path(f"journal-{output}"),
                                lambda: RANDOM.uniform(0.02, 0.3))
            found = by_key(output)
            assert found == expected, f"{operator}, {sync}: seed {SEED}"
            print(f"{operator}, {sync}: {killed} kills, {sum(map(len, expected.values()))} rows")


def check_window(rows: list[bytes]) -> None:
    """`strid window` of standard input, with a header."""
    counts: dict[tuple[str, int], list[float]] = {}
    for row in rows:
        sensor, time_ms, value = row.decode().split(",")
        counts.setdefault((sensor, int(time_ms) // 1000), []).append(float(value))
    expected = {(sensor, second * 1000): len(values) for (sensor, second), values in counts.items()}
    sent = [b"sensor,time,value\n", *rows]
    killed = end_killed(
        lambda: [STRID, "window", "--input", "-", "--key", "sensor", "--time", "time", "--disorder",
                 "1s", "--window", "tumbling:1s", "--aggregate", "count", "--output", "window.csv",
                 "--quiet", "--snapshots", "state-window", "--snapshot-every", "5ms", "--journal",
                 "journal-window", "--journal-sync", "never"],
        sent, Path("journal-window"), lambda: RANDOM.uniform(0.005, 0.06),
        KILLS * 0.0005)
    lines = Path("window.csv").read_text().splitlines()
    found = {}
    for line in lines[1:]:
        sensor, begin, _, count = line.split(",")
        assert (sensor, int(begin)) not in found, line
        found[sensor, int(begin)] = int(count)
    assert found == expected, f"strid window: seed {SEED}"
    print(f"strid window: {killed} kills, {len(found)} rows")


def begun(command: list[str], state: Path) -> subprocess.Popen:
    """A run that has stored a snapshot: it knows signals, and its input is open."""
    before = max(state.glob("*.snapshot"), default=None)
    process = subprocess.Popen(command)
    end = time.time() + 60
    while max(state.glob("*.snapshot"), default=None) == before:
        assert process.poll() is None and time.time() < end, "the run does not begin"
        time.sleep(0.005)
    return process


def check_stopped(rows: list[bytes]) -> None:
    """A named pipe that stays open, and runs that SIGTERM ends: all that was sent is there once."""
    os.mkfifo("pipe")
    kept = os.open("pipe", os.O_RDWR)
    pipe = os.fdopen(os.open("pipe", os.O_WRONLY), "wb", buffering=0)
    producer = Producer(pipe, b"".join(rows), SEED)
    producer.start()
    command = command_of("sums", "stopped.csv", "chunk", "pipe")
    state = Path("state-stopped.csv")
    stops = 0
    while producer.is_alive():
        started = begun([*command(), "--zero-on-sigterm", "--journal-join"], state)
        time.sleep(RANDOM.uniform(0, 0.2))
        started.terminate()
        status = started.wait(timeout=60)
        assert status == 0, (f"seed {SEED}, stop {stops}: status {status}; "
                             f"{compared(Path('journal-stopped.csv'), b''.join(rows))}")
        stops += 1
    producer.join()
    last = begun([*command(), "--journal-join"], state)
    os.close(kept)
    assert last.wait(timeout=60) == 0
    assert by_key("stopped.csv") == by_key("whole-sums.csv"), f"seed {SEED}"
    print(f"stopped: {stops} stops")


def check_refusals() -> None:
    words = command_of("sums", "r.csv", "chunk")()
    at = words.index("--snapshots")
    refused = subprocess.run(words[:at] + words[at + 4 :], stdin=subprocess.PIPE,
                             capture_output=True, text=True)
    assert refused.returncode == 1, refused
    assert "a journal is of a run that takes snapshots" in refused.stderr, refused.stderr
    # Two runs of one journal.
    first = subprocess.Popen(words, stdin=subprocess.PIPE)
    while not list(Path("state-r.csv").glob("*.snapshot")):
        time.sleep(0.01)
    words[words.index("state-r.csv")] = "state-r2.csv"
    second = subprocess.run(words, stdin=subprocess.PIPE, capture_output=True, text=True)
    assert second.returncode == 1, second
    assert "another source has its journal here" in second.stderr, second.stderr
    first.kill()
    first.wait()


def main() -> None:
    print(f"STRID_SEED={SEED}")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        rows = readings()
        check_killed(rows)
        check_window(rows)
        check_stopped(rows)
        check_refusals()
        os.chdir("/")


if __name__ == "__main__":
    main()
