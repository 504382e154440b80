#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of --http in Chromium: it moves, survives the end of its server, has no error in the
console and no fault of accessibility, in light and dark, on a desktop and on a phone.

    page_test.py [CLASS...]

The environment names the program (STRID) and the project (STRID_SOURCE); STRID_PICTURES, where it
is given, is a folder for pictures of the page. It is skipped without Chromium, Node and the
packages of package.json: scripts/install-dependencies --browser brings them.
"""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "command_line"))
from http_case import HttpCase  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
PACKAGES = pathlib.Path(os.environ.get("STRID_BROWSER_PACKAGES",
                                       HERE.parents[1] / "build/peers/browser"))
PICTURES = os.environ.get("STRID_PICTURES")
CHROMIUM = shutil.which("chromium")
DESKTOP, PHONE = (1280, 900), (390, 844)
WAIT_S = 30
INPUT = ["window", "--time", "at", "--unit", "ms", "--key", "symbol"]
WINDOW = [*INPUT, "--window", "tumbling:1s", "--aggregate", "count as n"]
# The console has these while no server is there.
OUTAGE = ("net::ERR_", "Failed to load resource")


class Browser:
    """Chromium, by browser.cjs."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["node", HERE / "browser.cjs", PACKAGES, CHROMIUM], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)

    def do(self, command, **arguments):
        self.process.stdin.write(json.dumps({"do": command, **arguments}) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise AssertionError(f"{command} {arguments}: {answer['error']}")
        return answer["value"]

    def close(self):
        self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(WAIT_S)
        self.process.kill()
        self.process.stdout.close()


class PageCase(HttpCase):
    @classmethod
    def setUpClass(cls):
        if not CHROMIUM or not shutil.which("node") or not (PACKAGES / "node_modules").is_dir():
            raise unittest.SkipTest("no Chromium, no Node, or no packages for it")
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def fed(self, *options, rate=2000, malformed=0, command=WINDOW, port=0):
        """Starts a run with rows of now, some of which are no rows."""
        self.serve(*options, command=command, port=port, stdout=subprocess.DEVNULL)
        run = self.run_
        stops = threading.Event()

        def feed():
            part = 0.05
            number = 0
            with contextlib.suppress(OSError, ValueError):
                run.stdin.write(b"at,symbol,price\n")
                while not stops.wait(part):
                    at = int(time.time() * 1000)
                    rows = [f"{at},s{i % 7},{i}\n" for i in range(int(rate * part))]
                    number += 1
                    rows += [f"row {number} of <b>none</b>,s,{i}\n" for i in range(malformed)]
                    run.stdin.write("".join(rows).encode())
                    run.stdin.flush()
            with contextlib.suppress(OSError):  # it was killed
                run.stdin.close()

        thread = threading.Thread(target=feed, daemon=True)
        thread.start()

        def stop():
            stops.set()
            thread.join()

        self.addCleanup(stop)
        self.stop_feeding = stop
        return run

    def open(self, name, size=DESKTOP, scheme="light"):
        self.browser.do("open", page=name, url=f"http://127.0.0.1:{self.port}/", size=size,
                        scheme=scheme)

    def value(self, name, expression):
        return self.browser.do("value", page=name, expression=expression)

    def text(self, name, selector):
        return self.value(name, f"document.querySelector({json.dumps(selector)}).textContent")

    def wait(self, name, selector, holds):
        """Until the text of the element is so; the text."""
        deadline = time.monotonic() + WAIT_S
        while not holds(text := self.text(name, selector)):
            self.assertLess(time.monotonic(), deadline, f"{selector}: {text!r}")
            time.sleep(0.1)
        return text

    def picture(self, name, file):
        if PICTURES:
            pathlib.Path(PICTURES).mkdir(parents=True, exist_ok=True)
            self.browser.do("picture", page=name, path=f"{PICTURES}/{file}.png")

    def no_errors(self, name, outage=False):
        errors = self.browser.do("errors", page=name)
        if outage:
            errors = [one for one in errors if not any(text in one for text in OUTAGE)]
        self.assertEqual(errors, [])


class Moving(PageCase):
    def test_figures_move(self):
        self.fed()
        self.open("moving")
        self.wait("moving", "#state", lambda text: text == "running")
        self.assertEqual(self.value("moving", "document.title"), "window – Strid")
        seen = set()
        for _ in range(3):
            seen.add(self.wait("moving", "#totals", lambda text: text not in seen))
        self.wait("moving", "#slowest", lambda text: len(text) > 10)
        self.wait("moving", ".figure .value", lambda text: text.endswith(" k/s"))
        lines = ("Array.from(document.querySelectorAll('.figure path'), "
                 "(path) => path.getAttribute('d').split('L').length)")
        self.until(lambda: max(self.value("moving", lines)) >= 2)
        edges = self.value("moving", "Array.from(document.querySelectorAll('#graph .label'), "
                                     "(label) => label.textContent)")
        self.assertTrue(edges and all("/s" in edge for edge in edges), edges)
        self.assertTrue(any("up to " in edge for edge in edges), edges)
        # Rows are of now: the watermark is near.
        self.wait("moving", ".figure:nth-child(4) .value",
                  lambda text: text.endswith(" ms") or text.endswith(" s"))
        self.no_errors("moving")

    def test_the_busy_operator_is_named(self):
        self.fed(command=[*INPUT, "--window", "sliding:10s/1ms", "--aggregate",
                          "median(price)"], rate=20_000)
        self.open("busy")
        self.wait("busy", "#slowest", lambda text: text.startswith("Slowest: "))
        self.no_errors("busy")

    def test_refused_lines_and_snapshots_are_shown_as_text(self):
        self.fed("--dead-letter", self.folder / "refused.csv", "--snapshots",
                 self.folder / "state", "--journal", self.folder / "journal", "--snapshot-every",
                 "500ms", malformed=2)
        self.open("lists")
        lines = self.wait("lists", "#refused-lines", lambda text: "of <b>none</b>" in text)
        self.assertIn("standard input:", lines)
        self.wait("lists", "#snapshots-list", lambda text: " ago (" in text)
        self.assertEqual(self.value("lists", "document.querySelectorAll('#refused b').length"), 0)
        self.picture("lists", "lists")
        self.no_errors("lists")


class Connections(PageCase):
    def test_a_broker_that_is_away_is_shown(self):
        mosquitto = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
        if not mosquitto:
            self.skipTest("Mosquitto is not installed")
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]

        def begin():
            broker = subprocess.Popen([mosquitto, "-p", str(port)], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
            self.addCleanup(broker.wait)
            self.addCleanup(broker.kill)
            with socket.socket() as one:
                self.until(lambda: one.connect_ex(("127.0.0.1", port)) == 0)
            return broker

        broker = begin()
        self.serve("--input", f"mqtt://127.0.0.1:{port}/plant", "--format", "json",
                   command=WINDOW, stdout=subprocess.DEVNULL)
        self.open("away")
        self.wait("away", "#connections-list", lambda text: "plant connected for" in text)
        broker.kill()
        self.wait("away", "#connections-list", lambda text: "plant not reached for" in text)
        self.assertEqual(self.browser.do("faults", page="away"), [])
        self.picture("away", "away")
        begin()
        self.wait("away", "#connections-list", lambda text: text.endswith("lost once"))
        self.no_errors("away")


class Recovering(PageCase):
    def test_the_page_follows_the_next_run_at_its_address(self):
        first = self.fed()
        port = self.port
        self.open("next")
        boxes = ("Array.from(document.querySelectorAll('.operator .name'), "
                 "(name) => name.textContent).join()")
        self.wait("next", "#totals", lambda text: " k records in" in text)
        by_key = self.value("next", boxes)
        # It ends well.
        self.stop_feeding()
        first.wait(WAIT_S)
        self.wait("next", "#state", lambda text: text.startswith("The run is over."))
        self.no_errors("next", outage=True)
        # Another graph is at the same port.
        second = self.fed("--parallelism", "3", port=port)
        self.wait("next", "#state", lambda text: text == "running")
        self.wait("next", "#totals", lambda text: " k records in" in text)
        self.assertNotEqual(self.value("next", boxes), by_key)
        # It is killed: the stream ends without a last event.
        second.send_signal(signal.SIGKILL)
        second.wait(WAIT_S)
        self.wait("next", "#state", lambda text: text.startswith("The connection is lost."))
        self.picture("next", "lost")
        self.stop_feeding()
        self.fed(port=port)
        self.wait("next", "#state", lambda text: text == "running")
        seen = self.text("next", "#totals")
        self.wait("next", "#totals", lambda text: text != seen)
        self.wait("next", "#slowest", lambda text: len(text) > 10)
        self.assertEqual(self.value("next", boxes), by_key)
        self.no_errors("next", outage=True)

    def test_streams_do_not_block_other_requests(self):
        self.fed()
        self.open("many")
        self.wait("many", "#state", lambda text: text == "running")
        viewers = []
        for _ in range(10):
            viewer = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)
            self.addCleanup(viewer.close)
            viewer.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            viewers.append(viewer)
        for viewer in viewers:
            self.assertTrue(viewer.recv(100).startswith(b"HTTP/1.1 200 "))
        for _ in range(20):
            begin = time.monotonic()
            self.assertEqual(self.ask("/healthz")[0], 200)
            self.assertLess(time.monotonic() - begin, 2)
        # All places are taken: the next page gives the reason, and shows the run when there is one.
        while len(viewers) < 16:
            viewer = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)
            self.addCleanup(viewer.close)
            viewer.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
            viewer.recv(100)
            viewers.append(viewer)
        self.open("seventeenth")
        self.wait("seventeenth", "#state", lambda text: text.startswith("Too many pages are open."))
        for viewer in viewers:
            viewer.close()
        self.wait("seventeenth", "#state", lambda text: text == "running")
        self.no_errors("seventeenth", outage=True)
        self.no_errors("many")


