# SPDX-License-Identifier: Apache-2.0
"""strid-exchange-data through its socket. The oracles: a sequential exchange in Python for all that
it answers, a session manager in Python for what may come over the link."""

import os
import random
import signal
import subprocess
import unittest

from data_case import TIMEOUT_S, DataCase, Manager, Orders
from data_failures import Journals, Links  # noqa: F401, tests of this program, too
from data_postgres import Postgres  # noqa: F401, as well
from fix_client import value


class Results(DataCase):
    def compare_random(self, seed, count, *options, symbols=None):
        orders = Orders(seed)
        self.start(*options)
        manager = Manager(self.address)
        for _ in range(count):
            manager.add(orders.next())
        self.assertEqual(manager.log_on(), 1)
        manager.run(1)
        self.stop()
        return self.compare(manager.commands, manager.reports, symbols)

    def test_random_commands_answer_as_the_oracle(self):
        oracle = self.compare_random(1, 2_500)
        self.assertGreater(oracle.trades, 500)
        kinds = {(value(one, 35), value(one, 150)) for one in oracle.reports}
        for kind in "045F8":
            self.assertIn(("8", kind), kinds)
        for kind in "9WXYj":
            self.assertIn((kind, None), kinds)

    def test_whatever_the_batches_and_the_replicas_are(self):
        for seed, options in (
            (2, ["--batch", "1", "--sync", "off"]),
            (3, ["--batch", "7", "--sync", "normal", "--workers", "4", "--parallelism", "3"]),
        ):
            with self.subTest(seed):
                self.compare_random(seed, 1_000, *options)
                for file in self.folder.glob("journal*"):
                    file.unlink()

    def test_only_the_symbols_that_are_listed(self):
        file = self.folder / "symbols"
        file.write_text("ACME\nINITECH\n")
        oracle = self.compare_random(
            4, 300, "--symbols", str(file), symbols={"ACME", "INITECH"}
        )
        self.assertTrue(any(value(one, 58) == "unknown symbol" for one in oracle.reports))

    def test_levels_add_up_to_the_book(self):
        """The snapshot with the increments applied to it is the book."""
        self.start()
        manager = Manager(self.address)
        orders = Orders(5, symbols=("ACME",))
        manager.add(
            [("35", "V"), ("49", "watcher"), ("262", "w"), ("55", "ACME"), ("263", "1"),
             ("264", "0")]
        )
        for _ in range(500):
            manager.add(orders.next())
        manager.log_on()
        manager.run(1)
        self.stop()
        book = {}
        for report in manager.reports:
            if value(report, 56) != "watcher" or value(report, 35) != "X":
                continue
            action = side = price = None
            for tag, text in report:
                if tag == "279":
                    action = text
                elif tag == "269":
                    side = text
                elif tag == "270":
                    price = text
                    if action == "2":
                        del book[side, price]
                elif tag == "271":
                    self.assertEqual((side, price) in book, action == "1")
                    book[side, price] = int(text)
        levels = {}
        for line in self.check():
            words = line.split("\t")
            if words[0] == "order":
                key = ("0" if words[2] == "buy" else "1", words[3])
                levels[key] = levels.get(key, 0) + int(words[4])
        self.assertEqual(book, levels)
        self.assertTrue(levels)


