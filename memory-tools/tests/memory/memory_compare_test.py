# SPDX-License-Identifier: Apache-2.0
"""strid memory compare: what it runs, measures and keeps (statistics: memory_statistics_test.py).

The allocators are those of the machine, and libraries that are compiled here and fail on purpose.
"""

import os
import re
import shutil
import signal
import subprocess
import time
import unittest
import unittest.mock

from memory_compare_case import CompareCase
from memory_compare_refusals import Refusals  # noqa: F401, tests of this command, too
from program import PROGRAM, TIMEOUT_S
from strid_memory import live
from strid_memory.allocators import Allocator
from strid_memory.experiment import plan
from strid_memory.runner import RunFailed, RunSettings, run_once


class Experiments(CompareCase):
    def test_two_allocators_on_two_numbers_of_cores(self):
        usable = len(os.sched_getaffinity(0))
        cores = "1,2" if usable > 1 else "1"
        chosen = f"glibc,{self.other()}"
        words = ["--allocators", chosen, "--cores", cores, "--repeat", 5, "--seed", 7]
        result = self.compare(*words, "--", self.churn(), "200000")
        rows = self.rows()
        runs = {(r["allocator"], r["cores"], r["repeat"]) for r in rows}
        wanted = {
            (a, c, str(r)) for a in chosen.split(",") for c in cores.split(",") for r in range(1, 6)
        }
        self.assertEqual(runs, wanted)
        self.assertEqual(len(rows), len(wanted))
        # Random order: not sorted by allocator.
        order = [r["allocator"] for r in rows]
        self.assertNotIn(order, (sorted(order), sorted(order, reverse=True)))
        for row in rows:
            # user and system time of one thread are at most the time that passed
            self.assertLessEqual(float(row["processor_s"]), float(row["wall_s"]) + 0.02)
            self.assertGreater(float(row["processor_s"]), 0)
            # 500 blocks of 16 to 516 bytes are live, and a program of C needs a MiB
            self.assertGreater(float(row["peak_bytes"]), 1 << 20)
            self.assertLess(float(row["peak_bytes"]), 64 << 20)
        numbers = self.results()
        wall = next(m for m in numbers["measures"] if m["key"] == "wall_s")
        for cell in wall["cells"]:
            values = [
                float(r["wall_s"])
                for r in rows
                if (r["allocator"], int(r["cores"])) == (cell["allocator"], cell["cores"])
            ]
            self.assertAlmostEqual(cell["mean"], sum(values) / 5, places=12)
        names = [source["name"] for source in wall["anova"]]
        self.assertEqual(names[-2:], ["Error", "Total"])
        self.assertEqual(wall["anova"][-1]["df"], len(rows) - 1)
        page = (self.out / "report.html").read_text()
        self.assertIn("<svg", page)
        self.assertIn("Shapiro-Wilk", page)
        self.assertNotRegex(page, r'(?:src|href)="(?!#)')  # nothing from elsewhere
        printed = " ".join(result.stdout.decode().split())  # which is wrapped
        self.assertIn(numbers["advice"], printed)
        self.assertIn(b"seed 7", result.stderr)

    def test_the_seed_gives_the_order(self):
        runs = plan(["a", "b", "c"], [1, 2], 4, 5)
        self.assertEqual(runs, plan(["a", "b", "c"], [1, 2], 4, 5))
        self.assertNotEqual(runs, plan(["a", "b", "c"], [1, 2], 4, 6))
        self.assertEqual(len(set(runs)), 24)


