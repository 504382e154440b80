# SPDX-License-Identifier: Apache-2.0
"""The report: its arithmetic, files of peers, and verdicts out of rows that are made up."""

import importlib.util
import json
import sys
import unittest

from bundled import PAPER
from command_line import SOURCE, Case

REPORT = SOURCE / "papers/2-windflow/bench/report"
PEERS = SOURCE / "build/peers/python"
sys.path[:0] = [str(REPORT), str(SOURCE / "bench")]
if PEERS.is_dir():
    sys.path.append(str(PEERS))


def has_matplotlib():
    if (PEERS / "matplotlib").is_dir():
        return True
    return importlib.util.find_spec("matplotlib") is not None


class ReportParts(unittest.TestCase):
    def test_percentiles(self):
        from reporting import percentile
        histogram = [[10, 50], [20, 45], [40, 4], [80, 1]]
        found = [percentile(histogram, percent) for percent in (5, 50, 50.1, 95, 99, 99.9)]
        self.assertEqual(found, [10, 10, 20, 20, 40, 80])

    def test_peers_are_given_the_options_that_strid_is_given(self):
        from cases import CASES
        sys.path.append(str(SOURCE / "papers/2-windflow/bench/peers"))
        from applications import APPLICATIONS
        for case in CASES:
            theirs = APPLICATIONS[case.name]
            if not case.program:  # that one makes its events
                self.assertEqual([word.replace("{app}", str(PAPER / case.name))
                                  for word in (*theirs.options, *theirs.measured)],
                                 case.fill(case.options), case.name)

    def test_blocks_of_the_paper_are_those_that_its_rules_give(self):
        from cases import CASES
        text = (SOURCE / "tests/block/table3_test.cpp").read_text()
        for case in CASES:
            row = ", ".join(map(str, case.paper_blocks))
            # Those of VS are what the paper prints, and not what its rules give.
            self.assertIn(f"paper prints ({row})" if case.short == "VS" else
                          f"(BlockCounts{{{row}}})", text, case.short)

    def test_ratios_by_turns_are_of_the_same_round_cores_and_engines(self):
        import tempfile
        from pathlib import Path
        sys.path.append(str(SOURCE / "papers/pages"))
        from report_values import by_turns, Rows
        lines = ["application,engine,cores,round,per_second,setting"]
        for application, rounds in (("FD", ((8, 2), (30, 3), (10, 5))), ("SD", ((1, 2),))):
            for number, (one, other) in enumerate(rounds):
                lines += [f"{application},WindFlow,1,{number},{one},chained",
                          f"{application},WindFlow,1,{number},{one - 1},not chained",
                          f"{application},Flink,1,{number},{other},"]
        lines.append("FD,Strid,2,0,9,")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "turns.csv").write_text("\n".join(lines) + "\n")
            found = {(one.series, one.at): one for one in by_turns(Rows(Path(folder)))}
        ratio = found["WindFlow over Flink, one core", "FD"]
        self.assertEqual((ratio.value, ratio.low, ratio.high, ratio.rounds), (4, 2, 10, 3))
        self.assertEqual([found["WindFlow over Flink, one core", at].value
                          for at in ("worst", "average", "best")], [0.5, 2.25, 4])
        self.assertEqual(found["Flink, one core", "FD"].value, 3)
        self.assertEqual(found["Strid, two cores", "FD"].value, 9)
        self.assertNotIn("Strid over Flink, two cores", {series for series, _ in found})

    def test_core_counts(self):
        from cases import core_counts
        self.assertEqual(core_counts(1), [1])
        self.assertEqual(core_counts(6), [1, 2, 3, 4, 5, 6])
        self.assertEqual(core_counts(48), [1, 2, 4, 8, 16, 32, 48])

    def test_neighbours_are_half_the_machine_apart(self):
        import cases
        before = cases.processors
        self.addCleanup(setattr, cases, "processors", before)
        cases.processors = lambda: list(range(8))
        self.assertEqual(cases.affinity("far", 6), ["0", "4", "1", "5", "2", "6"])
        self.assertEqual(cases.affinity("one core", 3), ["0", "0", "0"])
        cases.processors = lambda: [3]
        self.assertEqual(cases.affinity("far", 2), ["3", "3"])



