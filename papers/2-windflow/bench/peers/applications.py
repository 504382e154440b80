# SPDX-License-Identifier: Apache-2.0
"""The applications that the engines have, and what peers.py runs them on."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Check:
    """An answer that an engine must give."""

    golden: str  # below the application's folder; empty: the oracle is asked
    options: tuple = ()
    key_order: int = 0  # of compare.py
    oracle: tuple = ()  # the command that prints the answer


@dataclasses.dataclass(frozen=True)
class Application:
    """A run. Options have the names of strid run, on the engines too.

    {app} stands for the folder of the application, {made} for the one of inputs that are made.
    """

    input: str
    checks: tuple  # of Check
    options: tuple = ()
    measured: tuple = ()  # more options of throughput and latency
    measured_input: str = ""  # otherwise input
    prepare: tuple = ()  # the arguments of data/prepare.py that make measured_input
    engines: tuple = ("flink",)
    latency: bool = True  # not where times are assigned on the way


APPLICATIONS = {
    "fraud-detection": Application(
        "{app}/data/transactions.csv",
        tuple(Check(f"golden/outliers-{score}.csv", ("--score", score), 1)
              for score in ("miss-probability", "miss-rate", "entropy-reduction")),
        options=("--model", "{app}/data/model.txt"),
        engines=("flink", "storm"),
    ),
    "spike-detection": Application(
        "{app}/data/readings.csv",
        (Check("golden/spikes.csv", key_order=1),),
        engines=("flink", "storm"),
    ),
    "word-count": Application(
        "{app}/data/opticks.txt",
        (Check("golden/counts.csv"),
         Check("", ("--emit", "updates"), 1,
               ("awk", "-v", "updates=1", "-f", "{app}/oracle.awk", "{app}/data/opticks.txt"))),
        measured=("--emit", "updates"),
        engines=("flink", "storm"),
    ),
    "yahoo-benchmark": Application(
        "{app}/data/events.csv",
        # The second has views that are late.
        (Check("golden/counts.csv"),
         Check("", ("--window", "700ms", "--disorder", "100ms"), 0,
               ("python3", "{app}/oracle.py", "{app}/data/events.csv", "{app}/data/campaigns.csv",
                "--window-ms", "700", "--disorder-ms", "100"))),
        options=("--campaigns", "{app}/data/campaigns.csv"),
        # As ad_events.hpp makes them for us: 100 a millisecond, at most 200 ms behind.
        measured=("--campaigns", "{made}/campaigns.csv", "--disorder", "200ms"),
        measured_input="{made}/events.csv",
        prepare=("{made}/events.csv", "{made}/campaigns.csv", "--events", "1000000",
                 "--rate", "100000", "--disorder-ms", "200"),
        latency=False,
    ),
    "traffic-monitoring": Application(
        "{app}/data/fixes.csv",
        (Check("golden/nearest-updates.csv", key_order=1),
         Check("golden/nearest-final.csv", ("--emit", "final"))),
        options=("--roads", "{app}/data/roads.csv"),
    ),
    "linear-road": Application(
        "{app}/data/cars.csv.gz",
        (Check("golden/answers.csv.gz"),),
        options=("--history", "{app}/data/history.csv"),
    ),
    "voip-stream": Application(
        "{app}/data/calls.csv",
        # The second has filters so small that they err.
        (Check("golden/scores.csv", ("--threshold", "0.3"), 1),
         Check("", ("--numbers", "64", "--pairs", "5000"), 1,
               ("python3", "{app}/oracle.py", "{app}/data/calls.csv", "--filters", "bloom",
                "--numbers", "64", "--pairs", "5000"))),
    ),
}
