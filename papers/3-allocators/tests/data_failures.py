# SPDX-License-Identifier: Apache-2.0
"""Tests of data_test.py: what is wrong on the link, and journals that were cut or changed."""

import os
import pathlib
import random
import shutil
import sqlite3
import subprocess

from data_case import PROGRAM, TIMEOUT_S, DataCase, Manager, Orders
from fix_client import Connection, encode, value

LOGON = [("35", "A"), ("789", "1")]
ORDER = [("49", "u"), ("11", "a"), ("55", "S"), ("54", "1"), ("38", "1"), ("40", "1")]


def command(number):
    """A NewOrderSingle that is accepted and cancelled."""
    return [("35", "D"), ("34", str(number)), *ORDER[:1], ("11", f"a{number}"), *ORDER[2:]]


class Links(DataCase):
    def ends(self, data, begin=LOGON):
        """Sends bytes behind a Logon; the text of the Logout that comes."""
        link = Connection(self.address)
        if begin:
            link.send(begin)
            self.assertEqual(value(link.receive(), 35), "A")
        link.socket.sendall(data)
        while True:
            message = link.receive()
            self.assertIsNotNone(message, "the link ended without a reason")
            if value(message, 35) == "5":
                self.assertIsNone(link.receive())
                return value(message, 58)

    def test_what_is_wrong_ends_the_link_and_says_why(self):
        self.start()
        good = encode(command(1))
        no_user = [field for field in command(1) if field[0] != "49"]
        for data, why in (
            (b"GET / HTTP/1.1\r\n\r\n" + b" " * 200, "garbled"),
            (good.replace(b"54=1", b"54=2"), "garbled"),  # the sum
            (good[:-4] + b"000\x01" if good[-4:-1] != b"000" else b"", "garbled"),
            (good.replace(b"\x019=", b"\x019=1"), "garbled"),  # the length
            (good[: len(good) // 2] + good * 3, "garbled"),  # cut off
            (encode(command(2)), "command 2 came in the place of 1: commands are missing"),
            (encode(command(0)), "not above 0"),
            (encode(command("x")), "34"),
            (encode([*command(1), ("x", "1")]), "tag"),
            (encode(no_user), "49"),
            (encode([("35", "0"), ("789", "5")]), "report 5 was never made"),
            (encode(LOGON), "a second Logon"),
        ):
            with self.subTest(data[:90]):
                self.assertIn(why, self.ends(data))
        for logon, why in (
            ([("35", "0")], "no Logon"),
            ([("35", "A")], "789"),
            ([("35", "A"), ("789", "0")], "report 0 is asked for"),
            ([("35", "A"), ("789", "2")], "the journal ends with 0"),
        ):
            with self.subTest(logon):
                self.assertIn(why, self.ends(encode(logon), begin=None))
        # Nothing of it was carried out, and the program goes on.
        manager = Manager(self.address)
        self.assertEqual(manager.log_on(), 1)
        manager.add(command(1)[:1] + command(1)[2:])
        manager.run(1)
        self.stop()
        self.compare(manager.commands, manager.reports)

    def test_connections_without_a_logon_make_room(self):
        self.start()
        silent = [Connection(self.address) for _ in range(16)]
        one_more = Connection(self.address)
        self.assertIn("too many connections", value(one_more.receive(), 58))
        for link in silent:
            self.assertIn("no Logon came", value(link.receive(), 58))
        self.assertEqual(Manager(self.address).log_on(), 1)
        self.stop()

    def test_bytes_come_one_by_one(self):
        self.start()
        manager = Manager(self.address)
        manager.log_on()
        orders = Orders(30)
        for _ in range(5):
            manager.add(orders.next())
        for byte in b"".join(encode(one) for one in manager.commands):
            manager.link.socket.sendall(bytes([byte]))
        manager.take_all()
        self.stop()
        self.compare(manager.commands, manager.reports)

    def test_commands_that_come_again_are_passed_over(self):
        self.start()
        manager = Manager(self.address)
        manager.log_on()
        orders = Orders(31)
        for _ in range(200):
            manager.add(orders.next())
        for first, last in ((1, 50), (1, 60), (40, 120), (1, 200), (150, 200)):
            manager.send(first, last)
        manager.take_all()
        self.stop()
        self.compare(manager.commands, manager.reports)

    def test_the_last_session_manager_has_the_link(self):
        self.start()
        one = Manager(self.address)
        one.log_on()
        one.add(command(1)[:1] + command(1)[2:])
        one.run(1)
        other = Manager(self.address)
        other.commands = one.commands
        self.assertEqual(other.log_on(), 2)
        while one.take():
            pass
        while len(other.reports) < len(one.reports):
            self.assertTrue(other.take())
        self.assertEqual(other.reports, one.reports)
        self.stop()

    def test_a_session_manager_that_does_not_read_loses_nothing(self):
        self.start("--sync", "off")
        manager = Manager(self.address)
        manager.log_on()
        orders = Orders(32)
        for _ in range(2_000):
            manager.add(orders.next())
        sender = Connection(self.address)
        sender.close()  # one that connects and goes harms nothing
        manager.run(1)
        deaf = Manager(self.address)
        deaf.commands = manager.commands
        deaf.log_on()  # takes no report
        again = Manager(self.address)
        again.commands = manager.commands
        again.log_on()
        while len(again.reports) < len(manager.reports):
            self.assertTrue(again.take())
        self.assertEqual(again.reports, manager.reports)
        self.stop()


class Journals(DataCase):
    """Whatever is done to the files: a prefix of what was, or a refusal."""

    def fill(self, count=300):
        """Carries out commands and kills the program, so that the log is there."""
        self.start("--batch", "20")
        manager = Manager(self.address)
        orders = Orders(40)
        for _ in range(count):
            manager.add(orders.next())
        manager.log_on()
        for first in range(1, count, 20):
            manager.send(first, first + 19)
            while manager.durable < first + 20:
                manager.take()
        self.kill()
        return manager

    def look(self, journal):
        """The lines of --check; None where it is refused with a reason."""
        result = subprocess.run(
            [PROGRAM, "--check", journal], capture_output=True, text=True, timeout=TIMEOUT_S
        )
        if result.returncode == 0:
            return result.stdout.splitlines()
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("strid: error: "), result.stderr)
        return None

    def copy(self, number):
        """The journal under another name, where it may be harmed."""
        made = str(self.folder / f"copy-{number}")
        for end in ("", "-wal"):
            if os.path.exists(self.journal + end):
                shutil.copy(self.journal + end, made + end)
        return made

    def prefixes(self, manager):
        """The output of --check after each command, by the oracle."""
        from oracle import Exchange

        oracle = Exchange()
        states = [["commands\t0", "reports\t0", "acknowledged\t0", "trades\t0"]]
        for number, fields in enumerate(manager.commands, 1):
            oracle.handle(dict(reversed(fields)))
            head = [f"commands\t{number}", f"reports\t{len(oracle.reports)}"]
            head += ["acknowledged\t0", f"trades\t{oracle.trades}"]
            states.append(head + oracle.summary())
        return states

    @staticmethod
    def put_log_into(journal):
        """A checkpoint of all of it: the file has everything, and there is no log."""
        database = sqlite3.connect(journal)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()

    def take_pages_back(self, journal, chance):
        """As if a checkpoint was killed and the log lost: half of the pages are as before."""
        before = pathlib.Path(self.journal).read_bytes()
        pages = bytearray(pathlib.Path(journal).read_bytes())
        for at in range(0, len(before), 4096):
            if chance.random() < 0.5:
                pages[at : at + 4096] = before[at : at + 4096]
        pathlib.Path(journal).write_bytes(pages)

    def test_cut_anywhere_it_is_a_prefix_or_refused(self):
        manager = self.fill()
        states = self.prefixes(manager)
        chance = random.Random(50)
        found = {"prefix": set(), "refused": 0}
        for number in range(36):
            journal = self.copy(number)
            kind = ("log", "both", "file without log", "some pages")[number % 4]
            if kind in ("file without log", "some pages"):
                self.put_log_into(journal)
            if kind == "some pages":
                self.take_pages_back(journal, chance)
            else:
                ends = {"log": ["-wal"], "both": ["", "-wal"]}.get(kind, [""])
                for end in ends:
                    size = os.path.getsize(journal + end)
                    os.truncate(journal + end, chance.randrange(size + 1))
            lines = self.look(journal)
            if lines is None:
                found["refused"] += 1
                continue
            last = int(lines[0].split("\t")[1])
            self.assertEqual(lines, states[last])
            found["prefix"].add(last)
        self.assertGreater(len(found["prefix"]), 3)
        self.assertGreater(found["refused"], 3)

    def test_rows_that_are_not_of_one_moment_are_refused(self):
        self.fill(200)
        changes = (
            "UPDATE orders SET filled = filled + 1 WHERE id = (SELECT max(id) FROM orders)",
            "UPDATE orders SET status = '4' WHERE id = (SELECT min(id) FROM orders "
            "WHERE status IN ('0', '1'))",
            "DELETE FROM orders WHERE status = '8' OR id = (SELECT max(id) FROM orders)",
            "DELETE FROM trades WHERE id = 3",
            "UPDATE trades SET price = price + 1 WHERE id = 3",
            "UPDATE positions SET shares = shares + 1",
            "DELETE FROM reports WHERE id = (SELECT max(id) FROM reports)",
            "UPDATE reports SET message = message || 'x' WHERE id = 7",
            "UPDATE state SET command = command - 1",
            "UPDATE state SET version = 9",
            "DELETE FROM subscriptions",
            "DELETE FROM retired_ids",
        )
        for number, change in enumerate(changes):
            with self.subTest(change):
                journal = self.copy(number)
                self.assertIsNotNone(self.look(journal))
                database = sqlite3.connect(journal)
                self.assertGreater(database.execute(change).rowcount, 0)
                database.commit()
                database.close()
                self.assertIsNone(self.look(journal))

    def test_bytes_that_are_changed_are_never_silently_wrong(self):
        manager = self.fill(200)
        self.start()  # the log goes into the file
        Manager(self.address).log_on(wants=1)
        self.stop()
        whole = self.look(self.journal)
        chance = random.Random(51)
        refused = 0
        for number in range(16):
            journal = self.copy(number)
            with open(journal, "r+b") as file:
                at = chance.randrange(os.path.getsize(journal))
                file.seek(at)
                byte = file.read(1)
                file.seek(at)
                file.write(bytes([byte[0] ^ (1 << chance.randrange(8))]))
            lines = self.look(journal)
            if lines is None:
                refused += 1
            else:
                self.assertEqual(lines, whole)  # in space that nothing uses
        self.assertGreater(refused, 2)
        self.assertEqual(len(manager.commands), 200)

    def test_files_that_are_no_journals(self):
        for name, data in (("empty", b""), ("text", b"hello\n" * 900), ("zeros", bytes(8192))):
            path = self.folder / name
            path.write_bytes(data)
            self.assertIsNone(self.look(str(path)))
            self.journal = str(path)
            self.start()
            self.assertEqual(self.process.wait(TIMEOUT_S), 1)
            self.assertEqual(path.read_bytes(), data)
        log = self.folder / "gone-wal"
        log.write_bytes(b"what is left")
        self.journal = str(self.folder / "gone")
        self.start()
        self.assertEqual(self.process.wait(TIMEOUT_S), 1)
        self.assertIn("its log is there", self.said())

    def test_a_full_disk_ends_it_and_loses_nothing(self):
        small = self.folder / "small"
        small.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(small)]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
            self.skipTest("no file system of our own can be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", str(small)])
        self.journal = str(small / "journal")
        self.start("--batch", "20")
        manager = Manager(self.address)
        orders = Orders(41)
        for _ in range(3_000):
            manager.add(orders.next())
        manager.log_on()
        with self.assertRaises(AssertionError):
            manager.run(1)
        self.assertEqual(self.process.wait(TIMEOUT_S), 1)
        self.assertIn("full", self.said())
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        self.start()
        first = manager.log_on()
        self.assertGreater(first, 1)
        manager.run(first)
        self.stop()
        self.compare(manager.commands, manager.reports)
