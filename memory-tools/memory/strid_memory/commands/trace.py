# SPDX-License-Identifier: Apache-2.0
"""Records the memory requests of a command and its children

    strid memory trace [OPTIONS] -- COMMAND...

Says which sizes a program asks for and how often, how long its blocks live, how many bytes are
live over time, and which threads give back what another one allocated. The command runs as it is,
with a library preloaded; its output passes through, and the table goes to standard error. The
status is the command's own.
"""

import argparse
import math
import pathlib
import sys

from strid_memory.errors import MemoryToolError, UsageError

INTERVAL_MIN_S = 0.001
INTERVAL_MAX_S = 3600
STACK_INTERVAL = 65_536
STACK_INTERVAL_MAX = 1 << 30


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--output",
        metavar="PREFIX",
        help="write PREFIX.txt, PREFIX.json and PREFIX.svg, with --stacks also PREFIX.flame.svg",
    )
    parser.add_argument("--json", metavar="FILE", help="write what was counted as JSON")
    parser.add_argument(
        "--svg", metavar="FILE", help="draw sizes, rates and live bytes (needs matplotlib)"
    )
    parser.add_argument("--report", metavar="FILE", help="write the table to a file")
    parser.add_argument(
        "--stacks",
        action="store_true",
        help="find out which functions ask for memory: a table of call stacks by bytes",
    )
    parser.add_argument(
        "--stack-interval",
        metavar="BYTES",
        type=int,
        default=STACK_INTERVAL,
        help="a stack is kept for so many requested bytes on the average, 1: for every request"
        f" (default: {STACK_INTERVAL})",
    )
    parser.add_argument(
        "--flame-graph", metavar="FILE", help="draw the stacks as SVG; --stacks is implied"
    )
    parser.add_argument("--quiet", action="store_true", help="print no table")
    parser.add_argument(
        "--interval",
        metavar="SECONDS",
        type=float,
        default=0.01,
        help="between two samples of live bytes; it doubles in long runs (default: 0.01)",
    )
    parser.add_argument(
        "--follow",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="trace child processes, too (default: yes)",
    )
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=float, help="end the command and its children then"
    )
    parser.add_argument(
        "--preload",
        metavar="LIBRARY",
        action="append",
        default=[],
        help="an allocator to trace instead of the C library's; may be repeated",
    )
    parser.add_argument(
        "--folder",
        metavar="FOLDER",
        help="where the counters are meanwhile (default: shared memory, otherwise TMPDIR)",
    )
    parser.add_argument("program", metavar="COMMAND", nargs=argparse.REMAINDER)


def _check(options: argparse.Namespace) -> None:
    if not options.program:
        raise UsageError("trace: no COMMAND to run")
    if not INTERVAL_MIN_S <= options.interval <= INTERVAL_MAX_S:
        raise UsageError(f"--interval {options.interval:g}: not from 0.001 to 3600 s")
    if not 1 <= options.stack_interval <= STACK_INTERVAL_MAX:
        raise UsageError(f"--stack-interval {options.stack_interval}: not from 1 to 2^30 bytes")
    if options.timeout is not None and not (
        math.isfinite(options.timeout) and options.timeout > 0
    ):
        raise UsageError(f"--timeout {options.timeout:g}: not a time above 0 s")
    for library in options.preload:
        if not pathlib.Path(library).is_file():
            raise UsageError(f"--preload {library}: No such file")
        if ":" in library or " " in library:
            raise UsageError(f"--preload {library}: the loader takes no blank or colon in a name")


def _outputs(options: argparse.Namespace) -> dict[str, list[str]]:
    outputs = {"report": [], "json": [], "svg": [], "flame_graph": []}
    for form, ending in (("report", "txt"), ("json", "json"), ("svg", "svg")):
        if getattr(options, form):
            outputs[form].append(getattr(options, form))
        if options.output:
            outputs[form].append(f"{options.output}.{ending}")
    if options.flame_graph:
        outputs["flame_graph"].append(options.flame_graph)
    if options.output and options.stacks:
        outputs["flame_graph"].append(f"{options.output}.flame.svg")
    return outputs


def run(options: argparse.Namespace) -> int:
    from strid_memory import flame_graph, trace_json, trace_plot, trace_report, traced
    from strid_memory.output_file import check_writable, write_whole

    if options.program[:1] == ["--"]:
        options.program = options.program[1:]
    _check(options)
    outputs = _outputs(options)
    for path in sum(outputs.values(), []):
        check_writable(path)
    if outputs["svg"]:
        trace_plot.check_available()
    options.stacks = options.stacks or bool(options.flame_graph)
    if options.stacks:
        traced.find_unwinder()
    result = traced.run(
        options.program,
        preload=[str(pathlib.Path(library).resolve()) for library in options.preload],
        parent=pathlib.Path(options.folder).absolute() if options.folder else None,
        interval_s=options.interval,
        follow=options.follow,
        timeout_s=options.timeout,
        stack_period=options.stack_interval if options.stacks else 0,
    )
    text = trace_report.report(result)
    makers = {
        "report": lambda: text.encode(),
        "json": lambda: trace_json.dump(result),
        "svg": lambda: trace_plot.svg(result),
        "flame_graph": lambda: flame_graph.svg(result),
    }
    for form, paths in outputs.items():
        if paths:
            data = makers[form]()
            for path in paths:
                write_whole(path, data)
    if not options.quiet:
        sys.stderr.write(text)
        sys.stderr.flush()
    if result.timed_out:
        raise MemoryToolError(
            f"{options.program[0]}: ran longer than {options.timeout:g} s and was ended"
        )
    return result.status
