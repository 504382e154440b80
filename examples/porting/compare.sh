#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs the program of a porting guide and that of the peer on the same million readings, and
# compares every row that they write. In build/porting. Needs an installed Strid that pkg-config
# finds; for Flink Java 17 and Maven, which fetches Flink.
#
#     examples/porting/compare.sh windflow WINDFLOW FASTFLOW     the folders of their sources
#     examples/porting/compare.sh flink
set -eu
peer=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/porting
here=$root/examples/porting
mkdir -p "$build"
awk -v records=1000000 -f "$here/readings.awk" > "$build/readings.csv"

guide=$root/docs/porting-from-$peer.md
python3 "$root/scripts/extract_examples.py" "$build/programs" "$guide" > "$build/names"
# shellcheck disable=SC2046
g++ -std=c++20 -O2 $(pkg-config --cflags strid) "$build/programs/porting_from_$peer.cpp" \
    -o "$build/ours" $(pkg-config --libs strid)

case $peer in
windflow)
    g++ -std=c++17 -O2 -w -DFF_BOUNDED_BUFFER -DNO_DEFAULT_MAPPING -I "$2/wf" -I "$3" \
        "$here/windflow/readings.cpp" -o "$build/theirs" -pthread
    (cd "$build" && ./theirs readings.csv | grep '^[0-9]' | sort > theirs.rows)
    (cd "$build" && ./ours --quiet && sort totals.csv > ours.rows)
    sums='{ windows += 1; readings += $3; sum += $4 }
        END { print windows " windows, " readings " readings, sum " sum }'
    ;;
flink)
    mvn -q -B -f "$here/flink/pom.xml" process-classes
    opened=
    for package in java.lang java.nio java.time java.util java.util.concurrent; do
        opened="$opened --add-opens=java.base/$package=ALL-UNNAMED"
    done
    (cd "$build" && java -Xmx1g $opened -Dorg.slf4j.simpleLogger.defaultLogLevel=error \
        -cp "classes:$(cat classpath)" porting.Readings readings.csv | sort > theirs.rows)
    (cd "$build" && ./ours --quiet && for rows in window late silent; do
        sed "s/^/$rows,/" $rows.csv
    done | sort > ours.rows)
    sums='$1 == "window" { windows += 1; readings += $4; sum += $5 }
        $1 == "late" { late += 1; late_sum += $4 }
        $1 == "silent" { silent += 1; silent_sum += $2 }
        END { print windows " windows, " readings " readings, sum " sum
              print late " late, sum " late_sum "; " silent " silent, sum of ms " silent_sum }'
    ;;
esac
for rows in theirs ours; do
    echo "$rows:"
    awk -F, "$sums" "$build/$rows.rows"
done
cmp "$build/theirs.rows" "$build/ours.rows" && echo "the same rows"
