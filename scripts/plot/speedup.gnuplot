# speedup.gnuplot: a ratio over the values of a problem axis, one line per series, with 95 % intervals and a line at 1.
# A point without a known interval (a single visit) is hollow.
#
#   gnuplot -d -c speedup.gnuplot DATA LABELS OUT.png [OUT.svg]
#
# DATA, one point a line, one series after the other, tab-separated: position (from 0; the values stand at equal
# distances), series (from 0), value of the axis, name of the series, ratio, low and high end of its 95 % interval ("-"
# where there is none), which of the points at this position it is (from 0), how many there are, and what was compared
# (not drawn).
# LABELS: title, xlabel, ylabel (what the ratio is), measure (what the line at 1 means).

data = ARG1; labels = ARG2; last = ARGC
here = ARG0
while (strlen(here) > 0 && here[strlen(here):*] ne "/") { here = here[1:strlen(here) - 1] }
array pictures[last]
do for [i = 3:last] { pictures[i] = value(sprintf("ARG%d", i)) }
load here."common.gnuplot"

positions = 0; series = 0; points = 0; n_interval = 0; n_hollow = 0; top = 1.0; floor_at = 1.0; widest = 0; longest_name = 0
stats data using (positions = max(positions, int($1) + 1), series = max(series, int($2) + 1), points = points + 1, \
    n_interval = n_interval + wide(6, 7), n_hollow = n_hollow + !known(6), top = max(top, known(7) ? max($5, $7) : $5), \
    floor_at = min(floor_at, known(6) ? min($5, $6) : $5), widest = max(widest, longest(strcol(3))), \
    longest_name = max(longest_name, strlen(strcol(4))), 0) nooutput
if (points < 1) { printerr data, ": no points"; exit status 3 }
array names[series]
stats data using (names[int($2) + 1] = strcol(4), 0) nooutput

slot = clamp(max(80, 7 * widest + 16), 80, 1500 / positions)
leaning = 7 * widest > slot
width = max(640, 110 + positions * slot)
entries = series + 1 + (n_interval > 0) + (n_hollow > 0)
per_row = max(1, int((width - 140) / (9 * max(max(longest_name, strlen(hollow_name)), strlen(measure)) + 60)))
key_rows = max(2, (entries + per_row - 1) / per_row)
below = 68 + (leaning ? 4 * widest : 0)
above = 30 + 20 * lines(title)
height = 300 + above + below + 20 * key_rows + 16
set tmargin at screen 1 - real(above) / height
set bmargin at screen real(below + 20 * key_rows + 10) / height

set title title
set xlabel xlabel textcolor rgb ink
set ylabel ylabel offset -1, 0 textcolor rgb ink
set xrange [-0.5:positions - 0.5]
room = max(0.08 * (top - floor_at), 0.02)
set yrange [floor_at - room:top + room]
set xtics scale 0.5 noenhanced textcolor rgb ink
if (leaning) { set xtics rotate by -25 }
set ytics textcolor rgb ink
set format y "%g"
set grid ytics lc rgb "#dddddd"
set border 3 lc rgb grey
set tics nomirror
set key bottom outside center horizontal maxcols per_row noenhanced samplen 3 width 2 textcolor rgb ink

# Points of several series side by side around their tick, so that their intervals can be told apart. Layers without a
# point must be left out (see heatmap.gnuplot): the command is put together from fixed text.
at(i, n, of) = i + (n - (of - 1) / 2.0) * 0.4 / of
layers = 'data using 1:(1):xtic(3) with points pt 0 lc rgb "#ffffff" notitle, '. \
    '1 with lines dt 2 lw 1.5 lc rgb grey title measure'
if (n_interval > 0) { layers = layers.', data using '. \
    '(wide(6, 7) ? at($1, $8, $9) : NaN):6:(0):($7 - $6):(colour_number($2)) '. \
    'with vectors heads size screen 0.006, 90 nofilled lw 1.5 lc rgb variable notitle' }
layers = layers.', for [s = 0:series - 1] data using ($2 == s ? at($1, $8, $9) : NaN):5 '. \
    'with lines lw 2 lc rgb colour(s) notitle'
layers = layers.', data using (at($1, $8, $9)):5:(shape($2) - !known(6)):(colour_number($2)) '. \
    'with points pt variable ps 1 lw 1.5 lc rgb variable notitle'
layers = layers.', for [s = 0:series - 1] keyentry with linespoints lw 2 pt shape(s) ps 1 lc rgb colour(s) title names[s + 1]'
if (n_interval > 0) { layers = layers.', keyentry with vectors heads size screen 0.006, 90 nofilled lw 1.5 lc rgb ink '. \
    'title "95 % interval"' }
if (n_hollow > 0) { layers = layers.', keyentry with points pt 6 ps 1 lc rgb ink title hollow_name' }

do for [i = 3:last] {
    out = pictures[i]
    load here."terminal.gnuplot"
    eval "plot ".layers
    unset output
}
