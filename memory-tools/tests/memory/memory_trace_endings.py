# SPDX-License-Identifier: Apache-2.0
"""Tests of `strid memory trace`: many processes, how they end, and what is wrong."""

import importlib.util
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

import program
from memory_trace_case import STATIC, TRACED, TraceCase, calls_of

sys.path.insert(0, str(program.SOURCE / "memory-tools/memory"))
from strid_memory import trace_file  # noqa: E402  (the path comes first)

JEMALLOC = pathlib.Path("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2")
MIMALLOC = pathlib.Path("/usr/lib/x86_64-linux-gnu/libmimalloc.so.2")
TCMALLOC = pathlib.Path("/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4")


class Processes(TraceCase):
    def by_size(self, data, size):
        return [one for one in data["processes"] if calls_of(one, size)]

    def test_children_by_fork_and_by_clone_begin_their_own(self):
        data = self.trace(TRACED, "forks")
        (parent,) = self.by_size(data, 700)
        (forked,) = self.by_size(data, 701)
        (cloned,) = self.by_size(data, 702)
        self.assertEqual(len(data["processes"]), 3)
        self.assertEqual(calls_of(parent, 700), 100)
        self.assertEqual(parent["counters"]["releases_by_kind"]["free"], 100)
        for child, size in ((forked, 701), (cloned, 702)):
            self.assertEqual(child["began_by"], "fork")
            self.assertEqual(child["parent_pid"], parent["pid"])
            self.assertEqual(calls_of(child, size), 50)
            self.assertEqual(child["counters"]["calls"], 50)
            self.assertEqual(child["counters"]["releases_of_unknown_blocks"], 10)
            self.assertEqual(child["ended"], "killed")

    def test_a_program_of_this_folder_is_run_whatever_lies_on_the_path(self):
        for name in ("whoami", "mine"):
            (self.folder / name).symlink_to(TRACED)
            process = self.traced_process(f"./{name}", "nothing", cwd=self.folder)
            self.assertEqual(os.path.basename(process["executable"]), os.path.basename(TRACED))

    def test_exec_loses_nothing(self):
        data = self.trace(TRACED, "exec")
        before, after = data["processes"]
        self.assertEqual(before["pid"], after["pid"])
        self.assertEqual((before["ended"], after["ended"]), ("exec", "exit"))
        self.assertEqual(calls_of(before, 713), 25)
        self.assertEqual(calls_of(after, 712), 30)

    def test_vfork(self):
        data = self.trace(TRACED, "vforks")
        (parent,) = self.by_size(data, 710)
        (child,) = self.by_size(data, 712)
        self.assertEqual(calls_of(parent, 710), 20)
        self.assertEqual(calls_of(parent, 711), 20)
        self.assertEqual(calls_of(child, 712), 30)
        self.assertEqual(child["parent_pid"], parent["pid"])

    def test_children_need_not_be_followed(self):
        data = self.trace(TRACED, "vforks", options=["--no-follow"])
        self.assertEqual(len(data["processes"]), 1)
        self.assertEqual(calls_of(data["processes"][0], 711), 20)
        data = self.trace(TRACED, "exec", options=["--no-follow"])
        self.assertEqual(len(data["processes"]), 2)  # exec starts no child

    def test_a_shell_with_pipes(self):
        text = self.folder / "text"
        text.write_text("".join(f"line {i * 31 % 977}\n" for i in range(2000)))
        script = f"sort {text} | gzip -c | gzip -dc | wc -l"
        data = self.trace("sh", "-c", script)
        self.assertEqual(self.result.stdout.split(), [b"2000"])
        names = [os.path.basename(one["executable"]) for one in data["processes"]]
        for name in ("sort", "gzip", "wc"):
            self.assertIn(name, names)

    def test_python(self):
        data = self.trace(sys.executable, "-c", "print(sum(len(str(i)) for i in range(10000)))")
        self.assertEqual(self.result.stdout, b"38890\n")
        self.assertGreater(data["processes"][-1]["counters"]["calls"], 100)

    def test_input_and_output_pass_through(self):
        data = bytes(range(256)) * 100_000
        self.trace("cat", input=data)
        self.assertEqual(self.result.stdout, data)
        self.assertEqual(self.result.stderr, b"")


