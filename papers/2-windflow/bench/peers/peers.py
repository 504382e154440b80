#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds, checks and measures our applications on Flink and Storm (see README.md).

    peers.py build [--flink VERSION]
    peers.py check [APPLICATION...]
    peers.py throughput APPLICATION [--parallelism 1,2] [--duration 10s] [--rounds 5]
                                    [--strid build/release/tools/strid]
    peers.py latency APPLICATION [--rate 10000] [the same]

check runs each application once over its bundled input and compares the rows with the golden
answers. throughput and latency let the contestants take turns, each in a process of its own that
has run the application before (--warmup), and print a table of medians. With --strid our engine
takes its turn at --workers as at --parallelism, and ratios to it are printed.
"""
import argparse
import contextlib
import gzip
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from applications import APPLICATIONS
from contestants import Strid, StridYahoo
from java_engine import (BUILD, ENGINES, ROOT, START_S_MAX, Failure, JavaEngine, JavaProcess,
                         engine_command, java, java_options, program, seconds_of)
from reporting import PERCENTILES, command_text, median, table, whole_number

APPS = ROOT / "papers/2-windflow"
FLINK = "1.20.2"
RESULTS_FACTOR = 2  # within which contestants have as many results a record
PASSES_COMPARED = 2


def build(options):
    java()
    program("javac", "openjdk-17-jdk-headless")
    project = pathlib.Path(__file__).resolve().with_name("pom.xml")
    command = [program("mvn", "maven"), "-q", "-B", "-f", str(project),
               f"-Dflink.version={options.flink}", "process-classes"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        lines = [line for line in result.stdout.splitlines() if line.startswith("[ERROR]")]
        raise Failure("Maven could not build the peers:\n" + "\n".join(lines[:12]))
    print(f"built into {BUILD.relative_to(ROOT)}")


def filled(name, texts):
    folders = {"app": str(APPS / name), "made": str(BUILD / "inputs" / name)}
    return [re.sub(r"\{(app|made)\}", lambda m: folders[m[1]], text) for text in texts]


def engines_of(name, wanted):
    """Those of the wanted engines that have the application: at least one."""
    found = [engine for engine in APPLICATIONS[name].engines if engine in wanted]
    if not found:
        raise Failure(f"{name} is not on {' or '.join(wanted)}, only on "
                      f"{', '.join(APPLICATIONS[name].engines)}")
    return found


def unpacked(path, folder):
    """The file itself, or what is packed in it."""
    if path.suffix != ".gz":
        return path
    plain = folder / path.stem
    with gzip.open(path) as packed, open(plain, "wb") as file:
        shutil.copyfileobj(packed, file)
    return plain


def expected_rows(name, check, folder):
    """The file of the answer, which the oracle is asked for where it is not bundled."""
    if check.golden:
        return unpacked(APPS / name / check.golden, folder)
    path = folder / "expected.csv"
    with open(path, "wb") as file:
        subprocess.run(filled(name, check.oracle), check=True, stdout=file,
                       env={**os.environ, "LC_ALL": "C"})
    return path


def check_one(name, engine, check, parallelism, folder):
    application = APPLICATIONS[name]
    output = folder / "rows.csv"
    output.unlink(missing_ok=True)
    arguments = [name, "--once", "--output", str(output), "--parallelism", str(parallelism),
                 *filled(name, ("--input", application.input, *application.options)),
                 *check.options]
    process = JavaProcess(f"{engine}, check of {name}, parallelism {parallelism}",
                          engine_command(engine, "check", arguments))
    with contextlib.closing(process):
        process.finish(START_S_MAX)
    expected = expected_rows(name, check, folder)
    if not expected.stat().st_size:
        raise Failure(f"the oracle of {name} has no row: nothing was compared")
    compared = subprocess.run(
        [sys.executable, ROOT / "apps/compare.py", expected, output,
         "--key-order", str(check.key_order)], check=False)
    verdict = "differs" if compared.returncode else "the same answer"
    title = " ".join((engine, name, *check.options))
    print(f"{title}, parallelism {parallelism}: {verdict}", flush=True)
    return compared.returncode == 0


def check_all(options):
    right = True
    names = options.applications or [
        name for name, one in APPLICATIONS.items() if set(one.engines) & set(options.engines)]
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            for engine in engines_of(name, options.engines):
                for parallelism in options.parallelism:
                    for check in APPLICATIONS[name].checks:
                        right &= check_one(name, engine, check, parallelism, pathlib.Path(folder))
    if not right:
        raise Failure("answers differ")


def prepare(name):
    """Makes the input that is measured where it is not there, or was made otherwise."""
    application = APPLICATIONS[name]
    if not application.prepare:
        return
    folder = BUILD / "inputs" / name
    made_by = command_text(application.prepare)
    note = folder / "made_by.txt"
    if note.exists() and note.read_text(encoding="utf-8") == made_by:
        return
    (path,) = filled(name, [application.measured_input])
    BUILD.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD) as made:
        part = pathlib.Path(made) / name
        part.mkdir()
        arguments = [text.replace("{made}", str(part)) for text in application.prepare]
        subprocess.run([sys.executable, APPS / name / "data" / "prepare.py", *arguments],
                       check=True)
        if not (part / pathlib.Path(path).name).exists():
            raise Failure(f"{APPS / name / 'data/prepare.py'} did not make {path}")
        (part / note.name).write_text(made_by, encoding="utf-8")
        folder.parent.mkdir(exist_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)


def measured_input(options):
    application = APPLICATIONS[options.application]
    (path,) = filled(options.application,
                     [options.input or application.measured_input or application.input])
    return path


def measured_arguments(options):
    """The command line from the application's name on, for strid run and the engines alike."""
    name = options.application
    application = APPLICATIONS[name]
    arguments = [name, "--input", measured_input(options), *filled(name, application.options),
                 *filled(name, application.measured), "--duration", options.duration]
    if options.purpose == "latency":
        arguments += ["--rate", options.rate]
    return arguments + shlex.split(options.options)


