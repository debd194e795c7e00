/* report.h: results -> pictures and a page. Floor 3; needs no spec and no device: a results file
 * explains itself. Data goes to files, gnuplot scripts (DATA/scripts/plot/) read them; labels are
 * escaped. */
#ifndef TS_REPORT_H
#define TS_REPORT_H

#include "store.h"

/* Writes DIR/index.html, DIR/figures/NAME.{png,svg} and what they were drawn from,
 * DIR/figures/data/NAME.tsv and NAME.labels.tsv; one section per run. Exit status 4 when gnuplot is
 * missing or fails, or the folder cannot be written: then no page is written and no partial picture
 * left; 130 or 143 when a signal ended the drawing, the same. What earlier reports wrote there,
 * whole or not, and this one does not show is removed (report_written.c). A picture that cannot be
 * drawn from the data (nothing ok) is left out and the page says why; so is a format that this
 * gnuplot has no terminal for. */
int ts_report_write(const struct ts_results *results, const char *dir, struct ts_err *err);

#endif
