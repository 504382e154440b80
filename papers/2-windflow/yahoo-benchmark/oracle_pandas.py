#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The answer of yahoo-benchmark, by pandas; the command line and the output are oracle.py's.

    oracle_pandas.py EVENTS CAMPAIGNS [--window-ms 10000] [--disorder-ms 1000] [--late]
"""
import argparse
import sys

import pandas as pd

EVENT = ["user", "page", "ad", "ad_type", "event_type", "time", "ip"]
NEVER = -2**62  # the watermark before the first view


def read_views(events_path, campaigns_path) -> pd.DataFrame:
    """The views whose ad has a campaign, in the order of the file."""
    events = pd.read_csv(events_path, names=EVENT, usecols=["ad", "event_type", "time"],
                         dtype={"ad": "int64", "event_type": str, "time": "int64"},
                         keep_default_na=False)
    campaigns = pd.read_csv(campaigns_path, names=["ad", "campaign"], dtype="int64",
                            index_col="ad")["campaign"]
    views = events[(events["event_type"] == "view") & events["ad"].isin(campaigns.index)]
    return views.assign(campaign=views["ad"].map(campaigns))[["campaign", "time"]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("events")
    parser.add_argument("campaigns")
    parser.add_argument("--window-ms", type=int, default=10_000)
    parser.add_argument("--disorder-ms", type=int, default=1_000)
    parser.add_argument("--late", action="store_true")
    options = parser.parse_args()
    views = read_views(options.events, options.campaigns)
    promise = (views["time"].cummax() - options.disorder_ms).shift(fill_value=NEVER)
    views["start"] = views["time"] // options.window_ms * options.window_ms
    views["end"] = views["start"] + options.window_ms
    late = views["end"] <= promise
    if options.late:
        answer = views.loc[late, ["campaign", "time"]]
    else:
        in_time = views[~late]
        answer = in_time.groupby(["campaign", "start", "end"]).size().reset_index()
    answer.to_csv(sys.stdout, header=False, index=False)


if __name__ == "__main__":
    main()