class Allocators(TraceCase):
    """Another allocator behind the library is traced the same."""

    def check(self, library):
        plain = self.traced_process(TRACED, "threads")
        process = self.traced_process(TRACED, "threads", options=["--preload", library])
        self.assertIn(library.name.partition(".")[0], process["allocator"])
        for size in range(500, 504):
            self.assertEqual(calls_of(process, size), calls_of(plain, size))
        self.assertEqual(process["counters"]["releases_by_another_thread"], 5000)
        options = ["--preload", library]
        before = self.traced_process(TRACED, "nothing", options=options)["counters"]
        process = self.traced_process(TRACED, "common_kinds", options=options)
        kinds = {
            name: calls - before["calls_by_kind"][name]
            for name, calls in process["counters"]["calls_by_kind"].items()
        }
        self.assertEqual(
            kinds,
            {"malloc": 0, "calloc": 10, "realloc": 21, "aligned": 3, "new": 3, "new_aligned": 2},
        )
        self.assertEqual(process["counters"]["refused"], 0)
        self.assertEqual(process["counters"]["live_bytes_at_end"], before["live_bytes_at_end"])

    @unittest.skipUnless(JEMALLOC.exists(), "jemalloc is not installed")
    def test_jemalloc(self):
        self.check(JEMALLOC)

    @unittest.skipUnless(MIMALLOC.exists(), "mimalloc is not installed")
    def test_mimalloc(self):
        self.check(MIMALLOC)

    @unittest.skipUnless(TCMALLOC.exists(), "tcmalloc is not installed")
    def test_tcmalloc(self):
        self.check(TCMALLOC)


