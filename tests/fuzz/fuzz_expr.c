/* fuzz_expr.c: the whole input is an expression; every name has a value that its letters decide. */
#include "expr.h"
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

/* Small, negative, huge: names that begin with a lower-case letter are small numbers. */
static bool look_up(void *context, const char *name, int64_t *value)
{
    (void)context;
    static const int64_t large[] = {INT64_MAX, INT64_MIN, -1, 0, 1, 4096, (int64_t)1 << 32};
    if (name[0] == '_')
        return false;
    *value = name[0] >= 'a' ? name[0] - 'a' : large[(name[0] - 'A') % (int)TS_COUNT(large)];
    return true;
}

static void evaluate(const struct ts_expr *expr)
{
    struct ts_err err = {0};
    int64_t first = 0, second = 0;
    int result = ts_expr_eval(expr, look_up, NULL, &first, &err);
    if (result != 0)
        ts_fuzz_require_usage(&err, "column ");
    struct ts_err again = {0};
    TS_FUZZ_REQUIRE(ts_expr_eval(expr, look_up, NULL, &second, &again) == result &&
                        first == second && strcmp(err.text, again.text) == 0,
                    "two evaluations differ");
    struct ts_err nameless = {0};
    if (ts_expr_eval(expr, NULL, NULL, &second, &nameless) != 0)
        ts_fuzz_require_usage(&nameless, "column ");
}

void ts_fuzz_one(const char *text, size_t length)
{
    struct ts_err err = {0};
    if (memchr(text, '\0', length))
        return; /* no C string holds it */
    struct ts_expr *expr = ts_expr_compile(text, &err);
    if (!expr) {
        ts_fuzz_require_usage(&err, "column ");
        return;
    }
    size_t count = 0;
    const char *const *names = ts_expr_names(expr, &count);
    for (size_t i = 0; i < count; i++)
        TS_FUZZ_REQUIRE(names[i][0], "an empty name");
    TS_FUZZ_REQUIRE(strcmp(ts_expr_text(expr), text) == 0, "the text changed");
    evaluate(expr);
    ts_expr_free(expr);
}
