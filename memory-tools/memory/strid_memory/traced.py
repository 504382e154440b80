# SPDX-License-Identifier: Apache-2.0
"""Runs a command under the trace library and returns what was traced.

    run = traced.run(["sort", "file"])
    run.status, run.processes[0].peak_bytes, run.processes[0].samples

Times of the trace are CLOCK_MONOTONIC, as time.monotonic_ns(): samples of anything else that were
taken meanwhile can be laid beside them. The resident memory of a traced process is not the
program's own: beside a heap of small blocks the library takes half of its memory, or as much.
"""

from __future__ import annotations

import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence

from strid_memory import process_tree
from strid_memory.errors import MemoryToolError
from strid_memory.executable import find_command, untraceable_reason
from strid_memory.trace_file import ProcessTrace, read_folder, read_session, write_session

LIBRARY_NAME = "libstrid_trace.so"
UNWINDER_NAME = "libstrid_stacks.so"
FOLDER_VARIABLE = "STRID_MEMORY_TRACE"
_FOLDER_PREFIX = "strid-memory-"
_SHARED_MEMORY = pathlib.Path("/dev/shm")
_SHARED_MEMORY_FREE_MIN = 256 << 20
_POLL_S = 0.05
_TERMINATION_S = 2.0


@dataclasses.dataclass
class TracedRun:
    """The outcome of a command."""

    command: list[str]
    status: int  # as a shell has it: 128 + the signal if a signal ended it
    begin_ns: int
    end_ns: int
    timed_out: bool
    interrupted: bool  # by SIGINT or SIGTERM to this program
    processes: list[ProcessTrace]
    note: str | None  # why the command's own process may not be among them
    stack_period: int  # bytes between two stacks on the average; 0: there are none

    @property
    def duration_s(self) -> float:
        return (self.end_ns - self.begin_ns) / 1e9


def find_library() -> pathlib.Path:
    """The trace library: beside the program as it was built, or installed."""
    package = pathlib.Path(__file__).resolve().parent
    program = pathlib.Path(sys.argv[0]).absolute().parent
    folders = [program]
    prefixes = [package.parents[3], program.parent]
    for prefix in prefixes:
        folders += [prefix / "lib", prefix / "lib64", *prefix.glob("lib/*-linux-gnu")]
    for folder in folders:
        if (folder / LIBRARY_NAME).is_file():
            return folder / LIBRARY_NAME
    raise MemoryToolError(f"{LIBRARY_NAME} was not found in {', '.join(map(str, folders[:3]))}")


def find_unwinder() -> pathlib.Path:
    """The library that finds call stacks, beside the trace library."""
    file = find_library().parent / UNWINDER_NAME
    if not file.is_file():
        raise MemoryToolError(
            f"--stacks: there is no {file}: Strid was built without libunwind (libunwind-dev)"
        )
    return file


def default_parent() -> pathlib.Path:
    """Where counters are kept meanwhile: in memory where there is room."""
    try:
        usage = shutil.disk_usage(_SHARED_MEMORY)
        if usage.free >= _SHARED_MEMORY_FREE_MIN and os.access(_SHARED_MEMORY, os.W_OK):
            return _SHARED_MEMORY
    except OSError:
        pass
    return pathlib.Path(tempfile.gettempdir())


def _make_folder(parent: pathlib.Path) -> pathlib.Path:
    """A folder for the counters; removes what runs that were killed left in `parent`."""
    for left in parent.glob(f"{_FOLDER_PREFIX}*"):
        owner = left.name.removeprefix(_FOLDER_PREFIX).partition("-")[0]
        if owner.isdigit() and not pathlib.Path(f"/proc/{owner}").exists():
            shutil.rmtree(left, ignore_errors=True)
    try:
        return pathlib.Path(tempfile.mkdtemp(prefix=f"{_FOLDER_PREFIX}{os.getpid()}-", dir=parent))
    except OSError as error:
        raise MemoryToolError(f"{parent}: {error.strerror}") from None


class _Signals:
    """Waits for the end of the command and for signals to this program, in the calling thread."""

    WAITED = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD}

    def __enter__(self) -> _Signals:
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, self.WAITED)
        return self

    def __exit__(self, *_) -> None:
        # A signal that came too late for the command must not end the report.
        while signal.sigtimedwait(self.WAITED, 0):
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)

    def unblock_in_child(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)

    def wait(self, seconds: float) -> signal.struct_siginfo | None:
        """The next signal but that of a child's end."""
        found = signal.sigtimedwait(self.WAITED, seconds)
        # A process that was stopped and continued meanwhile gets a signal of number 0 (CPython).
        is_one = found is not None and found.si_signo in self.WAITED - {signal.SIGCHLD}
        return found if is_one else None


