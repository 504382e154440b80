# SPDX-License-Identifier: Apache-2.0
"""A program with a journal acknowledges the lines of a socket. Its clients and the program itself
are killed at random moments. A client that comes next sends the lines behind those that are
acknowledged to it when it connects. In the end each line has its effect once, and the last client
has heard of all of them.

    acknowledged_test.py PROGRAM [KILLS]       kills, 12 unless given

The oracle is computed here."""

import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SEED = int(os.environ.get("STRID_SEED", random.randrange(2**31)))
os.environ["STRID_SEED"] = str(SEED)  # of the client, too
COUNT = 20_000
SELF = str(Path(__file__).resolve())


def rows() -> list[bytes]:
    chosen = random.Random(SEED)
    return [b"s%d,%d,%d\n" % (chosen.randrange(20), i, i) for i in range(COUNT)]


def connected(port: int) -> socket.socket:
    end = time.time() + 60
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            assert time.time() < end, "nothing listens"
            time.sleep(0.005)


def send_as_client(port: int, least: int) -> None:
    """The client: goes on where the server is, and ends when all is acknowledged."""
    all_rows = rows()
    while True:
        try:
            with connected(port) as server:
                answers = server.makefile("r")
                accepted = int(answers.readline().removeprefix("accepted "))
                assert accepted >= least, "lines that were acknowledged are lost"
                least = accepted
                text, at = b"".join(all_rows[accepted:]), 0
                chosen = random.Random(SEED + accepted)
                while at < len(text):
                    size = chosen.choice((1, 100, 3_000))
                    server.sendall(text[at : at + size])
                    at += size
                    time.sleep(0.0005)
                while accepted < len(all_rows):
                    line = answers.readline()
                    if not line.endswith("\n"):
                        break  # the server was killed
                    accepted = int(line.removeprefix("accepted "))
                    assert accepted >= least, "acknowledgements go back"
                    least = accepted
                    Path("least").write_text(str(least))
                else:
                    return
        except (BrokenPipeError, ConnectionResetError, ValueError):
            continue


def begin_server(program: str, port: int) -> subprocess.Popen:
    return subprocess.Popen(
        [program, "--operator", "sums", "--input", f"tcp-listen://127.0.0.1:{port}", "--output",
         "out.csv", "--quiet", "--snapshots", "state", "--snapshot-every", "20ms", "--journal",
         "journal", "--file-bytes", "20000", "--journal-acknowledge", "--drain"],
        stderr=subprocess.PIPE)


def begin_client(port: int) -> subprocess.Popen:
    # A file that is cut by the kill of its writer says nothing.
    known = Path("least").read_text() if Path("least").exists() else ""
    return subprocess.Popen([sys.executable, "-B", SELF, "--client", str(port), known or "0"])


def check(program: str, kills: int) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    chosen = random.Random(SEED + 1)
    server, client = begin_server(program, port), begin_client(port)
    for _ in range(kills):
        time.sleep(chosen.uniform(0.02, 0.4))
        assert server.poll() is None, server.stderr.read().decode()
        what = chosen.choice(("client", "server", "both"))
        if what != "server":
            client.kill()
            client.wait()
            client = begin_client(port)
        if what != "client":
            server.kill()
            server.wait()
            assert server.returncode == -signal.SIGKILL, server.stderr.read().decode()
            server = begin_server(program, port)
    assert client.wait(timeout=120) == 0
    # A server that was begun behind the last kill may not know signals yet. It does once it
    # answers.
    with connected(port) as last:
        assert last.makefile("r").readline() == f"accepted {COUNT}\n"
    server.send_signal(signal.SIGTERM)
    text = server.stderr.read().decode()
    assert server.wait(timeout=60) == 128 + signal.SIGTERM, (server.returncode, text)

    sums: dict[str, float] = {}
    expected: dict[str, list[float]] = {}
    for line in rows():
        sensor, _, value = line.decode().split(",")
        sums[sensor] = sums.get(sensor, 0) + float(value)
        expected.setdefault(sensor, []).append(sums[sensor])
    found: dict[str, list[float]] = {}
    for line in Path("out.csv").read_text().splitlines():
        sensor, value = line.split(",")
        found.setdefault(sensor, []).append(float(value))
    assert found == expected, f"{sum(map(len, found.values()))} rows"


def main() -> None:
    program = str(Path(sys.argv[1]).resolve())
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check(program, kills)
        os.chdir("/")
    print(f"{kills} kills (STRID_SEED={SEED})")


if __name__ == "__main__":
    try:
        if sys.argv[1] == "--client":
            send_as_client(int(sys.argv[2]), int(sys.argv[3]))
        else:
            main()
    except BaseException:
        print(f"STRID_SEED={SEED}", file=sys.stderr)
        raise
