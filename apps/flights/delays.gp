# SPDX-License-Identifier: Apache-2.0
#
# Draws delays.csv (the output of flights): the mean delay at each airport over time.
#
#   gnuplot -e "input='delays.csv'; output='delays.svg'" delays.gp
set terminal svg size 1100,420 background rgb "white" font "sans-serif,12"
set output output
set datafile separator ","
set xdata time
set timefmt "%s"
set format x "%d %b"
set title "Mean delay of departures, windows of two hours by half an hour, January 2013"
set ylabel "minutes"
set grid
set key top left
plot for [airport in "EWR JFK LGA"] \
    sprintf("<grep ^%s %s | sort -t, -k2n", airport, input) \
    using ($2/1000):5 with lines linewidth 1.5 title airport
