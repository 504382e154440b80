# SPDX-License-Identifier: Apache-2.0
"""The study of the exchange: quick, where its programs are built, and its text."""

import csv
import pathlib
import subprocess
import sys
import unittest

from program import PROGRAM, SOURCE, TIMEOUT_S, Case

STUDY = SOURCE / "papers/3-allocators/bench"
sys.path[:0] = [str(SOURCE / "memory-tools/memory"), str(STUDY)]
try:
    import paper
    import study_text
    from strid_memory import analysis, experiment, measures
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

BUILD = pathlib.Path(PROGRAM).parents[1]


class Text(unittest.TestCase):
    def analysed(self, means: dict[str, float]) -> analysis.Analysis:
        rows = [
            {"allocator": name, "cores": cores, "wall_s": mean + step * 0.01}
            for name, mean in means.items()
            for cores in (1, 2)
            for step in (-1, 0, 1)
        ]
        return analysis.analyse(measures.WALL, rows, list(means), [1, 2])

    def test_pairs_that_are_reversed(self):
        # In the paper, on four cores: TCMalloc 146.30 f, Jemalloc 151.43 e, Ptmalloc2 201.81 b.
        result = self.analysed({"glibc": 1.0, "tcmalloc": 2.0, "jemalloc": 3.0, "unknown": 9.0})
        texts = study_text.reversals(result, paper.PAPER["wall_s"], 2)
        self.assertEqual(
            texts,
            [
                "1 pair of allocators differs significantly, the same way in both studies.",
                "glibc is less than tcmalloc here, significantly; in the paper Ptmalloc2 is more"
                " than TCMalloc.",
                "glibc is less than jemalloc here, significantly; in the paper Ptmalloc2 is more"
                " than Jemalloc.",
            ],
        )

    def test_shares_of_the_variance(self):
        lines = study_text.compare(self.analysed({"glibc": 1.0, "jemalloc": 2.0}), [1, 2])
        # 12 values, of which half are 1 larger: 3 of 3.0008.
        self.assertIn("Of the variance: allocator 100 %, cores 0 %, interaction 0 %", lines[0])
        self.assertIn("allocator 6 %, cores 89 %, interaction 5 %, error 0 %", lines[0])
        self.assertIn("the least first: glibc and jemalloc", lines[1])

    def test_the_tables_of_the_paper_add_up(self):
        # Totals of tables I, III and V.
        totals = {"wall_s": 0.00094159, "mean_bytes": 0.15901, "extfrag_events": 0.3408}
        for key, table in paper.PAPER.items():
            self.assertAlmostEqual(sum(table.ss) / totals[key], 1, delta=1e-3)
            self.assertEqual({len(row) for row in table.means.values()}, {4})

    def test_sizes(self):
        rows = [
            {"seconds": "2", "bytes_at_most": size, "requests": count}
            for size, count in (("24", "60"), ("64", "20"), ("65", "15"), ("4096", "5"))
        ]
        sizes = study_text.Sizes(rows)
        self.assertEqual((sizes.total, sizes.most_frequent), (100, 24))
        self.assertAlmostEqual(sizes.share_to(64), 0.8)
        text = study_text.sizes_text({"data": sizes})[0]
        self.assertIn("100 requests, 50 a second (paper: 50000); 80 % of at most 64 bytes", text)


