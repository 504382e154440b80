# SPDX-License-Identifier: Apache-2.0
#
# Draws what figures.py measured of one part: table 1.1 and figures 1.4 to 1.8 of paper 4.
#
#   gnuplot -e "folder='out/patterns'; part='farm'" figures.gp
set datafile separator ","
set border 3
set xtics nomirror
set ytics nomirror
set grid ytics lc rgb "#dddddd"
set key below height 1 noenhanced

# The different values of a column of a CSV file, a word each, in the order of their first rows.
words_of(file, column) = \
    system(sprintf("awk -F, 'NR > 1 && !seen[$%d]++ { print $%d }' '%s/%s'", \
                   column, column, folder, file))
is_there(file) = int(system(sprintf("test -e '%s/%s' && echo 1 || echo 0", folder, file)))
colours = "#59a14f #4e79a7 #76b7b2 #e15759 #b07aa1 #f28e2b #edc948 #888888"
colour(i) = word(colours, (i - 1) % words(colours) + 1)
# A curve that a plot may lack on some machines has the same colour on all.
colour_of(name) = \
    name eq "strid" || name eq "slab" ? "#59a14f" : \
    name eq "tbb-pipeline" || name eq "tbb" ? "#4e79a7" : \
    name eq "tbb-graph" ? "#76b7b2" : \
    name eq "openmp-tasks" || name eq "jemalloc" ? "#e15759" : \
    name eq "mimalloc" ? "#f28e2b" : "#333333"
panel_size(panels) = sprintf("set terminal svg size %d,460 background rgb 'white' \
font 'sans-serif,12'", 40 + 380*panels)

if (part eq "queues" && is_there("queues_summary.csv")) {
    set terminal svg size 900,420 background rgb "white" font "sans-serif,12"
    set output folder."/table_1_1.svg"
    set title "Table 1.1: a push or a pop, 1,024 slots (mean and standard deviation)"
    set ylabel "nanoseconds"
    set yrange [0:*]
    set style data histogram
    set style histogram errorbars gap 1 linewidth 1
    set style fill solid 0.9
    rows(queue) = sprintf("< awk -F, '$2 == \"%s\" && $3 == 1024' '%s/queues_summary.csv'", \
                          queue, folder)
    queue(i) = word("'strid spsc_ring' 'strid unbounded_spsc' 'mutex queue'", i)
    plot for [i = 1:3] rows(queue(i)) using 4:5:xtic(1) linecolor rgb colour(i) title queue(i)
}

if (part eq "allocators" && is_there("allocators_summary.csv")) {
    grains = words_of("allocators_summary.csv", 2)
    eval panel_size(words(grains))
    set output folder."/1.4.svg"
    names = words_of("allocators_summary.csv", 1)
    set xlabel "workers"
    set xrange [0.8:*]
    set ylabel "microseconds a task"
    set yrange [0:*]
    set xtics 1
    set multiplot layout 1,words(grains)
    do for [grain in grains] {
        set title sprintf("1.4: a task takes %g us", grain/1e3)
        rows(name) = sprintf("< awk -F, '$1 == \"%s\" && $2 == \"%s\"' \
'%s/allocators_summary.csv'", name, grain, folder)
        plot for [i = 1:words(names)] rows(word(names, i)) using 3:4:5:6 with yerrorlines \
            pointtype 7 pointsize 0.5 linewidth 1.5 linecolor rgb colour_of(word(names, i)) \
            title word(names, i)
    }
    unset multiplot
}

if (part eq "farm" && is_there("farm_summary.csv")) {
    grains = words_of("farm_summary.csv", 2)
    names = words_of("farm_summary.csv", 1)
    eval panel_size(words(grains))
    set output folder."/1.5-farm.svg"
    set xlabel "workers"
    set xrange [0.8:*]
    set ylabel "speed-up"
    set yrange [0:*]
    set xtics 1
    set multiplot layout 1,words(grains)
    do for [grain in grains] {
        set title sprintf("1.5: a task takes %g us", grain/1e3)
        rows(name) = sprintf("< awk -F, '$1 == \"%s\" && $2 == \"%s\"' '%s/farm_summary.csv'", \
                             name, grain, folder)
        plot for [i = 1:words(names)] rows(word(names, i)) using 3:4:5:6 with yerrorlines \
            pointtype 7 pointsize 0.5 linewidth 1.5 linecolor rgb colour_of(word(names, i)) \
            title word(names, i), \
            rows(word(names, 1)) using 3:3 with lines dashtype 2 linecolor rgb "#888888" \
            title "ideal"
    }
    unset multiplot
}

