# heatmap.gnuplot: one cell per pair of parameter values; colour is time, holes are hatched and say why.
#
#   gnuplot -d -c heatmap.gnuplot DATA LABELS OUT.png [OUT.svg]
#
# DATA, one cell a line, tab-separated: column and row (from 0), value of the column's and the row's parameter,
# value of the cell ("-" in a hole), its kind (ok, skipped, failed, excluded), the text in the cell, 1 in the fastest
# cell else 0, and what was measured in words (not drawn).
# LABELS: title, xlabel, ylabel, measure (what the colour means, with its unit), low and high (ends of the colour
# scale, so that the maps of one case can be compared by eye).

data = ARG1; labels = ARG2; last = ARGC
here = ARG0
while (strlen(here) > 0 && here[strlen(here):*] ne "/") { here = here[1:strlen(here) - 1] }
array pictures[last]
do for [i = 3:last] { pictures[i] = value(sprintf("ARG%d", i)) }
load here."common.gnuplot"

low = 0.0; high = 0.0
stats labels using (low = (strcol(1) eq "low" ? real(strcol(2)) : low), \
    high = (strcol(1) eq "high" ? real(strcol(2)) : high), 0) nooutput

columns = 0; rows = 0; n_ok = 0; n_skipped = 0; n_failed = 0; n_excluded = 0; n_best = 0; n_text = 0
widest = 0
stats data using (columns = max(columns, int($1) + 1), rows = max(rows, int($2) + 1), kind = strcol(6), \
    n_ok = n_ok + (kind eq "ok"), n_skipped = n_skipped + (kind eq "skipped"), \
    n_failed = n_failed + (kind eq "failed"), n_excluded = n_excluded + (kind eq "excluded"), \
    n_text = n_text + (strlen(strcol(7)) > 0), widest = max(widest, strlen(strcol(4))), \
    n_best = n_best + (strcol(8) eq "1"), 0) nooutput
if (columns < 1 || rows < 1) { printerr data, ": no cells"; exit status 3 }

# Cells shrink as they become many; text that would not fit is left out (the colours and hatches remain).
cell_width = max(clamp(1280 / columns, 24, 92), 200 / columns)
# A map of few rows is as high as the label of its colours is long.
cell_height = max(clamp(960 / rows, 16, 50), max(110, 7.5 * strlen(measure) + 8) / rows)
show_text = n_text > 0 && cell_width >= 40 && cell_height >= 20
show_reasons = show_text && cell_width >= 70
text_size = clamp(cell_width / 10.0, 6, 8.5)
left = 70 + 7 * clamp(widest, 2, 40); right = 130
width = max(640, left + columns * cell_width + right)
spare = (width - left - columns * cell_width - right) / 2.0
top = 26 + 20 * lines(title); bottom = strlen(xlabel) > 0 ? 94 : 60
height = top + rows * cell_height + bottom
set lmargin at screen (left + spare) / width
set rmargin at screen (left + spare + columns * cell_width) / width
set tmargin at screen 1 - real(top) / height
set bmargin at screen real(bottom) / height

# Colours: viridis, bright is fast. A scale of one value needs room to be one.
set palette defined (0 "#fde725", 1 "#addc30", 2 "#5ec962", 3 "#28ae80", 4 "#21918c", 5 "#2c728e", 6 "#3b528b", \
    7 "#472d7b", 8 "#440154")
if (high <= low) { middle = low > 0 ? low : 1.0; low = middle * 0.9; high = middle * 1.1 }
logarithmic = low > 0 && high / low > 8
if (logarithmic) { set logscale cb }
set cbrange [low:high]
set colorbox user origin screen (left + spare + columns * cell_width + 14) / width, screen real(bottom) / height \
    size screen 18.0 / width, screen real(rows * cell_height) / height
set cblabel measure.(logarithmic ? "\n(logarithmic)" : "") offset 2.5, 0 textcolor rgb ink
set cbtics textcolor rgb ink
set format cb "%g"
# gnuplot's own logarithmic ticks are the powers of ten: none or one within a decade. Few are wanted, as the bar may be
# short; the list is made of numbers alone.
if (logarithmic) {
    span = high / low
    steps = span < 20 ? "1 2 3 5" : span < 100 ? "1 2 5" : span < 2000 ? "1 3" : "1"
    ticks = ""
    do for [decade = int(floor(log10(low))):int(ceil(log10(high)))] {
        do for [step in steps] {
            tick = real(step) * 10.0**decade
            if (tick >= low && tick <= high) { ticks = ticks.(strlen(ticks) > 0 ? ", " : "").sprintf("%.9g", tick) }
        }
    }
    eval "set cbtics (".ticks.")"
}
position(v) = logarithmic ? log(v / low) / log(high / low) : (v - low) / (high - low)
on_cell(v) = position(v) > 0.45 ? 0xffffff : 0x000000

