# SPDX-License-Identifier: Apache-2.0
"""Figures 12, 13, 15 and 18 and table 4: rates of the applications at full speed."""

from __future__ import annotations

from collections.abc import Callable

import plots
from context import Context, paired, shown
from html_page import Section, Table
from reporting import median

THREADS = "Strid, thread per operator"
NOISE = 0.03  # closer than this is no difference
MARGIN = f"more than {100 * NOISE:g} %"


def contestants(context: Context, best: bool) -> dict[str, plots.Series]:
    """Rates by contestant and application."""
    found: dict[str, plots.Series] = {"Strid": {}, THREADS: {}}
    for case in context.cases:
        found["Strid"][case.short] = (context.best(case)[1] if best
                                      else context.rates(case, "one"))
        found[THREADS][case.short] = (context.best_of_threads(case) if best
                                      else context.rates(case, "thread_one"))
    for engine, peers in context.peers.items():
        rates = {case.short: (peers[case.name].best if best else peers[case.name].one)
                 for case in context.cases if case.name in peers}
        rates = {name: values for name, values in rates.items() if values}
        if rates:
            found[engine] = rates
    return found


def rate_table(context: Context, found: dict[str, plots.Series]) -> Table:
    names = [case.short for case in context.cases]
    rows = [[engine, *(shown(rates.get(name, [])) for name in names)]
            for engine, rates in found.items()]
    return ["records/s", *names], rows


def behind(found: dict[str, plots.Series], names: list[str]) -> list[str]:
    """Where another contestant has a higher median than Strid."""
    told = []
    for engine, rates in found.items():
        if engine == "Strid":
            continue
        ratios = {name: median(rates.get(name, [])) / median(found["Strid"][name])
                  for name in names}
        faster = [f"{name} {ratio:.2f}" for name, ratio in ratios.items() if ratio > 1 + NOISE]
        if faster:
            told.append(f"{engine}, times Strid: {', '.join(faster)}")
    return told


def worse_text(told: list[str], compared: list[str]) -> str:
    """`compared`: what Strid was compared with, in words."""
    if told:
        return "\n".join([f"Another is {MARGIN} faster than Strid here:", *told])
    return f"No median of Strid is {MARGIN} below one of another: {'; '.join(compared)}."


def figure_12(context: Context) -> list[Section]:
    names = [case.short for case in context.cases]
    section = Section(
        "Figure 12: throughput",
        "Records a second of the applications at full speed, above with one replica an operator, "
        "below each contestant at its best; bars are medians, the thin lines reach from the "
        "slowest round to the fastest. The axis is logarithmic.")
    told: list[str] = []
    compared: dict[str, None] = {}
    for best, title in ((False, "one replica an operator"), (True, "the best of each")):
        found = contestants(context, best)
        path = context.output / f"figure_12_{'best' if best else 'one'}.svg"
        plots.bars(path, names, found, "records/s", logarithmic=True)
        section.plots.append(path)
        section.captions.append(title)
        section.tables.append(rate_table(context, found))
        told += [f"{title}: {one}" for one in behind(found, names)]
        compared |= {f"{engine} ({', '.join(rates)})": None for engine, rates in found.items()
                     if engine != "Strid"}
    section.worse = worse_text(told, list(compared))
    variants = context.runner.variants
    section.notes.append(
        "Strid's best: " + "; ".join(
            f"{case.short} {variants[context.best(case)[0]].text}" for case in context.cases)
        + f". On {context.cores_all} core{'s' if context.cores_all > 1 else ''}, a run of one "
        "replica an operator may use all of them, too, as the operators are several tasks.")
    section.notes += [f"The best of {told}" for told in
                      context.notes_of_peers(lambda peer: peer.best_text)]
    return [section, speedups(context), table_4(context)]


def speedups(context: Context) -> Section:
    """Figures 12b and 12d: how many times as fast as each of the others."""
    names = [case.short for case in context.cases]
    section = Section("Figure 12b and d: speedup of Strid",
                      "How many times as many records a second Strid handles as each of the "
                      "others: medians, with one replica an operator and each at its best.")
    rows = []
    for best in (False, True):
        found = contestants(context, best)
        for engine, rates in found.items():
            if engine == "Strid":
                continue
            ratios = [median(found["Strid"][name]) / median(rates[name])
                      if rates.get(name) else None for name in names]
            there = [ratio for ratio in ratios if ratio]
            rows.append([f"{engine}, {'best' if best else 'one replica'}",
                         *(f"{ratio:.2f}" if ratio else "" for ratio in ratios),
                         f"{median(there):.2f}" if there else ""])
    section.tables.append((["against", *names, "median"], rows))
    return section


