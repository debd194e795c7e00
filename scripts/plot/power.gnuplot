# power.gnuplot: what `compare` finds, by effect and number of visits. ARG1 the data (scripts/compare-power makes it),
# ARG2 the picture, an SVG.
set terminal svg size 760,460 font "sans,13" background "#ffffff"
set output ARG2
set datafile separator "\t"
set title "One configuration of 40 slower: share of comparisons that say so (threshold 5 %, false discovery rate 5 %)" noenhanced
set xlabel "slow-down, %"
set ylabel "told \"slower\""
set logscale x
set xrange [1:50]
set yrange [0:1.02]
set xtics (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
set ytics 0.1
set grid lc rgb "#dddddd" lt 1
set key bottom right
set arrow from 1,0.9 to 50,0.9 nohead dt 2 lc rgb "#888888"
set arrow from 5,0 to 5,1.02 nohead dt 3 lc rgb "#888888"
colour(i) = word("#0072B2 #E69F00 #009E73 #D55E00 #CC79A7", i)
label(i) = i == 5 ? "5 visits, 3 runs a side" : sprintf("%s visits", word("3 5 10 20", i))
plot for [i = 1:5] ARG1 using 1:i+1 with linespoints pt 7 ps 0.5 lw 2 lc rgb colour(i) title label(i) noenhanced
