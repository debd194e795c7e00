# padding.gnuplot: what padding does to each configuration: its time with padding over its time without, with 95 %
# intervals and a line at 1. An interval that goes on beyond the edge ends in an arrow; a point without a known interval is
# hollow.
#
#   gnuplot -d -c padding.gnuplot DATA LABELS OUT.png [OUT.svg]
#
# DATA, one point a line, tab-separated: row (from 0, drawn from the top), series (from 0), name of the configuration,
# name of the series, ratio, low and high end of its 95 % interval ("-" where there is none).
# LABELS: title, xlabel (what the ratio is), ylabel, measure (what the line at 1 means).

data = ARG1; labels = ARG2; last = ARGC
here = ARG0
while (strlen(here) > 0 && here[strlen(here):*] ne "/") { here = here[1:strlen(here) - 1] }
array pictures[last]
do for [i = 3:last] { pictures[i] = value(sprintf("ARG%d", i)) }
load here."common.gnuplot"

rows = 0; series = 0; points = 0; n_interval = 0; n_hollow = 0; right = 1.0; left = 1.0; widest = 0; longest_name = 0
rightmost = 1.0; leftmost = 1.0
set encoding default # names by bytes: characters of two columns have three
stats data using (rows = max(rows, int($1) + 1), series = max(series, int($2) + 1), points = points + 1, \
    n_interval = n_interval + wide(6, 7), n_hollow = n_hollow + !known(6), right = max(right, known(7) ? max($5, $7) : $5), \
    left = min(left, known(6) ? min($5, $6) : $5), rightmost = max(rightmost, $5), \
    leftmost = min(leftmost, $5), widest = max(widest, strlen(strcol(3))), \
    longest_name = max(longest_name, strlen(strcol(4))), 0) nooutput
set encoding utf8
if (points < 1) { printerr data, ": no points"; exit status 3 }
array names[series]
stats data using (names[int($2) + 1] = strcol(4), 0) nooutput

# Few visits make intervals so long that the points would fall together: the axis follows the points, and an interval
# that goes on beyond it ends in an arrow at its edge.
reach = max(0.25, 1.5 * (rightmost - leftmost))
right = min(right, rightmost + reach); left = max(left, leftmost - reach)
n_low = 0; n_low_cut = 0; n_high = 0; n_high_cut = 0
stats data using (n_low = n_low + (wide(6, 7) && $6 >= left), n_low_cut = n_low_cut + (wide(6, 7) && $6 < left), \
    n_high = n_high + (wide(6, 7) && $7 <= right), n_high_cut = n_high_cut + (wide(6, 7) && $7 > right), 0) nooutput
if (n_low_cut + n_high_cut > 0) { xlabel = xlabel."\n(an arrow: the interval goes on beyond the edge)" }

step = max(20, 12 * series)
# The names of parameters are capitals, which are wide.
names_width = 40 + 9 * widest + (strlen(ylabel) > 0 ? 20 : 0)
# gnuplot leaves out of the key what is wider than the plot.
width = max(names_width + max(560, 9 * longest_name + 110), 20 + 9 * longest(title))
entries = series + 1 + (n_interval > 0) + (n_hollow > 0)
per_row = max(1, int((width - 100) / (9 * max(longest_name, strlen(hollow_name)) + 60)))
key_rows = max(2, (entries + per_row - 1) / per_row)
above = 30 + 20 * lines(title); below = 48 + 24 * lines(xlabel) + 20 * key_rows
height = above + max(60, rows * step) + below
set lmargin at screen real(names_width) / width
set rmargin at screen 1 - 30.0 / width
set tmargin at screen 1 - real(above) / height
set bmargin at screen real(below) / height

# In the middle of the picture, not of the plot.
set title title offset screen 0.5 - (names_width + width - 30) / 2.0 / width, 0
set ylabel ylabel textcolor rgb ink
set xlabel xlabel textcolor rgb ink
room = max(0.06 * (right - left), n_interval > 0 ? 0.02 : 0.1)
set xrange [left - room:right + room]
set yrange [rows - 0.5:-0.5]
set xtics textcolor rgb ink
set ytics scale 0 noenhanced textcolor rgb ink
set format x "%g"
set grid xtics lc rgb "#dddddd"
set border 3 lc rgb grey
set tics nomirror
set key bottom outside center horizontal maxcols per_row noenhanced samplen 3 width 2 textcolor rgb ink

# Layers without a point must be left out (see heatmap.gnuplot): the command is put together from fixed text.
at(i, s) = i + (series > 1 ? (s - (series - 1) / 2.0) * 0.6 / series : 0)
layers = 'data using (1):1:ytic(3) with points pt 0 lc rgb "#ffffff" notitle, '. \
    '"+" using (1):($0 == 0 ? -0.5 : NaN):(0):(real(rows)) with vectors nohead dt 2 lw 1.5 lc rgb grey title measure'
# Each end of an interval is a vector from the other end: with a cap, or with an arrow where the edge cut it.
end_of(from, to) = ':(at($1, $2)):('.to.' - '.from.'):(0):(colour_number($2)) with vectors '
low_end(which, head) = ', data using (wide(6, 7) && $6 '.which.' left ? min($7, right) : NaN)'. \
    end_of('min($7, right)', 'max($6, left)').head.' lw 1.5 lc rgb variable notitle'
high_end(which, head) = ', data using (wide(6, 7) && $7 '.which.' right ? max($6, left) : NaN)'. \
    end_of('max($6, left)', 'min($7, right)').head.' lw 1.5 lc rgb variable notitle'
cap = 'head size screen 0.006, 90 nofilled'; arrow = 'head size screen 0.014, 25 filled'
if (n_low > 0) { layers = layers.low_end('>=', cap) }
if (n_low_cut > 0) { layers = layers.low_end('<', arrow) }
if (n_high > 0) { layers = layers.high_end('<=', cap) }
if (n_high_cut > 0) { layers = layers.high_end('>', arrow) }
layers = layers.', data using 5:(at($1, $2)):(shape($2) - !known(6)):(colour_number($2)) '. \
    'with points pt variable ps 1 lc rgb variable notitle'
layers = layers.', for [s = 0:series - 1] keyentry with points pt shape(s) ps 1 lc rgb colour(s) title names[s + 1]'
if (n_interval > 0) { layers = layers.', keyentry with vectors heads size screen 0.006, 90 nofilled lw 1.5 lc rgb ink '. \
    'title "95 % interval"' }
if (n_hollow > 0) { layers = layers.', keyentry with points pt 6 ps 1 lc rgb ink title hollow_name' }

do for [i = 3:last] {
    out = pictures[i]
    load here."terminal.gnuplot"
    eval "plot ".layers
    unset output
}
