# SPDX-License-Identifier: Apache-2.0
"""Runs a command under every allocator found, and says which differ significantly

The command is run under each allocator on each number of cores, repeated, in random order. The
results are those of an experimental study: means, analysis of variance with its assumptions, and
Tukey's test with letters; on the terminal, as one page, and as JSON beside the raw data.
"""

import argparse
import datetime
import importlib.util
import os
import pathlib
import platform
import random
import re
import shlex
import sys

from strid_memory import measures, processors
from strid_memory.allocators import GLIBC, Allocator, choose
from strid_memory.errors import MemoryToolError, UsageError
from strid_memory.experiment import Folder, Progress, Setting, perform, plan
from strid_memory.live import NotTraced, peak_live_bytes
from strid_memory.runner import RunFailed, RunSettings, run_once

PACKAGES = ["numpy", "scipy", "pandas", "statsmodels", "matplotlib"]

# The entries that experiment.json must have to be resumed.
SETTINGS_KEYS = [
    *("command", "command_text", "allocators", "left_out", "live_bytes", "cores", "repeat"),
    *("seed", "expect_status", "timeout", "stdin", "metric", "sample_ms", "event", "machine"),
    *("processors", "not_measured"),
]


def whole(least: int):
    def parse(text: str) -> int:
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"{text}: at least {least}")
        return number

    parse.__name__ = "number"
    return parse


