# SPDX-License-Identifier: Apache-2.0
#
# Draws what figures.py measured: figures 5a, 5b, 6 and 7 of paper 1.
#
#   gnuplot -e "folder='out/trading'" figures.gp
set datafile separator ","
set terminal svg size 900,520 background rgb "white" font "sans-serif,13"
set grid ytics lc rgb "#dddddd"
set border 3
set xtics nomirror
set ytics nomirror

# Of a CSV file, the rows in which column `column` is `value`.
rows(file, column, value) = \
    sprintf("< awk -F, '$%d == \"%s\"' '%s/%s'", column, value, folder, file)
colour(name) = \
    name eq "static" || name eq "static wrapper" ? "#000000" : \
    name eq "static-block" || name eq "static block" ? "#888888" : \
    name eq "copy" ? "#b07aa1" : \
    name eq "wrapper" || name eq "wrapper standard" ? "#f28e2b" : \
    name eq "wrapper-slab" || name eq "wrapper slab" ? "#edc948" : \
    name eq "shared_ptr" ? "#e15759" : \
    name eq "shared_ptr static" ? "#ff9da7" : \
    name eq "block" ? "#4e79a7" : \
    name eq "engine" ? "#59a14f" : "#76b7b2"

set key outside right center noenhanced
set output folder."/5a.svg"
set title "5a: what it costs to deliver a token of 64 bytes to one worker of the group"
set xlabel "workers in the group"
set ylabel "nanoseconds per token delivered"
set logscale xy
set xtics (1, 2, 4, 8, 12, 16, 24)
set xrange [0.9:26]
multicast = "'static wrapper' copy 'wrapper standard' 'wrapper slab' shared_ptr \
'shared_ptr static' 'static block' block"
plot for [name in multicast] rows("multicast.csv", 2, name) using 1:4 \
    with linespoints pointtype 7 pointsize 0.6 linewidth 2 linecolor rgb colour(name) title name

# Error bars side by side.
unset logscale y
set output folder."/5b.svg"
set title "5b: highest input rate that the operator sustains (median, least and largest)"
set xlabel "workers"
set ylabel "thousand quotes a second"
set xtics (1, 2, 4, 8, 16)
set xrange [0.9:*]
set yrange [0:*]
variants = "static copy wrapper wrapper-slab shared_ptr static-block block engine engine-keys"
of_glibc(name) = sprintf("< awk -F, '$1 == \"%s\" && $2 == \"glibc\"' '%s/sustained.csv'", \
    name, folder)
plot for [i = 1:words(variants)] of_glibc(word(variants, i)) \
        using ($3*(1 + 0.015*(i - 5))):($4/1e3):($5/1e3):($6/1e3) \
        with yerrorlines pointtype 7 pointsize 0.5 linewidth 1.5 \
        linecolor rgb colour(word(variants, i)) title word(variants, i)

unset logscale x
set xrange [*:*]
set xtics auto
set output folder."/6.svg"
set title "6: the same with other allocators in the place of the standard one"
set xlabel ""
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.9
preloaded = "copy wrapper wrapper-slab shared_ptr engine engine-keys"
plot for [i = 1:words(preloaded)] folder."/allocators.csv" every ::1 \
    using (column(i + 1)/1e3):xtic(1) linecolor rgb colour(word(preloaded, i)) \
    title word(preloaded, i)

set terminal svg size 900,820 background rgb "white" font "sans-serif,13"
set output folder."/7.svg"
set title "7: the best rate of each (median, least and largest), and its number of workers"
unset key
set grid noytics xtics lc rgb "#dddddd"
set xlabel "thousand quotes a second"
set ylabel ""
set ytics noenhanced
set xrange [0:*]
set yrange [-0.6:*]
set offsets 0, 0, 0.6, 0
set boxwidth 0.7
plot folder."/best.csv" every ::1 using (0):0:(0):($3/1e3):($0 - 0.35):($0 + 0.35):ytic(1) \
        with boxxyerror linecolor rgb "#4e79a7", \
    "" every ::1 using ($3/1e3):0:($4/1e3):($5/1e3) with xerrorbars pointtype 0 \
        linewidth 1.5 linecolor rgb "#333333", \
    "" every ::1 using (0):0:2 with labels offset 1,0 textcolor rgb "white"
