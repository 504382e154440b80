#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Writes the golden answers of flights from the oracle: golden/.
set -eu
cd "$(dirname "$0")"
export LC_ALL=C
for question in delays late rotations joined; do
    python3 oracle.py $question data/flights.csv data/weather.csv > golden/$question.csv
done