if (part eq "ring" && is_there("ring_summary.csv")) {
    all_stages = words_of("ring_summary.csv", 2)
    names = words_of("ring_summary.csv", 1)
    threads = int(system(sprintf("awk -F, 'NR > 1 && $3 > most { most = $3 } \
END { print most }' '%s/ring_summary.csv'", folder)))
    eval panel_size(words(all_stages))
    set output folder."/1.5-ring.svg"
    set xlabel "microseconds of work a stage"
    set ylabel "thousand messages a second"
    set logscale y
    set multiplot layout 1,words(all_stages)
    do for [stages in all_stages] {
        set title sprintf("1.5: a ring of %s stages, %d threads", stages, threads)
        rows(name) = sprintf("< awk -F, '$1 == \"%s\" && $2 == %s && $3 == %d' \
'%s/ring_summary.csv'", name, stages, threads, folder)
        plot for [i = 1:words(names)] rows(word(names, i)) using ($4/1e3):5:6:7 with yerrorlines \
            pointtype 7 pointsize 0.5 linewidth 1.5 linecolor rgb colour_of(word(names, i)) \
            title word(names, i)
    }
    unset multiplot
}

if (part eq "applications" && is_there("applications_summary.csv")) {
    figures = words_of("applications_summary.csv", 1)
    set terminal svg size 900,420 background rgb "white" font "sans-serif,12"
    set xlabel "workers"
    set xrange [0.8:*]
    set ylabel "speed-up of the sequential program"
    set yrange [0:*]
    set xtics 1
    do for [figure in figures] {
        if (figure eq "1.6") { continue }
        set output folder."/".figure.".svg"
        set title (figure eq "1.3.3" ? "Section 1.3.3: " : figure.": ")."whole programs"
        # Cases have spaces in them: they are chosen by number.
        cases = sprintf("awk -F, 'NR > 1 && $1 == \"%s\" && !seen[$2]++ { print $2 }' \
'%s/applications_summary.csv'", figure, folder)
        count = int(system(cases." | wc -l"))
        name(i) = system(sprintf("%s | sed -n %dp", cases, i))
        rows(i) = sprintf("< awk -F, -v OFS=, 'NR > 1 && $1 == \"%s\" { \
if (!($2 in number)) number[$2] = ++last; \
if (number[$2] == %d && $3 > 0) print $3, $5, $6, $7 }' '%s/applications_summary.csv'", \
                          figure, i, folder)
        plot for [i = 1:count] rows(i) using 1:2:3:4 with yerrorlines pointtype 7 pointsize 0.5 \
            linewidth 1.5 linecolor rgb colour(i) title name(i)
    }
    # As the paper has it: by the length of the query, the last word of a case.
    lengths(workers) = sprintf("< awk -F, -v OFS=, '$1 == \"1.6\" && $3 == %s { \
count = split($2, words, \" \"); print words[count], $8 }' '%s/applications_summary.csv'", \
                               workers, folder)
    all_workers = system(sprintf("awk -F, '$1 == \"1.6\" && !seen[$3]++ { print $3 }' \
'%s/applications_summary.csv'", folder))
    if (words(all_workers) > 0) {
        set output folder."/1.6.svg"
        set title "1.6: Smith and Waterman's alignments"
        set xlabel "residues of the query"
        set ylabel "billion cells a second (GCUPS)"
        set xrange [0:*]
        set xtics auto
        plot for [workers in all_workers] lengths(workers) using 1:2 with linespoints \
            pointtype 7 pointsize 0.5 linewidth 1.5 linecolor rgb colour(int(workers) + 1) \
            title (workers eq "0" ? "sequential" : workers." worker".(workers eq "1" ? "" : "s"))
    }
}
