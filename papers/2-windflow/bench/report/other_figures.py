# SPDX-License-Identifier: Apache-2.0
"""Figures 14, 16, 17, 19 and 20 and table 3."""

from __future__ import annotations

import re

import plots
from cases import LATENCY_NAMES, SPLIT_NAMES, Case, Variant
from context import Context, listed, progress, shown
from html_page import Section
from reporting import PERCENTILES, command_text, median, percentile
from runs import call
from store import RunError
from throughput_figures import MARGIN, NOISE

RATE = 10_000
SPLIT_RATE = 20
SPLIT_ROUNDS_MAX = 3  # of twenty seconds each
DEFAULT = Variant("default", (), "")


def figure_14(context: Context) -> list[Section]:
    return [*batches(context), *waiting(context)]


def batches(context: Context) -> list[Section]:
    if not context.case("word-count"):
        return []
    sizes = (*context.size.batches, 0)
    for number in range(context.size.rounds):
        for size in sizes:
            context.store.once(("batch", size, number), lambda size=size: context.runner.words(
                size, context.size.seconds, ["--parallelism", "1"]))
        progress(f"batches, round {number + 1} of {context.size.rounds}")
    found = {size: context.store.rates("batch", size) for size in sizes}
    path = context.output / "figure_14_batches.svg"
    plots.lines(path, {"batches of at most so many words": [
        (size, found[size]) for size in context.size.batches]}, "words a batch", "records/s",
        levels={"ours by default": found[0]}, powers=True)
    best = max(context.size.batches, key=lambda size: median(found[size]))
    gain = median(found[best]) / median(found[0])
    mean = median(row["words"] / row["batches"] for row in context.store.of("batch", 0))
    section = Section(
        "Figure 14, left: batches in WC",
        "Word count, one replica an operator, with at most so many words in a batch between the "
        "splitter and the counter; the dashed line is the engine's own choice, which sends a "
        "batch when it is full, or when the consumer has nothing to do.",
        f"Batches of {best} are {gain:.2f} times as fast as our default." if gain > 1 + NOISE
        else f"No size is {MARGIN} faster than our default.", [path])
    section.tables.append((["words a batch", *map(str, context.size.batches), "ours"],
                           [["records/s", *(plots.quantity(median(found[size]))
                                            for size in sizes)]]))
    section.notes.append(f"Ours had {plots.quantity(mean)} words a batch.")
    return [section]


def waiting(context: Context) -> list[Section]:
    case = context.case("traffic-monitoring") or context.case("fraud-detection")
    if case is None:
        return []
    degrees = [count * context.cores_all for count in context.size.threads_a_core]
    series: dict[str, list[tuple[float, list[float]]]] = {}
    variants = {}
    for degree in degrees:
        for way in ("park", "spin"):
            variants[way, degree] = Variant(f"{way} {degree}", (
                "--mode", "dedicated", "--no-fuse", "--parallelism", str(degree), "--waiting",
                way), "")
    for number in range(context.size.rounds):
        for (way, degree), variant in variants.items():
            context.store.once(("waiting", case.name, way, degree, number),
                               lambda variant=variant: context.runner.measure(
                                   case, context.runner.command(
                                       case, context.runner.checked(case, variant),
                                       context.size.seconds)))
        progress(f"waiting, round {number + 1} of {context.size.rounds}")
    for way in ("park", "spin"):
        series[way] = [(threads_of(context.store.of("waiting", case.name, way, degree)),
                        context.store.rates("waiting", case.name, way, degree))
                       for degree in degrees]
    path = context.output / "figure_14_waiting.svg"
    plots.lines(path, series, "threads", "records/s")
    told = [f"{median(spin) / median(park):.2f} times with {threads} threads"
            for (threads, spin), (_, park) in zip(series["spin"], series["park"])
            if median(spin) > (1 + NOISE) * median(park)]
    section = Section(
        f"Figure 14, right: waiting in {case.short}",
        "A thread per replica with more and more threads than cores: threads without work sleep "
        "in the kernel (park, the default) or go on asking (spin).",
        f"Spinning is {MARGIN} faster than our default: {listed(told)}." if told else
        f"No number of threads here makes spinning {MARGIN} faster than our default.", [path])
    if case.name != "traffic-monitoring":
        section.notes.append("traffic-monitoring is not in this build: FD in its place.")
    section.tables.append((["threads", *(f"{threads:g}" for threads, _ in series["park"])], [
        [way, *(shown(values) for _, values in points)] for way, points in series.items()]))
    return [section]


