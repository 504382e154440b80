# SPDX-License-Identifier: Apache-2.0
"""Runs with snapshots that are killed at random moments and started again until one ends. The seed
is printed where a test fails; STRID_SEED repeats it."""

import os
import pathlib
import random
import signal
import subprocess
import time

from command_line import STRID, TIMEOUT_S, Case

SEED = int(os.environ.get("STRID_SEED", random.SystemRandom().randrange(10**6)))


class KilledRuns(Case):
    def setUp(self):
        super().setUp()
        self.random = random.Random(f"{SEED} {self.id()}")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)
        print(f"STRID_SEED={SEED} {self.id()}")

    def whole(self, *arguments):
        """Runs without snapshots; returns how many seconds it took."""
        began = time.monotonic()
        self.strid(*arguments, "--quiet")
        return time.monotonic() - began

    def until_snapshot(self, process, folder):
        while process.poll() is None and not list(pathlib.Path(folder).glob("*.snapshot")):
            time.sleep(0.002)

    def started(self, folder, replicas, *arguments):
        words = [STRID, *map(str, arguments), "--quiet", "--snapshots", folder,
                 "--snapshot-every", "10ms", "--parallelism", str(self.random.choice(replicas))]
        return subprocess.Popen(words, stderr=subprocess.PIPE)

    def ended(self, process):
        """Whether it was over, instead of killed. A kill may come between the end of a run and that
        of its process: the next one finds that the run has ended."""
        _, errors = process.communicate(timeout=TIMEOUT_S)
        if process.returncode == 2 and b"has reached its end" in errors:
            return True
        self.assertIn(process.returncode, (0, -signal.SIGKILL), f"{errors}, seed {SEED}")
        return process.returncode == 0

    def killed(self, seconds, *arguments, kills=3, replicas=(1,)):
        """A run of about so many seconds. Is killed for the first time when it has a snapshot; one
        that is over by then begins anew, and is killed sooner."""
        pause = self.random.uniform(0, seconds / 2)
        for attempt in range(10):
            folder = self.folder / f"snapshots-{self.random.randrange(10**9)}"
            process = self.started(folder, replicas, *arguments)
            self.until_snapshot(process, folder)
            time.sleep(pause / 2**attempt)
            process.kill()
            if not self.ended(process):
                break
        else:
            self.fail(f"it ended before it was killed: seed {SEED}")
        for _ in range(kills - 1):
            process = self.started(folder, replicas, *arguments)
            time.sleep(self.random.uniform(0, seconds))
            process.kill()
            if self.ended(process):
                return
        self.assertTrue(self.ended(self.started(folder, replicas, *arguments)))

    def check_killed(self, outputs, *arguments, replicas=(1, 2, 4), kills=3, in_order=True,
                     sums_in_order=True):
        """`outputs`: options and their files. Equal as sorted lines with any number of replicas;
        byte for byte with one, if `in_order`. Without `sums_in_order` the replicas leave open in
        which order numbers are added up, and with several the last digit of a sum."""
        def options(prefix):
            return [word for option, name in outputs.items()
                    for word in (option, f"{prefix}-{name}")]

        seconds = self.whole(*arguments, *options("whole"), "--parallelism", 1)
        self.assertNotEqual(pathlib.Path(options("whole")[1]).read_bytes(), b"")
        ways = [("one", (1,))] + ([("several", replicas)] if replicas != (1,) else [])
        for way, chosen in ways:
            self.killed(seconds, *arguments, *options(way), kills=kills, replicas=chosen)
            for name in outputs.values():
                if way == "several" and not sums_in_order:
                    self.same_answer(pathlib.Path(f"whole-{name}"), pathlib.Path(f"{way}-{name}"))
                    continue
                expected = pathlib.Path(f"whole-{name}").read_bytes()
                found = pathlib.Path(f"{way}-{name}").read_bytes()
                if way != "one" or not in_order:
                    expected, found = sorted(expected.split(b"\n")), sorted(found.split(b"\n"))
                self.assertTrue(found == expected,
                                f"{name}, {way}: {len(found)} for {len(expected)}, seed {SEED}")
        return seconds
