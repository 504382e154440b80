# SPDX-License-Identifier: Apache-2.0
"""Runs a command once under an allocator and measures it, through the program strid-memory-run.

A run counts only if every program in it is known to take malloc from the allocator: the witness
(run/witness.cpp) says so for each program when it starts, and a program that was seen running and
has no witness has not loaded the allocator.
"""

import dataclasses
import json
import os
import pathlib
import re
import signal
import socket
import stat
import subprocess
import tempfile
import threading

from strid_memory import measures, processors
from strid_memory.allocators import Allocator, part_of_program
from strid_memory.errors import MemoryToolError

# The bytes of a command's output that are kept for --metric.
OUTPUT_BYTES_MAX = 1 << 20
# The text that the kernel adds to the path of a file that was removed while it runs.
REMOVED = " (deleted)"


class RunFailed(MemoryToolError):
    """The command did not do what it should under an allocator."""


class NotLoaded(MemoryToolError):
    """A program of the command does not take malloc from the allocator."""


@dataclasses.dataclass
class RunSettings:
    """How the command is run; the same for every allocator."""

    command: list[str]
    expect_status: tuple[int, ...] = (0,)  # any of these
    timeout_s: float | None = None
    show_output: bool = False
    log: pathlib.Path | None = None  # gets what the command prints
    stdin: pathlib.Path | None = None
    metric: re.Pattern | None = None
    sample_ms: float = 10
    event: int | None = None
    environment: dict[str, str] = dataclasses.field(default_factory=dict)


class OutputTail(threading.Thread):
    """Reads what a command prints and keeps the end of it."""

    def __init__(self):
        super().__init__(daemon=True)
        self.reader, self.writer = os.pipe()
        self.tail = bytearray()

    def run(self):
        while chunk := os.read(self.reader, OUTPUT_BYTES_MAX):
            self.tail += chunk
            del self.tail[:-OUTPUT_BYTES_MAX]
        os.close(self.reader)


class Process:
    """A command that runs and is measured. finish() gives its measures; without it, kill() ends
    the command and all that it started. For one thread."""

    def __init__(self, settings: RunSettings, allocator: Allocator, cpus: list[int]):
        self.settings = settings
        self.allocator = allocator
        self.folder = tempfile.TemporaryDirectory(prefix="strid-memory-")
        self.witness = pathlib.Path(self.folder.name) / "witness"
        self.witness.touch()
        # A command may become another user, and is a witness all the same.
        os.chmod(self.folder.name, 0o711)
        self.witness.chmod(0o666)
        self.channel, theirs = socket.socketpair()
        self.output = OutputTail() if settings.metric else None
        try:
            self.process = self._start(cpus, theirs)
        finally:
            theirs.close()
            if self.output:
                os.close(self.output.writer)
        if self.output:
            self.output.start()

    def _start(self, cpus: list[int], theirs: socket.socket) -> subprocess.Popen:
        settings = self.settings
        preload = [part_of_program("libstrid_witness.so"), self.allocator.library]
        words = [part_of_program("strid-memory-run"), "--channel", theirs.fileno()]
        words += ["--witness", self.witness, "--preload", ":".join(map(str, filter(None, preload)))]
        words += ["--cpus", ",".join(map(str, cpus)), "--sample-us", int(settings.sample_ms * 1000)]
        if spare := processors.others(cpus):
            words += ["--own-cpus", ",".join(map(str, spare))]
        if settings.timeout_s:
            words += ["--timeout-ms", max(1, int(settings.timeout_s * 1000))]
        if settings.event is not None:
            words += ["--event", settings.event]
        log = os.devnull if settings.log is None else settings.log
        with open(settings.stdin or os.devnull, "rb") as stdin, open(log, "ab") as output:
            if self.output:
                output = self.output.writer
            elif settings.show_output:
                output = 2  # standard output is for the results
            return subprocess.Popen(
                [*map(str, words), "--", *settings.command],
                stdin=stdin,
                stdout=output,
                stderr=output,
                pass_fds=[theirs.fileno()],
                env={**os.environ, **settings.environment},
            )

    def terminate(self):
        """Sends SIGTERM to the command; finish() then waits for its end."""
        self.process.send_signal(signal.SIGTERM)

    def kill(self):
        self.channel.close()
        self.process.wait()
        self.folder.cleanup()

    def finish(self) -> dict[str, float | None]:
        """Waits for the end, checks it, and returns the measures by key."""
        try:
            text = b"".join(iter(lambda: self.channel.recv(65536), b""))
            self.process.wait()
            if self.output:
                self.output.join()
            result = json.loads(text.decode(errors="surrogateescape") or "null")
            if result is None:
                raise RunFailed("strid-memory-run ended without a result")
            self._check_end(result)
            self._check_witness(result["programs"])
        finally:
            self.kill()
        return self._measures(result)

    def _check_end(self, result: dict):
        command = self.settings.command[0]
        if result["failure"]:
            raise MemoryToolError(f"{command}: {result['failure']}")
        under = f"under {self.allocator.name}"
        if result["timed_out"]:
            raise RunFailed(f"{command}: not ended after {self.settings.timeout_s:g} s {under}")
        if result["signal"]:
            name = signal.strsignal(result["signal"])
            raise RunFailed(f"{command}: ended by signal {result['signal']} ({name}) {under}")
        if result["status"] not in self.settings.expect_status:
            expected = " or ".join(map(str, self.settings.expect_status))
            raise RunFailed(
                f"{command}: exit status {result['status']} {under}, expected {expected}"
                " (--show-output shows what it prints)"
            )

    def _check_witness(self, seen: list[str]):
        """Raises NotLoaded where a program takes malloc from elsewhere, or did not say."""
        witnessed = set()
        with self.witness.open(errors="surrogateescape") as lines:
            for line in lines:
                _, program, source = line.rstrip("\n").split("\t")
                witnessed.add(program.removesuffix(REMOVED))
                if not self._is_from_allocator(source):
                    raise NotLoaded(
                        f"{self.allocator.name} is not what {program} runs with: its malloc is"
                        f" that of {source}"
                    )
        for program in seen or [self._program()]:
            if program.removesuffix(REMOVED) not in witnessed and (seen or not witnessed):
                raise NotLoaded(
                    f"{self.allocator.name} was not loaded: {program} {why_not_loaded(program)}"
                )

    def _program(self) -> str:
        import shutil

        return shutil.which(self.settings.command[0]) or self.settings.command[0]

    def _is_from_allocator(self, source: str) -> bool:
        if self.allocator.library is None:
            return bool(re.match(r"libc[.-]", os.path.basename(source)))
        try:
            return os.path.samefile(source, self.allocator.library)
        except OSError:
            return False

    def _measures(self, result: dict) -> dict[str, float | None]:
        values = {
            key: result[key]
            for key in ["wall_s", "user_s", "system_s", "peak_bytes", "mean_bytes"]
            + ["minor_faults", "major_faults", "extfrag_events"]
        }
        values["processor_s"] = result["user_s"] + result["system_s"]
        if self.output:
            values["metric"] = metric_of(self.settings.metric, bytes(self.output.tail))
        values["event_refusal"] = result["event_refusal"]
        values["left_behind"] = result["left_behind"]
        return values


