# SPDX-License-Identifier: Apache-2.0
"""The measurements of a report as CSV, a row a run: rates.csv, latency.csv, blocks.csv, peers.csv.
papers/pages.py reads them."""

from __future__ import annotations

from context import Context
from reporting import PERCENTILES, percentile, write_csv

BLOCKS = ("seqs", "combiners", "pipes", "containers", "all_to_alls")


def rate_rows(context: Context) -> list[dict]:
    """Of figures 12 to 15, 18 and 20 and table 4."""
    short = {case.name: case.short for case in context.cases}
    rows = []
    for kind, names in (("throughput", ("application", "way")), ("batch", ("at",)),
                        ("waiting", ("application", "way", "at")), ("cores", ("at", "way"))):
        for row in context.store.of(kind):
            *key, number = row["key"][1:]
            case = dict(zip(names, key))
            application = short.get(case.get("application", "word-count"))
            if application is None:
                continue  # of an application that this report leaves out
            at = row["tasks"] if kind == "waiting" else case.get("at", "")
            rows.append({"kind": kind, "application": application, "way": case.get("way", ""),
                         "at": at, "round": number, "records": row["records"],
                         "results": row["results"], "seconds": row["seconds"],
                         "per_second": row["records"] / row["seconds"],
                         "command": row["command"]})
    return rows


def latency_rows(context: Context) -> list[dict]:
    """Of figures 16 and 19, microseconds: percentiles, and the parts of the mean."""
    short = {case.name: case.short for case in context.cases}
    rows = []
    for row in context.store.of("latency"):
        _, name, rate, number = row["key"]
        if name not in short:
            continue
        path = row.get("path", {})
        rows.append({"application": short[name], "rate": rate, "round": number,
                     **{f"p{at}": percentile(row["histogram_ns"], float(at)) / 1e3
                        for at in PERCENTILES},
                     **{part: path[f"{part}_mean_ns"] / 1e3 if path else ""
                        for part in ("user", "engine", "waiting")},
                     "command": row["command"]})
    return rows


def block_rows(context: Context) -> list[dict]:
    """Of table 3."""
    short = {case.name: case.short for case in context.cases}
    return [{"application": short[row["key"][1]], "graph": row["key"][2],
             **dict(zip(BLOCKS, row["counts"])), "command": row["command"]}
            for row in context.store.of("blocks") if row["key"][1] in short]


def peer_rows(context: Context) -> list[dict]:
    """Of figures 12, 16 and table 4: rates a second, and medians of percentiles in microseconds."""
    rows = []
    for engine, peers in context.peers.items():
        for case in context.cases:
            peer = peers.get(case.name)
            if not peer:
                continue
            found = {"engine": engine, "version": peer.version, "application": case.short}
            for kind, values, text in (("one", peer.one, ""), ("best", peer.best, peer.best_text),
                                       ("megabytes", peer.megabytes, peer.best_text)):
                rows += [{**found, "kind": kind, "round": number, "value": value, "setting": text}
                         for number, value in enumerate(values)]
            rows += [{**found, "kind": f"p{at}", "round": "", "value": value,
                      "setting": peer.latency_text} for at, value in peer.latency_us.items()]
    return rows


def write_rows(context: Context) -> None:
    for name, rows in (("rates", rate_rows(context)), ("latency", latency_rows(context)),
                       ("blocks", block_rows(context)), ("peers", peer_rows(context))):
        if rows:
            write_csv(context.output / f"{name}.csv", rows)