class Fragmentation(Case):
    """The page where the kernel counts no events; the runs are made up."""

    KEYS = ["wall_s", "processor_s", "peak_bytes", "mean_bytes", "minor_faults", "major_faults",
            "not_live_bytes", "unusable_change", "order_p50_ms", "order_p99_ms"]

    def report(self, events: str | None) -> study_text.Study:
        folder = experiment.Folder(self.folder / str(events))
        folder.begin({
            "command": ["load"], "command_text": "the exchange under load", "repeat": 3, "seed": 1,
            "allocators": {"glibc": None, "hoard": "/lib/hoard.so"}, "not_installed": [],
            "left_out": {}, "cores": [1, 2], "processors": {"1": [0], "2": [0, 1]},
            "spare_processors": True, "metric": None, "event": None, "machine": "a machine",
            "not_measured": {"extfrag_events": events} if events else {},
        })
        rows = [
            {"allocator": name, "cores": cores, "repeat": repeat,
             **{key: base * cores + repeat / 100 for key in self.KEYS},
             "extfrag_events": None if events else base * cores + repeat / 10}
            for name, base in (("glibc", 1.0), ("hoard", 2.0))
            for cores in (1, 2)
            for repeat in (1, 2, 3)
        ]
        with folder.path.joinpath("runs.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        return study_text.Study({"w2": folder}, {})

    def test_other_measures_stand_for_events_that_are_not_counted(self):
        study = self.report("tracefs is not mounted")
        found = dict(study.comparison())
        [why] = found["In the place of figure 13, under w2"]
        self.assertIn("no events are compared: tracefs is not mounted.", why)
        report = study.reports["w2"]
        for key in study_text.IN_PLACE_OF_EVENTS:
            title = report.of(key).measure.title
            self.assertIn("In the paper, on 4 cores: TLSF", " ".join(found[f"{title} under w2"]))
            section = study.section("w2", report, report.of(key))
            self.assertTrue(section.startswith(f"<h2>In the place of figure 13: {title}"), title)

    def test_events_that_are_counted_are_compared(self):
        study = self.report(None)
        found = dict(study.comparison())
        self.assertNotIn("In the place of figure 13, under w2", found)
        [_, here, *_] = found["Fragmentation events under w2"]
        self.assertIn("the least first: glibc and hoard", here)


class Allocators(Case):
    def test_a_library_that_is_not_there_is_an_error(self):
        text = self.folder / "text.so"
        text.write_text("no library")
        words = [sys.executable, "-B", STUDY / "study.py", "--build", BUILD, "--quick"]
        for path, reason in ((self.folder / "gone.so", "No such file"), (text, "not a library")):
            result = subprocess.run(
                [*map(str, words), "--output", str(self.folder / "out"), "--allocators",
                 f"glibc,hoard={path}"],
                capture_output=True, text=True, timeout=TIMEOUT_S,
            )
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(f"--allocators hoard: {path}: {reason}", result.stderr)
            self.assertFalse((self.folder / "out").exists())


class Quick(Case):
    def test_the_whole_study(self):
        names = ["core", "session", "data", "load"]
        absent = [n for n in names if not (BUILD / "tools" / f"strid-exchange-{n}").exists()]
        if absent:
            self.skipTest(f"strid-exchange-{absent[0]} is not built")
        if b"__asan_init" in (BUILD / "tools/strid-exchange-core").read_bytes():
            self.skipTest("a sanitizer has a malloc of its own")
        out = self.folder / "study"
        words = [sys.executable, "-B", STUDY / "study.py", "--build", BUILD]
        result = subprocess.run(
            [*map(str, words), "--quick", "--output", str(out), "--seed", "1"],
            capture_output=True,
            text=True,
            timeout=3 * TIMEOUT_S,
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        page = (out / "study.html").read_text()
        for text in ("Figure 11, tables I and II", "Figure 12, tables III and IV", "Figure 13"):
            self.assertIn(text, page)
        for kind in ("w1", "w2"):
            with (out / kind / "runs.csv").open(newline="") as file:
                rows = list(csv.DictReader(file))
            runs = {(row["allocator"], row["cores"], row["repeat"]) for row in rows}
            self.assertEqual(len(runs), len(rows))
            self.assertEqual(
                len({row["allocator"] for row in rows}) * 2,
                len({(row["allocator"], row["repeat"]) for row in rows}),
            )
            for row in rows:
                self.assertEqual(float(row["load_requests"]), 300)
                parts = [float(row[f"{name}_peak_bytes"]) for name in names[:3]]
                self.assertAlmostEqual(float(row["peak_bytes"]), sum(parts))


if __name__ == "__main__":
    unittest.main()
