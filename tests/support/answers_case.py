# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of applications: an application against its oracle, under every way
to run it. The golden answers of the bundled input are the oracle's too (make-golden.sh).
"""

import json
import os
import subprocess
import sys
import unittest

from command_line import SOURCE, Case

DATASETS = SOURCE.parent / "shared/datasets"


def all_ways():
    """Options of `run`: parallelism 1 to 4 in both modes, other layouts, the simulation.

    One of each kind where STRID_FEW_WAYS is set, as in the builds that are many times slower.
    """
    if os.environ.get("STRID_FEW_WAYS"):
        return [
            ["--workers", 2, "--parallelism", 3],
            ["--parallelism", 2, "--mode", "dedicated"],
            ["--parallelism", 2, "--mode", "dedicated", "--composition", "centralised"],
            ["--workers", 2, "--waiting", "spin"],
            ["--no-fuse", "--parallelism", 2],
            ["--composition", "centralised", "--parallelism", 2],
            ["--mode", "simulation", "--seed", 1, "--parallelism", 2],
        ]
    ways = []
    for replicas in range(1, 5):
        ways.append(["--parallelism", replicas])
        ways.append(["--parallelism", replicas, "--mode", "dedicated"])
    ways.append([])
    ways.append(["--workers", 1])
    ways.append(["--workers", 3, "--parallelism", 2, "--pin"])
    ways.append(["--no-fuse", "--parallelism", 2])
    ways.append(["--composition", "dedicated", "--parallelism", 2])
    ways.append(["--composition", "centralised", "--parallelism", 3])
    for composition in ["dedicated", "centralised"]:
        ways.append(["--mode", "dedicated", "--composition", composition, "--parallelism", 2])
    ways.append(["--waiting", "spin", "--parallelism", 2])
    ways.append(["--waiting", "spin", "--mode", "dedicated", "--parallelism", 2])
    for seed in range(1, 7):
        ways.append(["--mode", "simulation", "--seed", seed, "--parallelism", 1 + seed % 4])
    return ways


def python_with_pandas():
    """This interpreter or that of the system, for which Debian packages pandas; or None."""
    for python in filter(os.path.exists, (sys.executable, "/usr/bin/python3")):
        if not subprocess.run([python, "-c", "import pandas"], capture_output=True).returncode:
            return python
    return None


class Answers(Case):
    ways = staticmethod(all_ways)

    def answers_everywhere(self, expected, key_order, application, source, *options):
        out = self.folder / "out.csv"
        for way in self.ways():
            with self.subTest(way=way):
                self.strid(
                    "run", application, "--input", source, "--output", out, *options, *way
                )
                self.same_answer(expected, out, key_order)

    def answers_through_pipes(self, expected, key_order, application, source, *options):
        for way in [[], ["--parallelism", 2, "--mode", "dedicated"], ["--mode", "simulation"]]:
            with self.subTest(way=way), open(source, "rb") as stdin:
                result = self.strid("run", application, *options, *way, stdin=stdin)
                self.same_answer(expected, self.file("out.csv", result.stdout), key_order)
            cat = subprocess.Popen(["cat", source], stdout=subprocess.PIPE)
            with self.subTest(way=way, stdin="a pipe"):
                result = self.strid("run", application, *options, *way, stdin=cat.stdout)
                self.same_answer(expected, self.file("out.csv", result.stdout), key_order)
            cat.stdout.close()
            cat.wait()

    def oracle(self, *command):
        result = subprocess.run(list(map(str, command)), capture_output=True, check=True,
                                env={"LC_ALL": "C", "PATH": "/usr/bin:/bin:/usr/local/bin",
                                     "PYTHONPATH": os.environ.get("PYTHONPATH", "")})
        return self.file("expected.csv", result.stdout)

    def late(self, *run):
        """How many records were late at each operator in a run."""
        metrics = self.folder / "metrics.json"
        self.strid("run", *run, "--metrics", metrics)
        return {one["name"]: one["records_late"]
                for segment in json.loads(metrics.read_text())["segments"]
                for one in segment["operators"]}


class ByPandas:
    """The tests of an application with the oracle that pandas has for it, in few ways to run."""

    script = "oracle_pandas.py"

    @staticmethod
    def ways():
        return [["--parallelism", 1], ["--parallelism", 3, "--mode", "dedicated"]]

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.python = python_with_pandas()
        if cls.python is None:
            raise unittest.SkipTest("no pandas (Debian's python3-pandas): its oracle is not asked")
