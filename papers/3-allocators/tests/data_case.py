# SPDX-License-Identifier: Apache-2.0
"""The common part of the tests of the data manager: the program, a session manager in Python that
keeps what it was told, random commands, and the oracle."""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

from fix_client import Connection, encode, value

PROGRAM = os.environ["PROGRAM"]
SOURCE = pathlib.Path(os.environ["STRID_SOURCE"])
TIMEOUT_S = 60
USERS = ["alice", "bob", "carol", "a user with a long name"]

sys.path.insert(0, str(SOURCE / "papers/3-allocators/exchange"))
from oracle import Exchange  # noqa: E402


class Orders:
    """Random commands, valid and not, of few users on few prices, so that most trade."""

    def __init__(self, seed, symbols=("ACME", "GLOBEX", "INITECH")):
        self.random = random.Random(seed)
        self.symbols = symbols
        self.names = {}  # (user, symbol): ClOrdIDs that may be open
        self.number = 0

    def next(self):
        """The fields of one command, without its number."""
        choose = self.random.choice
        user = choose(USERS)
        symbol = choose(self.symbols)
        known = self.names.setdefault((user, symbol), ["none"])
        draw = self.random.random()
        self.number += 1
        name = f"order-of-{user[:5]}-{self.number:08}"
        if draw < 0.62:
            known.append(name)
            fields = self.new_order(user, symbol, name)
        elif draw < 0.80:
            fields = [("35", "F"), ("49", user), ("11", name), ("41", choose(known[-30:]))]
            fields.append(("55", symbol))
            if self.random.random() < 0.05:
                fields.append(self.instruction())
        elif draw < 0.95:
            fields = [("35", "G"), ("49", user), ("11", name), ("41", choose(known[-30:]))]
            fields += [("55", symbol), ("38", str(self.random.randint(1, 120)))]
            fields.append(("44", self.price()))
            if self.random.random() < 0.1:
                fields.append(self.instruction())
            known.append(name)
        elif draw < 0.98:
            fields = [("35", "V"), ("49", user), ("262", f"request {self.number}")]
            fields += [("55", symbol), ("263", choose("0112")), ("264", choose("0123"))]
            if self.random.random() < 0.2:
                fields.append(choose([("265", "0"), ("265", "1"), ("266", "N"), ("266", "Y")]))
        else:
            fields = self.nonsense(user, symbol, name)
        return fields

    def price(self):
        """Near 100."""
        return f"{100 + self.random.randint(-12, 12) / 8:g}"

    def new_order(self, user, symbol, name):
        """A NewOrderSingle."""
        fields = [("35", "D"), ("49", user), ("11", name), ("55", symbol)]
        fields += [("54", self.random.choice("12")), ("38", str(self.random.randint(1, 100)))]
        if self.random.random() < 0.06:
            fields.append(("40", "1"))
        else:
            fields += [("40", "2"), ("44", self.price())]
        if self.random.random() < 0.15:
            fields.append(("59", self.random.choice("034")))
        if self.random.random() < 0.1:
            fields.append(self.instruction())
        return fields

    def instruction(self):
        """A field that the exchange follows anyway, only notes, or cannot follow."""
        return self.random.choice(
            [("21", "1"), ("21", "3"), ("18", "G"), ("110", "5"), ("111", "10"), ("1", "account"),
             ("99", "90"), ("126", "20261231-00:00:00"), ("211", "1"), ("388", "0"), ("58", "x")]
        )  # fmt: skip

    def nonsense(self, user, symbol, name):
        """A command with a fault."""
        fields = dict(self.new_order(user, symbol, name))
        wrong = [
            ("55", "not a symbol"),
            ("55", "A" * 17),
            ("11", "x" * 65),
            ("54", "3"),
            ("40", "7"),
            ("59", "9"),
            ("38", "0"),
            ("38", "-5"),
            ("38", "1e3"),
            ("44", "1.23456"),
            ("44", "0.0"),
            ("44", "100000.0001"),
            ("35", "QQ"),
            ("49", "x" * 65),
            ("49", "caf\xe9"),
            ("38", "9" * 3_000),
            ("264", "251"),
            ("35", "H"),
        ]
        tag, text = self.random.choice(wrong)
        fields[tag] = text
        if self.random.random() < 0.3:
            fields.pop(self.random.choice(["11", "55", "54", "38", "40"]), None)
        return list(fields.items())


