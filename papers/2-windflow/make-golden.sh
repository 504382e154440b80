#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Writes the golden answers of the applications from their oracles: <name>/golden/.
set -eu
cd "$(dirname "$0")"
export LC_ALL=C
awk -f word-count/oracle.awk word-count/data/opticks.txt | sort > word-count/golden/counts.csv
python3 spike-detection/oracle.py spike-detection/data/readings.csv \
    > spike-detection/golden/spikes.csv
python3 yahoo-benchmark/oracle.py yahoo-benchmark/data/events.csv \
    yahoo-benchmark/data/campaigns.csv > yahoo-benchmark/golden/counts.csv
python3 linear-road/oracle.py linear-road/data/cars.csv.gz \
    --history linear-road/data/history.csv | gzip -9n > linear-road/golden/answers.csv.gz
transactions=fraud-detection/data/transactions.csv
for score in miss-probability miss-rate entropy-reduction; do
    python3 fraud-detection/oracle.py "$transactions" --score "$score" \
        > "fraud-detection/golden/outliers-$score.csv"
done
traffic=traffic-monitoring/data
for matcher in nearest hidden-markov; do
    python3 traffic-monitoring/oracle.py $traffic/roads.csv $traffic/fixes.csv --emit final \
        --matcher $matcher > traffic-monitoring/golden/$matcher-final.csv
done
python3 traffic-monitoring/oracle.py $traffic/roads.csv $traffic/fixes.csv \
    > traffic-monitoring/golden/nearest-updates.csv
python3 voip-stream/oracle.py voip-stream/data/calls.csv --threshold 0.3 \
    > voip-stream/golden/scores.csv