def threads_of(rows: list[dict]) -> int:
    """A thread per task: as many in each round."""
    counts = {row["tasks"] for row in rows}
    if len(counts) != 1:
        raise RunError(f"`{rows[0]['command']}` had {' and '.join(map(str, sorted(counts)))} "
                          "threads in its rounds")
    return counts.pop()


def latency_of(context: Context, case: Case, rate: int, seconds: float, number: int) -> dict:
    def measure() -> dict:
        words = context.runner.command(case, DEFAULT, seconds, rate)
        return context.runner.measure(case, words, histogram=True)
    context.runner.checked(case, DEFAULT)
    return context.store.once(("latency", case.name, rate, number), measure)


def latencies(rows: list[dict]) -> dict[str, float]:
    """Microseconds: of each percentile the median of the rounds, as of the peers."""
    return {name: median(percentile(row["histogram_ns"], float(name)) for row in rows) / 1e3
            for name in PERCENTILES}


def figure_16(context: Context) -> list[Section]:
    cases = [case for case in context.cases if case.name in LATENCY_NAMES]
    if not cases:
        return [Section("Figure 16: latency at 10,000 records a second",
                        notes=["None of FD, SD, WC, LR and VS is measured: left out."])]
    for number in range(context.size.rounds):
        for case in cases:
            latency_of(context, case, RATE, context.size.latency_seconds, number)
        progress(f"latency, round {number + 1} of {context.size.rounds}")
    found: list[tuple[str, str, dict[str, float]]] = []
    for case in cases:
        found.append((case.short, "Strid", latencies(
            context.store.of("latency", case.name, RATE))))
        for engine, peers in context.peers.items():
            if case.name in peers and peers[case.name].latency_us:
                found.append((case.short, engine, peers[case.name].latency_us))
    path = context.output / "figure_16.svg"
    plots.boxes(path, found, "microseconds")
    ours = {row[0]: row[2] for row in found if row[1] == "Strid"}
    told = [f"{name}: {engine} {values['50']:.0f} us in the median and {values['99']:.0f} at the "
            f"99th percentile, Strid {ours[name]['50']:.0f} and {ours[name]['99']:.0f}"
            for name, engine, values in found if engine != "Strid"
            if any(ours[name][at] > (1 + NOISE) * values[at] for at in ("50", "99"))]
    compared = {engine: [name for name, other, _ in found if other == engine]
                for _, engine, _ in found if engine != "Strid"}
    section = Section(
        "Figure 16: latency at 10,000 records a second",
        "From the time at which a record was due until its results are in the sink. Boxes are the "
        "25th to the 75th percentile, whiskers the 5th and the 95th, the dots above them the 99th "
        "and the 99.9th. The axis is logarithmic.",
        "\n".join([f"In the median or at the 99th percentile Strid takes {MARGIN} longer than a "
                   "peer here:", *told]) if told else
        f"No median and no 99th percentile of Strid is {MARGIN} above that of another: "
        + "; ".join(f"{engine} ({', '.join(names)})" for engine, names in compared.items())
        + ". Other percentiles are in the table." if compared else
        "Strid is compared with none: no peer was measured with this report.", [path])
    section.tables.append((["microseconds", *(f"{name}th" for name in PERCENTILES)], [
        [f"{name}, {engine}", *(plots.quantity(values[at]) for at in PERCENTILES)]
        for name, engine, values in found]))
    section.notes.append("Of each percentile the median of the rounds, of Strid and of the peers. "
                         "Strid's defaults; its histogram has buckets of 3 %, and a record is as "
                         "old as the oldest one of its batch. WindFlow: its blocking queues.")
    section.notes += context.notes_of_peers(lambda peer: peer.latency_text)
    return [section]


