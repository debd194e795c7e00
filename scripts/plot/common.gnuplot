# common.gnuplot: what every picture of tilesweep shares. Loaded by the other scripts of this folder, not run alone.
#
# Before loading it, a script has its own arguments: ARG1 the data file, ARG2 the labels file, ARG3 and on the
# pictures to draw; the ending of a picture's name, .svg or .png, chooses the terminal.
#
# Both files are UTF-8 text with one tab between fields; a field that is not known is "-". In text fields a backslash
# begins an escape (\n new line, \\ backslash, \042 double quote); nothing else is special, and no text is ever
# executed or read as markup. The labels file has one name and its text a line.

set encoding utf8
set datafile separator "\t"
set datafile commentschars ""
set datafile missing "-"
set decimalsign "."

title = ""; xlabel = ""; ylabel = ""; measure = ""
stats labels using (k = strcol(1), v = strcol(2), \
    title = (k eq "title" ? v : title), \
    xlabel = (k eq "xlabel" ? v : xlabel), \
    ylabel = (k eq "ylabel" ? v : ylabel), \
    measure = (k eq "measure" ? v : measure), 0) nooutput

# Okabe and Ito's colours, told apart by colour-blind readers.
blue = "#0072B2"; orange = "#E69F00"; green = "#009E73"; red = "#D55E00"; pink = "#CC79A7"; sky = "#56B4E9"
ink = "#222222"; grey = "#888888"
colour(i) = word("#0072B2 #E69F00 #009E73 #D55E00 #CC79A7 #56B4E9 #000000 #888888", i % 8 + 1)
# The same as a number, for `lc rgb variable`: all series' intervals in one layer, since some series may have none.
colour_number(i) = int("0x".substr(colour(int(i)), 2, 7))

# Points of series s: filled shapes are the odd numbers, the hollow ones before them.
shape(s) = int(s) % 2 ? 5 : 7

# In the key: what is drawn hollow.
hollow_name = "interval not known"

# Is a field a number? Used to leave points out that are not known.
known(i) = strcol(i) ne "-" && strcol(i) ne ""
# Is an interval known, and wide enough to be drawn? gnuplot draws nothing for one of equal ends (equal samples of a
# coarse clock).
wide(low, high) = known(low) && known(high) ? column(high) - column(low) > 1e-6 * abs(column(low)) : 0

min(a, b) = a < b ? a : b
max(a, b) = a > b ? a : b
clamp(v, low, high) = max(low, min(v, high))
lines(text) = strstrt(text, "\n") > 0 ? 1 + lines(text[strstrt(text, "\n") + 1:*]) : 1
longest(text) = strstrt(text, "\n") > 0 ? \
    max(strstrt(text, "\n") - 1, longest(text[strstrt(text, "\n") + 1:*])) : strlen(text)