def metric_of(pattern: re.Pattern, output: bytes) -> float:
    """The number of the last match in what the command printed."""
    found = None
    for found in pattern.finditer(output.decode(errors="replace")):
        pass
    if found is None:
        raise RunFailed(f"--metric {pattern.pattern}: the command prints nothing that matches")
    text = found.group(1) if pattern.groups else found.group()
    try:
        return float(text.replace(",", ""))
    except (ValueError, AttributeError):
        raise RunFailed(f"--metric {pattern.pattern}: not a number: {text}") from None


def why_not_loaded(program: str) -> str:
    """The reason why a library cannot be preloaded into this program."""
    try:
        mode = os.stat(program).st_mode
        with open(program, "rb") as file:
            head = file.read(5)
            if head[:4] != b"\x7fELF":
                return "is no program that loads libraries"
            if mode & (stat.S_ISUID | stat.S_ISGID):
                return "is set-uid or set-gid: the loader preloads nothing into it"
            if "security.capability" in os.listxattr(program):
                return "has capabilities of its file: the loader preloads nothing into it"
            if head[4] != 2:
                return "is a program of 32 bits"
            file.seek(0)
            if not has_interpreter(file.read(1 << 16)):
                return "is linked statically: preloading has no effect on it"
    except OSError as error:
        return f"could not be looked at ({error.strerror})"
    return "loads no preload library, or the library cannot be loaded (ld.so says why)"


def has_interpreter(head: bytes) -> bool:
    """Whether an ELF file of 64 bits names a loader (PT_INTERP)."""
    order = "little" if head[5] == 1 else "big"

    def field(at: int, size: int) -> int:
        return int.from_bytes(head[at : at + size], order)

    start, entry, count = field(0x20, 8), field(0x36, 2), field(0x38, 2)
    return any(field(start + entry * i, 4) == 3 for i in range(count))


def run_once(settings: RunSettings, allocator: Allocator, cpus: list[int]) -> dict:
    """One run of the command, with the free memory of the machine before and after."""
    before = measures.free_blocks()
    process = Process(settings, allocator, cpus)
    try:
        values = process.finish()
    except BaseException:
        process.kill()
        raise
    after = measures.free_blocks()
    if before and after:
        values["unusable_change"] = measures.unusable_part(after) - measures.unusable_part(before)
        values["free_blocks_before"] = " ".join(map(str, before))
        values["free_blocks_after"] = " ".join(map(str, after))
    return values
