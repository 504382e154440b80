# SPDX-License-Identifier: Apache-2.0
"""The seven applications of paper 2 as the report runs them, and the ways to run them.

An application more is an entry of CASES. In the words of a command {data} is the application's
folder of bundled data, {input} the file that is measured, {folder} where made inputs lie.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
APPS = ROOT / "papers/2-windflow"
EVENTS_A_SECOND = 10_000_000  # of a program that has a number of events and not a time
EVENTS_OF_A_PASS = 2_000_000  # of such a program: two windows, so that the last one is not much
LINES = 500_000  # of an input that is drawn, as `strid bench` has them


@dataclass(frozen=True)
class Case:
    name: str  # of `strid run`
    short: str  # in the paper
    bundled: str  # the input in {data}
    golden: str  # its answer by the oracle, below the application's folder; or empty: the oracle
    options: tuple[str, ...] = ()
    # How the long input is made: by drawing lines, or by this command of strid.
    made_by: tuple[str, ...] = ()
    program: str = ""  # of the benchmarks, which is measured in the place of `strid run`
    golden_options: tuple[str, ...] = ()  # besides, for the answer on the bundled input
    oracle: tuple[str, ...] = ()
    linear: bool = True  # every record that an operator emits goes to the next one
    replays: bool = True  # false: has times of its own
    others_key: str = ""  # of the JSON files of WindFlow
    # Scalability that the paper's table 4 has for Storm, Flink, BriskStream, WindFlow (64 cores).
    paper_scalability: tuple[float, ...] = field(default=())
    paper_blocks: tuple[int, ...] = field(default=())  # table 3
    paper_form: tuple[str, ...] = ()  # options for the paper's graph, where ours is another one

    @property
    def data(self) -> Path:
        return APPS / self.name / "data"

    def fill(self, words: tuple[str, ...], **values: object) -> list[str]:
        return [word.format(data=self.data, **values) for word in words]

    def missing(self) -> str:
        """Why it cannot run from this folder of applications; empty where it can."""
        file = self.data / self.bundled
        return "" if file.exists() else f"{file.relative_to(ROOT)} is not there"


CASES = [
    Case("fraud-detection", "FD", "transactions.csv", "golden/outliers-miss-probability.csv",
         ("--model", "{data}/model.txt"), others_key="fd",
         paper_scalability=(17.7, 24.8, 17.0, 27.1), paper_blocks=(4, 1, 2, 2, 1),
         paper_form=("--form", "paper")),
    Case("spike-detection", "SD", "readings.csv", "golden/spikes.csv", others_key="sd",
         paper_scalability=(2.75, 2.38, 6.14, 2.70), paper_blocks=(5, 1, 2, 2, 1),
         paper_form=("--form", "paper")),
    # Several replicas that match leave the order of a road's updates open: its end is checked.
    Case("traffic-monitoring", "TM", "fixes.csv", "golden/nearest-final.csv",
         ("--roads", "{data}/roads.csv"), golden_options=("--emit", "final"),
         linear=False, others_key="tm", paper_scalability=(26.4, 21.6, 16.3, 38.2),
         paper_blocks=(5, 1, 2, 2, 1),
         paper_form=("--form", "paper")),
    Case("word-count", "WC", "opticks.txt", "", ("--emit", "updates"),
         oracle=("awk", "-v", "updates=1", "-f", "{data}/../oracle.awk", "{data}/opticks.txt"),
         others_key="wc", paper_scalability=(5.20, 6.48, 8.57, 3.25),
         paper_blocks=(5, 1, 2, 2, 1),
         paper_form=("--form", "paper")),
    Case("yahoo-benchmark", "YB", "events.csv", "golden/counts.csv",
         ("--campaigns", "{data}/campaigns.csv"), program="replayed_ads", linear=False,
         replays=False, others_key="ysb",
         paper_scalability=(11.1, 8.46, 12.0, 6.48), paper_blocks=(6, 1, 2, 2, 1),
         paper_form=("--form", "paper")),
    Case("linear-road", "LR", "cars.csv.gz", "golden/answers.csv.gz",
         ("--history", "{data}/history.csv"),
         made_by=("run", "linear-road", "--minutes", "10", "--expressways", "20",
                  "--cars", "{cars}", "--accident-every", "5m", "--write-input", "--quiet",
                  "--output", "{made}"),
         linear=False, others_key="lr",
         paper_scalability=(1.27, 1.23, 1.30, 1.76), paper_blocks=(16, 5, 5, 4, 2),
         paper_form=("--form", "paper")),
    Case("voip-stream", "VS", "calls.csv", "golden/scores.csv",
         made_by=("run", "voip-stream", "--generate", "{count}", "--quiet", "--calls",
                  "{made}", "--output", "/dev/null"),
         golden_options=("--threshold", "0.3"),
         linear=False, others_key="vs", paper_scalability=(1.06, 1.39, 1.20, 1.46),
         paper_blocks=(32, 13, 14, 15, 9), paper_form=("--form", "paper")),
]

LATENCY_NAMES = ("fraud-detection", "spike-detection", "word-count", "linear-road", "voip-stream")
SPLIT_NAMES = ("linear-road", "voip-stream")


def draw(source: Path, count: int, target: Path) -> None:
    """Lines of a file at random, the same ones each time: the processor learns a short input that
    is replayed by heart."""
    lines = [line for line in source.read_bytes().split(b"\n") if line]
    target.write_bytes(b"\n".join(random.Random(1).choices(lines, k=count)) + b"\n")


def processors() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def core_counts(count: int) -> list[int]:
    """One to all cores; powers of two and all where there are more than eight."""
    if count <= 8:
        return list(range(1, count + 1))
    return sorted({*(1 << i for i in range(count.bit_length()) if 1 << i < count), count})


@dataclass(frozen=True)
class Variant:
    """A way to run an application: a name, the options, and what the page says of it."""
    name: str
    options: tuple[str, ...]
    text: str
    # "far", "one core": the tasks are placed by an affinity that is made for their number.
    placed: str = ""


THREAD_EACH = ("--mode", "dedicated", "--no-fuse")


def variants(cores: int) -> dict[str, Variant]:
    all_cores = str(cores)
    found = [
        Variant("one", ("--parallelism", "1"), "one replica an operator"),
        Variant("default", (), "no option"),
        Variant("measured", ("--measure",), "replicas by the measured cost of the operators"),
        Variant("thread_one", (*THREAD_EACH, "--parallelism", "1"),
                "a thread per operator, one replica an operator"),
        Variant("thread", (*THREAD_EACH, "--parallelism", all_cores),
                "a thread per replica, as many replicas as cores"),
        Variant("unfused", ("--no-fuse",), "every operator a task of its own"),
        Variant("pinned", ("--pin",), "workers pinned, neighbours in task order on near cores"),
        Variant("far", (), "each task on a core far from that of the task before it", "far"),
        Variant("one_core", (), "all tasks on one core", "one core"),
        Variant("thread_pinned", (*THREAD_EACH, "--parallelism", all_cores, "--pin"),
                "a thread per replica, pinned, neighbours on near cores"),
        Variant("thread_far", (*THREAD_EACH, "--parallelism", all_cores),
                "a thread per replica, neighbours on far cores", "far"),
        Variant("distributing", ("--composition", "dedicated"),
                "a distributing task for each producing replica"),
        Variant("centralised", ("--composition", "centralised"),
                "one distributing task for all replicas of a producer"),
    ]
    return {one.name: one for one in found}


# Which variants a figure is made of.
VARIANTS_OF = {
    "12": ("one", "default", "measured", "thread_one", "thread"),
    "13": ("default", "unfused"),
    "15": ("default", "pinned", "far", "one_core", "thread", "thread_pinned", "thread_far"),
    "18": ("default", "distributing", "centralised"),
}


def affinity(placed: str, tasks: int) -> list[str]:
    """Far: half of the cores lies between a task and the next, so that they share no cache where
    the machine has several groups of cores."""
    on = processors()
    if placed == "one core":
        return [str(on[0])] * tasks
    half = (len(on) + 1) // 2
    chosen = [on[(i // 2 % half + (half if i % 2 else 0)) % len(on)] for i in range(tasks)]
    return [str(processor) for processor in chosen]
