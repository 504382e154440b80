# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a file of unittest side by side, each in a process of its own.

Most tests of programs wait: for a time-out, for a server, for a process that was killed. Several
at once wait no longer than one. A class with `setUpClass`, which may start a server, is run in one
process, unless it says `each_apart = True`: then each of its tests has that server for itself.
Tests that are marked by `@first` are started before the others, because they take longest.
"""

import os
import sys
import tempfile
import time
import unittest

AT_ONCE = 4
SKIPPED = 77


def first(test):
    test.starts_first = True
    return test


def parts_of(suite: unittest.TestSuite) -> list[unittest.TestSuite]:
    """The parts of a process each; those that start first in front."""
    tests, waiting = [], [suite]
    while waiting:
        one = waiting.pop()
        if isinstance(one, unittest.TestSuite):
            waiting += reversed(list(one))
        else:
            tests.append(one)
    parts = {}
    for test in tests:
        kind = type(test)
        shares = "setUpClass" in {name for base in kind.__mro__[:-2] for name in vars(base)
                                  if base is not unittest.TestCase}
        apart = not shares or getattr(kind, "each_apart", False)
        parts.setdefault(test.id() if apart else kind, unittest.TestSuite()).addTest(test)

    def is_first(part):
        return any(hasattr(getattr(test, getattr(test, "_testMethodName", ""), None),
                           "starts_first") for test in part)

    return sorted(parts.values(), key=lambda part: not is_first(part))


def begun(part: unittest.TestSuite, output) -> int:
    """The number of the process that runs it; its status is 0, 1 or SKIPPED."""
    sys.stdout.flush()
    sys.stderr.flush()
    process = os.fork()
    if process:
        return process
    status = 1
    try:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        result = unittest.TestResult()
        part.run(result)
        for test, text in result.failures + result.errors:
            print(f"{test}\n{text}")
        is_skipped = result.skipped and len(result.skipped) >= result.testsRun
        status = SKIPPED if is_skipped else int(not result.wasSuccessful())
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status)


def run(suite: unittest.TestSuite) -> int:
    """0, 1 when a test has failed, SKIPPED when none was run."""
    waiting = parts_of(suite)
    running, statuses = {}, []
    while waiting or running:
        while waiting and len(running) < AT_ONCE:
            part = waiting.pop(0)
            output = tempfile.TemporaryFile()
            running[begun(part, output)] = (part, output, time.monotonic())
        process, status = os.wait()
        part, output, begin = running.pop(process)
        statuses.append(os.waitstatus_to_exitcode(status))
        tests = [test.id().removeprefix("__main__.") for test in part]
        name = tests[0] if len(tests) == 1 else f"{type(next(iter(part))).__qualname__}"
        word = {0: "ok", SKIPPED: "skipped"}.get(statuses[-1], f"FAILED ({statuses[-1]})")
        print(f"{word:8} {time.monotonic() - begin:6.1f} s  {name}")
        output.seek(0)
        sys.stdout.write(output.read().decode(errors="replace"))
        output.close()
    if all(status == SKIPPED for status in statuses):
        return SKIPPED
    return int(any(status not in (0, SKIPPED) for status in statuses))


def main() -> None:
    """In the place of unittest.main, which has the options: names of classes and tests, or all."""
    if any(argument.startswith("-") for argument in sys.argv[1:]):
        unittest.main()
    loader, module = unittest.defaultTestLoader, sys.modules["__main__"]
    suite = (loader.loadTestsFromNames(sys.argv[1:], module) if sys.argv[1:] else
             loader.loadTestsFromModule(module))
    sys.exit(run(suite))