class Crashes(DataCase):
    def test_killed_at_any_time_nothing_is_lost_or_doubled(self):
        for seed in (0, 1):
            with self.subTest(seed):
                self.crash_often(seed)
                for file in self.folder.glob("journal*"):
                    file.unlink()

    def crash_often(self, seed):
        chance = random.Random(seed)
        orders = Orders(10 + seed)
        manager = Manager(self.address)
        for _ in range(1_500):
            manager.add(orders.next())
        kills = 0
        while manager.durable <= len(manager.commands):
            self.start("--batch", str(chance.choice([1, 10, 100])))
            first = manager.log_on()
            self.assertIsNotNone(first, manager.end)
            last = min(len(manager.commands), first + chance.randint(50, 400))
            manager.send(first, last)
            for _ in range(chance.randint(0, 600)):
                if manager.durable > last or not manager.take():
                    break
            if chance.random() < 0.5:
                manager.acknowledge()
            self.kill()
            kills += 1
        self.assertGreater(kills, 3)
        self.start()
        manager.log_on()
        manager.take_all()
        # Reports of a transaction that was committed, and were not sent.
        manager.add([("35", "V"), ("49", "x"), ("262", "x"), ("55", "ACME"), ("263", "2")])
        manager.run(len(manager.commands))
        self.stop()
        self.compare(manager.commands, manager.reports)

    def test_a_session_manager_that_forgets_reports_gets_them_again(self):
        self.start()
        manager = Manager(self.address)
        orders = Orders(20)
        for _ in range(300):
            manager.add(orders.next())
        manager.log_on()
        manager.run(1)
        for keep in (0, 1, 100, len(manager.reports)):
            again = Manager(self.address)
            again.commands = manager.commands
            again.reports = manager.reports[:keep]
            again.durable = manager.durable
            self.assertEqual(again.log_on(), 301)
            while len(again.reports) < len(manager.reports):
                self.assertTrue(again.take())
            self.assertEqual(again.reports, manager.reports)
        # Those that are acknowledged are deleted with the next transaction.
        again.acknowledge()
        again.add(orders.next())
        again.take()
        again.run(301)
        self.assertIsNone(again.log_on(wants=1))
        self.assertIn("were acknowledged and are gone", again.end)
        self.assertEqual(again.log_on(), 302)
        self.stop()
        self.assertEqual(self.check()[2], f"acknowledged\t{len(manager.reports)}")


class Endings(DataCase):
    def test_a_journal_is_sound_while_it_is_written(self):
        self.start("--batch", "10", "--sync", "off")
        manager = Manager(self.address)
        orders = Orders(70)
        for _ in range(1_500):
            manager.add(orders.next())
        manager.log_on()
        seen = set()
        for first in range(1, 1_500, 150):
            manager.send(first, first + 149)  # and is not waited for
            seen.add(self.check()[0])
            while manager.durable <= first:
                manager.take()
        self.assertGreater(len(seen), 5)
        manager.take_all()
        self.stop()

    def test_signals_end_it_when_all_is_carried_out(self):
        for number, code in ((signal.SIGTERM, 0), (signal.SIGINT, 130)):
            with self.subTest(number):
                self.start()
                manager = Manager(self.address)
                manager.log_on()
                self.process.send_signal(number)
                self.assertEqual(self.process.wait(TIMEOUT_S), code, self.said())

    def test_one_journal_has_one_data_manager(self):
        self.start()
        Manager(self.address).log_on()
        other = subprocess.run(
            [self.process.args[0], "--listen", self.address + "2", "--journal", self.journal],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
        )
        self.assertEqual(other.returncode, 1)
        self.assertIn("another data manager has this journal", other.stderr)
        self.stop()

    def test_options_that_are_wrong(self):
        for arguments in (
            [],
            ["--listen", "nowhere"],
            ["--listen", "unix:/no/such/folder/x"],
            ["--listen", self.address, "--symbols", "/no/such/file"],
            ["--listen", self.address, "--journal", "/no/such/folder/x"],
            ["--check", "/no/such/file"],
            ["--check", os.devnull],
        ):
            with self.subTest(arguments):
                result = subprocess.run(
                    [os.environ["PROGRAM"], *arguments],
                    capture_output=True,
                    text=True,
                    timeout=TIMEOUT_S,
                    cwd=self.folder,
                )
                self.assertIn(result.returncode, (1, 2), result.stderr)
                lines = [line for line in result.stderr.splitlines() if "error" in line]
                self.assertEqual(len(lines), 1, result.stderr)


if __name__ == "__main__":
    unittest.main()
