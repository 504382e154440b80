# SPDX-License-Identifier: Apache-2.0
"""The tests of transports share a table of ticks, the windows that must come of it, computed here,
and runs of `strid window` that are killed and go on."""

import contextlib
import http.client
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from collections import defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))
import side_by_side  # noqa: E402
first = side_by_side.first

STRID = str(Path(sys.argv.pop(1)).resolve())
SEED = int(os.environ.get("STRID_SEED", random.randrange(2**31)))
SYMBOLS = 20
TIMEOUT_S = 120


class Ticks:
    """Rows in the order of their time, and the windows of a second that come of them."""

    def __init__(self, count: int, seed: int = SEED):
        rng = random.Random(seed)
        self.rows = []
        self.windows = defaultdict(lambda: [0, 0])
        at = 0
        for _ in range(count):
            at += rng.randrange(4)
            symbol, price = f"s{rng.randrange(SYMBOLS)}", rng.randrange(1000)
            self.rows.append((at, symbol, price))
            window = self.windows[symbol, at // 1000 * 1000]
            window[0] += 1
            window[1] += price

    def expected(self) -> list[tuple]:
        return sorted((symbol, begin, begin + 1000, count, total)
                      for (symbol, begin), (count, total) in self.windows.items())

    def write_csv(self, path: Path) -> None:
        lines = ["at,symbol,price\n"] + [f"{at},{symbol},{price}\n"
                                         for at, symbol, price in self.rows]
        path.write_text("".join(lines))


class TransportCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.random = random.Random(SEED)

    def arguments(self, source: str, target: str, *options: str, key="symbol") -> list[str]:
        return [STRID, "window", "--quiet", "--input", source, "--output", target,
                "--key", key, "--time", "at", "--unit", "ms", "--window", "tumbling:1s",
                "--aggregate", "count as n, sum(price) as total", *options]

    def window(self, source: str, target: str, *options: str, status: int = 0) -> str:
        """Runs to the end; returns what was written to standard error."""
        run = subprocess.run(self.arguments(source, target, *options), cwd=self.folder,
                             capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stderr

    def fed(self, ticks: Ticks, seconds: float, target: str, *options: str) -> subprocess.Popen:
        """Starts a run whose rows come by a pipe in so many seconds."""
        with_journal = ["--journal", "journal"] if "--snapshots" in options else []
        run = subprocess.Popen(self.arguments("-", target, *with_journal, *options),
                               cwd=self.folder, stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)

        def feed():
            rows = [f"{at},{symbol},{price}\n" for at, symbol, price in ticks.rows]
            try:
                run.stdin.write("at,symbol,price\n")
                for begin in range(0, len(rows), len(rows) // 100):
                    run.stdin.write("".join(rows[begin:begin + len(rows) // 100]))
                    run.stdin.flush()
                    time.sleep(seconds / 100)
                run.stdin.close()
            except BrokenPipeError:
                pass  # it has ended

        thread = threading.Thread(target=feed)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(run.kill)
        return run

    def until_warned(self, run: subprocess.Popen, text: str) -> None:
        """Reads lines of standard error up to one with `text`; a slow snapshot adds others."""
        read = ""
        while text not in read:
            line = run.stderr.readline()
            self.assertNotEqual(line, "", read)
            read += line

    def ended(self, run: subprocess.Popen, status: int = 0) -> str:
        """Waits for a run that is fed; returns what it has written to standard error."""
        text = run.stderr.read()
        run.stderr.close()
        self.assertEqual(run.wait(timeout=TIMEOUT_S), status, text)
        return text

    def killed(self, source: str, target: str, kills: int, *others: str) -> int:
        """Runs with snapshots, killed at random moments, until it has ended; how often."""
        killed = 0
        options = ["--snapshots", "state", "--snapshot-every", "10ms", *others]
        while True:
            run = subprocess.Popen(self.arguments(source, target, *options), cwd=self.folder,
                                   stderr=subprocess.PIPE, text=True)
            if killed < kills:
                if killed == 0:  # a fast run ends before a moment that is chosen blindly
                    until(lambda: run.poll() is not None
                          or list((self.folder / "state").glob("*.snapshot")))
                else:
                    time.sleep(self.random.uniform(0.01, 0.25))
                run.kill()
            _, text = run.communicate(timeout=TIMEOUT_S)
            if run.returncode == 0 or (killed and "has reached its end" in text):
                return killed
            self.assertEqual(run.returncode, -signal.SIGKILL, text)
            killed += 1


class ServerProcess:
    """A server with a folder of its own; a derived class starts it."""

    folder: Path
    process: subprocess.Popen

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder)


class Shown:
    """The figures of a run, which it has shown at this port of 127.0.0.1."""

    def __init__(self, port: int):
        self.port = port

    def ask(self, path: str) -> tuple[int, str]:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port,
                                                           timeout=TIMEOUT_S)) as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()


def shown_at(run: subprocess.Popen) -> Shown:
    """Of a run with --http, from the sentence that names the port."""
    line = run.stderr.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
    if not found:
        raise AssertionError(line)
    return Shown(int(found.group(1)))


def free_port() -> int:
    """Below those that the system gives to connections, which could take it before its server."""
    while True:
        with contextlib.suppress(OSError), socket.socket() as one:
            port = random.SystemRandom().randrange(10_000, 32_000)
            one.bind(("127.0.0.1", port))
            return port


def until(holds) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError("it does not become so")
        time.sleep(0.02)


def main() -> None:
    print(f"STRID_SEED={SEED}")
    side_by_side.main()