def figure_17(context: Context) -> list[Section]:
    case = context.case("spike-detection") or context.cases[0]
    section = Section(
        f"Figure 17: rules of composition in {case.short}",
        "The same application with two replicas, as `strid explain --picture` draws it: the rule "
        "that is the default, a distributing task for each producer, and one for all.")
    for rule in ("combined", "dedicated", "centralised"):
        path = context.output / f"graph_17_{rule}.svg"
        call([context.runner.strid, "explain", case.name, *context.runner.options(case),
              *(["--duration", "1s"] if case.replays else []), "--parallelism", "2",
              "--composition", rule, "--picture", str(path)])
        section.plots.append(path)
        section.captions.append(f"--composition {rule}")
    return [section]


def figure_19(context: Context) -> list[Section]:
    cases = [case for case in context.cases if case.name in SPLIT_NAMES]
    section = Section(
        "Figure 19: where the latency comes from",
        f"LR and VS at {SPLIT_RATE} records a second, far below what they can take: the mean "
        "latency of a record, split into the operators (user code), the engine, and what is "
        "neither: waiting, the wake-up of a worker that sleeps among it.")
    if not cases:
        section.notes.append("Neither linear-road nor voip-stream is in this build: left out.")
        return [section]
    rounds = min(context.size.rounds, SPLIT_ROUNDS_MAX)
    for number in range(rounds):
        for case in cases:
            latency_of(context, case, SPLIT_RATE, context.size.split_seconds, number)
        progress(f"where the latency comes from, round {number + 1} of {rounds}")
    rows: dict[str, dict[str, float]] = {}
    for case in cases:
        found = context.store.of("latency", case.name, SPLIT_RATE)
        paths = [row["path"] for row in found if "path" in row]
        if not paths:
            section.notes.append(f"{case.short}: this build of strid does not split the latency.")
            continue
        rows[case.short] = {title: median(path[f"{part}_mean_ns"] for path in paths) / 1e3
                            for part, title in (("user", "user code"), ("engine", "engine"),
                                                ("waiting", "waiting"))}
    if not rows:
        return [section]
    section.plots = [context.output / "figure_19.svg"]
    plots.stacks(section.plots[0], rows, "microseconds, mean of a record")
    section.tables.append((["microseconds", "user code", "engine", "waiting", "sum"], [
        [name, *(f"{value:.1f}" for value in parts.values()), f"{sum(parts.values()):.1f}"]
        for name, parts in rows.items()]))
    section.worse = split_verdict(rows)
    section.notes.append(f"Of each part the median of {rounds} "
                         f"round{'s' if rounds > 1 else ''}, each the mean of its records.")
    section.notes.append("Flink has no such split of its own and is left out here; its latency "
                         "as a whole is in figure 16.")
    return [section]


def split_verdict(rows: dict[str, dict[str, float]]) -> str:
    """Which part is the largest, by application; `rows`: microseconds of each part."""
    told = []
    for name, parts in rows.items():
        largest = max(parts, key=lambda part: parts[part])
        if largest != "user code":
            told.append(f"{name}: {largest} is the largest part, {parts[largest]:.1f} us of "
                        f"{sum(parts.values()):.1f}; user code has {parts['user code']:.1f}")
    if not told:
        return f"No part is larger than the user code: {', '.join(rows)}."
    return "\n".join(["User code is not the largest part:", *told])


