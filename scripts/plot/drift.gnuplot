# drift.gnuplot: two fixed kernels over the time of a run, relative to their medians; excursions are crossed.
#
#   gnuplot -d -c drift.gnuplot DATA LABELS OUT.png [OUT.svg]
#
# DATA, one look a line, tab-separated: seconds since the run began, time of the copy over its median, the same of the
# multiply-adds, 1 for an excursion or 0.
# LABELS: title, xlabel, ylabel, measure (what the line at 1 means).

data = ARG1; labels = ARG2; last = ARGC
here = ARG0
while (strlen(here) > 0 && here[strlen(here):*] ne "/") { here = here[1:strlen(here) - 1] }
array pictures[last]
do for [i = 3:last] { pictures[i] = value(sprintf("ARG%d", i)) }
load here."common.gnuplot"

looks = 0; excursions = 0; top = 1.02; floor_at = 0.98; left = 1e300; right = 0
stats data using (looks = looks + 1, excursions = excursions + ($4 > 0), top = max(top, max($2, $3)), \
    floor_at = min(floor_at, min($2, $3)), left = min(left, $1), right = max(right, $1), 0) nooutput
if (looks < 1) { printerr data, ": no points"; exit status 3 }

width = 900; height = 380
set lmargin at screen 76.0 / width
set tmargin at screen 1 - 40.0 / height
set bmargin at screen 96.0 / height
set title title
set xlabel xlabel textcolor rgb ink
set ylabel ylabel offset -1, 0 textcolor rgb ink
room = max(0.04 * (right - left), 0.1)
set xrange [left - room:right + room]
tall = max(0.08 * (top - floor_at), 0.01)
set yrange [floor_at - tall:top + tall]
set xtics textcolor rgb ink
set ytics textcolor rgb ink
set format y "%g"
set grid ytics lc rgb "#dddddd"
set border 3 lc rgb grey
set tics nomirror
set key bottom outside center horizontal noenhanced samplen 3 width 2 textcolor rgb ink

# Layers without a point must be left out (see heatmap.gnuplot).
layers = '1 with lines dt 2 lw 1.5 lc rgb grey title measure, '. \
    'data using 1:2 with linespoints lw 1.5 pt 7 ps 0.6 lc rgb blue title "copy", '. \
    'data using 1:3 with linespoints lw 1.5 pt 5 ps 0.6 lc rgb orange title "multiply-adds"'
if (excursions > 0) { layers = layers.', data using ($4 > 0 ? $1 : NaN):(max($2, $3)) with points pt 2 ps 1.6 lw 2 '. \
    'lc rgb red title "excursion"' }

do for [i = 3:last] {
    out = pictures[i]
    load here."terminal.gnuplot"
    eval "plot ".layers
    unset output
}
