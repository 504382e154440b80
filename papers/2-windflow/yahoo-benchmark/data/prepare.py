#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes events.csv and campaigns.csv, the input of the Yahoo streaming benchmark, from a seed.

    prepare.py EVENTS CAMPAIGNS [--events 6000] [--rate 100] [--campaigns 100] [--ads 10]
               [--disorder-ms 1000] [--seed 1]

EVENTS gets user,page,ad,ad_type,event_type,event_time,ip: ids are numbers, times milliseconds
since 1970. Events follow each other by when they came, --rate of them a second; each happened up
to --disorder-ms before it came, so that times are out of order within that bound. Users, pages,
ads and both types are uniform. CAMPAIGNS gets ad,campaign: --campaigns of --ads each, the ads of
a campaign spread over the ids. The same arguments give the same bytes; a large input is made with
--events and a --rate to go with it.
"""
import argparse

AD_TYPES = ("banner", "modal", "sponsored-search", "mail", "mobile")
EVENT_TYPES = ("view", "click", "purchase")
USERS = PAGES = 100
BEGIN_MS = 1_450_000_000_000
LOW_64_BITS = 2**64 - 1


def numbers(seed: int):
    """SplitMix64: a function of the bound that gives the next number below it."""
    state = seed

    def below(bound: int) -> int:
        nonlocal state
        state = (state + 0x9E3779B97F4A7C15) & LOW_64_BITS
        mixed = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & LOW_64_BITS
        mixed = ((mixed ^ mixed >> 27) * 0x94D049BB133111EB) & LOW_64_BITS
        return ((mixed ^ mixed >> 31) * bound) >> 64

    return below


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("events_path")
    parser.add_argument("campaigns_path")
    for name, default in (("events", 6000), ("rate", 100), ("campaigns", 100), ("ads", 10),
                          ("disorder-ms", 1000), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    ads = options.campaigns * options.ads
    with open(options.campaigns_path, "w", encoding="ascii") as out:
        out.writelines(f"{ad},{ad % options.campaigns}\n" for ad in range(ads))
    below = numbers(options.seed)
    with open(options.events_path, "w", encoding="ascii") as out:
        for i in range(options.events):
            time_ms = BEGIN_MS + i * 1000 // options.rate - below(options.disorder_ms + 1)
            out.write(f"{below(USERS)},{below(PAGES)},{below(ads)},"
                      f"{AD_TYPES[below(len(AD_TYPES))]},{EVENT_TYPES[below(len(EVENT_TYPES))]},"
                      f"{time_ms},10.0.{below(256)}.{below(256)}\n")


if __name__ == "__main__":
    main()