def figure_20(context: Context) -> list[Section]:
    case = context.case("word-count")
    if case is None:
        return []
    for number in range(context.size.rounds):
        for cores in context.cores:
            for size in (10, 100, 0):
                context.store.once(("cores", cores, size, number),
                                   lambda size=size, cores=cores: context.runner.words(
                                       size, context.size.seconds, ["--workers", str(cores)]))
        progress(f"cores, round {number + 1} of {context.size.rounds}")
    text = context.runner.input(case).read_bytes()
    bytes_a_line = len(text) / max(text.count(b"\n"), 1)

    def megabytes(cores: int, size: int) -> list[float]:
        return [rate * bytes_a_line / 1e6 for rate in context.store.rates("cores", cores, size)]
    names = {10: "batches of 10 words", 100: "batches of 100 words", 0: "ours by default"}
    series = {title: [(float(cores), megabytes(cores, size)) for cores in context.cores]
              for size, title in names.items()}
    path = context.output / "figure_20.svg"
    peer = context.peers.get("WindFlow", {}).get(case.name)
    windflow = peer.megabytes if peer else []
    plots.lines(path, series, "cores", "MB/s",
                levels={"WindFlow, its best": windflow} if windflow else None)
    top = context.cores_all
    others = {f"batches of {size} words": median(megabytes(top, size)) for size in (10, 100)}
    if windflow:
        others["WindFlow at its best"] = median(windflow)
    ours = median(megabytes(top, 0))
    told = [f"{name} {rate / ours:.2f} times" for name, rate in others.items()
            if rate > (1 + NOISE) * ours]
    on_all = f"on {top} core{'s' if top > 1 else ''}"
    section = Section(
        "Figure 20: WC in MB/s by cores",
        "Text that word count handles a second by the number of workers, with batches of 10 and "
        "of 100 words and as the engine chooses.",
        f"{MARGIN.capitalize()} faster than our default {on_all}: {'; '.join(told)}." if told else
        f"Nothing here is {MARGIN} faster than our default {on_all}: {listed(list(others))}.",
        [path])
    section.tables.append((["MB/s", *(f"{cores} core{'s' if cores > 1 else ''}"
                                      for cores in context.cores)],
                           [[title, *(shown(values) for _, values in points)]
                            for title, points in series.items()]))
    if len(context.cores) < 3:
        section.notes.append("This machine has few cores; the same command has a point for each "
                             "number of them (powers of two above eight) where there are more.")
    return [section]


COUNTS = re.compile(r"^total  (\d+) Seqs?, (\d+) Combiners?, (\d+) Pipes?, (\d+) Containers?, "
                    r"(\d+) All-to-Alls?$", re.MULTILINE)


def blocks_of(context: Context, case: Case, options: list[str]) -> dict:
    words = [context.runner.strid, "explain", case.name, "--algebra",
             *context.runner.options(case), *options]
    total = COUNTS.search(call(words))
    if not total:
        raise RunError(f"`{command_text(words)}` has no total of its blocks")
    return {"command": command_text(words), "counts": [int(count) for count in total.groups()]}


def table_3(context: Context) -> list[Section]:
    head = ["", "Seqs", "Combiners", "Pipes", "Containers", "All-to-Alls"]
    rows = []
    for case in context.cases:
        rows.append([f"{case.short}, paper", *map(str, case.paper_blocks)])
        ways = [("Strid, one replica", ["--parallelism", "1"]), ("Strid, default here", [])]
        if case.paper_form:
            ways.append(("Strid, the paper's graph, one replica",
                         [*case.paper_form, "--parallelism", "1"]))
        for title, options in ways:
            counts = context.store.once(("blocks", case.name, title),
                                        lambda: blocks_of(context, case, options))["counts"]
            rows.append([f"{case.short}, {title}", *map(str, counts)])
    section = Section(
        "Table 3: building blocks",
        "The blocks of each graph: as the paper counts them, and those of the graphs that we run, "
        "as `strid explain --algebra` derives them by the same rules.")
    section.tables.append((head, rows))
    section.notes += [
        "The paper's counts come out of its rules for its graphs in the test "
        "`tests/block/table3_test.cpp`; for VS they give 32, 13, 13, 16, 8 (it says why). Ours "
        "are counted by hand in `tests/table3_test.cpp`, and differ where our graphs do: keys "
        "are taken by the operator before, and whatever may be chained is.",
    ]
    return [section]