class Measures(CompareCase):
    """One run, by the function that all runs go through."""

    def measured(self, *command, **options) -> dict:
        settings = RunSettings([str(word) for word in command], **options)
        cpus = sorted(os.sched_getaffinity(0))[:1]
        return run_once(settings, Allocator("glibc", None), cpus)

    def test_a_number_that_the_command_prints(self):
        pattern = re.compile(r"per second: (\d+)")
        self.assertEqual(self.measured(self.churn(), metric=pattern)["metric"], 1250)
        with self.assertRaisesRegex(RunFailed, "nothing that matches"):
            self.measured(self.churn(), metric=re.compile("absent"))

    def test_the_metric_is_the_last_of_what_is_printed(self):
        script = "head -c 300000000 /dev/zero; echo; echo value 5; echo value 6"
        values = self.measured("sh", "-c", script, metric=re.compile(r"value (\d)"))
        self.assertEqual(values["metric"], 6)

    def test_standard_input_is_a_file(self):
        given = self.folder / "given"
        given.write_text("4\n")
        values = self.measured("cat", metric=re.compile(r"\d+"), stdin=given)
        self.assertEqual(values["metric"], 4)

    def test_memory_that_is_known(self):
        # 48 MiB held for half of the time, or what a busy machine makes of it.
        source = r"""
            #include <stdio.h>
            #include <stdlib.h>
            #include <string.h>
            #include <time.h>
            #include <unistd.h>
            int main() {
                struct timespec begin, end;
                usleep(300000);
                char* held = malloc(48 << 20);
                memset(held, 1, 48 << 20);
                clock_gettime(CLOCK_MONOTONIC, &begin);
                usleep(300000);
                clock_gettime(CLOCK_MONOTONIC, &end);
                printf("%f\n", end.tv_sec - begin.tv_sec + 1e-9 * (end.tv_nsec - begin.tv_nsec));
                return held[5] - 1;
            }"""
        values = self.measured(self.compiled("holds", source), metric=re.compile(r"[\d.]+"))
        mib = 1 << 20
        self.assertTrue(48 * mib < values["peak_bytes"] < 52 * mib, values)
        mean = 48 * mib * values["metric"] / values["wall_s"] + mib
        self.assertAlmostEqual(values["mean_bytes"], mean, delta=12 * mib)
        self.assertGreater(values["minor_faults"], 48 * mib / 4096 / 600)  # huge pages at most
        self.assertGreater(values["wall_s"], 0.6)
        self.assertLess(values["processor_s"], 0.3)

    def test_children_count(self):
        spin = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
        values = self.measured("sh", "-c", f"python3 -c '{spin}' & python3 -c '{spin}'; wait")
        self.assertGreater(values["processor_s"], 0.6)

    def test_an_event_that_the_kernel_does_not_count(self):
        # None has this number; without permission the answer is another refusal.
        values = self.measured("true", event=10**9)
        self.assertIsNone(values["extfrag_events"])
        self.assertTrue(values["event_refusal"])

    def test_live_bytes_of_a_traced_run(self):
        source = r"""
            #include <stdlib.h>
            #include <string.h>
            int main() {
                char* volatile held = malloc(30 << 20);
                char* volatile more = malloc(20 << 20);
                memset(more, 1, 20 << 20);
                free(held);
                held = malloc(10 << 20);
                return more[5] - 1 + (held == 0);
            }"""
        settings = RunSettings([str(self.compiled("live", source))])
        try:
            with unittest.mock.patch("sys.argv", [PROGRAM]):  # the library lies beside it
                peak = live.peak_live_bytes(settings, Allocator("glibc", None))
        except live.NotTraced as reason:
            self.skipTest(str(reason))
        self.assertAlmostEqual(peak, 50 << 20, delta=1 << 16)

    def test_a_command_that_becomes_another_user(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("needs root and setpriv")
        self.folder.chmod(0o755)
        self.measured("setpriv", "--reuid=65534", "--clear-groups", self.churn(), "20000000")

    def test_a_program_that_is_removed_while_it_runs(self):
        copy = self.folder / "copy"
        self.measured("sh", "-c", f"cp /bin/sleep {copy}; {copy} 0.2 & sleep 0.1; rm {copy}; wait")

    def test_what_the_command_leaves_is_killed(self):
        mark = f"31.4{os.getpid()}"
        values = self.measured("sh", "-c", f"sleep {mark} & exit 0")
        self.assertEqual(values["left_behind"], 1)
        self.assertLess(values["wall_s"], 20)
        left = subprocess.run(["pgrep", "-f", f"sleep {mark}"], capture_output=True, text=True)
        self.assertEqual(left.stdout, "")


class Interruptions(CompareCase):
    def begun(self, *command) -> subprocess.Popen:
        self.needs_package("statsmodels")
        words = ["--allocators", "glibc", "--cores", "1", "--repeat", "6", "--warmup", "0"]
        process = subprocess.Popen(
            [PROGRAM, "compare", "--output", self.out, *words, "--", *command],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.addCleanup(process.kill)
        self.addCleanup(process.stderr.close)
        for _ in range(1000):
            runs = self.out / "runs.csv"
            if runs.exists() and runs.read_bytes().count(b"\n") >= 3:
                return process
            time.sleep(0.01)
        self.fail("it makes no runs")

    def test_control_c_keeps_the_runs_and_resume_goes_on(self):
        process = self.begun("sleep", "0.3")
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, errors = process.communicate(timeout=TIMEOUT_S)
        self.assertEqual(process.returncode, 130, errors)
        self.assertRegex(errors.decode(), r"interrupted; \d runs are in")
        kept = (self.out / "runs.csv").read_text()
        self.assertTrue(3 <= kept.count("\n") < 7, kept)
        # The remains of a fault of the machine: half a line.
        with (self.out / "runs.csv").open("a") as file:
            file.write("glibc,1,")
        self.compare("--resume", "--repeat", 7, "--", "sleep", "0.3")
        text = (self.out / "runs.csv").read_text()
        self.assertTrue(text.startswith(kept))
        self.assertEqual(sorted(int(r["repeat"]) for r in self.rows()), [1, 2, 3, 4, 5, 6, 7])
        line = self.refuses("--resume", "--", "sleep", "0.4")
        self.assertIn("another command", line)

    def test_the_command_ends_with_the_program(self):
        mark = f"0.3{os.getpid()}"
        process = self.begun("sleep", mark)
        process.kill()
        process.wait()
        for _ in range(200):
            left = subprocess.run(["pgrep", "-f", f"sleep {mark}"], capture_output=True)
            if not left.stdout:
                break
            time.sleep(0.02)
        self.assertEqual(left.stdout, b"")

    def test_a_folder_that_is_damaged(self):
        self.out.mkdir()
        for text, reason in [
            ("{", "not JSON"),
            ('{"format": 9}', "not an experiment of this version"),
            ('{"format": 1}', "experiment.json has no"),
        ]:
            (self.out / "experiment.json").write_text(text)
            self.assertIn(reason, self.refuses("--resume"))

    def test_nothing_to_resume(self):
        self.assertIn("nothing to resume", self.refuses("--resume", "--", "true"))


if __name__ == "__main__":
    unittest.main()
