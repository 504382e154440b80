#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs alloc_bench over the slab allocator and over each general-purpose allocator of the machine
# (by preload), all of them once in each of seven sweeps, so that a machine that changes its ways
# meets all alike. Prints each one's median, the median of its ratios to the slab allocator sweep by
# sweep, and the bars: that ratio for the one of the others with the lowest median.
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
    LD_PRELOAD=${library:+$libraries/$library} "$bench" --allocator "$allocator" --rounds 1 "$@" |
        awk -v name="$name" '{ print name, $2, $4 }'
}

for _ in 1 2 3 4 5 6 7; do
    measure slab slab "" "$@"
    measure ring-alone none "" "$@"
    measure glibc malloc "" "$@"
    measure jemalloc malloc libjemalloc.so.2 "$@"
    measure tcmalloc malloc libtcmalloc_minimal.so.4 "$@"
    measure mimalloc malloc libmimalloc.so.2 "$@"
    measure tbb malloc libtbbmalloc_proxy.so.2 "$@"
done | awk '
    function median_of(values, count,    i, j, value) {  # of values[1..count], which it sorts
        for (i = 2; i <= count; ++i) {
            value = values[i]
            for (j = i - 1; j >= 1 && values[j] > value; --j) values[j + 1] = values[j]
            values[j + 1] = value
        }
        return values[int((count + 1) / 2)]
    }
    { key = $1 " " $2; ns[key, ++sweeps[key]] = $3 }
    END {
        sorted = "sort -b -k2,2 -k4,4n"
        for (key in sweeps) {
            split(key, part, " ")
            slab = "slab " part[2]
            for (i = 1; i <= sweeps[key]; ++i) {
                times[i] = ns[key, i]
                ratios[i] = ns[key, i] / ns[slab, i]
            }
            median[key] = median_of(times, sweeps[key])
            ratio[key] = median_of(ratios, sweeps[key])
            printf "%-10s  %s bytes  %8.2f ns per task  %6.2f times the slab allocator\n",
                   part[1], part[2], median[key], ratio[key] | sorted
            if (part[1] == "slab" || part[1] == "ring-alone") continue
            best = fastest[part[2]]
            if (best == "" || median[key] < median[best " " part[2]]) fastest[part[2]] = part[1]
        }
        close(sorted)
        for (bytes = 32; bytes <= 64; bytes += 32) {
            if (fastest[bytes] == "") continue
            value = ratio[fastest[bytes] " " bytes]
            printf "bar | slab allocator, %d bytes / the best of the others (%s)",
                   bytes, fastest[bytes]
            printf " | %.3g | at least 3 | %s |\n", value, value >= 3 ? "met" : "MISSED"
        }
    }'