@unittest.skipUnless(has_matplotlib(), "no matplotlib")
class ReportPeers(Case):
    """Files of peers, and what the page says of them."""

    def peer_file(self, purpose, rounds, **members):
        self.files = getattr(self, "files", 0) + 1
        text = json.dumps({"purpose": purpose, "application": "word-count", "rounds": rounds,
                           **members})
        return self.file(f"{self.files}.json", text.encode())

    @staticmethod
    def rates(*rounds):
        return [{"engine": engine, "parallelism": degree, "records_per_second": rate,
                 "version": "1.20.2"} for engine, degree, rate in rounds]

    def test_rates_and_latencies(self):
        from others import read_runs
        from peer_runs import settings_of
        from reporting import PERCENTILES
        files = [self.peer_file(
            "throughput", self.rates(("flink", 1, 10.0), ("flink", 2, 30.0), ("flink", 1, 12.0),
                                     ("flink", 2, 26.0), ("strid", 1, 99.0)),
            settings={"flink": "heap of 2 GB"})]
        files.append(self.peer_file("latency", [
            {"engine": "flink", "parallelism": 1, "latency_us": dict.fromkeys(PERCENTILES, us)}
            for us in (3, 9, 4)]))
        peers = read_runs(files)
        self.assertEqual(list(peers), ["Flink"])
        peer = peers["Flink"]["word-count"]
        self.assertEqual((peer.one, peer.best, peer.best_text),
                         ([10, 12], [30, 26], "parallelism 2"))
        self.assertEqual((peer.latency_us["50"], peer.latency_text), (4, "parallelism 1"))
        text = settings_of(peers["Flink"], given=False)
        self.assertIn("throughput: heap of 2 GB", text)
        self.assertIn("measured before Strid, not by turns", text)
        self.assertIn("measured at another time", settings_of(peers["Flink"], given=True))

    def test_rows_that_match_nothing_are_errors(self):
        from others import read_runs, windflow
        from cases import CASES
        from store import RunError
        rounds = self.rates(("flink", 1, 10.0))
        for file, said in (
                (self.peer_file("speed", rounds), "no purpose 'speed'"),
                (self.peer_file("throughput", self.rates(("spark", 1, 1.0))), "no engine 'spark'"),
                (self.peer_file("throughput", self.rates(("strid", 1, 1.0))), "no round of flink"),
                (self.peer_file("latency", rounds), "a latency needs the percentiles"),
                (self.peer_file("throughput", rounds, application="words"),
                 "no application 'words'")):
            with self.subTest(said=said), self.assertRaisesRegex(RunError, said):
                read_runs([file])
        for found, said in (({"ysp": {"records_per_second": [1]}}, "no application 'ysp'"),
                            ({"wc": {"records_per_second": [1]}}, "it has none of sd"),
                            ({"sd": {}}, "neither rates nor a latency"),
                            ({"sd": {"latency": {"spinning": {}}}}, "neither rates nor")):
            with self.subTest(said=said), self.assertRaisesRegex(RunError, said):
                windflow(self.file("windflow.json", json.dumps(found).encode()), CASES[1:2])