# In the middle of the picture, not of the map.
set title title offset screen 0.5 - (left + spare + columns * cell_width / 2.0) / width, 0
set xlabel xlabel textcolor rgb ink
set ylabel ylabel textcolor rgb ink
set xrange [-0.5:columns - 0.5]
set yrange [rows - 0.5:-0.5]
set xtics scale 0 noenhanced textcolor rgb ink rotate by (cell_width < 40 ? 90 : 0)
set ytics scale 0 noenhanced textcolor rgb ink
set style textbox opaque fillcolor rgb "#ffffff" noborder margins 0.4, 0.6
set border lc rgb grey
set key off
if (n_ok == 0) { unset colorbox }
set style fill solid border lc rgb "#ffffff"

# The legend is drawn by hand: gnuplot's own does not know how wide a small map is.
legend = ""; if (n_best > 0) { legend = legend." fastest" }
if (n_skipped > 0) { legend = legend." skipped" }
if (n_failed > 0) { legend = legend." failed" }
if (n_excluded > 0) { legend = legend." excluded" }
legend_text(kind) = kind eq "excluded" ? "excluded (no such configuration)" : kind
legend_width(kind) = 48 + 7 * strlen(legend_text(kind))
total = 0
do for [kind in legend] { total = total + legend_width(kind) }
at = (width - total) / 2.0; n = 0
do for [kind in legend] {
    n = n + 1
    set object n rectangle from screen at / width, screen 16.0 / height to screen (at + 24) / width, screen 30.0 / height
    if (kind eq "fastest") { set object n fs empty border lc rgb red lw 3 }
    if (kind eq "skipped") { set object n fc rgb grey fs pattern 5 border lc rgb grey }
    if (kind eq "failed") { set object n fc rgb red fs pattern 1 border lc rgb red }
    if (kind eq "excluded") { set object n fc rgb "#cccccc" fs pattern 4 border lc rgb "#dddddd" }
    set label n legend_text(kind) at screen (at + 30) / width, screen 23.0 / height left noenhanced textcolor rgb ink
    at = at + legend_width(kind)
}

# The frame of the fastest cell stands a few pixels inside of it.
inset(pixels) = clamp(0.5 - 3.5 / pixels, 0.4, 0.49)

# Layers without a point must be left out: gnuplot 5.4 crashes on some of them, warns of others, and runs a loop from 1
# to 0 once. So the command is put together from fixed text; every cell passes through the first layer, so that every
# column and row gets its tick.
is(kind, v) = strcol(6) eq kind ? v : NaN
is_best(v) = strcol(8) eq "1" ? v : NaN
is_hole(v) = strcol(6) eq "skipped" || strcol(6) eq "failed" ? v : NaN
layers = 'data using 1:2:(0.5):(0.5):xtic(3):ytic(4) with boxxyerror fs solid fc rgb "#f7f7f7"'
if (n_ok > 0) { layers = layers.', data using (is("ok", $1)):2:(0.5):(0.5):5 with boxxyerror fs solid '. \
    'border lc rgb "#ffffff" fc palette' }
if (n_excluded > 0) { layers = layers.', data using (is("excluded", $1)):2:(0.48):(0.48) with boxxyerror '. \
    'fs pattern 4 border lc rgb "#dddddd" fc rgb "#cccccc"' }
if (n_skipped > 0) { layers = layers.', data using (is("skipped", $1)):2:(0.48):(0.48) with boxxyerror '. \
    'fs pattern 5 border lc rgb grey fc rgb grey' }
if (n_failed > 0) { layers = layers.', data using (is("failed", $1)):2:(0.48):(0.48) with boxxyerror '. \
    'fs pattern 1 border lc rgb red fc rgb red' }
if (n_best > 0) { layers = layers.', data using (is_best($1)):2:(inset(cell_width)):(inset(cell_height)) '. \
    'with boxxyerror fs empty lc rgb "#ffffff" lw 7, '. \
    'data using (is_best($1)):2:(inset(cell_width)):(inset(cell_height)) with boxxyerror fs empty lc rgb red lw 3' }
if (show_text && n_ok > 0) { layers = layers.', data using (is("ok", $1)):2:7:(on_cell($5)) with labels '. \
    'font small_font(9) textcolor rgb variable' }
if (show_reasons && n_skipped + n_failed > 0) { layers = layers.', data using (is_hole($1)):2:7 with labels '. \
    'font small_font(text_size) textcolor rgb "#000000" boxed' }

do for [i = 3:last] {
    out = pictures[i]
    load here."terminal.gnuplot"
    eval "plot ".layers
    unset output
}
