# SPDX-License-Identifier: Apache-2.0
"""The tests of sockets share a run of `strid window` that listens, and clients of Python's."""

import contextlib
import random
import signal
import socket
import ssl
import struct
import subprocess
import time
from collections import Counter
from pathlib import Path

from transport_case import STRID, TIMEOUT_S, TransportCase, free_port


class SocketCase(TransportCase):
    def setUp(self):
        super().setUp()
        self.port = free_port()

    def start(self, source: str, target: str, *options: str,
              window: str = "tumbling:1s") -> subprocess.Popen:
        """A run that counts the rows of each symbol."""
        run = subprocess.Popen(
            [STRID, "window", "--quiet", "--input", source, "--output", target, "--key", "symbol",
             "--time", "at", "--unit", "ms", "--window", window, "--aggregate", "count as n",
             *options], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.addCleanup(self.killed_at_end, run)
        return run

    def listening(self, query: str = "clients=20", *options: str, target: str = "out.csv",
                  disorder: str = "end", window: str = "tumbling:1s") -> subprocess.Popen:
        return self.start(f"tcp-listen://127.0.0.1:{self.port}?{query}", target, "--format", "json",
                          "--disorder", disorder, *options, window=window)

    def taking_csv(self, source: str, target: str) -> subprocess.Popen:
        run = subprocess.Popen(
            [STRID, "window", "--quiet", "--input", source, "--output", target, "--no-header",
             "--time", "1", "--unit", "ms", "--key", "2", "--window", "tumbling:1s", "--aggregate",
             "count as n"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        self.addCleanup(self.killed_at_end, run)
        return run

    @staticmethod
    def killed_at_end(run: subprocess.Popen) -> None:
        run.kill()
        run.wait()
        for stream in (run.stdin, run.stdout, run.stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def connect(self, run: subprocess.Popen = None, port: int = 0) -> socket.socket:
        """As soon as something listens there."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                client = socket.create_connection(("127.0.0.1", port or self.port),
                                                  timeout=TIMEOUT_S)
                self.addCleanup(client.close)
                return client
            except ConnectionRefusedError:
                if run is not None and run.poll() is not None:
                    raise AssertionError(run.stderr.read().decode()) from None
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def stopped(self, run: subprocess.Popen, status: int = 128 + signal.SIGTERM,
                within_s: float = TIMEOUT_S) -> str:
        begin = time.monotonic()
        run.send_signal(signal.SIGTERM)
        text = run.stderr.read().decode()
        self.assertEqual(run.wait(timeout=TIMEOUT_S), status, text)
        self.assertLess(time.monotonic() - begin, within_s)
        return text

    def ended(self, run: subprocess.Popen, status: int = 0) -> str:
        text = run.stderr.read().decode()
        self.assertEqual(run.wait(timeout=TIMEOUT_S), status, text)
        return text

    def counts(self, target: str = "out.csv") -> Counter:
        """How often each symbol was counted."""
        found = Counter()
        for line in (self.folder / target).read_text().splitlines()[1:]:
            cells = line.split(",")
            found[cells[0]] += int(cells[-1])
        return found

    def refused(self, *arguments: str, status: tuple = (1, 2)) -> str:
        """One sentence, of a run that does not begin."""
        done = subprocess.run(
            [STRID, "window", "--quiet", "--time", "at", "--window", "tumbling:1s", "--aggregate",
             "count", *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=TIMEOUT_S)
        self.assertIn(done.returncode, status, done.stderr)
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 1, lines)
        return lines[0]


class Certificates:
    """Files of openssl in the folder of a test."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.make("own")
        self.make("other")

    def make(self, name: str, alternative: str = "IP:127.0.0.1,DNS:localhost") -> None:
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
             "-subj", "/CN=strid", "-addext", f"subjectAltName={alternative}", "-keyout",
             self.folder / f"{name}.key", "-out", self.folder / f"{name}.pem"],
            check=True, capture_output=True)

    def make_expired(self, name: str) -> None:
        """One that was of use for a day, years ago."""
        (self.folder / "ca.conf").write_text(
            "[ca]\ndefault_ca = x\n[x]\ndatabase = index\nserial = serial\nnew_certs_dir = .\n"
            "default_md = sha256\npolicy = p\nx509_extensions = e\n[p]\ncommonName = supplied\n"
            "[e]\nsubjectAltName = IP:127.0.0.1,DNS:localhost\n")
        (self.folder / "index").write_text("")
        (self.folder / "serial").write_text("01\n")
        for words in (
            ["req", "-new", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=strid", "-keyout",
             f"{name}.key", "-out", f"{name}.csr"],
            ["ca", "-batch", "-selfsign", "-config", "ca.conf", "-keyfile", f"{name}.key", "-in",
             f"{name}.csr", "-out", f"{name}.pem", "-startdate", "20200101000000Z", "-enddate",
             "20200102000000Z"],
        ):
            subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)

    def client(self, trusted: str = "own", own: str = "") -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=str(self.folder / f"{trusted}.pem"))
        if own:
            context.load_cert_chain(self.folder / f"{own}.pem", self.folder / f"{own}.key")
        return context

    def server(self, name: str = "own", trusted: str = "") -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        if trusted:
            context.load_verify_locations(self.folder / f"{trusted}.pem")
            context.verify_mode = ssl.CERT_REQUIRED
        return context


def reset(peer: socket.socket) -> None:
    """Breaks the connection, as a machine that has lost it does."""
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def lines_of(names: list, at: int = 0) -> bytes:
    return "".join(f'{{"at":{at},"symbol":"{name}"}}\n' for name in names).encode()


def messages_of(names: list, at: int = 0) -> bytes:
    """The same with their lengths in front."""
    payloads = [line.encode() for line in lines_of(names, at).decode().splitlines()]
    return b"".join(struct.pack(">I", len(one)) + one for one in payloads)


def send_in_pieces(client: socket.socket, data: bytes, rng: random.Random) -> None:
    at = 0
    while at < len(data):
        size = rng.choice((1, 7, 100, 3_000, 60_000))
        client.sendall(data[at:at + size])
        at += size