@unittest.skipUnless(has_matplotlib(), "no matplotlib")
class ReportVerdicts(Case):
    """The list of worse figures on the page follows from the rows."""

    def context(self, rows, **peers):
        import types
        from cases import CASES, variants
        from context import QUICK, Context
        from store import Store
        store = Store(self.folder / "report", 2, {}, resume=False)
        for key, row in rows.items():
            store.once(key, lambda row=row: row)
        runner = types.SimpleNamespace(variants=variants(2), checked=lambda case, variant: variant)
        return Context(self.folder / "report", QUICK, [1, 2], store, runner,
                       [case for case in CASES if case.short in ("SD", "TM")], peers)

    def throughput(self, **rates):
        return {("throughput", name, way, 0): {"records": rates.get(way, 100), "seconds": 1}
                for name in ("spike-detection", "traffic-monitoring")
                for way in ("default", "unfused", "pinned", "far", "one_core", "thread",
                            "thread_pinned", "thread_far", "distributing", "centralised")}

    def test_pinned_threads_count_too(self):
        from throughput_figures import figure_15
        even = figure_15(self.context(self.throughput()))[0].worse
        self.assertRegex(even, "^No application is more than 3 % slower .* thread per replica")
        worse = figure_15(self.context(self.throughput(thread_pinned=90)))[0].worse
        self.assertEqual(worse, "More than 3 % slower with our pinning than without: "
                                "SD 0.90 (threads); TM 0.90 (threads).")

    def test_the_margin_is_said(self):
        from throughput_figures import figure_13, figure_18
        self.assertEqual(figure_13(self.context(self.throughput(unfused=102)))[0].worse,
                         "No application is more than 3 % slower with chaining.")
        self.assertIn("More than 3 % slower with chaining: SD 0.91",
                      figure_13(self.context(self.throughput(unfused=110)))[0].worse)
        self.assertIn("More than 3 % faster with another rule: SD 1.10 (one central",
                      figure_18(self.context(self.throughput(centralised=110)))[0].worse)

    def test_spinning_is_told_by_its_threads(self):
        from other_figures import waiting
        rows = {("waiting", "traffic-monitoring", way, degree, 0):
                {"records": 130 if (way, degree) == ("spin", 2) else 100, "seconds": 1,
                 "tasks": 4 * degree, "command": "strid"}
                for way in ("park", "spin") for degree in (2, 4)}
        self.assertEqual(waiting(self.context(rows))[0].worse,
                         "Spinning is more than 3 % faster than our default: "
                         "1.30 times with 8 threads.")
        rows["waiting", "traffic-monitoring", "spin", 2, 0]["records"] = 101
        self.assertEqual(waiting(self.context(rows))[0].worse, "No number of threads here makes "
                         "spinning more than 3 % faster than our default.")

    def test_latencies_are_medians_of_rounds(self):
        from other_figures import figure_16
        from others import Peer
        from reporting import PERCENTILES
        # Merged, the rounds would have 1 ms at the 75th percentile and above.
        rows = {("latency", "spike-detection", 10000, number):
                {"histogram_ns": [[bound, 100]]} for number, bound in
                enumerate((1000, 2000, 1000000))}

        def figure(us):
            peer = Peer(latency_us=dict.fromkeys(PERCENTILES, us), latency_text="parallelism 1")
            return figure_16(self.context(rows, Flink={"spike-detection": peer}))[0]
        self.assertEqual(figure(2.0).tables[0][1][0], ["SD, Strid", *["2"] * 7])
        self.assertRegex(figure(1.98).worse, r"^No median and no 99th percentile of Strid is more "
                                             r"than 3 % above that of another: Flink \(SD\)")
        self.assertIn("SD: Flink 1 us in the median and 1 at the 99th percentile, Strid 2 and 2",
                      figure(1.0).worse)
        self.assertIn("Flink: SD parallelism 1.", figure(1.0).notes)

    def test_the_split_is_judged_by_its_parts(self):
        from other_figures import split_verdict
        mine = {"user code": 10.0, "engine": 2.0, "waiting": 3.0}
        self.assertEqual(split_verdict({"LR": mine}), "No part is larger than the user code: LR.")
        self.assertEqual(split_verdict({"LR": mine, "VS": {**mine, "waiting": 30.0}}),
                         "User code is not the largest part:\nVS: waiting is the largest part, "
                         "30.0 us of 42.0; user code has 10.0")

    def test_numbers_of_threads_that_change_are_an_error(self):
        from other_figures import threads_of
        from store import RunError
        with self.assertRaisesRegex(RunError, "had 4 and 5 threads in its rounds"):
            threads_of([{"tasks": 4, "command": "strid"}, {"tasks": 5, "command": "strid"}])


if __name__ == "__main__":
    unittest.main()