def engine_arguments(options, engine):
    """Further options of an engine."""
    words = ["--warmup", options.warmup]
    if options.purpose == "latency":
        words += ["--waiting", options.waiting]
    if engine == "flink":
        words += ["--buffer-timeout", options.buffer_timeout]
        words += [f"--{name}" for name in ("no-chaining", "no-object-reuse")
                  if vars(options)[name.replace("-", "_")]]
    return words


def contestants(options, stack):
    """The programs in the order of their turns, the engines warm."""
    name = options.application
    arguments = measured_arguments(options)
    for parallelism in options.parallelism:
        if options.strid and name == "yahoo-benchmark":
            yield StridYahoo(options.strid, parallelism)
        elif options.strid:
            yield Strid(options.strid, parallelism, arguments)
        for engine in engines_of(name, options.engines):
            print(f"warming up: {engine}, parallelism {parallelism}", file=sys.stderr)
            yield stack.enter_context(contextlib.closing(JavaEngine(
                engine, options.purpose, parallelism,
                [*arguments, *engine_arguments(options, engine), "--rounds", str(options.rounds)],
                warmup=options.warmup, duration=options.duration)))


def records_of_a_pass(path):
    """Lines of the input."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def compare_results(rounds, pass_records):
    """The contestants have about as many results a record, of rounds of some passes over the
    input; a shorter one depends on where it ended. None has no results at all."""
    ratios = {}
    for (engine, parallelism), runs in by_contestant(rounds).items():
        title = f"{engine}, parallelism {parallelism}"
        if not any(run["results"] for run in runs):
            raise Failure(f"{title}: no result of {sum(run['records'] for run in runs)} records")
        found = [run["results"] / run["records"] for run in runs
                 if run["records"] >= PASSES_COMPARED * pass_records]
        if found:
            ratios[title] = median(found)
    if ratios and max(ratios.values()) > RESULTS_FACTOR * min(ratios.values()):
        raise Failure("results a record differ: " + "; ".join(
            f"{title}: {ratio:.4g}" for title, ratio in ratios.items()))


def settings(options):
    """In words, by engine."""
    words = [f"rounds of {options.duration}"]
    if options.purpose == "latency":
        words.append(f"{options.rate} records a second")
    return {engine: ", ".join([
        *words, f"Java {' '.join(java_options(options.purpose))}",
        command_text(engine_arguments(options, engine)), "the rest as in peers/README.md"])
        for engine in engines_of(options.application, options.engines)}


def measure(options):
    if options.purpose == "latency" and not APPLICATIONS[options.application].latency:
        raise Failure(f"{options.application} assigns times: no latencies")
    engines_of(options.application, options.engines)
    prepare(options.application)
    rounds = []
    with contextlib.ExitStack() as stack:
        programs = list(contestants(options, stack))
        for number in range(options.rounds):
            for one in programs:
                rounds.append({"round": number, **one.round()})
    compare_results(rounds, records_of_a_pass(measured_input(options)))
    if options.output:
        pathlib.Path(options.output).write_text(
            json.dumps({"purpose": options.purpose, "application": options.application,
                        "command": command_text(sys.argv), "settings": settings(options),
                        "rounds": rounds}, indent=1),
            encoding="utf-8")
    print_table(options, rounds)


def by_contestant(rounds):
    table = {}
    for one in rounds:
        table.setdefault((one["engine"], one["parallelism"]), []).append(one)
    return table


def print_table(options, rounds):
    found = by_contestant(rounds)
    if options.purpose == "latency":
        print(f"{options.application} at {options.rate} records a second: latency in us, medians "
              f"of {options.rounds}, each percentile by itself")
        head = ["engine", "parallelism", *(f"{name} %" for name in PERCENTILES), "max",
                "records/s"]
        rows = []
        for (engine, parallelism), runs in found.items():
            cells = []
            for name in (*PERCENTILES, "max"):
                values = [run["latency_us"][name] for run in runs if "latency_us" in run]
                cells.append(f"{median(values):.1f}" if values else "no results")
            rate = median(run["records_per_second"] for run in runs)
            rows.append([engine, str(parallelism), *cells, f"{rate:.0f}"])
    else:
        print(f"{options.application}: records a second, medians of {options.rounds} rounds by "
              "turns")
        head = ["engine", "parallelism", "M records/s", "lowest", "highest",
                "strid is faster by"]
        rows = []
        for (engine, parallelism), runs in found.items():
            rates = [run["records_per_second"] for run in runs]
            ours = found.get(("strid", parallelism))
            ratio = ""
            if ours and engine != "strid":
                ratios = [a["records_per_second"] / b["records_per_second"]
                          for a, b in zip(ours, runs)]
                ratio = f"{median(ratios):.1f} ({min(ratios):.1f} to {max(ratios):.1f})"
            rows.append([engine, str(parallelism), *(
                f"{rate / 1e6:.3f}" for rate in (median(rates), min(rates), max(rates))), ratio])
    print("\n".join(table(head, rows)))


def whole_numbers(text):
    return [whole_number(part) for part in text.split(",")]


def time(text):
    try:
        seconds_of(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def engine_names(text):
    names = list(dict.fromkeys(text.split(",")))
    for name in names:
        if name not in ENGINES:
            raise argparse.ArgumentTypeError(
                f"no engine '{name}': the engines are {', '.join(ENGINES)}")
    return names


def add_measuring(commands, purpose, text):
    command = commands.add_parser(purpose, help=text)
    command.set_defaults(run=measure, purpose=purpose)
    command.add_argument("application", choices=APPLICATIONS)
    command.add_argument("--parallelism", type=whole_numbers, default=[1, 2], metavar="N,...")
    command.add_argument("--duration", type=time, default="10s", metavar="TIME", help="of a round")
    command.add_argument("--warmup", type=time, default="10s", metavar="TIME")
    command.add_argument("--rounds", type=whole_number, default=5, metavar="N")
    command.add_argument("--strid", metavar="PROGRAM", help="our engine takes turns")
    command.add_argument("--input", metavar="FILE", help="instead of the usual input")
    command.add_argument("--options", default="", metavar="'--NAME VALUE ...'",
                         help="of the application, for all contestants")
    command.add_argument("--no-chaining", action="store_true", help="of Flink's operators")
    command.add_argument("--no-object-reuse", action="store_true",
                         help="Flink copies records between chained operators")
    command.add_argument("--buffer-timeout", metavar="TIME",
                         default="0 ms" if purpose == "latency" else "100 ms",
                         help="Flink's (default: %(default)s); 0 ms: each record at once")
    command.add_argument("--output", metavar="FILE", help="every round as JSON")
    if purpose == "latency":
        command.add_argument("--rate", default="10000", metavar="N", help="records a second")
        command.add_argument("--waiting", choices=("park", "spin"), default="park",
                             help="what the sources on the engines do between records")
    return command


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    builds = commands.add_parser("build", help="compile with Maven")
    builds.set_defaults(run=build)
    builds.add_argument("--flink", default=FLINK, metavar="VERSION", help=f"default {FLINK}")
    check = commands.add_parser("check", help="compare answers with the golden ones")
    check.set_defaults(run=check_all)
    check.add_argument("applications", nargs="*", metavar="APPLICATION",
                       help="of " + ", ".join(APPLICATIONS))
    check.add_argument("--parallelism", type=whole_numbers, default=[1, 2], metavar="N,...")
    measuring = [add_measuring(commands, "throughput", "records a second"),
                 add_measuring(commands, "latency", "latencies at a rate")]
    for command in (check, *measuring):
        command.add_argument("--engines", type=engine_names, default=list(ENGINES),
                             metavar="NAME,...", help="of " + ", ".join(ENGINES))
    options = parser.parse_args()
    for name in getattr(options, "applications", []):
        if name not in APPLICATIONS:
            parser.error(f"no application '{name}'")
    try:
        options.run(options)
    except Failure as failure:
        print(f"peers.py: error: {failure}", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as failure:
        print(f"peers.py: error: {failure.cmd[0]} failed", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
