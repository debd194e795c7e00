# bars.gnuplot: the best plain beside the best staged configuration of each case, with 95 % intervals. A bar without a
# known interval (a single visit) is hollow.
#
#   gnuplot -d -c bars.gnuplot DATA LABELS OUT.png [OUT.svg]
#
# DATA, one bar a line, tab-separated: case (from 0), 0 plain or 1 staged, name of the case, value, low and high end
# of its 95 % interval ("-" where there is none), the text above the bar, and the configuration (not drawn).
# LABELS: title, xlabel, ylabel (what the height means, with its unit).

data = ARG1; labels = ARG2; last = ARGC
here = ARG0
while (strlen(here) > 0 && here[strlen(here):*] ne "/") { here = here[1:strlen(here) - 1] }
array pictures[last]
do for [i = 3:last] { pictures[i] = value(sprintf("ARG%d", i)) }
load here."common.gnuplot"

cases = 0; n_plain = 0; n_staged = 0; n_interval = 0; held_plain = 0; held_staged = 0; top = 0.0; least = 1e300; widest = 0; deepest = 1; text = 0
stats data using (cases = max(cases, int($1) + 1), n_plain = n_plain + ($2 == 0), n_staged = n_staged + ($2 == 1), \
    held_plain = held_plain + ($2 == 0 && known(5)), held_staged = held_staged + ($2 == 1 && known(5)), \
    n_interval = n_interval + wide(5, 6), top = max(top, known(6) ? max($4, $6) : $4), \
    least = min(least, $4), widest = max(widest, longest(strcol(3))), deepest = max(deepest, lines(strcol(3))), \
    text = max(text, strlen(strcol(7))), 0) nooutput
if (n_plain + n_staged < 1) { printerr data, ": no bars"; exit status 3 }

# Names of cases stand below the axis: there is room for the widest of them, whose capitals are wide.
slot = max(110, 9 * widest + 12)
width = max(640, 110 + cases * slot)
below = 19 * deepest + 10
height = 336 + 20 * lines(title) + below
set tmargin at screen 1 - real(28 + 20 * lines(title)) / height
set bmargin at screen real(below + (strlen(xlabel) > 0 ? 50 : 24)) / height

set title title
set xlabel xlabel textcolor rgb ink
# Bars of very different lengths: on a plain axis the short ones would not be seen. There is room above for the key.
logarithmic = least > 0 && top / least > 20
if (logarithmic) {
    bottom = 10**floor(log10(0.7 * least))
    set logscale y
    set yrange [bottom:top * (top / bottom)**0.28]
} else { bottom = 0; set yrange [0:top * 1.28] }
set ylabel ylabel.(logarithmic ? "\n(logarithmic)" : "") textcolor rgb ink
set xrange [-0.6:cases - 0.4]
set xtics scale 0 noenhanced textcolor rgb ink
set ytics textcolor rgb ink
set format y "%g"
set grid ytics lc rgb "#dddddd"
set border 3 lc rgb grey
set tics nomirror
set key top right horizontal noenhanced samplen 2 textcolor rgb ink
wide = min(0.36, 0.36 * 3 / max(1, 4 - cases))
# Text above the bars turns when it is wider than a bar.
turned = 6.5 * text > wide * slot

# Layers without a point must be left out (see heatmap.gnuplot): the command is put together from fixed text.
at(i, side) = i + (side == 0 ? -0.5 : 0.5) * wide
layers = 'data using 1:(bottom):xtic(3) with points pt 0 lc rgb "#ffffff" notitle'
side(which, held) = ', data using ($2 == '.which.' && known(5) == '.held.' ? at($1, $2) : NaN):4:(wide) with boxes '. \
    (held ? 'fs solid noborder' : 'fs empty border').' lw 2 lc rgb '.(which ? 'orange' : 'blue')
if (held_plain > 0) { layers = layers.side(0, 1).' notitle' }
if (held_staged > 0) { layers = layers.side(1, 1).' notitle' }
if (n_plain > held_plain) { layers = layers.side(0, 0).' notitle' }
if (n_staged > held_staged) { layers = layers.side(1, 0).' notitle' }
key_of(which, held) = ', keyentry with boxes '.(held > 0 ? 'fs solid noborder' : 'fs empty border lw 2').' lc rgb '. \
    (which ? 'orange title "best staged"' : 'blue title "best plain"')
if (n_plain > 0) { layers = layers.key_of(0, held_plain) }
if (n_staged > 0) { layers = layers.key_of(1, held_staged) }
if (n_interval > 0) { layers = layers.', data using (wide(5, 6) ? at($1, $2) : NaN):5:(0):($6 - $5) '. \
    'with vectors heads size screen 0.006, 90 nofilled lw 1.5 lc rgb ink title "95 % interval"' }
if (text > 0) { layers = layers.', data using (at($1, $2)):(known(6) ? max($4, $6) : $4):7 with labels '. \
    (turned ? 'left rotate by 90 offset 0, 0.4 ' : 'offset 0, 0.7 ').'font small_font(9) textcolor rgb ink notitle' }
if (n_plain + n_staged > held_plain + held_staged) {
    layers = layers.', keyentry with boxes fs empty border lw 2 lc rgb ink title hollow_name' }

do for [i = 3:last] {
    out = pictures[i]
    load here."terminal.gnuplot"
    eval "plot ".layers
    unset output
}
