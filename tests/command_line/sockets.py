#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`strid window` and `strid run` over sockets: a server of Python's that they connect to, or a
client that connects to them. The expected output is counted by hand.

    sockets.py CLASS...
"""
import signal
import socket
import subprocess
import time
import unittest

from command_line import STRID, Case

ASK = ["--time", "at", "--window", "tumbling:1s", "--aggregate", "count"]
TIMEOUT_S = 90


def free_port(host="127.0.0.1", family=socket.AF_INET):
    with socket.socket(family) as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


class Sockets(Case):
    def server(self, family, address):
        server = socket.socket(family)
        self.addCleanup(server.close)
        server.settimeout(TIMEOUT_S)
        server.bind(address)
        server.listen(1)
        return server

    def client(self, family, address):
        """Connects as soon as something listens there."""
        until = time.monotonic() + TIMEOUT_S
        while True:
            client = socket.socket(family)
            self.addCleanup(client.close)
            try:
                client.connect(address)
                return client
            except OSError:
                client.close()
                self.assertLess(time.monotonic(), until)
                time.sleep(0.02)

    def window(self, address):
        return self.start("window", "--quiet", "--input", address, *ASK)

    def talk(self, process, peer):
        """Rows come out while the connection is open; the end of it is the end of the input."""
        peer.sendall(b"at,x\n1,2\n20")
        peer.sendall(b"00,3\n")
        self.assertEqual(process.stdout.readline(), b"window_start,window_end,count\n")
        self.assertEqual(process.stdout.readline(), b"0,1000,1\n")
        peer.sendall(b"2500,4")
        peer.close()
        self.assertEqual(process.stdout.read(), b"2000,3000,2\n")
        self.assertEqual(process.wait(TIMEOUT_S), 0, process.stderr.read())

    def test_they_connect(self):
        path = str(self.folder / "a.sock")
        for family, address, name in (
                (socket.AF_INET, ("127.0.0.1", 0), "tcp://127.0.0.1:{}"),
                (socket.AF_INET, ("127.0.0.1", 0), "tcp://localhost:{}"),
                (socket.AF_UNIX, path, "unix://" + path)):
            server = self.server(family, address)
            port = server.getsockname()[1] if family == socket.AF_INET else 0
            process = self.window(name.format(port))
            self.talk(process, server.accept()[0])

    def test_they_are_connected_to(self):
        path = str(self.folder / "b.sock")
        port = free_port()
        for family, address, name in (
                (socket.AF_INET, ("127.0.0.1", port), f"tcp-listen://127.0.0.1:{port}"),
                (socket.AF_INET, ("127.0.0.1", port), f"tcp-listen://:{port}"),
                (socket.AF_UNIX, path, "unix-listen://" + path),
                (socket.AF_UNIX, path, "unix-listen://" + path)):
            process = self.window(name)
            self.talk(process, self.client(family, address))
        self.assertFalse((self.folder / "b.sock").exists())

    def test_a_file_that_a_killed_listener_left_is_no_obstacle(self):
        path = str(self.folder / "c.sock")
        left = socket.socket(socket.AF_UNIX)
        left.bind(path)
        left.close()
        process = self.window("unix-listen://" + path)
        self.talk(process, self.client(socket.AF_UNIX, path))

    def test_json_and_compression(self):
        port = free_port()
        process = self.start("window", "--quiet", "--input", f"tcp-listen://127.0.0.1:{port}", *ASK)
        peer = self.client(socket.AF_INET, ("127.0.0.1", port))
        peer.sendall(b'{"at":1}\n{"at":5000}\n')
        self.assertEqual(process.stdout.readline(), b"window_start,window_end,count\n")
        self.assertEqual(process.stdout.readline(), b"0,1000,1\n")
        peer.close()
        self.assertEqual(process.stdout.read(), b"5000,6000,1\n")
        packed = subprocess.run(["xz"], input=b"at\n1\n2\n", capture_output=True, check=True).stdout
        process = self.start("window", "--quiet", "--input", f"tcp-listen://127.0.0.1:{port}", *ASK)
        peer = self.client(socket.AF_INET, ("127.0.0.1", port))
        peer.sendall(packed)
        peer.close()
        self.assertEqual(process.stdout.read(), b"window_start,window_end,count\n0,1000,2\n")

    def test_a_signal_ends_it_wherever_it_waits(self):
        server = self.server(socket.AF_INET, ("127.0.0.1", 0))
        port = server.getsockname()[1]
        process = self.window(f"tcp://127.0.0.1:{port}")
        peer = server.accept()[0]
        peer.sendall(b"at\n1\n")
        time.sleep(0.3)
        silent = self.window(f"tcp-listen://127.0.0.1:{free_port()}")
        time.sleep(0.5)
        for one in (process, silent):
            one.send_signal(signal.SIGINT)
            out, err = one.communicate(timeout=TIMEOUT_S)
            self.assertNotIn(b"error", err)
            self.assertIn(one.returncode, (0, 130, -signal.SIGINT), err)
            self.assertIn(out.splitlines()[1:], ([b"0,1000,1"], []))

    def test_addresses_that_are_none(self):
        port = free_port()
        busy = self.server(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
        for address, says in ((f"tcp://127.0.0.1:{port}", "cannot connect: Connection refused"),
                              ("tcp://127.0.0.1", "not an address: tcp://host:port"),
                              ("tcp://:9", "not an address"),
                              ("tcp://127.0.0.1:no-such-service", "cannot look up the address"),
                              (f"tcp-listen://127.0.0.1:{busy}", "cannot listen: Address already"),
                              (f"unix://{self.folder}/none", "cannot connect: No such file"),
                              (f"unix-listen://{self.folder}/no/x", "cannot listen: No such file"),
                              ("unix://", "not the path of a Unix socket"),
                              ("unix:///" + "x" * 200, "not the path of a Unix socket")):
            line = self.fails("window", "--input", address, *ASK, code=1)
            self.assertIn(f"{address}: {says}", line)


if __name__ == "__main__":
    unittest.main()
