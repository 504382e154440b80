# SPDX-License-Identifier: Apache-2.0
"""strid memory compare: what it runs, checks and keeps. Its statistics: memory_statistics_test.py.

The allocators are those of the machine, and libraries that are compiled here and fail on purpose.
"""

import csv
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

from program import PROGRAM, SOURCE, TIMEOUT_S, Case

sys.path.insert(0, str(SOURCE / "tools/memory"))
os.environ["STRID_MEMORY_LIBRARIES"] = str(pathlib.Path(PROGRAM).parent / "memory")
from strid_memory.allocators import Allocator, installed  # noqa: E402  (the path comes first)
from strid_memory.experiment import plan  # noqa: E402
from strid_memory.runner import RunFailed, RunSettings, run_once  # noqa: E402

CC = shutil.which("cc")
# Allocates as a program does, and prints a number.
CHURN = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int count, char** words) {
    enum { slots = 500 };
    static char* held[slots];
    unsigned seed = 1;
    for (int i = 0; i < (count > 1 ? atoi(words[1]) : 20000); ++i) {
        seed = seed * 1664525u + 1013904223u;
        char** slot = &held[(seed >> 8) % slots];
        free(*slot);
        *slot = malloc(16 + (seed >> 20) % 500);
        memset(*slot, 1, 16);
    }
    printf("rounds per second: %d\n", 1250);
    return 0;
}
"""
ABORTS = r"""
#include <stdlib.h>
void* malloc(size_t size) { (void)size; abort(); }
"""


class CompareCase(Case):
    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def compiled(self, name: str, source: str, *options: str) -> pathlib.Path:
        if CC is None:
            self.skipTest("no C compiler")
        path = self.folder / name
        result = subprocess.run(
            [CC, "-O1", "-w", "-x", "c", "-", "-o", path, *options],
            input=source.encode(),
            capture_output=True,
        )
        if result.returncode:
            self.skipTest(f"cannot be compiled here: {result.stderr.decode()[-200:]}")
        return path

    def churn(self, *options: str) -> pathlib.Path:
        return self.compiled("churn", CHURN, *options)

    def other(self) -> str:
        """An allocator beside glibc."""
        for name in installed():
            if name != "glibc":
                return name
        self.skipTest("no other allocator is installed")

    def compare(self, *words, code=0):
        return self.run_program("compare", "--output", self.out, *words, code=code)

    def refuses(self, *words, code=1):
        """The line of an error; the line of the seed may come before it."""
        result = self.compare(*words, code=code)
        lines = [
            line
            for line in result.stderr.decode(errors="replace").splitlines()
            if not line.startswith("seed ")
        ]
        self.assertEqual(len(lines), 1, lines)
        self.assertTrue(lines[0].startswith("strid: error: "), lines)
        return lines[0]

    def rows(self) -> list[dict]:
        with (self.out / "runs.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    def results(self) -> dict:
        return json.loads((self.out / "results.json").read_text())


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
        self.assertIn(numbers["advice"], result.stdout.decode())
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

    def test_what_the_command_leaves_is_killed(self):
        mark = f"31.4{os.getpid()}"
        values = self.measured("sh", "-c", f"sleep {mark} & exit 0")
        self.assertEqual(values["left_behind"], 1)
        self.assertLess(values["wall_s"], 20)
        left = subprocess.run(["pgrep", "-f", f"sleep {mark}"], capture_output=True, text=True)
        self.assertEqual(left.stdout, "")


class Refusals(CompareCase):
    ONE = ["--allocators", "glibc", "--cores", 1, "--repeat", 1]

    def test_a_command_that_does_not_exist(self):
        line = self.refuses(*self.ONE, "--", "no-such-command")
        self.assertEqual(line, "strid: error: no-such-command: No such file or directory")
        self.assertFalse(self.out.exists())

    def test_a_command_that_crashes(self):
        line = self.refuses(*self.ONE, "--", "sh", "-c", "kill -SEGV $$")
        self.assertIn("sh: ended by signal 11", line)

    def test_a_command_that_fails(self):
        self.assertIn("exit status 3", self.refuses(*self.ONE, "--", "sh", "-c", "exit 3"))
        expected = ["--expect-status", 4, "--", "sh", "-c", "exit 3"]
        self.assertIn("expected 4", self.refuses(*self.ONE, *expected))

    def test_a_command_that_hangs(self):
        begin = time.monotonic()
        # The child ignores what can be ignored, and has a child in a session of its own.
        script = "trap '' TERM INT; setsid sleep 300 & sleep 300"
        line = self.refuses(*self.ONE, "--timeout", 0.5, "--", "sh", "-c", script)
        self.assertIn("not ended after 0.5 s under glibc", line)
        self.assertLess(time.monotonic() - begin, 20)

    def test_a_static_program(self):
        line = self.refuses(*self.ONE, "--", self.churn("-static"))
        self.assertIn("is linked statically", line)

    def test_a_static_program_below_a_shell(self):
        program = self.churn("-static")
        line = self.refuses(*self.ONE, "--", "sh", "-c", f"{program} 20000000; true")
        self.assertIn(f"{program} is linked statically", line)

    def test_an_environment_without_the_preload(self):
        program = self.churn()
        line = self.refuses(*self.ONE, "--", "env", "-i", program, "20000000")
        self.assertIn(f"glibc was not loaded: {program}", line)

    def test_a_program_with_a_malloc_of_its_own(self):
        source = CHURN + r"""
            static char arena[1 << 26];
            static size_t used;
            void* malloc(size_t size) { used += (size + 15) / 16 * 16; return arena + used; }
            void free(void* block) { (void)block; }"""
        program = self.compiled("own", source, "-rdynamic")
        line = self.refuses(*self.ONE, "--", program, "100")
        self.assertIn(f"its malloc is that of {program}", line)

    def test_a_program_that_takes_the_address_of_malloc(self):
        # Not position-independent: the program has a stub for malloc, whose address it takes.
        source = CHURN.replace("int main", "void* (*volatile taken)(size_t) = malloc;\nint main")
        program = self.compiled("taken", source, "-no-pie")
        for allocator in list(installed().values())[:2]:
            cpus = sorted(os.sched_getaffinity(0))[:1]
            run_once(RunSettings([str(program)]), allocator, cpus)

    def test_libraries_that_are_none(self):
        words = self.ONE[2:]
        line = self.refuses("--allocators", "mine=/none/mine.so", *words, "--", "true")
        self.assertIn("/none/mine.so: No such file", line)
        text = self.folder / "text.so"
        text.write_text("no library")
        line = self.refuses("--allocators", f"mine={text}", *words, "--", "true")
        self.assertIn("not a library", line)
        # With the head of one, but nothing behind it: the loader warns and goes on.
        text.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(100))
        line = self.refuses("--allocators", f"mine={text}", *words, "--", "true")
        self.assertIn("its malloc is that of", line)
        line = self.refuses("--allocators", "unheard", *words, "--", "true", code=2)
        self.assertIn("unknown", line)

    def test_an_allocator_without_malloc(self):
        library = self.compiled("empty.so", "int nothing;", "-shared", "-fPIC")
        line = self.refuses("--allocators", f"empty={library}", *self.ONE[2:], "--", "true")
        self.assertIn("empty is not what", line)

    def test_an_allocator_that_aborts(self):
        library = self.compiled("aborts.so", ABORTS, "-shared", "-fPIC")
        line = self.refuses("--allocators", f"bad={library}", *self.ONE[2:], "--", self.churn())
        self.assertRegex(line, "ended by signal 6 .* under bad")

    def test_more_cores_than_there_are(self):
        line = self.refuses("--cores", 100000, "--", "true", code=2)
        self.assertIn("--cores 100000", line)

    def test_no_command(self):
        self.assertIn("takes a command", self.refuses("--cores", 1, code=2))

    def test_a_folder_that_holds_an_experiment(self):
        result = self.compare(*self.ONE, "--", "true")
        self.assertIn("nothing to compare", result.stdout.decode())
        before = (self.out / "runs.csv").read_bytes()
        self.assertIn("holds an experiment", self.refuses(*self.ONE, "--", "true"))
        self.assertEqual((self.out / "runs.csv").read_bytes(), before)

    def test_without_tracefs_the_reason_is_said(self):
        if os.geteuid() != 0 or shutil.which("unshare") is None:
            self.skipTest("needs root and unshare, to hide the kernel's tracing")
        hide = "mount -t tmpfs none /sys/kernel/tracing && mount -t tmpfs none /sys/kernel/debug"
        script = "from strid_memory.measures import extfrag_event; print(extfrag_event())"
        result = subprocess.run(
            ["unshare", "-m", "sh", "-c", f'{hide} && exec "$@"', "sh"]
            + [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env={**os.environ, "PYTHONPATH": str(SOURCE / "tools/memory")},
        )
        if "unshare" in result.stderr or "mount:" in result.stderr:
            self.skipTest(f"no namespace of mounts here: {result.stderr[:200]}")
        self.assertIn("(None, 'tracefs is not mounted", result.stdout)


class Interruptions(CompareCase):
    def begun(self, *command) -> subprocess.Popen:
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
        # What a fault of the machine leaves: half a line.
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
