#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs alloc_bench over the slab allocator and over each general-purpose allocator of the machine
# (by preload), and prints each median (of three sweeps) with its ratio to the slab allocator's, and
# the bars: the fastest of the others.
#
#   compare_allocators.sh PATH/TO/alloc_bench [options of alloc_bench]
set -eu

bench=$1
shift
libraries=/usr/lib/$(uname -m)-linux-gnu

# measure NAME ALLOCATOR [LIBRARY]: lines of "name bytes nanoseconds"
measure() {
    name=$1 allocator=$2 library=${3:-}
    shift 3
    if [ -n "$library" ] && [ ! -e "$libraries/$library" ]; then
        echo "$name is not installed ($libraries/$library)" >&2
        return
    fi
    LD_PRELOAD=${library:+$libraries/$library} "$bench" --allocator "$allocator" "$@" |
        awk -v name="$name" '{ print name, $2, $4 }'
}

# Three sweeps over all of them, so that a busy moment of the machine does not fall on one alone.
for _ in 1 2 3; do
    measure slab slab "" "$@"
    measure ring-alone none "" "$@"
    measure glibc malloc "" "$@"
    measure jemalloc malloc libjemalloc.so.2 "$@"
    measure tcmalloc malloc libtcmalloc_minimal.so.4 "$@"
    measure mimalloc malloc libmimalloc.so.2 "$@"
    measure tbbmalloc malloc libtbbmalloc_proxy.so.2 "$@"
done | sort -k1,2 -k3,3n | awk '
    { key = $1 " " $2; seen[key]++; if (seen[key] == 2) median[key] = $3 }
    END {
        sorted = "sort -b -k2,2 -k4,4n"
        for (key in median) {
            split(key, part, " ")
            printf "%-10s  %s bytes  %8.2f ns per task  %6.2f times the slab allocator\n",
                   part[1], part[2], median[key], median[key] / median["slab " part[2]] | sorted
            if (part[1] == "slab" || part[1] == "ring-alone") continue
            best = fastest[part[2]]
            if (best == "" || median[key] < median[best " " part[2]]) fastest[part[2]] = part[1]
        }
        close(sorted)
        for (bytes = 32; bytes <= 64; bytes += 32) {
            if (fastest[bytes] == "") continue
            ratio = median[fastest[bytes] " " bytes] / median["slab " bytes]
            printf "bar | slab allocator, %d bytes / the best of the others (%s)",
                   bytes, fastest[bytes]
            printf " | %.3g | at least 3 | %s |\n", ratio, ratio >= 3 ? "met" : "MISSED"
        }
    }'