def positive(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e9:
        raise argparse.ArgumentTypeError(f"{text}: more than 0")
    return number


def counts(text: str) -> list[int]:
    found = sorted({whole(1)(part) for part in text.split(",")})
    if len(found) != len(text.split(",")):
        raise argparse.ArgumentTypeError(f"{text}: a number is there twice")
    return found


def pattern(text: str) -> re.Pattern:
    try:
        return re.compile(text, re.MULTILINE)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from None


def add_options(parser: argparse.ArgumentParser):
    parser.usage = "strid memory compare [OPTIONS] -- COMMAND..."
    parser.epilog = (
        "strid memory compare --cores 1,2 -- ./program arguments\n"
        "strid memory compare --allocators glibc,mine=./libmine.so --metric 'rate: (\\d+)'"
        " --more-is-better -- ./program"
    )
    add = parser.add_argument
    add("--allocators", metavar="A,B=PATH", help="names, or names with libraries (default: all)")
    add("--list", action="store_true", help="say which allocators are found, and end")
    add("--cores", type=counts, metavar="N,N", help="numbers of cores (default: 1 and all)")
    add("--repeat", type=whole(1), metavar="N", help="runs of each (default: 15)")
    add("--seed", type=whole(0), metavar="N", help="of the random order (default: a new one)")
    add(
        "--warmup",
        type=whole(0),
        default=1,
        metavar="N",
        help="runs of each before, which are not counted (default: 1)",
    )
    add("--timeout", type=positive, metavar="S", help="a run that takes longer is an error")
    add(
        "--expect-status",
        type=whole(0),
        default=0,
        metavar="N",
        help="exit status of a good run (default: 0)",
    )
    add("--show-output", action="store_true", help="what the command prints, on standard error")
    add("--input", dest="stdin", metavar="FILE", help="standard input of each run (default: none)")
    add(
        "--metric",
        type=pattern,
        metavar="REGEX",
        help="compare a number that the command prints, too: the last match in the last MiB of its"
        " output (the group, if the pattern has one)",
    )
    add("--metric-name", default="What the command prints", metavar="TEXT", help="its title")
    add("--more-is-better", action="store_true", help="the number is better when it is larger")
    add(
        "--sample-ms",
        type=positive,
        default=10,
        metavar="MS",
        help="longest time between two samples of resident memory (default: 10)",
    )
    add(
        "--no-trace",
        action="store_true",
        help="no traced run of each before: memory that is held and not live is not measured",
    )
    add(
        "--output",
        type=pathlib.Path,
        default=pathlib.Path("memory-compare"),
        metavar="FOLDER",
        help="for runs.csv, results.json and report.html (default: memory-compare)",
    )
    add("--resume", action="store_true", help="go on with the experiment in the folder")
    add("words", nargs=argparse.REMAINDER, metavar="-- COMMAND...", help="what is run")


def run(options: argparse.Namespace) -> int:
    command = options.words[1:] if options.words[:1] == ["--"] else options.words
    if options.list:
        return list_allocators()
    check_packages()
    folder = Folder(options.output)
    settings = resumed(folder, options, command) if options.resume else begun(options, command)
    sets = processors.sets_of(settings["cores"])
    check_input(settings["stdin"])
    run_settings = run_settings_of(settings, options.show_output)
    allocators = {
        name: Allocator(name, pathlib.Path(path) if path else None)
        for name, path in settings["allocators"].items()
    }
    print(f"seed {settings['seed']}, runs in {folder.path}", file=sys.stderr)
    try:
        if not options.resume:
            warm_up(run_settings, allocators, sets, settings, options.warmup)
            if not options.no_trace:
                trace(run_settings, allocators, settings)
            folder.begin(settings)
        names = [name for name in allocators if name not in settings["left_out"]]
        runs = plan(names, settings["cores"], settings["repeat"], settings["seed"])

        def measured(setting: Setting) -> dict:
            values = run_once(run_settings, allocators[setting.allocator], sets[setting.cores])
            if note_refusal(values, run_settings, settings):
                folder.write_settings(settings)
            live = settings["live_bytes"].get(setting.allocator)
            values["not_live_bytes"] = None if live is None else values["peak_bytes"] - live
            return values

        perform(runs, measured, folder)
    except KeyboardInterrupt:
        kept = len(folder.runs())
        if kept:
            print(
                f"strid: interrupted; {kept} runs are in {folder.path}, --resume goes on",
                file=sys.stderr,
            )
        raise
    return report(folder)


def report(folder: Folder) -> int:
    from strid_memory.report import PAGE, Report

    result = Report(folder)
    result.write()
    print(result.text())
    print(f"The page is {folder.path / PAGE}.")
    return 0


def list_allocators() -> int:
    found, missing = choose(None)
    width = max(map(len, found))
    for allocator in found.values():
        print(
            f"{allocator.name:{width}}  {allocator.library or 'the C library, nothing preloaded'}"
        )
    if missing:
        print(f"not found: {', '.join(missing)}")
    return 0


def check_packages():
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        raise MemoryToolError(
            f"the Python package {missing[0]} is missing:"
            f" python3 -m pip install {' '.join(missing)}"
        )


def check_input(path: str | None):
    if path is None:
        return
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise MemoryToolError(f"--input {path}: {error.strerror}") from None


def begun(options: argparse.Namespace, command: list[str]) -> dict:
    """The settings of a new experiment, as experiment.json holds them."""
    if not command:
        raise UsageError("compare takes a command: strid memory compare [OPTIONS] -- COMMAND...")
    if options.more_is_better and not options.metric:
        raise UsageError("--more-is-better goes with --metric")
    Folder(options.output).check_new()
    allocators, missing = choose(options.allocators)
    cores = options.cores or processors.default_counts()
    sets = processors.sets_of(cores)
    event, no_event = measures.extfrag_event()
    not_measured = {"extfrag_events": no_event} if no_event else {}
    not_measured["mean_bytes"] = "the runs end before three samples are taken (--sample-ms)"
    if options.no_trace:
        not_measured["not_live_bytes"] = "--no-trace"
    if measures.free_blocks() is None:
        not_measured["unusable_change"] = "/proc/buddyinfo cannot be read"
    return {
        "command": command,
        "command_text": shlex.join(command),
        "allocators": libraries_of(allocators),
        "chosen": options.allocators is not None,
        "not_installed": missing,
        "left_out": {},
        "live_bytes": {},
        "cores": cores,
        "processors": {str(count): chosen for count, chosen in sets.items()},
        "spare_processors": bool(processors.others(sets[cores[-1]])),
        "repeat": options.repeat or 15,
        "seed": random.SystemRandom().randrange(2**32) if options.seed is None else options.seed,
        "expect_status": options.expect_status,
        "timeout": options.timeout,
        "stdin": options.stdin and os.path.abspath(options.stdin),
        "metric": options.metric
        and {
            "pattern": options.metric.pattern,
            "name": options.metric_name,
            "more_is_better": options.more_is_better,
        },
        "sample_ms": options.sample_ms,
        "event": event,
        "not_measured": not_measured,
        "machine": f"{platform.system()} {platform.release()}, {processor_name()}, {os.cpu_count()}"
        " processors",
        "begun": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }


def processor_name() -> str:
    try:
        found = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found.group(1) if found else platform.machine()


def resumed(folder: Folder, options: argparse.Namespace, command: list[str]) -> dict:
    """The settings of the folder; what the command line says too must be the same, or, for
    --repeat, more."""
    settings = folder.settings()
    absent = [key for key in SETTINGS_KEYS if key not in settings]
    if absent:
        raise MemoryToolError(f"{folder.path}: experiment.json has no {absent[0]}")
    metric = settings["metric"] and settings["metric"]["pattern"]
    said = {
        "command": (command or None, settings["command"]),
        "number of cores": (options.cores, settings["cores"]),
        "seed": (options.seed, settings["seed"]),
        "metric": (options.metric and options.metric.pattern, metric),
    }
    if options.allocators is not None:
        chosen = libraries_of(choose(options.allocators)[0])
        said["set of allocators"] = (chosen, settings["allocators"])
    for name, (given, held) in said.items():
        if given is not None and given != held:
            raise MemoryToolError(f"{folder.path} was begun with another {name}")
    if options.repeat is not None and options.repeat != settings["repeat"]:
        if options.repeat < settings["repeat"]:
            raise MemoryToolError(
                f"--repeat {options.repeat}: {folder.path} was begun with {settings['repeat']}"
            )
        settings["repeat"] = options.repeat
        folder.write_settings(settings)
    return settings


def libraries_of(allocators: dict[str, Allocator]) -> dict[str, str | None]:
    return {a.name: a.library and str(a.library) for a in allocators.values()}


def run_settings_of(settings: dict, show_output: bool) -> RunSettings:
    metric = settings["metric"]
    return RunSettings(
        command=settings["command"],
        expect_status=(settings["expect_status"],),
        timeout_s=settings["timeout"],
        show_output=show_output,
        stdin=settings["stdin"],
        metric=metric and pattern(metric["pattern"]),
        sample_ms=settings["sample_ms"],
        event=settings["event"],
    )


def warm_up(
    run_settings: RunSettings,
    allocators: dict[str, Allocator],
    sets: dict[int, list[int]],
    settings: dict,
    times: int,
):
    """Runs that are not counted. An allocator that was found, not asked for, and under which the
    command fails is left out, with the reason in the results."""
    with Progress(times * len(allocators)) as progress:
        for at, (name, allocator) in enumerate(allocators.items()):
            progress.done = times * at
            for _ in range(times):
                progress.show(f"{name}, not counted")
                try:
                    values = run_once(run_settings, allocator, sets[max(sets)])
                except RunFailed as error:
                    if settings["chosen"] or name == GLIBC:
                        raise
                    settings["left_out"][name] = str(error)
                    break
                progress.done += 1
                note_refusal(values, run_settings, settings)


def note_refusal(values: dict, run_settings: RunSettings, settings: dict) -> bool:
    """Keeps why the kernel counts no events, and asks no more. True where it refused just now."""
    if not values["event_refusal"]:
        return False
    settings["not_measured"]["extfrag_events"] = f"perf_event_open: {values['event_refusal']}"
    settings["event"] = run_settings.event = None
    return True


def trace(run_settings: RunSettings, allocators: dict[str, Allocator], settings: dict):
    """The live bytes of the command under each allocator, or why they are not known."""
    with Progress(len(allocators)) as progress:
        for name, allocator in allocators.items():
            if name in settings["left_out"]:
                continue
            progress.show(f"{name}, traced")
            progress.done += 1
            try:
                settings["live_bytes"][name] = peak_live_bytes(run_settings, allocator)
            except NotTraced as error:
                settings["not_measured"]["not_live_bytes"] = str(error)
                return
