# SPDX-License-Identifier: Apache-2.0
"""The programs that peers.py lets take turns: processes of the engines, and ours."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
APPS = ROOT / "apps"
BUILD = ROOT / "build" / "peers"
JAVA_MIN = 17
ENGINES = ("flink", "storm")
PERCENTILES = ("5", "25", "50", "75", "95", "99", "99.9")
OPENED = {
    "flink": ("java.util", "java.lang", "java.util.concurrent", "java.time", "java.nio",
              "sun.nio.ch"),
    "storm": ("java.util", "java.lang", "java.nio", "sun.nio.ch"),
}
# The collector that gave each the better figures (README.md).
COLLECTOR = {"throughput": "-XX:+UseParallelGC", "latency": "-XX:+UseG1GC", "check":
             "-XX:+UseSerialGC"}
HEAP = ("-Xms2g", "-Xmx2g")


class Failure(Exception):
    pass


def program(name, package):
    found = shutil.which(name)
    if not found:
        raise Failure(f"{name} is missing (Debian: {package})")
    return found


def java():
    path = program("java", "openjdk-17-jdk-headless")
    text = subprocess.run([path, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', text)
    if not version or int(version[1]) < JAVA_MIN:
        raise Failure(f"{path} is not Java {JAVA_MIN} or later")
    return path


def engine_command(engine, purpose, arguments, heap=HEAP):
    classpath = BUILD / engine / "classpath"
    if not classpath.exists():
        raise Failure(f"{engine} is not built: run bench/peers/peers.py build")
    opened = [f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in OPENED[engine]]
    classes = f"{BUILD / engine / 'classes'}:{classpath.read_text()}"
    return [java(), *heap, COLLECTOR[purpose], *opened, "-cp", classes,
            f"dev.strid.peers.{engine}.Main", *arguments]


class JavaEngine:
    """A process that is warm and runs a round when asked to."""

    def __init__(self, engine, purpose, parallelism, arguments):
        self.name = engine
        self.parallelism = parallelism
        command = engine_command(
            engine, purpose, [*arguments, "--parallelism", str(parallelism), "--turns"])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.read()

    def read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)
        raise Failure(f"{self.name} ended before its round was over")

    def round(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.kill()
        self.process.wait()


class Strid:
    """Our engine: a process a round."""

    name = "strid"

    def __init__(self, path, parallelism, arguments):
        self.path = path
        self.parallelism = parallelism
        self.arguments = arguments

    def round(self):
        with tempfile.NamedTemporaryFile("r") as metrics:
            subprocess.run([self.path, "run", *self.arguments, "--workers", str(self.parallelism),
                            "--metrics", metrics.name, "--quiet"], check=True)
            with open(metrics.name, encoding="utf-8") as file:
                report = json.load(file)
        result = {"engine": "strid", "parallelism": self.parallelism,
                  "records": report["records_in"], "results": report["records_out"],
                  "seconds": report["seconds"],
                  "records_per_second": report["records_in"] / report["seconds"]}
        histogram = report["latency"]["histogram_ns"]
        if histogram:
            result["latency_us"] = {
                percentile: percentile_ns(histogram, float(percentile)) / 1e3
                for percentile in PERCENTILES}
            result["latency_us"]["max"] = report["latency"]["max_ns"] / 1e3
        return result

    def close(self):
        pass


class StridYahoo:
    """bench/yahoo: the application's operators over events in memory whose times go on, as the
    engines' sources give them (strid run does not replay what has times)."""

    name = "strid"
    EVENTS = 20_000_000
    TITLE = "Yahoo, events in memory:"
    ROW = {1: "Strid, one worker", 2: "Strid, two workers"}

    def __init__(self, strid, parallelism):
        self.program = pathlib.Path(strid).resolve().parents[1] / "bench/yahoo/yahoo_bench"
        self.parallelism = parallelism
        if parallelism not in self.ROW:
            raise Failure("yahoo_bench has one worker and two")
        if not self.program.exists():
            raise Failure(f"{self.program} is not built (target yahoo_bench)")

    def round(self):
        text = subprocess.run([self.program, str(self.EVENTS), "1"], check=True,
                              capture_output=True, text=True).stdout
        table = text[text.index(self.TITLE):]
        rate = re.search(re.escape(self.ROW[self.parallelism]) + r" *\| *([0-9.]+)", table)
        per_second = float(rate[1]) * 1e6
        return {"engine": "strid", "parallelism": self.parallelism, "records": self.EVENTS,
                "seconds": self.EVENTS / per_second, "records_per_second": per_second}

    def close(self):
        pass


def percentile_ns(histogram, percentile):
    wanted = sum(count for _, count in histogram) * percentile / 100
    seen = 0
    for upper_ns, count in histogram:
        seen += count
        if seen >= wanted:
            return upper_ns
    return histogram[-1][0]