def table_4(context: Context) -> Section:
    section = Section("Table 4: scalability",
                      "The best rate over that with one replica an operator, of the same "
                      f"contestant, here on {context.cores_all} "
                      f"core{'s' if context.cores_all > 1 else ''}; below the paper's, on 64.")
    names = [case.short for case in context.cases]
    one, best = contestants(context, False), contestants(context, True)
    rows = []
    for engine, rates in one.items():
        ratios = {name: median(best[engine][name]) / median(rates[name]) for name in rates
                  if engine in best and best[engine].get(name) and rates.get(name)}
        rows.append([engine, *(f"{ratios[name]:.2f}" if name in ratios else "" for name in names)])
    for place, engine in enumerate(("Storm", "Flink", "BriskStream", "WindFlow")):
        rows.append([f"{engine}, paper", *(f"{case.paper_scalability[place]:g}"
                                           for case in context.cases)])
    section.tables.append((["", *names], rows))
    section.notes.append("With one replica an operator Strid may use several cores, too, as its "
                         "operators are several tasks; what is fused runs on one.")
    return section


def against(context: Context, base: str, others: dict[str, str]) -> dict[str, plots.Series]:
    """Ratios to a variant, round by round; `others` are titles by variant."""
    return {title: {case.short: paired(context.rates(case, name), context.rates(case, base))
                    for case in context.cases} for name, title in others.items()}


def changes(found: dict[str, plots.Series], is_worse: Callable[[float], bool]) -> list[str]:
    return [f"{name} {median(values):.2f} ({title})" for title, rates in found.items()
            for name, values in rates.items() if values and is_worse(median(values))]


def ratio_table(context: Context, found: dict[str, plots.Series]) -> Table:
    names = [case.short for case in context.cases]
    return (["times the default", *names],
            [[title, *(shown(rates[name]) for name in names)] for title, rates in found.items()])


def figure_13(context: Context) -> list[Section]:
    names = [case.short for case in context.cases]
    found = {"chained as far as the rules allow": {
        case.short: paired(context.rates(case, "default"), context.rates(case, "unfused"))
        for case in context.cases}}
    path = context.output / "figure_13.svg"
    plots.bars(path, names, found, "times without chaining", line_at=1)
    told = changes(found, lambda ratio: ratio < 1 - NOISE)
    section = Section(
        "Figure 13: chaining",
        "Rate with operators fused into one loop, which is the default, over the rate with a task "
        "for every operator (`--no-fuse`), round by round; above the line chaining helps.",
        f"{MARGIN.capitalize()} slower with chaining: {'; '.join(told)}." if told else
        f"No application is {MARGIN} slower with chaining.", [path])
    section.tables.append((["", *names], [
        ["chained, records/s", *(shown(context.rates(case, "default"))
                                 for case in context.cases)],
        ["not chained, records/s", *(shown(context.rates(case, "unfused"))
                                     for case in context.cases)],
        ["times", *(shown(found["chained as far as the rules allow"][name]) for name in names)]]))
    return [section]


def figure_15(context: Context) -> list[Section]:
    names = [case.short for case in context.cases]
    variants = context.runner.variants
    found = against(context, "default", {
        "pinned": "pinned", "far": "bad on purpose: neighbours far", "one_core":
        "bad on purpose: one core"})
    threads = against(context, "thread", {"thread_pinned": "pinned",
                                          "thread_far": "bad on purpose: neighbours far"})
    paths = [context.output / "figure_15.svg", context.output / "figure_15_threads.svg"]
    plots.bars(paths[0], names, found, "times the default", line_at=1)
    plots.bars(paths[1], names, threads, "times no placement", line_at=1)
    told = changes({"workers": found["pinned"], "threads": threads["pinned"]},
                   lambda ratio: ratio < 1 - NOISE)
    section = Section(
        "Figure 15: placement",
        "Rate with tasks placed in other ways, over the rate of the default, round by round: by "
        "default tasks keep to their workers and the kernel places those; pinned, each worker "
        "stays on a core, neighbours in the graph near each other; the bad ones tear neighbours "
        "apart, or leave cores empty. The second plot is the paper's setting, a thread per "
        "replica, over the same threads left to the kernel.",
        f"{MARGIN.capitalize()} slower with our pinning than without: {'; '.join(told)}." if told
        else f"No application is {MARGIN} slower with our pinning than without, be it of workers "
        "or of a thread per replica.", paths)
    section.captions = ["workers that share the tasks", "a thread per replica"]
    section.tables += [ratio_table(context, found),
                       (["times no placement", *names],
                        [[title, *(shown(rates[name]) for name in names)]
                         for title, rates in threads.items()])]
    section.notes.append(f"Far: {variants['far'].text}. The paper's machine has 16 groups of "
                         "cores that share a cache; where there is one such group, as on small "
                         "machines, far and near are alike but for the order.")
    return [section]


def figure_18(context: Context) -> list[Section]:
    names = [case.short for case in context.cases]
    found = against(context, "default", {"distributing": "dedicated distributors",
                                         "centralised": "one central distributor"})
    path = context.output / "figure_18.svg"
    plots.bars(path, names, found, "times combined", line_at=1)
    told = changes(found, lambda ratio: ratio > 1 + NOISE)
    section = Section(
        "Figure 18: composition",
        "Rate with distributing tasks of their own over the rate with our rule, where each replica "
        "distributes its results itself (combined), round by round; below the line our rule is "
        "the better one.",
        f"{MARGIN.capitalize()} faster with another rule: {'; '.join(told)}." if told else
        f"No application is {MARGIN} faster with another rule.", [path])
    section.tables.append(ratio_table(context, found))
    return [section]
