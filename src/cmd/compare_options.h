/* compare_options.h: how a comparison is judged and printed: the options that `compare` and `ab`
 * share. Floor 4. */
#ifndef TS_COMPARE_OPTIONS_H
#define TS_COMPARE_OPTIONS_H

#include "../cli.h"
#include "../compare.h"

#include <stdio.h>

struct ts_compare_format; /* a row of the table in compare.c */

struct ts_judging_options {
    struct ts_compare_options compare;
    const struct ts_compare_format *format; /* NULL: text */
    bool history;
    int verbose;
};

#define TS_COMPARE_DEFAULTS                                                                        \
    {                                                                                              \
        .fail_on = TS_FAIL_SLOWER | TS_FAIL_FAILED | TS_FAIL_VANISHED, .threshold = 0.05,          \
        .fdr = 0.05                                                                                \
    }

/* --gate and its like, --waivers, --format; into a struct ts_judging_options. */
extern const struct ts_option_table ts_judging_table;

/* Options that do not go together: exit status 2. */
int ts_judging_check(const struct ts_compare_options *options, struct ts_err *err);
/* In the format asked for. */
void ts_compare_print(const struct ts_compare *compare, const struct ts_judging_options *options,
                      FILE *to);

#endif
