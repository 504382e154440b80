# SPDX-License-Identifier: Apache-2.0
"""Reads the files that traced processes write; their form is trace/trace_format.hpp.

A file may be read at any moment, also of a process that runs or was killed: every counter is as
of that moment.
"""

from __future__ import annotations

import array
import dataclasses
import operator
import pathlib
import struct

from strid_memory.trace_stacks import Module, Stack, read_modules, read_stacks

KINDS = ("malloc", "calloc", "realloc", "aligned", "new", "new_aligned")
RELEASES = ("free", "delete", "realloc")
EXACT_MAX = 1024
FIRST_OCTAVE = 10
OCTAVES = 64 - FIRST_OCTAVE
# Lifetimes are counted apart for requests up to 64 bytes, up to 1,024 bytes, and above.
SIZE_GROUPS = (64, EXACT_MAX, None)
LIFETIME_BUCKETS = 40
TIME_BUCKETS = 40
# The upper bounds of the buckets of lifetimes in time, in nanoseconds; the last has none.
TIME_BOUNDS_NS = [
    step * 10 ** (2 + decade) for decade in range(TIME_BUCKETS // 3 + 1) for step in (1, 2, 5)
][: TIME_BUCKETS - 1]

_PROCESS_MAGIC = 0x3130524354535453
_SESSION_MAGIC = 0x3230534553545453
_VERSION = 1
_HEAD = struct.Struct("=IIQ")
_PROCESS = struct.Struct("=IIQ Q IIIIII QQQQQ qqqq QQQ II Q 512s 512s 2048s")
_SESSION = struct.Struct("=QQQ IIIIII")
_RECORD = struct.Struct("=II16sQQ 6Q 6Q")
_SAMPLE_WORDS = 6
_SCALARS = 15
_CHUNK_PROCESS, _CHUNK_THREAD, _CHUNK_RECORDS, _CHUNK_SAMPLES = 1, 2, 3, 4


class NotATrace(Exception):
    """The file is not of the form, or is cut; its text says why."""


@dataclasses.dataclass
class Counters:
    """The counts; they add up over threads and over processes."""

    births: int = 0
    deaths: int = 0
    bytes_allocated: int = 0
    bytes_freed: int = 0
    resizes: int = 0
    foreign_frees: int = 0
    foreign_bytes: int = 0
    unknown_frees: int = 0
    null_frees: int = 0
    failures: int = 0
    releases: list[int] = dataclasses.field(default_factory=lambda: [0] * len(RELEASES))
    # By size group and bucket.
    lifetimes: list[int] = dataclasses.field(
        default_factory=lambda: [0] * (len(SIZE_GROUPS) * LIFETIME_BUCKETS)
    )
    lifetimes_ns: list[int] = dataclasses.field(
        default_factory=lambda: [0] * (len(SIZE_GROUPS) * TIME_BUCKETS)
    )
    # By kind and octave or size.
    octave_calls: list[int] = dataclasses.field(
        default_factory=lambda: [0] * (len(KINDS) * OCTAVES)
    )
    octave_bytes: list[int] = dataclasses.field(
        default_factory=lambda: [0] * (len(KINDS) * OCTAVES)
    )
    size_calls: list[int] = dataclasses.field(
        default_factory=lambda: [0] * (len(KINDS) * (EXACT_MAX + 1))
    )

    @property
    def calls(self) -> int:
        """Calls that asked for memory and got it."""
        return self.births + self.resizes

    @property
    def live_bytes(self) -> int:
        return self.bytes_allocated - self.bytes_freed

    @property
    def live_blocks(self) -> int:
        return self.births - self.deaths

    def calls_of_kind(self, kind: int) -> int:
        exact = self.size_calls[kind * (EXACT_MAX + 1) : (kind + 1) * (EXACT_MAX + 1)]
        return sum(exact) + sum(self.octave_calls[kind * OCTAVES : (kind + 1) * OCTAVES])

    def calls_of_size(self, size: int, kind: int | None = None) -> int:
        """Calls for exactly `size` bytes, up to 1,024, of one kind or all."""
        if kind is not None:
            return self.size_calls[kind * (EXACT_MAX + 1) + size]
        return sum(self.size_calls[size :: EXACT_MAX + 1])

    def calls_of_octave(self, octave: int) -> tuple[int, int]:
        """Calls for (2^octave, 2^(octave + 1)] bytes, from 1,024 on, and the bytes."""
        at = octave - FIRST_OCTAVE
        return sum(self.octave_calls[at::OCTAVES]), sum(self.octave_bytes[at::OCTAVES])

    def add(self, other: Counters) -> None:
        for field in dataclasses.fields(self):
            mine, its = getattr(self, field.name), getattr(other, field.name)
            if isinstance(mine, list):
                mine = list(map(operator.add, mine, its)) if any(its) else mine
            else:
                mine += its
            setattr(self, field.name, mine)


@dataclasses.dataclass
class ThreadTrace:
    thread_id: int
    name: str
    begin_ns: int
    end_ns: int | None  # None: it did not end before the process
    births: int
    resizes: int
    deaths: int
    bytes_allocated: int
    bytes_freed: int
    foreign_frees: int


@dataclasses.dataclass
class Sample:
    """The process at a moment of CLOCK_MONOTONIC; calls and bytes since its beginning."""

    time_ns: int
    calls: int
    deaths: int
    bytes_allocated: int
    live_bytes: int
    live_blocks: int


@dataclasses.dataclass
class ProcessTrace:
    """One program in one process: what exec starts is another one."""

    number: int
    pid: int
    parent_pid: int
    began_by: str  # exec or fork
    command: list[str]
    executable: str
    allocator: str
    begin_ns: int
    begin_unix_ns: int
    last_ns: int  # when a thread last looked at the time
    end_ns: int | None  # of its exit handlers, or of the exec; otherwise None
    ended: str  # exit, exec, running; killed: by a signal or _exit
    sample_period: int
    series_interval_ns: int
    peak_bytes: int
    peak_blocks: int
    peak_ns: int
    untracked: int
    threads_unnamed: int
    counters: Counters
    threads: list[ThreadTrace]
    samples: list[Sample]  # the last one is what was counted in the end
    stacks: list[Stack]
    stack_bytes_lost: int  # of stacks beyond those that are kept
    modules: list[Module]

    def last_seen_ns(self) -> int:
        return self.end_ns or self.last_ns


@dataclasses.dataclass
class Session:
    started: int
    failed: int
    failed_errno: int
    failed_pid: int


def write_session(
    folder: pathlib.Path, interval_ns: int, follow: bool, stack_period: int = 0
) -> None:
    """stack_period: bytes between two stacks on the average; 0: no stacks."""
    data = _SESSION.pack(_SESSION_MAGIC, interval_ns, stack_period, int(follow), 0, 0, 0, 0, 0)
    (folder / "session").write_bytes(data.ljust(4096, b"\0"))


def read_session(folder: pathlib.Path) -> Session:
    words = _SESSION.unpack_from((folder / "session").read_bytes())
    return Session(*words[5:])


def _text(data: bytes) -> str:
    return data.partition(b"\0")[0].decode(errors="replace")


def _chunks(data: bytes):
    """(type, index, offset) of each chunk that is complete."""
    offset = 0
    while offset + _HEAD.size <= len(data):
        kind, index, length = _HEAD.unpack_from(data, offset)
        if length < _HEAD.size or offset + length > len(data):
            return
        if kind:
            yield kind, index, offset
        offset += length


def _words(data: bytes, offset: int, count: int) -> list[int]:
    words = array.array("Q")
    words.frombytes(data[offset : offset + 8 * count])
    return words.tolist()


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


def _read_counters(data: bytes, offset: int) -> tuple[Counters, int]:
    """The counters of a slot, and the peak of its live bytes since it published them."""
    lengths = [
        len(SIZE_GROUPS) * LIFETIME_BUCKETS,
        len(SIZE_GROUPS) * TIME_BUCKETS,
        len(KINDS) * OCTAVES,
        len(KINDS) * OCTAVES,
        len(KINDS) * (EXACT_MAX + 1),
    ]
    words = _words(data, offset + _HEAD.size, _SCALARS + sum(lengths))
    lists = []
    at = _SCALARS
    for length in lengths:
        lists.append(words[at : at + length])
        at += length
    births, allocated, freed, live_peak, published, *others = words[:13]
    resizes, foreign, foreign_bytes, unknown, null, failures, deletes, reallocs = others
    deaths = sum(lists[0]) + foreign
    releases = [deaths + unknown - deletes - reallocs, deletes, reallocs]
    scalars = (births, deaths, allocated, freed, resizes, foreign, foreign_bytes, unknown, null)
    return Counters(*scalars, failures, releases, *lists), _signed(live_peak) - _signed(published)


def _read_threads(data: bytes, chunks: list, slots: dict[int, Counters]) -> list[ThreadTrace]:
    threads = []
    for kind, _, offset in sorted(chunks, key=lambda chunk: chunk[1]):
        if kind != _CHUNK_RECORDS:
            continue
        (used,) = struct.unpack_from("=Q", data, offset + _HEAD.size)
        for i in range(used):
            words = _RECORD.unpack_from(data, offset + _HEAD.size + 8 + i * _RECORD.size)
            thread_id, slot, name, begin_ns, end_ns = words[:5]
            begin, end = words[5:11], words[11:17]
            if not end_ns:
                now = slots.get(slot, Counters())
                end = (
                    now.births,
                    now.resizes,
                    now.deaths,
                    now.bytes_allocated,
                    now.bytes_freed,
                    now.foreign_frees,
                )
            done = [after - before for before, after in zip(begin, end)]
            threads.append(ThreadTrace(thread_id, _text(name), begin_ns, end_ns or None, *done))
    return threads


def _read_samples(data: bytes, chunks: list, active: int) -> list[Sample]:
    for kind, index, offset in chunks:
        if kind == _CHUNK_SAMPLES and index == active:
            (used,) = struct.unpack_from("=Q", data, offset + _HEAD.size)
            words = _words(data, offset + _HEAD.size + 8, used * _SAMPLE_WORDS)
            return [
                Sample(*words[i : i + _SAMPLE_WORDS]) for i in range(0, len(words), _SAMPLE_WORDS)
            ]
    return []


def _arguments(data: bytes, length: int) -> list[str]:
    parts = data[:length].split(b"\0")
    return [part.decode(errors="replace") for part in (parts[:-1] if not parts[-1] else parts)]


def read_process(path: pathlib.Path) -> ProcessTrace:
    """One file; NotATrace if the process did not come so far as to begin it, or it is damaged."""
    bytes_max = 1 << 30
    if path.stat().st_size > bytes_max:
        raise NotATrace(f"{path}: more than {bytes_max} bytes")
    try:
        return _process_of(path, path.read_bytes())
    except (struct.error, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise NotATrace(f"{path}: damaged: {error}") from None


def _process_of(path: pathlib.Path, data: bytes) -> ProcessTrace:
    chunks = list(_chunks(data))
    begin = next((offset for kind, _, offset in chunks if kind == _CHUNK_PROCESS), None)
    if begin is None:
        raise NotATrace(f"{path}: no process is described in it")
    words = _PROCESS.unpack_from(data, begin)
    if words[3] != _PROCESS_MAGIC or words[4] != _VERSION:
        raise NotATrace(f"{path}: of another version of the library")
    total = Counters()
    slots = {}
    unpublished_peak = 0
    for kind, index, offset in chunks:
        if kind == _CHUNK_THREAD:
            slots[index], peak = _read_counters(data, offset)
            total.add(slots[index])
            unpublished_peak = max(unpublished_peak, peak)
    samples = _read_samples(data, chunks, words[22])
    last_ns = max(words[14], words[13], words[11])
    if not samples or last_ns > samples[-1].time_ns:
        samples.append(
            Sample(
                last_ns,
                total.calls,
                total.deaths,
                total.bytes_allocated,
                total.live_bytes,
                total.live_blocks,
            )
        )
    live = max(0, words[15])
    peaks = [
        (words[17], words[18], words[19]),
        (live + unpublished_peak, total.live_blocks, last_ns),
        *((one.live_bytes, one.live_blocks, one.time_ns) for one in samples),
    ]
    stacks, stack_bytes_lost = read_stacks(data, chunks)
    peak_bytes, peak_blocks, peak_ns = max(peaks, key=lambda one: one[0])
    return ProcessTrace(
        number=int(path.name.partition("-")[0]),
        pid=words[5],
        parent_pid=words[6],
        began_by="fork" if words[9] else "exec",
        command=_arguments(words[27], words[23]),
        executable=_text(words[25]),
        allocator=_text(words[26]),
        begin_ns=words[11],
        begin_unix_ns=words[12],
        end_ns=words[13] or None,
        last_ns=last_ns,
        ended="exit" if words[13] else "killed",
        sample_period=words[8],
        series_interval_ns=words[24],
        peak_bytes=peak_bytes,
        peak_blocks=peak_blocks,
        peak_ns=peak_ns,
        untracked=words[20],
        threads_unnamed=words[21],
        counters=total,
        threads=_read_threads(data, chunks, slots),
        samples=samples,
        stacks=stacks,
        stack_bytes_lost=stack_bytes_lost,
        modules=read_modules(data, chunks, _text(words[25])),
    )


def read_folder(folder: pathlib.Path) -> list[ProcessTrace]:
    """Every process of a trace, in the order in which they began."""
    processes = []
    for path in sorted(folder.glob("*.trace")):
        try:
            processes.append(read_process(path))
        except NotATrace:
            continue  # cut while it began: the session says so where it is a fault
    following: dict[int, ProcessTrace] = {}
    for process in reversed(processes):
        later = following.get(process.pid)
        if process.ended == "killed":
            if later and later.began_by == "exec":
                process.ended, process.end_ns = "exec", later.begin_ns
            elif later is None and pathlib.Path(f"/proc/{process.pid}").exists():
                process.ended = "running"
        following[process.pid] = process
    return processes
