# SPDX-License-Identifier: Apache-2.0
"""Processes of the Java machine: how an engine is started, waited for and ended.

Each has a time by which it must have answered, and a log below build/peers/logs with what it said
beside its figures. Its threads sleep with a timer slack of 1 ns as ours do: with the 50 us that
Linux gives by default, a source that parks until a record is due would be late by them.
"""
import contextlib
import ctypes
import json
import pathlib
import re
import shutil
import subprocess
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[4]
if str(ROOT / "bench") not in sys.path:
    sys.path.append(str(ROOT / "bench"))  # reporting.py
BUILD = ROOT / "build" / "peers"
LOGS = BUILD / "logs"
JAVA_MIN = 17
ENGINES = ("flink", "storm")
OPENED = {
    "flink": ("java.util", "java.lang", "java.util.concurrent", "java.time", "java.nio",
              "sun.nio.ch"),
    "storm": ("java.util", "java.lang", "java.nio", "sun.nio.ch"),
}
# The collector that gave each the better figures (README.md).
COLLECTOR = {"throughput": "-XX:+UseParallelGC", "latency": "-XX:+UseG1GC", "check":
             "-XX:+UseSerialGC"}
HEAP = ("-Xms2g", "-Xmx2g")
START_S_MAX = 240  # until an input is read and a job is deployed, on a machine that is busy
LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_TIMERSLACK = 29


class Failure(Exception):
    """An error that ends the script, in one line."""


def program(name, package):
    found = shutil.which(name)
    if not found:
        raise Failure(f"{name} is missing (Debian: {package})")
    return found


def java():
    path = program("java", "openjdk-17-jdk-headless")
    try:
        text = subprocess.run([path, "-version"], capture_output=True, text=True, check=False,
                              timeout=START_S_MAX).stderr
    except subprocess.TimeoutExpired:
        raise Failure(f"{path} -version had no answer after {START_S_MAX} s") from None
    version = re.search(r'version "(\d+)', text)
    if not version or int(version[1]) < JAVA_MIN:
        raise Failure(f"{path} is not Java {JAVA_MIN} or later")
    return path


def seconds_of(text):
    """Of a time such as 10s, 250ms or 2m, as the engines read it."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h)", text)
    if not found:
        raise ValueError(f"'{text}' is not a time such as 10s")
    return float(found[1]) * {"ms": 1e-3, "s": 1, "m": 60, "h": 3600}[found[2]]


def java_options(purpose, heap=HEAP):
    return [*heap, COLLECTOR[purpose]]


def engine_command(engine, purpose, arguments, heap=HEAP):
    classpath = BUILD / engine / "classpath"
    if not classpath.exists():
        raise Failure(f"{engine} is not built: run papers/2-windflow/bench/peers/peers.py build")
    opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED[engine]]
    classes = f"{BUILD / engine / 'classes'}:{classpath.read_text()}"
    return [java(), *java_options(purpose, heap), *opened, "-cp", classes,
            f"dev.strid.peers.{engine}.Main", *arguments]


def sleep_exactly():
    """In the process that is about to become the Java machine; its threads inherit it."""
    LIBC.prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)


class JavaProcess:
    """A command with its log; `title` names it in errors and the log's file."""

    def __init__(self, title, command):
        self.title = title
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log = LOGS / (re.sub(r"[^a-z0-9]+", "-", title.lower()) + ".log")
        self.killed_after_s = 0
        with open(self.log, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True,
                preexec_fn=sleep_exactly)

    def failure(self, what):
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        said = next((line for line in lines if line.startswith("peers: error: ")),
                    lines[-1] if lines else "it said nothing")
        return Failure(f"{self.title} {what}: {said.removeprefix('peers: error: ')} "
                       f"(log: {self.log.relative_to(ROOT)})")

    @contextlib.contextmanager
    def limit(self, seconds):
        """A read from the process within it ends by then, as the process is killed."""
        def late():
            self.killed_after_s = seconds
            self.process.kill()
        timer = threading.Timer(seconds, late)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def read(self, seconds_max):
        """The next line of JSON."""
        with self.limit(seconds_max):
            for line in self.process.stdout:
                if line.startswith("{"):
                    return json.loads(line)
        self.process.wait()
        if self.killed_after_s:
            raise self.failure(f"had no answer after {self.killed_after_s:.0f} s")
        raise self.failure(f"ended with {self.process.returncode}")

    def finish(self, seconds_max):
        """Waits for the end; the lines of JSON."""
        with self.limit(seconds_max):
            text, _ = self.process.communicate()
        if self.killed_after_s:
            raise self.failure(f"did not end within {self.killed_after_s:.0f} s")
        if self.process.returncode != 0:
            raise self.failure(f"ended with {self.process.returncode}")
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def close(self):
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()


class JavaEngine(JavaProcess):
    """A process that is warm and runs a round when asked to."""

    def __init__(self, engine, purpose, parallelism, arguments, *, warmup, duration):
        self.name = engine
        self.parallelism = parallelism
        # A job that has fallen behind drains its queues after the time is over.
        self.round_s_max = START_S_MAX + 4 * seconds_of(duration)
        command = engine_command(
            engine, purpose, [*arguments, "--parallelism", str(parallelism), "--turns"])
        super().__init__(f"{engine}, {purpose} of {arguments[0]}, parallelism {parallelism}",
                         command)
        try:
            self.read(START_S_MAX + 4 * seconds_of(warmup))
        except BaseException:
            self.close()
            raise

    def round(self):
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except OSError:
            self.process.wait()
            raise self.failure(f"ended with {self.process.returncode}") from None
        return self.read(self.round_s_max)