def _wait(child: subprocess.Popen, signals: _Signals, timeout_s: float | None) -> tuple[bool, bool]:
    """(timed out, interrupted); the command has ended."""
    deadline = time.monotonic() + timeout_s if timeout_s is not None else None
    interrupted = timed_out = False
    kill_at = None
    tree: set[int] = set()
    while child.poll() is None:
        now = time.monotonic()
        if deadline is not None and now >= deadline and not timed_out:
            timed_out = True
            tree = process_tree.terminated(child.pid)
            kill_at = now + _TERMINATION_S
        if kill_at is not None and now >= kill_at:
            process_tree.signal_all(tree | process_tree.descendants(child.pid), signal.SIGKILL)
        ends = [moment - now for moment in (deadline, kill_at) if moment and moment > now]
        found = signals.wait(max(0.0, min([_POLL_S, *ends])))
        if found:
            interrupted = True
            # The command received the terminal's signals as well.
            if found.si_code <= 0:
                child.send_signal(found.si_signo)
    if timed_out:
        process_tree.signal_all(tree, signal.SIGKILL)
    return timed_out, interrupted


def run(
    command: Sequence[str],
    *,
    preload: Sequence[str] = (),
    library: pathlib.Path | None = None,
    parent: pathlib.Path | None = None,
    environment: dict[str, str] | None = None,
    interval_s: float = 0.01,
    follow: bool = True,
    timeout_s: float | None = None,
    stack_period: int = 0,
    on_start: Callable[[subprocess.Popen], None] | None = None,
    **popen_options,
) -> TracedRun:
    """Runs the command to its end under the trace library.

    preload: allocators, which are loaded behind the library and are traced.
    parent: the folder in which a folder for the counters is made meanwhile.
    interval_s: between two samples of live bytes, from 1 ms.
    follow: whether children are traced, too.
    stack_period: keeps a call stack for so many requested bytes on the average; 0: none.
    popen_options: standard streams, cwd and more for subprocess.Popen.
    Raises MemoryToolError if the command cannot be run, nothing was traced or counts were lost.
    """
    library = library or find_library()
    environment = dict(os.environ if environment is None else environment)
    file = find_command(command[0], environment)
    folder = _make_folder(parent or default_parent())
    try:
        try:
            write_session(folder, round(interval_s * 1e9), follow, stack_period)
        except OSError as error:
            raise MemoryToolError(f"{folder}: {error.strerror}") from None
        environment[FOLDER_VARIABLE] = str(folder)
        others = [str(find_unwinder())] if stack_period else []
        others += [str(one) for one in preload]
        if environment.get("LD_PRELOAD"):
            others.append(environment["LD_PRELOAD"])
        environment["LD_PRELOAD"] = ":".join([str(library), *others])
        result = _run_in(folder, file, command, environment, timeout_s, on_start, popen_options)
        return dataclasses.replace(result, stack_period=stack_period)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run_in(folder, file, command, environment, timeout_s, on_start, popen_options) -> TracedRun:
    with _Signals() as signals:
        begin_ns = time.monotonic_ns()
        try:
            child = subprocess.Popen(
                list(command),
                # A name without a folder would be looked up along the PATH once more.
                executable=os.path.join(os.curdir, file),
                env=environment,
                preexec_fn=signals.unblock_in_child,
                **popen_options,
            )
        except OSError as error:
            raise MemoryToolError(f"{command[0]}: {error.strerror}") from None
        if on_start:
            on_start(child)
        timed_out, interrupted = _wait(child, signals, timeout_s)
        end_ns = time.monotonic_ns()
    processes = read_folder(folder)
    for one in processes:
        if one.pid == child.pid and one.ended == "killed":
            one.end_ns = end_ns
    _check_session(folder, file, processes)
    return TracedRun(
        command=list(command),
        status=128 - child.returncode if child.returncode < 0 else child.returncode,
        begin_ns=begin_ns,
        end_ns=end_ns,
        timed_out=timed_out,
        interrupted=interrupted,
        processes=processes,
        note=_note(child.pid, file, processes),
        stack_period=0,
    )


def _check_session(folder: pathlib.Path, file: pathlib.Path, processes: list) -> None:
    session = read_session(folder)
    if session.failed:
        raise MemoryToolError(
            f"{folder.parent}: the trace of process {session.failed_pid} could not be written:"
            f" {os.strerror(session.failed_errno)}"
        )
    if not processes:
        reason = untraceable_reason(file) or f"{file} did not load {LIBRARY_NAME}"
        raise MemoryToolError(f"nothing was traced: {reason}")


def _note(pid: int, file: pathlib.Path, processes: list[ProcessTrace]) -> str | None:
    if any(one.pid == pid for one in processes):
        return None
    return untraceable_reason(file) or f"{file} did not load {LIBRARY_NAME}"
