# SPDX-License-Identifier: Apache-2.0
#
# Readings of sensors, the same on every machine: milliseconds, sensor, value. One record of ten lies
# up to three seconds behind the latest one, one of five hundred up to twenty; sensors 90 to 99 have
# a reading every few minutes only.
#
#     awk -v records=1000000 -f examples/porting/readings.awk > readings.csv
function random(below) {
    seed = seed * 16807 % 2147483647
    return seed % below
}
BEGIN {
    seed = 2027
    for (i = 0; i < records; ++i) {
        now += random(4)
        behind = random(10) == 0 ? random(3001) : random(500) == 0 ? random(20001) : 0
        place = random(100000)
        sensor = place < 10 ? 90 + place : place % 90
        value = random(1000) - 50
        print (now > behind ? now - behind : 0) "," sensor "," value
    }
}
