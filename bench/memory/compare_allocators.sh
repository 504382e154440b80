#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs alloc_bench over the slab allocator and over each general-purpose allocator of the machine
# (by preload), and prints each median with its ratio to the slab allocator's.
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

{
    measure slab slab "" "$@"
    measure ring-alone none "" "$@"
    measure glibc malloc "" "$@"
    measure jemalloc malloc libjemalloc.so.2 "$@"
    measure tcmalloc malloc libtcmalloc_minimal.so.4 "$@"
    measure mimalloc malloc libmimalloc.so.2 "$@"
    measure tbbmalloc malloc libtbbmalloc_proxy.so.2 "$@"
} | awk '
    $1 == "slab" { slab[$2] = $3 }
    { printf "%-10s  %2d bytes  %8.2f ns per task  %6.2f times the slab allocator\n",
             $1, $2, $3, $3 / slab[$2] }'