class Looking(PageCase):
    def test_nothing_is_out_of_reach_for_anybody(self):
        """axe-core finds no fault, and nothing is wider than the window."""
        self.fed("--dead-letter", self.folder / "refused.csv", "--snapshots",
                 self.folder / "state", "--journal", self.folder / "journal", "--snapshot-every",
                 "1s", malformed=1, rate=100_000)
        self.open("look")
        self.wait("look", "#refused-lines", lambda text: "none" in text)
        self.wait("look", "#snapshots-list", lambda text: " ago (" in text)
        time.sleep(3)  # some points in the plots
        for name, size in (("desktop", DESKTOP), ("phone", PHONE)):
            for scheme in ("light", "dark"):
                with self.subTest(f"{name} {scheme}"):
                    self.browser.do("show", page="look", size=size, scheme=scheme)
                    time.sleep(1.5)
                    self.picture("look", f"{name}-{scheme}")
                    self.assertEqual(self.browser.do("faults", page="look"), [])
                    self.assertLessEqual(
                        self.value("look", "document.documentElement.scrollWidth"), size[0])
        self.no_errors("look")

    def test_the_keyboard_opens_details(self):
        self.fed()
        self.open("keys")
        self.wait("keys", "#slowest", lambda text: len(text) > 10)
        for _ in range(2):
            self.browser.do("press", page="keys", key="Tab")
        focused = "document.activeElement.getAttribute('aria-label') || ''"
        self.assertTrue(self.value("keys", focused).startswith("more of "))
        self.browser.do("press", page="keys", key="Enter")
        self.wait("keys", "details[open] dl", lambda text: "latency p50, p99" in text)
        self.assertEqual(self.browser.do("faults", page="keys"), [])
        self.picture("keys", "details")
        self.no_errors("keys")


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    if result.skipped and not result.testsRun:
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
