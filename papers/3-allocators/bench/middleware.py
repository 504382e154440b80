# SPDX-License-Identifier: Apache-2.0
"""The exchange under load, once: its three programs under an allocator, and a load generator.

Internal links are sockets in a folder of the run, the clients' is TCP on loopback. The load
generator runs under the C library and is not measured; its answer is checked by itself, and a run
whose answer is wrong is an error.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time

from strid_memory import measures, traced
from strid_memory.allocators import Allocator
from strid_memory.errors import MemoryToolError
from strid_memory.runner import Process, RunSettings
from strid_memory.trace_file import read_folder, write_session

# The applications of the paper, in the order in which they start.
APPS = {"data": "App3", "session": "App2", "core": "App1"}
TITLES = {"core": "core services", "session": "session manager", "data": "data manager"}
START_S = 30
# Of a program that SIGTERM ended when it had carried out what had come in.
DRAINED = (0, 128 + 15)


@dataclasses.dataclass
class Load:
    """The load of the generator. `kind` is w1 or w2."""

    kind: str
    orders: int
    sessions: int
    seed: int
    timeout_s: float


def program(build: pathlib.Path, name: str) -> str:
    path = build / "tools" / f"strid-exchange-{name}"
    if not path.is_file():
        raise MemoryToolError(f"{path}: not built (target strid_exchange_{name})")
    return str(path)


def commands(build: pathlib.Path, folder: pathlib.Path, port: int) -> dict[str, list[str]]:
    """The command line of each application."""
    data, session = f"unix:{folder}/data.socket", f"unix:{folder}/session.socket"
    return {
        "data": [program(build, "data"), "--listen", data]
        + ["--journal", f"{folder}/journal", "--sync", "normal", "--quiet"],
        "session": [program(build, "session"), "--listen", session, "--data", data]
        + ["--store", f"{folder}/sessions", "--sync", "normal", "--quiet"],
        "core": [program(build, "core"), "--listen", f"127.0.0.1:{port}", "--session", session]
        + ["--quiet"],
    }


def load_command(build: pathlib.Path, load: Load, port: int) -> list[str]:
    return [
        *(program(build, "load"), load.kind, "--connect", f"127.0.0.1:{port}"),
        *("--orders", str(load.orders), "--sessions", str(load.sessions)),
        *("--seed", str(load.seed), "--json"),
    ]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port: int) -> bool:
    """Whether a socket listens on this port of the machine; connecting would be a client."""
    with open("/proc/net/tcp") as lines:
        fields = [line.split() for line in list(lines)[1:]]
    return any(row[1].endswith(f":{port:04X}") and row[3] == "0A" for row in fields)


def wait_until(is_ready, process, name: str, log: pathlib.Path):
    end = time.monotonic() + START_S
    while not is_ready():
        if process.poll() is not None:
            said = log.read_text(errors="replace").strip().splitlines() or ["it says nothing"]
            raise MemoryToolError(f"strid-exchange-{name} ended before it listened: {said[-1]}")
        if time.monotonic() > end:
            raise MemoryToolError(f"strid-exchange-{name} does not listen after {START_S} s")
        time.sleep(0.005)


class Middleware:
    """The three programs, started and ready. start() is given how a program is run: it takes its
    name, command line and a file for its log, and returns an object with `process`, a Popen."""

    def __init__(self, build: pathlib.Path, start):
        self.temporary = tempfile.TemporaryDirectory(prefix="strid-study-")
        folder = pathlib.Path(self.temporary.name)
        self.port = free_port()
        self.running = {}
        lines = commands(build, folder, self.port)
        ready = {
            "data": (folder / "data.socket").exists,
            "session": (folder / "session.socket").exists,
            "core": lambda: listens(self.port),
        }
        try:
            for name in APPS:
                log = folder / f"{name}.log"
                self.running[name] = start(name, lines[name], log)
                wait_until(ready[name], self.running[name].process, name, log)
        except BaseException:
            self.kill()
            raise

    def kill(self):
        for running in self.running.values():
            running.kill()
        self.temporary.cleanup()


def run_load(build: pathlib.Path, load: Load, port: int) -> dict:
    """The figures of the generator: seconds and the response times. Raises where it fails."""
    try:
        result = subprocess.run(
            load_command(build, load, port),
            capture_output=True,
            text=True,
            timeout=load.timeout_s,
        )
    except subprocess.TimeoutExpired:
        raise MemoryToolError(f"{load.kind}: not ended after {load.timeout_s:g} s") from None
    if result.returncode:
        lines = result.stderr.strip().splitlines() or ["nothing on standard error"]
        raise MemoryToolError(f"{load.kind}: exit status {result.returncode}: {lines[-1]}")
    try:
        return json.loads(result.stdout)
    except ValueError:
        text = result.stdout[:80]
        raise MemoryToolError(f"{load.kind}: its result is not JSON: {text}") from None


def measured_run(
    build: pathlib.Path, load: Load, allocator: Allocator, cpus: list[int], event: int | None
) -> dict:
    """One run of the study: measures by key, of all three applications and of each (NAME_KEY)."""
    before = measures.free_blocks()

    def start(_, words: list[str], log: pathlib.Path) -> Process:
        settings = RunSettings(words, expect_status=DRAINED, event=event, log=log)
        return Process(settings, allocator, cpus)

    middleware = Middleware(build, start)
    try:
        answer = run_load(build, load, middleware.port)
        by_app = {}
        for name in reversed(APPS):  # no client, then nothing from the core, and so on
            middleware.running[name].terminate()
            by_app[name] = middleware.running[name].finish()
    finally:
        middleware.kill()
    values = {"wall_s": answer["seconds"]}
    for key in ["processor_s", "peak_bytes", "mean_bytes", "minor_faults", "major_faults"] + [
        "extfrag_events"
    ]:
        parts = [by_app[name][key] for name in APPS]
        values[key] = None if None in parts else sum(parts)
        values |= {f"{name}_{key}": by_app[name][key] for name in APPS}
    values |= {f"load_{key}": answer[key] for key in ("requests", "trades", "rejects")}
    values |= {f"order_{key}_ms": number for key, number in answer["response_ms"].items()}
    after = measures.free_blocks()
    if before and after:
        values["unusable_change"] = measures.unusable_part(after) - measures.unusable_part(before)
    return values


class TracedProcess:
    """An application under the trace library."""

    def __init__(self, words: list[str], environment: dict[str, str], log: pathlib.Path):
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                words,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    def kill(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(START_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def traced_run(build: pathlib.Path, load: Load, library: pathlib.Path | None) -> dict:
    """The trace of each application under a load, by name (strid_memory.trace_file)."""
    with tempfile.TemporaryDirectory(prefix="strid-study-trace-") as path:
        folders = {}

        def start(name: str, words: list[str], log: pathlib.Path) -> TracedProcess:
            folders[name] = pathlib.Path(path) / name
            folders[name].mkdir()
            write_session(folders[name], 10_000_000, False)
            preload = [traced.find_library(), *([library] if library else [])]
            return TracedProcess(
                words,
                {
                    "LD_PRELOAD": ":".join(map(str, preload)),
                    traced.FOLDER_VARIABLE: str(folders[name]),
                },
                log,
            )

        middleware = Middleware(build, start)
        try:
            run_load(build, load, middleware.port)
        finally:
            for name in reversed(APPS):
                middleware.running[name].kill()
            middleware.kill()
        found = {}
        for name, folder in folders.items():
            processes = read_folder(folder)
            if not processes:
                raise MemoryToolError(f"nothing was traced of the {TITLES[name]}")
            found[name] = processes[0]
        return found