class Manager:
    """The session manager: numbers commands, keeps them until they are acknowledged, and stores
    each report once. A message that must never arrive raises."""

    def __init__(self, address):
        self.address = address
        self.commands = []  # all; number n is at n - 1
        self.reports = []  # all; number n is at n - 1
        self.durable = 1  # commands below are acknowledged
        self.link = None
        self.end = None  # the text of the last Logout

    def log_on(self, wants=None):
        """Connects; returns the number of the next command that is wanted."""
        if self.link:
            self.link.close()
        self.link = Connection(self.address)
        self.link.send([("35", "A"), ("789", str(wants or len(self.reports) + 1))])
        answer = self.link.receive()
        if answer is None or value(answer, 35) != "A":
            self.end = answer and value(answer, 58)
            return None
        wanted = int(value(answer, 789))
        if wanted < self.durable:
            raise AssertionError(f"command {wanted} was acknowledged and is wanted again")
        self.durable = wanted
        return wanted

    def add(self, fields):
        """Numbers a command."""
        number = len(self.commands) + 1
        self.commands.append([fields[0], ("34", str(number)), *fields[1:]])

    def send(self, first, last=None):
        """Commands from `first` on, at once."""
        data = b"".join(encode(command) for command in self.commands[first - 1 : last])
        self.link.socket.sendall(data)

    def take(self):
        """One message of the data manager; False at the end of the link."""
        message = self.link.receive()
        if message is None:
            return False
        kind = value(message, 35)
        if kind == "0":
            self.durable = max(self.durable, int(value(message, 789)))
        elif kind == "5":
            self.end = value(message, 58)
            return False
        else:
            number = int(value(message, 34))
            if number != len(self.reports) + 1:
                raise AssertionError(f"report {number} behind {len(self.reports)}")
            self.reports.append(message)
        return True

    def take_all(self):
        """Until all commands are acknowledged; their reports came before."""
        while self.durable <= len(self.commands):
            if not self.take():
                raise AssertionError(f"the link has ended: {self.end}")

    def acknowledge(self):
        """The reports so far are stored."""
        self.link.send([("35", "0"), ("789", str(len(self.reports) + 1))])

    def run(self, first):
        """Sends from `first` on while it takes what comes, until all is acknowledged."""
        sender = threading.Thread(target=self.send_quietly, args=(first,))
        sender.start()
        self.take_all()
        sender.join()

    def send_quietly(self, first):
        """The link may end meanwhile."""
        try:
            self.send(first)
        except OSError:
            pass


class DataCase(unittest.TestCase):
    """A test with a folder and a data manager of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="strid-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.journal = str(self.folder / "journal")
        self.address = f"unix:{self.folder}/link"
        self.process = None
        self.addCleanup(self.kill)

    def start(self, *options):
        """Starts the program."""
        command = [PROGRAM, "--listen", self.address, "--journal", self.journal, *options]
        # In a file: a pipe that nothing reads would fill.
        self.errors = open(self.folder / "errors", "ab")  # closed by the cleanup
        self.addCleanup(self.errors.close)
        self.process = subprocess.Popen(command, stderr=self.errors)

    def kill(self):
        """As a crash would."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        if self.process is not None:
            self.process.wait(TIMEOUT_S)

    def stop(self):
        """By SIGTERM, which is a success."""
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(TIMEOUT_S), 0, self.said())

    def said(self):
        """On standard error so far."""
        return (self.folder / "errors").read_text()

    def check(self, code=0, journal=None):
        """The output of --check, by lines; of one that fails, the line of the error."""
        command = [PROGRAM, "--check", journal or self.journal]
        result = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout.splitlines() if code == 0 else result.stderr

    def compare(self, commands, reports, symbols=None):
        """With the oracle: each report, then books, positions, and their sums."""
        oracle = Exchange(symbols)
        for command in commands:
            fields = {}
            for tag, text in command:
                fields.setdefault(tag, text)
            oracle.handle(fields)
        for ours, wanted in zip(reports, oracle.reports):
            self.assertEqual(canonical(ours), canonical(wanted))
        self.assertEqual(len(reports), len(oracle.reports))
        printed = self.check()
        self.assertEqual(
            printed[:2], [f"commands\t{len(commands)}", f"reports\t{len(oracle.reports)}"]
        )
        self.assertEqual(printed[3], f"trades\t{oracle.trades}")
        self.assertEqual(printed[4:], oracle.summary())
        for line in printed:
            if line.startswith("sum"):
                self.assertEqual(line.split("\t")[2:], ["0", "0"])
        return oracle


def canonical(report):
    """The type, then header and body as they stand."""
    return [report[0], *sorted(report[1:4]), *report[4:]]
