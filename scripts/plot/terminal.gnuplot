# terminal.gnuplot: opens the picture named in `out`, `width` by `height` pixels, with the terminal that its ending
# asks for. Loaded by the other scripts of this folder. Builds of gnuplot differ in what they can draw: exit status 3
# when there is no terminal for this ending.

tail = strlen(out) > 4 ? out[strlen(out) - 3:*] : ""
found = "none"
# Points of PNG's fonts are larger than SVG's, which are pixels.
font_scale = tail eq ".svg" ? 1.3 : 1.0
small_font(points) = sprintf(",%.0f", points * font_scale)
if (tail eq ".svg" && strstrt(GPVAL_TERMINALS, "svg") > 0) {
    found = "svg"
    set terminal svg noenhanced size width, height font "sans-serif,13" background "#ffffff"
}
if (tail eq ".png" && strstrt(GPVAL_TERMINALS, "pngcairo") > 0) {
    found = "pngcairo"
    set terminal pngcairo noenhanced size width, height font "Sans,10" background "#ffffff"
}
if (tail eq ".png" && found eq "none" && strstrt(GPVAL_TERMINALS, " png ") > 0) {
    found = "png"
    set terminal png noenhanced size width, height medium background "#ffffff"
}
if (found eq "none") {
    printerr "this gnuplot has no terminal for ", out
    exit status 3
}
set output out
