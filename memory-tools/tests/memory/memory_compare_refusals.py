# SPDX-License-Identifier: Apache-2.0
"""Refusals of strid memory compare: commands that fail, allocators that are not loaded."""

import os
import shutil
import subprocess
import sys
import time

from memory_compare_case import CHURN, CompareCase
from program import SOURCE, TIMEOUT_S
from strid_memory.allocators import Allocator, installed
from strid_memory.commands import compare
from strid_memory.runner import RunFailed, RunSettings, run_once

ABORTS = r"""
#include <stdlib.h>
void* malloc(size_t size) { (void)size; abort(); }
"""


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

    def test_a_set_uid_program(self):
        if os.geteuid() != 0 or shutil.which("setpriv") is None:
            self.skipTest("needs root and setpriv, to be another user than the program's")
        program = self.churn()
        program.chmod(0o4755)
        self.folder.chmod(0o755)
        if os.statvfs(program).f_flag & os.ST_NOSUID:
            self.skipTest("no set-uid program in this file system")
        command = ["setpriv", "--reuid=65534", "--clear-groups", program, "20000000"]
        self.assertIn("is set-uid or set-gid", self.refuses(*self.ONE, "--", *command))

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

    def test_an_allocator_that_was_found_and_aborts_is_left_out(self):
        bad = Allocator("bad", self.compiled("aborts.so", ABORTS, "-shared", "-fPIC"))
        allocators = {"glibc": Allocator("glibc", None), "bad": bad}
        settings = {"chosen": False, "left_out": {}, "not_measured": {}}
        cpus = {1: sorted(os.sched_getaffinity(0))[:1]}
        command = RunSettings([str(self.churn())])
        compare.warm_up(command, allocators, cpus, settings, 1)
        self.assertEqual(list(settings["left_out"]), ["bad"])
        self.assertIn("signal 6", settings["left_out"]["bad"])
        settings["chosen"] = True
        with self.assertRaises(RunFailed):
            compare.warm_up(command, allocators, cpus, settings, 1)

    def test_more_cores_than_there_are(self):
        line = self.refuses("--cores", 100000, "--", "true", code=2)
        self.assertIn("--cores 100000", line)

    def test_options_that_are_none(self):
        self.assertIn("--repeat", self.refuses("--repeat", "x", "--", "true", code=2))
        self.assertIn("at least 1", self.refuses("--cores", "0", "--", "true", code=2))
        self.assertIn("--reset", self.refuses("--reset", "--", "true", code=2))
        self.assertIn("--metric", self.refuses("--metric", "(", "--", "true", code=2))

    def test_no_command(self):
        self.assertIn("takes a command", self.refuses("--cores", 1, code=2))

    def test_a_folder_that_cannot_be_made(self):
        self.out.write_text("a file")
        self.assertIn(f"{self.out}: Not a directory", self.refuses(*self.ONE, "--", "true"))
        self.assertEqual(self.out.read_text(), "a file")

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
            env={**os.environ, "PYTHONPATH": str(SOURCE / "memory-tools/memory")},
        )
        if "unshare" in result.stderr or "mount:" in result.stderr:
            self.skipTest(f"no namespace of mounts here: {result.stderr[:200]}")
        self.assertIn("(None, 'tracefs is not mounted", result.stdout)
