/* export_private.h: what the writers of export share. */
#ifndef TS_EXPORT_PRIVATE_H
#define TS_EXPORT_PRIVATE_H

#include "export.h"
#include "store.h"

/* One row of a run, both borrowed. */
struct ts_export_row {
    const struct ts_run *run;
    const struct ts_row *row;
    size_t space; /* rows of one run, case and variant have the same, counted from 0 */
};

/* What a writer gets: all that was chosen, or one space of it. */
struct ts_export_rows {
    const struct ts_export_row *items;
    size_t count;
    bool several_devices;
};

/* ok, and timed. */
bool ts_export_is_timed(const struct ts_row *row);
/* Not so what was not measured for want of time: it is neither good nor bad, and an autotuner has
 * no word for it. */
bool ts_export_is_tried(const struct ts_row *row);
/* "2026-11-29T20:11:03+00:00": Python before 3.11 does not read the Z. */
void ts_export_add_date(cJSON *object, const char *key, const char *utc);

/* Writers: append to out; -1 with exit status 2 for what the form cannot express. */
int ts_export_csv(const struct ts_export_rows *rows, struct ts_text *out, struct ts_err *err);
int ts_export_google_benchmark(const struct ts_export_rows *rows, struct ts_text *out,
                               struct ts_err *err);
int ts_export_action(const struct ts_export_rows *rows, struct ts_text *out, struct ts_err *err);
int ts_export_kernel_tuner(const struct ts_export_rows *rows, struct ts_text *out,
                           struct ts_err *err);
int ts_export_t4(const struct ts_export_rows *rows, struct ts_text *out, struct ts_err *err);

#endif
