#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines that are posted by HTTP as the input of `strid window`: many clients, of Python and of curl
where it is installed, back-pressure, runs that are stopped and killed.

    http_test.py STRID [CLASS...]
"""

import http.client
import os
import random
import shutil
import subprocess
import threading
import time
import unittest
from collections import Counter

from http_case import HttpCase, body_of
from transport_case import TIMEOUT_S, main, until


class Clients(HttpCase):
    def test_many_at_once_have_each_line_counted_once(self):
        self.check_many_clients(self.live(), clients=40, posts=30)

    def test_a_last_line_needs_no_newline_and_a_body_no_line(self):
        run = self.live()
        self.assertEqual(self.ask("POST", body_of(["a", "b"])[:-1]), (200, '{"lines": 2}\n'))
        self.assertEqual(self.ask("POST", b""), (200, '{"lines": 0}\n'))
        self.assertEqual(self.ask("POST", b"\xef\xbb\xbf" + body_of(["c"])),
                         (200, '{"lines": 1}\n'))
        self.stopped(run)
        self.assertEqual(self.counts(), Counter("abc"))

    def test_large_bodies_are_whole(self):
        run = self.live()
        names = [f"n{i}" for i in range(100_000)]
        self.assertEqual(self.ask("POST", body_of(names))[1], '{"lines": 100000}\n')
        self.stopped(run)
        self.assertEqual(self.counts(), Counter(names))

    @unittest.skipUnless(shutil.which("curl"), "curl is not installed")
    def test_curl_posts_with_and_without_expecting_to(self):
        run = self.live()
        (self.folder / "body").write_bytes(body_of([f"n{i}" for i in range(50_000)]))
        for header in ("Expect: 100-continue", "Expect:", "Transfer-Encoding: chunked"):
            found = subprocess.run(
                ["curl", "-sS", "-H", header, "--data-binary", "@body",
                 f"http://127.0.0.1:{self.port}/rows"], cwd=self.folder, capture_output=True,
                text=True, timeout=TIMEOUT_S)
            self.assertEqual((found.stdout, found.stderr), ('{"lines": 50000}\n', ""))
        self.stopped(run)
        self.assertEqual(set(self.counts().values()), {3})

    def test_a_key_is_taken_once(self):
        run = self.live()
        for _ in range(3):
            self.assertEqual(self.ask("POST", body_of(["a", "b"]), Idempotency_Key="one"),
                             (200, '{"lines": 2}\n'))
        self.assertEqual(self.ask("POST", body_of(["a"]), Idempotency_Key="two")[0], 200)
        threads = [threading.Thread(target=self.ask, args=("POST", body_of(["c"])),
                                    kwargs={"Idempotency_Key": "at once"}) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for key in ("", "x" * 256, "\xe4"):
            self.assertEqual(self.ask("POST", body_of(["d"]), Idempotency_Key=key)[0], 400)
        self.stopped(run)
        self.assertEqual(self.counts(), Counter({"a": 2, "b": 1, "c": 1}))


class BackPressure(HttpCase):
    def test_what_finds_no_room_is_refused_and_the_rest_is_counted(self):
        """The rows go into a FIFO that is not read for a while."""
        os.mkfifo(self.folder / "fifo")
        reader = os.open(self.folder / "fifo", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        run = self.live(query="body=128K&waiting=512K", target="fifo", window="tumbling:1ms",
                        disorder="0ms")
        statuses = Counter()
        lock = threading.Lock()
        is_over = threading.Event()
        at = 0

        def client() -> None:
            nonlocal at
            while not is_over.is_set():
                with lock:
                    begin = at
                    at += 2000
                body = "".join(f'{{"at":{begin},"symbol":"s{begin + i}"}}\n' for i in range(2000))
                status, _ = self.ask("POST", body)
                with lock:
                    statuses[status] += 1
                if status == 429:
                    time.sleep(0.05)

        threads = [threading.Thread(target=client) for _ in range(32)]
        for thread in threads:
            thread.start()
        before = -1
        while statuses[200] != before:  # until nothing moves
            before = statuses[200]
            time.sleep(1)
        refused = statuses[429]
        time.sleep(0.5)
        self.assertGreater(statuses[429], refused)
        self.assertEqual(statuses[200], before)
        is_over.set()
        os.set_blocking(reader, True)
        pieces = []
        reading = threading.Thread(
            target=lambda: pieces.extend(iter(lambda: os.read(reader, 65536), b"")))
        reading.start()
        for thread in threads:
            thread.join()
        self.stopped(run)
        reading.join()
        self.assertEqual(set(statuses), {200, 429})
        # A body has rows of one time: those that came late are dropped, whole bodies of them.
        rows = b"".join(pieces).decode().splitlines()[1:]
        self.assertEqual(len(rows), len(set(rows)))
        found = Counter(row.split(",")[1] for row in rows)
        self.assertEqual({count for count in found.values()}, {2000})
        self.assertLessEqual(len(found), statuses[200])


class Stops(HttpCase):
    def posting(self, clients: int, is_over) -> tuple[list, list, list]:
        """Posts from many clients until it is over. Bodies taken, refused, and unanswered."""
        taken, refused, unanswered = [], [], []

        def client(number: int) -> None:
            post = 0
            while not is_over():
                post += 1
                names = [f"c{number}-{self.lives}-{post}-{i}"
                         for i in range(random.randrange(1, 200))]
                try:
                    status, _ = self.ask("POST", body_of(names))
                    (taken if status == 200 else refused).append(names)
                    self.assertIn(status, (200, 503))
                except ConnectionRefusedError:
                    refused.append(names)
                    time.sleep(0.01)
                except (OSError, http.client.HTTPException):
                    unanswered.append(names)

        threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
        self.lives += 1
        for thread in threads:
            thread.start()
        self.joins = threads
        return taken, refused, unanswered

    def setUp(self):
        super().setUp()
        self.lives = 0

    def check(self, taken: list, refused: list, unanswered: list) -> None:
        found = self.counts()
        for names in taken:
            for name in names:
                self.assertEqual(found.pop(name, 0), 1, f"{name} was taken")
        for names in refused:
            for name in names:
                self.assertEqual(found.pop(name, 0), 0, f"{name} was refused")
        for names in unanswered:  # all of it or nothing
            counts = {found.pop(name, 0) for name in names}
            self.assertIn(counts, ({0}, {1}), names[0])
        self.assertEqual(found, Counter())

    def test_what_was_answered_before_a_signal_is_counted(self):
        for journal in ([], ["--snapshots", "state", "--journal", "journal", "--drain"]):
            with self.subTest(journal):
                run = self.live(*journal)
                is_over = threading.Event()
                bodies = self.posting(16, is_over.is_set)
                until(lambda: len(bodies[0]) > 20)
                self.stopped(run)
                is_over.set()
                for thread in self.joins:
                    thread.join()
                self.check(*bodies)

    def test_what_was_answered_before_a_kill_is_counted_once(self):
        options = ["--snapshots", "state", "--snapshot-every", "50ms", "--journal", "journal"]
        is_over = threading.Event()
        run = self.live(*options)
        bodies = self.posting(12, is_over.is_set)
        for _ in range(8):
            time.sleep(random.uniform(0.05, 0.4))
            run.kill()
            run.wait()
            run = self.live(*options)
        until(lambda: len(bodies[0]) > 50)
        is_over.set()
        for thread in self.joins:
            thread.join()
        self.stopped(run)
        self.stopped(self.live(*options, "--drain"))
        self.check(*bodies)

    def test_snapshots_want_a_journal(self):
        run = subprocess.run(
            self.arguments(f"http-listen://127.0.0.1:{self.port}", "out.csv", "--snapshots",
                           "state"), cwd=self.folder, capture_output=True, text=True,
            timeout=TIMEOUT_S)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertIn("cannot be read once more", run.stderr)


if __name__ == "__main__":
    main()