class Endings(TraceCase):
    def test_the_status_is_passed_on(self):
        self.trace(TRACED, "status", code=37)

    def test_abort_is_reported(self):
        data = self.trace(TRACED, "abort", code=128 + signal.SIGABRT)
        self.assertEqual(calls_of(data["processes"][0], 714), 25)
        self.assertEqual(data["processes"][0]["ended"], "killed")

    def test_kill_9_loses_nothing(self):
        file = self.folder / "trace.json"
        tool = self.start("trace", "--quiet", "--json", file, "--", TRACED, "wait")
        self.assertEqual(tool.stdout.readline(), b"ready\n")
        child = self.child_of(tool.pid)
        os.kill(child, signal.SIGKILL)
        self.assertEqual(tool.wait(30), 128 + signal.SIGKILL)
        (process,) = json.loads(file.read_text())["processes"]
        self.assertEqual(calls_of(process, 730), 1000)

    def test_what_a_killed_run_leaves_the_next_one_removes(self):
        folder = self.folder / "counters"
        folder.mkdir()
        tool = self.start("trace", "--quiet", "--folder", folder, "--", TRACED, "wait")
        self.assertEqual(tool.stdout.readline(), b"ready\n")
        child = self.child_of(tool.pid)
        self.trace(TRACED, "nothing", options=["--folder", folder])
        self.assertEqual(len(os.listdir(folder)), 1)
        tool.kill()
        tool.wait(30)
        os.kill(child, signal.SIGKILL)
        self.assertEqual(len(os.listdir(folder)), 1)
        self.trace(TRACED, "nothing", options=["--folder", folder])
        self.assertEqual(os.listdir(folder), [])

    def child_of(self, pid):
        children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        self.assertEqual(len(children), 1)
        return int(children[0])

    def interrupted(self, to_group):
        file = self.folder / "trace.json"
        tool = self.start(
            "trace", "--json", file, "--", TRACED, "wait", start_new_session=True
        )
        self.assertEqual(tool.stdout.readline(), b"ready\n")
        if to_group:
            os.killpg(tool.pid, signal.SIGINT)
        else:
            os.kill(tool.pid, signal.SIGINT)
        _, errors = tool.communicate(timeout=30)
        self.assertEqual(tool.returncode, 130)
        self.assertIn(b"requests: ", errors)
        self.assertNotIn(b"Traceback", errors)
        (process,) = json.loads(file.read_text())["processes"]
        self.assertEqual(calls_of(process, 730), 1000)

    def test_control_c_reports_what_was_traced(self):
        self.interrupted(True)

    def test_a_signal_to_the_tool_goes_to_the_command(self):
        self.interrupted(False)

    def test_a_pause_of_the_tool_is_no_signal(self):
        file = self.folder / "trace.json"
        tool = self.start("trace", "--json", file, "--", TRACED, "wait")
        self.assertEqual(tool.stdout.readline(), b"ready\n")
        tool.send_signal(signal.SIGSTOP)
        time.sleep(1)  # longer than it waits for a signal at once
        tool.send_signal(signal.SIGCONT)
        time.sleep(0.2)
        self.assertIsNone(tool.poll())
        os.kill(self.child_of(tool.pid), signal.SIGKILL)
        _, errors = tool.communicate(timeout=30)
        self.assertEqual(tool.returncode, 128 + signal.SIGKILL, errors)

    def test_timeout_ends_the_command_and_its_children(self):
        begin = time.monotonic()
        script = f"trap '' TERM; {TRACED} wait & echo $!; wait"
        result = self.run_program(
            "trace", "--timeout", "0.5", "--", "sh", "-c", script, code=1
        )
        self.assertLess(time.monotonic() - begin, 20)
        lines = result.stderr.decode().splitlines()
        self.assertEqual(
            lines[-1], "strid: error: sh: ran longer than 0.5 s and was ended", lines[-3:]
        )
        self.assertIn("730 (", result.stderr.decode())
        # Two processes write: the shell its child's number, the child that it is ready.
        (pid,) = (int(word) for word in result.stdout.split() if word.isdigit())
        self.assertFalse(self.is_running(pid), "the child was left behind")

    @staticmethod
    def is_running(pid):
        try:
            return "State:\tZ" not in pathlib.Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return False

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "matplotlib is not installed")
    def test_outputs(self):
        prefix = self.folder / "out"
        result = self.run_program("trace", "--output", prefix, "--", TRACED, "threads")
        self.assertEqual(
            result.stderr.decode(), pathlib.Path(f"{prefix}.txt").read_text()
        )
        self.assertIn("by another thread 5,000 (50.0 %)", result.stderr.decode())
        self.assertIn("worker-3", result.stderr.decode())
        picture = pathlib.Path(f"{prefix}.svg").read_text()
        self.assertTrue(picture.rstrip().endswith("</svg>"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["out.json", "out.svg", "out.txt"])


class Faults(TraceCase):
    def test_commands_that_cannot_be_run(self):
        self.assertIn("no-such-program: command not found", self.fails("trace", "no-such-program"))
        self.assertIn(
            "/no/such: No such file or directory", self.fails("trace", "--", "/no/such")
        )
        plain = self.folder / "plain"
        plain.write_text("text")
        self.assertIn("Permission denied", self.fails("trace", "--", plain))
        plain.chmod(0o755)
        self.assertIn("Exec format error", self.fails("trace", "--", plain))
        self.assertIn("no COMMAND", self.fails("trace", code=2))

    def test_options(self):
        for arguments in (
            ["--interval", "0"], ["--interval", "nan"], ["--timeout", "-1"], ["--timeout", "inf"],
            ["--preload", "/no/such.so"],
        ):  # fmt: skip
            self.assertIn(arguments[0], self.fails("trace", *arguments, "--", "true", code=2))
        self.assertIn(
            "/no/folder", self.fails("trace", "--json", "/no/folder/file", "--", "true")
        )
        self.assertIn("/no/folder", self.fails("trace", "--folder", "/no/folder", "--", "true"))

    @unittest.skipUnless(os.path.exists(STATIC), "the C library cannot be linked statically")
    def test_a_static_binary_is_said(self):
        line = self.fails("trace", "--", STATIC, "nothing")
        self.assertIn("nothing was traced", line)
        self.assertIn("statically linked", line)

    @unittest.skipUnless(os.path.exists(STATIC), "the C library cannot be linked statically")
    def test_children_of_a_static_binary_are_traced(self):
        process = self.traced_process(STATIC, "execute", TRACED, "sizes")
        self.assertEqual(calls_of(process, 500), 3)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root and setpriv")
    def test_a_set_uid_program_is_said(self):
        self.folder.chmod(0o755)
        copy = self.folder / "setuid"
        shutil.copy(shutil.which("true"), copy)
        copy.chmod(0o4755)
        package = program.SOURCE / "memory-tools/memory"
        code = (
            "import sys, pathlib; sys.path.insert(0, sys.argv[1]);"
            "from strid_memory.executable import untraceable_reason;"
            "print(untraceable_reason(pathlib.Path(sys.argv[2])))"
        )
        # As another user: the check needs a user that is not the owner.
        result = subprocess.run(
            ["setpriv", "--reuid=65534", "--clear-groups", "--", sys.executable, "-c", code,
             str(package), str(copy)],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        if result.returncode != 0:
            self.skipTest(f"another user cannot run Python here: {result.stderr[-200:]}")
        self.assertIn("is set-uid", result.stdout)

    def test_no_room_for_the_trace(self):
        def limit():
            # Python ignores SIGXFSZ; what it starts does not.
            resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))

        line = self.fails("trace", "--", TRACED, "nothing", preexec_fn=limit)
        self.assertIn("could not be written: File too large", line)

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount a small disk")
    def test_a_full_disk(self):
        for size in ("4k", "24k", "400k"):
            disk = self.folder / f"disk-{size}"
            disk.mkdir()
            mounted = subprocess.run(
                ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], capture_output=True
            )
            if mounted.returncode != 0:
                self.skipTest("a tmpfs cannot be mounted here")
            try:
                line = self.fails("trace", "--folder", disk, "--", TRACED, "crowd")
                self.assertIn("No space left on device", line)
                self.assertIn(str(disk), line)
                self.assertEqual(os.listdir(disk), [])
            finally:
                subprocess.run(["umount", disk], check=True)

    def test_a_file_cut_anywhere(self):
        folder = self.folder / "counters"
        folder.mkdir()
        trace_file.write_session(folder, 1_000_000, True)
        library = pathlib.Path(program.PROGRAM).parent / "libstrid_trace.so"
        environment = dict(os.environ, LD_PRELOAD=str(library), STRID_MEMORY_TRACE=str(folder))
        subprocess.run([TRACED, "phases"], env=environment, check=True, timeout=60)
        (file,) = folder.glob("*.trace")
        data = file.read_bytes()
        whole = trace_file.read_process(file)
        self.assertGreater(whole.counters.calls, 1000)
        read = 0
        for end in [*range(0, len(data), 4096), *range(0, 20000, 333)]:
            file.write_bytes(data[:end])
            try:
                process = trace_file.read_process(file)
            except trace_file.NotATrace:
                continue
            read += 1
            self.assertLessEqual(process.counters.calls, whole.counters.calls)
        self.assertGreater(read, 0)
        self.read_damaged(file, data)

    def read_damaged(self, file, data):
        """Words at the beginnings of chunks are changed: no more than NotATrace is raised."""
        rng = random.Random(17)
        chunks = [offset for _, _, offset in trace_file._chunks(data)]
        refused = 0
        for _ in range(400):
            damaged = bytearray(data)
            for _ in range(rng.choice((1, 2, 8))):
                at = rng.choice(chunks) + 8 * rng.randrange(8)
                word = rng.choice((0, 1, 7, 1 << 31, 1 << 63, (1 << 64) - 1, rng.getrandbits(64)))
                damaged[at:at + 8] = word.to_bytes(8, "little")
            file.write_bytes(damaged)
            try:
                trace_file.read_process(file)
            except trace_file.NotATrace:
                refused += 1
        self.assertGreater(refused, 0)

    def test_a_failed_output_leaves_the_old_one(self):
        file = self.folder / "out.json"
        file.write_text("old")
        self.assertIn(
            "Is a directory", self.fails("trace", "--json", self.folder, "--", TRACED, "nothing")
        )
        self.fails("trace", "--json", file, "--", "/no/such")
        self.assertEqual(file.read_text(), "old")
        self.assertEqual(os.listdir(self.folder), ["out.json"])
