# SPDX-License-Identifier: Apache-2.0
"""The applications that the engines have, and what peers.py runs them on."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Check:
    golden: str  # below the application's folder
    options: tuple = ()
    key_order: int = 0  # of compare.py


@dataclasses.dataclass(frozen=True)
class Application:
    """What is run. Options have the names of strid run, on the engines too.

    {app} stands for the folder of the application, {made} for the one of inputs that are made.
    """

    input: str
    checks: tuple  # of Check
    options: tuple = ()
    measured: tuple = ()  # more options of throughput and latency
    measured_input: str = ""  # otherwise input
    prepare: tuple = ()  # the arguments of data/prepare.py that make measured_input
    engines: tuple = ("flink",)
    on_strid: bool = True  # strid run can replay it


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
        (Check("golden/counts.csv"),),
        measured=("--emit", "updates"),
        engines=("flink", "storm"),
    ),
    "yahoo-benchmark": Application(
        "{app}/data/events.csv",
        (Check("golden/counts.csv"),),
        options=("--campaigns", "{app}/data/campaigns.csv"),
        measured=("--campaigns", "{made}/campaigns.csv"),
        measured_input="{made}/events.csv",
        prepare=("{made}/events.csv", "{made}/campaigns.csv", "--events", "1000000",
                 "--rate", "1000000"),
        on_strid=False,
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
        (Check("golden/scores.csv", ("--threshold", "0.3"), 1),),
    ),
}
