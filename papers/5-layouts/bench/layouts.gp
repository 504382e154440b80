# SPDX-License-Identifier: Apache-2.0
#
# Draws what layouts.py measured: the figures of paper 5 and its tables, each row relative to the
# paper's first figure and to ours. The files below plots/ have row, column, the paper's figure and
# ours.
#
#   gnuplot -e "folder='out/layouts'" layouts.gp
set datafile separator ","
set border 3
set xtics nomirror noenhanced
set ytics nomirror
set grid ytics lc rgb "#dddddd"
set key below height 1 noenhanced
is_there(file) = int(system(sprintf("test -e '%s/plots/%s' && echo 1 || echo 0", folder, file)))
words_of(file, column) = \
    system(sprintf("awk -F, 'NR > 1 && !seen[$%d]++ { gsub(\" \", \"~\", $%d); print $%d }' \
'%s/plots/%s'", column, column, column, folder, file))
of_row(file, row) = sprintf("< awk -F, '{ name = $1; gsub(\" \", \"~\", name) } name == \"%s\"' \
'%s/plots/%s'", row, folder, file)
spaced(name) = system(sprintf("echo '%s' | tr '~' ' '", name))
colours = "#4e79a7 #e15759 #59a14f #f28e2b #b07aa1 #76b7b2 #edc948 #9c755f #888888"
colour(i) = word(colours, (i - 1) % words(colours) + 1)
svg = "set terminal svg size 900,460 background rgb 'white' font 'sans-serif,13'"

# Lines over a number: size of the class, padding, stride.
if (is_there("class_size.csv")) {
    eval svg
    set output folder."/class_size.svg"
    set title "Surface of the visible rectangles by the size of the class"
    set xlabel "bytes of the class"
    set ylabel "ns an object"
    set yrange [0:*]
    plot folder."/plots/class_size.csv" every ::1 using 2:4 with linespoints pointtype 7 \
        linewidth 2 linecolor rgb colour(1) notitle
}
if (is_there("member_layout.csv")) {
    eval svg
    set output folder."/member_layout.svg"
    set title "The same by the padding between the first member and the others"
    set xlabel "bytes between"
    set ylabel "ns an object"
    set yrange [0:*]
    rows = words_of("member_layout.csv", 1)
    plot for [i = 1:words(rows)] of_row("member_layout.csv", word(rows, i)) using 2:4 \
        with linespoints pointtype 7 linewidth 2 linecolor rgb colour(i) title spaced(word(rows, i))
}
if (is_there("stride.csv")) {
    eval svg
    set output folder."/stride.svg"
    set title "Sum of an array by the stride, relative to a stride of 1"
    set xlabel "integers from one to the next"
    set ylabel "times"
    set yrange [0:*]
    set logscale x 2
    first_of(column) = real(system(sprintf("awk -F, 'NR == 2 { print $%d }' '%s/plots/stride.csv'", \
                                           column, folder)))
    plot folder."/plots/stride.csv" every ::1 using 2:($3/first_of(3)) with linespoints pointtype 5 \
            linewidth 2 linecolor rgb colour(2) title "paper", \
        "" every ::1 using 2:($4/first_of(4)) with linespoints pointtype 7 linewidth 2 \
            linecolor rgb colour(1) title "here"
    unset logscale x
}
unset xlabel
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.9
set yrange [0:*]

title_of(name) = \
    name eq "trees" ? "A lookup in a tree, by the order of its nodes and their allocator" : \
    name eq "offsets" ? "A lookup in a tree with pointers of 64 bits or offsets of 32" : \
    name eq "hash_sets" ? "A search in a hash set, by its size" : \
    name eq "changing" ? "Ordered sets that change, a key" : \
    name eq "hot_members" ? "Surface of the visible rectangles, an object" : \
    name eq "pointers" ? "A function of each object of a vector" : \
    name eq "streams" ? "A function of each record of a stream" : \
    name eq "access" ? "Sum of an array by the order, relative to the first" : \
    "Minimum and maximum, relative to the first"

# Bars: a group for each column, a bar for each row.
do for [name in "trees offsets hash_sets pointers changing hot_members streams"] {
    if (is_there(name.".csv")) {
        eval svg
        set output folder."/".name.".svg"
        set title title_of(name)
        set ylabel "ns"
        rows = words_of(name.".csv", 1)
        plot for [i = 1:words(rows)] of_row(name.".csv", word(rows, i)) using 4:xtic(2) \
            linecolor rgb colour(i) title spaced(word(rows, i))
    }
}
do for [name in "access min_max"] {
    if (is_there(name.".csv")) {
        eval svg
        set output folder."/".name.".svg"
        set title title_of(name)
        set ylabel "times"
        first_of(column) = real(system(sprintf("awk -F, 'NR == 2 { print $%d }' '%s/plots/%s.csv'", \
                                               column, folder, name)))
        plot folder."/plots/".name.".csv" every ::1 using ($3/first_of(3)):xtic(2) \
                linecolor rgb colour(2) title "paper", \
            "" every ::1 using ($4/first_of(4)) linecolor rgb colour(1) title "here"
    }
}
if (is_there("allocators.csv")) {
    eval svg
    set output folder."/allocators.svg"
    set title "A program with linked lists, by allocator"
    set ylabel "s"
    runtimes = sprintf("< awk -F, '$2 == \"runtime\"' '%s/plots/allocators.csv'", folder)
    plot runtimes using 4:xtic(1) linecolor rgb colour(1) notitle
}
