#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""--http: a run that is watched and operated over HTTP. Figures are compared with the number of
rows that the test has written, /metrics also by promtool where it is installed.

    http_runs.py CLASS...
"""
import base64
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import time
import unittest

from command_line import SOURCE, STRID
from http_case import ASK, TIMEOUT_S, HttpCase, rows, samples


class HttpFigures(HttpCase):
    def test_figures_are_the_rows_that_were_written(self):
        self.serve()
        self.until(self.is_ready)
        self.assertEqual(self.ask("/healthz")[::2], (200, "ok\n"))
        self.feed(b"at\n" + rows(0, 2500))
        self.until(lambda: (self.report()["records_in"], self.report()["records_out"]) == (2500, 2))
        report = self.report()
        self.assertTrue(report["running"])
        self.assertEqual(report["graph"], "window")
        status, headers, text = self.ask("/metrics")
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        values = samples(text)
        self.assertEqual(values['strid_records_in_total{graph="window"}'], 2500)
        self.assertEqual(values['strid_records_out_total{graph="window"}'], 2)
        self.assertEqual(values['strid_running{graph="window"}'], 1)
        names = {op["name"]: op for segment in report["segments"] for op in segment["operators"]}
        for name, op in names.items():
            labels = f'{{graph="window",operator="{name}",kind="{op["kind"]}"}}'
            self.assertEqual(values["strid_operator_records_out_total" + labels],
                             op["records_out"])
        self.assertGreater(values["process_resident_memory_bytes"], 1_000_000)
        self.assertAlmostEqual(values["process_start_time_seconds"], time.time(), delta=TIMEOUT_S)
        self.feed(rows(2500, 500))
        self.until(lambda: self.report()["records_in"] == 3000)
        self.assertGreater(samples(self.ask("/metrics")[2])["process_cpu_seconds_total"], 0)
        out, _ = self.ends(0)
        self.assertEqual(len(out.splitlines()), 4)
        self.assertFalse(os.path.exists(self.token_path))

    def test_promtool_finds_no_fault(self):
        if shutil.which("promtool") is None:
            self.skipTest("no promtool (Debian's package prometheus)")
        self.serve("--key", "name", "--skip-malformed")
        self.until(self.is_ready)
        before = self.ask("/metrics")[2]
        self.feed(b"at,name\n" + b"".join(b"%d,a\n" % at for at in range(3000)) + b"x,a\n")
        self.until(lambda: self.report()["records_in"] == 3000)
        after = self.ask("/metrics")[2]
        for text in (before, after):
            checked = subprocess.run(["promtool", "check", "metrics"], input=text.encode(),
                                     capture_output=True, timeout=TIMEOUT_S)
            self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, b"", b""))

    def test_the_dashboard_shows_figures_that_there_are(self):
        dashboard = json.loads((SOURCE / "share/grafana/strid.json").read_text())
        self.serve("--key", "name")
        self.until(self.is_ready)
        text = self.ask("/metrics")[2]
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                for name in re.findall(r"strid_\w+", target["expr"]):
                    self.assertIn(f"\n{name}{{", text)
                for label in re.findall(r"{{(\w+)}}", target["legendFormat"]):
                    self.assertIn(f'{label}="', text)
        self.ends(0)

    def test_the_graph_and_the_page(self):
        self.serve()
        graph = json.loads(self.ask("/graph")[2])
        self.assertEqual(graph["name"], "window")
        names = [op["name"] for segment in graph["segments"] for op in segment["operators"]]
        self.until(self.is_ready)
        self.assertEqual(names, [op["name"] for segment in self.report()["segments"]
                                 for op in segment["operators"]])
        for edge in graph["edges"]:
            self.assertLess(max(edge["from"], edge["to"]), len(graph["segments"]))
        page = self.ask("/")[2]
        for path in set(re.findall(r'(?:src|href)="([^"#]+)"', page)):
            self.assertTrue(path.startswith("/"), path)  # nothing from elsewhere
            self.assertEqual(self.ask(path)[0], 200, path)
        for inline in ("<style", " style=", " onclick=", " onload=", "javascript:"):
            self.assertNotIn(inline, page)
        self.assertEqual(re.findall(r"<script[^>]*>\s*[^<\s]", page), [])
        self.ends(0)

    def test_every_answer_carries_the_rules_for_browsers(self):
        self.serve()
        for path in ("/", "/report", "/metrics", "/healthz", "/nothing", "/stop"):
            headers = self.ask(path)[1]
            self.assertTrue(headers["Content-Security-Policy"].startswith("default-src 'self';"))
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Cache-Control"], "no-store")
        self.ends(0)

    def test_an_application_has_it_too(self):
        listed = subprocess.run([STRID, "list"], capture_output=True, check=False)
        if listed.returncode != 0 or b"flights" not in listed.stdout:
            self.skipTest("the applications are not built")
        self.serve(command=["run", "flights"])
        self.until(self.is_ready)
        self.assertEqual(self.report()["graph"], "flights")
        self.assertEqual(self.act("/stop"), 202)
        self.run_.stdin.close()
        self.assertEqual(self.run_.wait(TIMEOUT_S), 128 + signal.SIGTERM)


class HttpOrders(HttpCase):
    def test_the_token_is_for_its_owner_alone(self):
        self.serve()
        status = os.stat(self.token_path)
        self.assertEqual(stat.S_IMODE(status.st_mode), 0o600)
        self.assertRegex(self.token, "^[0-9a-f]{64}$")
        self.run_.stdin.close()
        first = self.token
        path = self.file("token", "of an earlier run\n")
        path.chmod(0o644)
        self.serve("--http-token", path)
        self.assertEqual(self.token_path, str(path))
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertNotEqual(self.token, first)
        self.ends(0)
        self.assertFalse(path.exists())

    def test_orders_without_the_token_are_refused(self):
        self.serve()
        self.until(self.is_ready)
        basic = base64.b64encode(f"strid:{self.token}".encode()).decode()
        wrong = ("0" if self.token[-1] != "0" else "1")
        for path in ("/stop", "/snapshot"):
            self.assertEqual(self.ask(path, "POST")[0], 401)
            for given in ("Bearer", "Bearer ", f"Bearer {self.token[:-1]}", f"Bearer {self.token}0",
                          f"Bearer {self.token[:-1]}{wrong}", f"Basic {basic}", self.token,
                          f"Bearer {'0' * 64}"):
                status, headers, _ = self.ask(path, "POST", Authorization=given)
                self.assertEqual(status, 401, given)
                self.assertEqual(headers["WWW-Authenticate"], 'Bearer realm="strid"')
            self.assertEqual(
                self.ask(path, Authorization=f"Bearer {self.token}")[0], 405)  # GET changes nothing
        self.feed(b"at\n" + rows(0, 10))
        self.until(lambda: self.report()["records_in"] == 10)
        self.assertEqual(self.act("/snapshot"), 409)  # without --snapshots
        self.assertEqual(self.act("/stop"), 202)
        self.ends(128 + signal.SIGTERM)

    def test_stop_ends_the_run_as_sigterm_does(self):
        ends = []
        for options, code in (([], 128 + signal.SIGTERM), (["--zero-on-sigterm"], 0)):
            for stops_by_http in (True, False):
                self.serve(*options)
                self.feed(b"at\n" + rows(0, 1500))
                self.until(lambda: self.report()["records_in"] == 1500)
                if stops_by_http:
                    self.assertEqual(self.act("/stop"), 202)
                else:
                    self.run_.send_signal(signal.SIGTERM)
                self.assertEqual(self.run_.wait(TIMEOUT_S), code)
                out, err = self.ends(code)
                ends.append((out, "stopped and drained" in err, "1,500 records" in err))
        self.assertEqual(set(ends), {
            (b"window_start,window_end,count\n0,1000,1000\n1000,2000,500\n", True, True)})

    def test_a_second_stop_cancels_nothing(self):
        output = self.folder / "rows.csv"
        source = self.folder / "input"
        os.mkfifo(source)
        self.serve("--input", source, "--output", output)
        with open(source, "wb") as pipe:
            pipe.write(b"at\n" + rows(0, 20))
            pipe.flush()
            self.until(self.is_ready)
            self.until(lambda: self.report()["records_in"] == 20)
            with contextlib.suppress(OSError, http.client.HTTPException):
                for _ in range(5):
                    self.assertEqual(self.act("/stop"), 202)
            self.ends(128 + signal.SIGTERM)
        self.assertEqual(output.read_bytes(), b"window_start,window_end,count\n0,1000,20\n")

    def test_snapshots_are_taken_when_asked(self):
        state = self.folder / "state"
        self.serve("--snapshots", state, "--journal", self.folder / "journal", "--snapshot-every",
                   "1h", "--output", self.folder / "rows.csv")
        self.feed(b"at\n" + rows(0, 30))
        self.until(lambda: self.is_ready() and self.report()["records_in"] == 30)
        self.assertEqual(self.act("/snapshot"), 200)
        listed = self.strid("state", "list", state).stdout
        self.assertEqual(self.act("/snapshot"), 200)
        self.assertNotEqual(self.strid("state", "list", state).stdout, listed)
        self.assertEqual(self.act("/stop"), 202)
        self.run_.wait(TIMEOUT_S)  # before its input ends
        _, err = self.ends(128 + signal.SIGTERM)
        self.assertIn("stopped at a snapshot", err)


class HttpGuards(HttpCase):
    def test_other_hosts_and_origins_are_refused(self):
        self.serve()
        port = self.port
        for host in (f"127.0.0.1:{port}", f"localhost:{port}", "localhost", f"[::1]:{port}",
                     "LOCALHOST:1", "10.1.2.3", socket.gethostname()):
            self.assertEqual(self.ask("/report", Host=host)[0] in (200, 503), True, host)
        for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}",
                     f"localhost.evil.example:{port}", "localhost:80:80", "[::1", "a b", ""):
            self.assertEqual(self.ask("/report", Host=host)[0], 403, host)
        self.assertIn(" 403 ", self.raw(b"GET /report HTTP/1.1\r\n\r\n"))
        own = f"127.0.0.1:{port}"
        self.assertIn(self.ask("/report", Host=own, Origin=f"http://{own}")[0], (200, 503))
        for origin in ("http://evil.example", "null", "", f"http://127.0.0.1:{port + 1}",
                       f"http://localhost:{port}", f"{own}"):
            self.assertEqual(self.ask("/report", Host=own, Origin=origin)[0], 403, origin)
            self.assertEqual(self.ask("/stop", "POST", Host=own, Origin=origin,
                                      Authorization=f"Bearer {self.token}")[0], 403, origin)
        self.ends(0)

    def test_other_machines_need_the_token_for_everything(self):
        self.serve(host="0.0.0.0")
        basic = base64.b64encode(f"strid:{self.token}".encode()).decode()
        for path in ("/", "/healthz", "/readyz", "/metrics", "/report", "/refused", "/snapshots",
                     "/page.js", "/nothing"):
            status, headers, _ = self.ask(path)
            self.assertEqual(status, 401, path)
            self.assertEqual(headers["WWW-Authenticate"], 'Basic realm="strid"')
            self.assertNotEqual(self.ask(path, Authorization=f"Bearer {self.token}")[0], 401)
            self.assertNotEqual(self.ask(path, Authorization=f"Basic {basic}")[0], 401)
            self.assertEqual(self.ask(path, Authorization=f"Basic {basic[:-4]}AAA=")[0], 401)
        self.assertEqual(self.ask("/stop", "POST", Authorization=f"Basic {basic}")[0], 401)
        self.assertEqual(self.act("/stop"), 202)
        self.run_.stdin.close()
        self.run_.wait(TIMEOUT_S)

    def test_requests_that_are_none(self):
        self.serve()
        host = b"Host: localhost\r\n"
        for request, status in (
                (b"GET /healthz HTTP/1.1\r\n" + host + b"\r\n", 200),
                (b"GET /healthz?a=b HTTP/1.0\r\n" + host + b"\r\n", 200),
                (b"GET /healthz HTTP/1.1\r\n" + host + b"X:\t b \r\n\r\nmore", 200),
                (b"POST /healthz HTTP/1.1\r\n" + host + b"\r\n", 405),
                (b"BREW / HTTP/1.1\r\n" + host + b"\r\n", 405),
                (b"GET /healthz/ HTTP/1.1\r\n" + host + b"\r\n", 404),
                (b"GET /../etc/passwd HTTP/1.1\r\n" + host + b"\r\n", 404),
                (b"GET /%2e%2e/ HTTP/1.1\r\n" + host + b"\r\n", 404),
                (b"GET http://localhost/ HTTP/1.1\r\n" + host + b"\r\n", 400),
                (b"GET / HTTP/2.0\r\n" + host + b"\r\n", 505),
                (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
                (b"GET /\r\n\r\n", 400),
                (b"\r\n\r\n", 400),
                (b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400),
                (b"GET / HTTP/1.1\r\n" + host + host + b"\r\n", 400),
                (b"GET / HTTP/1.1\r\n" + host + b" folded: a\r\n\r\n", 400),
                (b"GET / HTTP/1.1\r\n" + host + b"A: \x00\r\n\r\n", 400),
                (b"GET / HTTP/1.1\r\n" + host + b"no colon\r\n\r\n", 400),
                (b"POST /stop HTTP/1.1\r\n" + host + b"Content-Length: 1\r\n\r\na", 413),
                (b"POST /stop HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                 413),
                (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + host + b"\r\n", 431),
                (b"GET / HTTP/1.1\r\n" + host + b"A: " + b"a" * 9000 + b"\r\n\r\n", 431),
                (b"GET / HTTP/1.1\r\n" + b"".join(b"A%d: b\r\n" % i for i in range(100000)), 431)):
            with self.subTest(request[:60]):
                self.assertTrue(self.raw(request).startswith(f"HTTP/1.1 {status} "))
        head = self.raw(b"HEAD /healthz HTTP/1.1\r\n" + host + b"\r\n")
        self.assertIn("Content-Length: 3\r\n", head)
        self.assertTrue(head.endswith("\r\n\r\n"))
        self.assertEqual(self.ask("/healthz")[0], 200)
        self.ends(0)

    def test_slow_viewers_block_nothing(self):
        self.serve()
        viewers = []
        for _ in range(10):
            viewer = socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S)
            self.addCleanup(viewer.close)
            viewer.sendall(b"GET /report HTTP/1.1\r\nHost: local")
            viewers.append(viewer)
        for _ in range(20):
            begin = time.monotonic()
            self.assertEqual(self.ask("/healthz")[0], 200)
            self.assertLess(time.monotonic() - begin, 2)
        for _ in range(4):  # a byte now and then is not enough
            time.sleep(1)
            for viewer in viewers:
                with contextlib.suppress(OSError):
                    viewer.sendall(b"a")
        self.assertIn(b" 408 ", viewers[0].recv(100))
        self.ends(0)

    def test_too_many_viewers_are_sent_away(self):
        self.serve()
        viewers = []
        for _ in range(60):
            viewers.append(socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S))
            self.addCleanup(viewers[-1].close)
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            answer = viewers[-1].recv(1000)
        self.assertTrue(answer.startswith(b"HTTP/1.1 503 ") or answer == b"", answer)
        self.assertEqual(self.threads(self.run_).count("strid-http"), 32 + 1)
        for viewer in viewers:
            viewer.close()
        self.until(lambda: self.ask("/healthz")[0] == 200)
        begin = time.monotonic()
        self.ends(0)
        self.assertLess(time.monotonic() - begin, 10)

    def test_viewers_do_not_delay_the_end(self):
        self.serve()
        self.until(self.is_ready)
        viewers = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(5)]
        for viewer in viewers:
            self.addCleanup(viewer.close)
            viewer.sendall(b"GET / HT")
        begin = time.monotonic()
        self.run_.send_signal(signal.SIGTERM)
        self.ends(128 + signal.SIGTERM)
        self.assertLess(time.monotonic() - begin, 4)
        self.assertFalse(os.path.exists(self.token_path))

    def test_a_port_in_use_is_an_error_before_any_input_is_read(self):
        busy = socket.socket()
        self.addCleanup(busy.close)
        busy.bind(("127.0.0.1", 0))
        busy.listen(1)
        port = busy.getsockname()[1]
        read, write = os.pipe()
        os.write(write, b"at\n1\n")
        os.close(write)
        output = self.file("rows.csv", "as it was\n")
        line = self.fails(*ASK, "--http", f"127.0.0.1:{port}", "--output", output, code=1,
                          stdin=read)
        self.assertIn(f"http://127.0.0.1:{port}: cannot listen: Address already in use", line)
        self.assertEqual(os.read(read, 100), b"at\n1\n")
        os.close(read)
        self.assertEqual(output.read_text(), "as it was\n")
        # Two runs do not share a port either.
        self.serve()
        self.fails(*ASK, "--http", f"127.0.0.1:{self.port}", code=1, input=b"at\n")
        self.ends(0)

    def test_mistakes(self):
        for address in ("8080", "127.0.0.1", "127.0.0.1:", ":8080", "127.0.0.1:70000", "::1:80",
                        "127.0.0.1:-1", "127.0.0.1:http", ""):
            with self.subTest(address):
                self.fails(*ASK, f"--http={address}", code=2, input=b"at\n")
        self.assertIn("cannot look up", self.fails(*ASK, "--http", "no.such.host.invalid:1", code=1,
                                                   input=b"at\n"))
        self.assertIn("--http-token, --http-certificate and --http-key need --http",
                      self.fails(*ASK, "--http-token", "t", code=2, input=b"at\n"))
        for path, says in ((self.folder, "not a plain file"),
                           (self.folder / "no" / "token", "No such file")):
            self.assertIn(says, self.fails(*ASK, "--http", "127.0.0.1:0", "--http-token", path,
                                           code=1, input=b"at\n"))

    def test_six_and_a_name(self):
        for host, shown in (("localhost", "localhost"), ("[::1]", "[::1]")):
            with contextlib.closing(socket.socket(socket.AF_INET6)) as probe:
                try:
                    probe.bind(("::1", 0))
                except OSError:
                    continue
            process = self.start(*ASK, "--http", f"{host}:0")
            self.assertIn(f"http://{shown}:".encode(), process.stderr.readline())
            process.stdin.close()
            self.assertEqual(process.wait(TIMEOUT_S), 0)


if __name__ == "__main__":
    unittest.main()
