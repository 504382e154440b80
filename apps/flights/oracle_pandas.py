#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The answers of flights, by pandas; the command line and the output are oracle.py's.

    oracle_pandas.py QUESTION FLIGHTS [WEATHER] [--window 7200] [--slide 1800] [--disorder 43200]
                     [--gap 21600]
"""
import argparse
import sys

import numpy as np
import pandas as pd

HOUR_MS = 3_600_000
NEVER = -2**62  # the watermark before the first flight
FLIGHT = ["time", "airport", "aircraft", "delay"]
WEATHER = ["time", "airport", "wind_speed", "visibility"]


def read(path, columns) -> pd.DataFrame:
    types = {name: str if name in ("airport", "aircraft") else float for name in columns}
    return pd.read_csv(path, names=columns, dtype={**types, "time": "int64"},
                       keep_default_na=False)


def delays(flights, options) -> pd.DataFrame:
    """A row for each flight and each window it lies in, less those that are over, summed up."""
    last_start = flights["time"] // options.slide * options.slide
    windows_max = -(-options.window // options.slide)
    placed = pd.concat([flights.assign(start=last_start - n * options.slide)
                        for n in range(windows_max)])
    placed["end"] = placed["start"] + options.window
    placed = placed[(placed["end"] > placed["time"]) & (placed["end"] > placed["promise"])]
    return placed.groupby(["airport", "start", "end"])["delay"].agg(
        ["size", "mean", "max"]).reset_index()


def late(flights, options) -> pd.DataFrame:
    """The flights whose last window was over when they came."""
    last_end = flights["time"] // options.slide * options.slide + options.window
    return flights.loc[(last_end > flights["time"]) & (last_end <= flights["promise"]), FLIGHT]


def joined(flights, weather) -> pd.DataFrame:
    """The weather after (flight - one hour), up to the flight: of this hour or the one before."""
    flights = flights[flights["time"] >= flights["promise"]]
    hour = flights["time"] // HOUR_MS
    candidates = pd.concat([flights.assign(hour=hour), flights.assign(hour=hour - 1)])
    weather = weather.rename(columns={"time": "observed"})
    pairs = candidates.merge(weather.assign(hour=weather["observed"] // HOUR_MS),
                             on=["airport", "hour"])
    age = pairs["time"] - pairs["observed"]
    pairs = pairs[(age >= 0) & (age < HOUR_MS)].sort_values(["position", "observed"])
    return pairs[FLIGHT + WEATHER[2:]]


def sessions(flights, gap):
    """The sessions of every aircraft, and the flights that came too late for any.

    The n-th flights of all aircraft are placed at once, n after n. Every flight has a session in
    its own cell of a table, aircraft by n, until it goes into the session of a later flight.
    """
    names, row = np.unique(flights["aircraft"].to_numpy(str), return_inverse=True)
    column = flights.groupby("aircraft").cumcount().to_numpy()
    shape = (len(names), column.max(initial=-1) + 1)

    def table(values, elsewhere):
        result = np.full(shape, elsewhere, np.asarray(values).dtype)
        result[row, column] = values
        return result

    first = table(flights["time"], 0)
    last, largest = first.copy(), table(flights["delay"], 0.0)
    promise = table(flights["promise"], NEVER)
    comes = table(np.ones(len(flights), bool), False)
    count = comes.astype(int)
    is_session, is_late = np.zeros(shape, bool), np.zeros(shape, bool)
    for n in range(shape[1]):
        time, due = first[:, [n]], promise[:, [n]]
        touched = is_session & (first - gap <= time) & (time <= last + gap)
        near = touched & (last + gap >= due)  # not over
        is_over = (touched & ~near).any(axis=1)
        is_within = (near & (first <= time)).any(axis=1)
        is_late[:, n] = comes[:, n] & (is_over | (~is_within & (time + gap < due)[:, 0]))
        near &= ~is_late[:, [n]]
        is_session[:, n] = comes[:, n] & ~is_late[:, n]
        near[:, n] = is_session[:, n]
        last[:, n] = np.where(near, last, NEVER).max(axis=1)
        count[:, n] = np.where(near, count, 0).sum(axis=1)
        largest[:, n] = np.where(near, largest, -np.inf).max(axis=1)
        first[:, n] = np.where(near, first, -NEVER).min(axis=1)
        near[:, n] = False
        is_session &= ~near
    result = pd.DataFrame({"aircraft": names[is_session.nonzero()[0]], "start": first[is_session],
                           "end": last[is_session] + gap, "flights": count[is_session],
                           "largest": largest[is_session]})
    return result.sort_values(list(result)), flights.loc[is_late[row, column], FLIGHT]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("question", choices=["delays", "late", "rotations", "late-rotations",
                                             "joined", "late-joined"])
    parser.add_argument("flights")
    parser.add_argument("weather", nargs="?")
    for name, seconds in (("window", 7200), ("slide", 1800), ("disorder", 43200), ("gap", 21600)):
        parser.add_argument(f"--{name}", type=lambda text: int(text) * 1000,
                            default=seconds * 1000)
    options = parser.parse_args()
    flights = read(options.flights, FLIGHT)
    flights["position"] = np.arange(len(flights))
    flights["promise"] = (flights["time"].cummax() - options.disorder).shift(fill_value=NEVER)
    if options.question == "delays":
        answer = delays(flights, options)
    elif options.question == "late":
        answer = late(flights, options)
    elif options.question == "joined":
        answer = joined(flights, read(options.weather, WEATHER))
    elif options.question == "late-joined":
        answer = flights.loc[flights["time"] < flights["promise"], FLIGHT]
    else:
        answer = sessions(flights, options.gap)[options.question == "late-rotations"]
    answer.to_csv(sys.stdout, header=False, index=False)


if __name__ == "__main__":
    main()
