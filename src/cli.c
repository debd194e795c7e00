/* cli.c: options from a table; the help text comes from the same table. */
#include "cli.h"

#include "nearest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_WIDTH = 80, HELP_COLUMN = 30 };

static const struct ts_option help_option = {
    .name = "help", .letter = 'h', .kind = TS_OPTION_FLAG, .help = "show this help"};

/* One parse under way. */
struct parse {
    const struct ts_cli *cli;
    int argc;
    char **argv;
    int at; /* the word being looked at */
    void *target;
    bool help;
    struct ts_err *err;
};

/* ---- the command's options: its own, then those of its parts ---- */

static const struct ts_option *option_at(const struct ts_cli *cli, size_t i)
{
    if (i < cli->option_count)
        return &cli->options[i];
    i -= cli->option_count;
    for (size_t p = 0; p < TS_COUNT(cli->parts) && cli->parts[p].table; p++) {
        if (i < cli->parts[p].table->count)
            return &cli->parts[p].table->options[i];
        i -= cli->parts[p].table->count;
    }
    return NULL;
}

static size_t count_options(const struct ts_cli *cli)
{
    size_t count = cli->option_count;
    for (size_t p = 0; p < TS_COUNT(cli->parts) && cli->parts[p].table; p++)
        count += cli->parts[p].table->count;
    return count;
}

/* Where the option's offset counts from. */
static size_t base_of(const struct ts_cli *cli, const struct ts_option *o)
{
    for (size_t p = 0; p < TS_COUNT(cli->parts) && cli->parts[p].table; p++)
        for (size_t i = 0; i < cli->parts[p].table->count; i++)
            if (&cli->parts[p].table->options[i] == o)
                return cli->parts[p].base;
    return 0;
}

/* ---- parsing ---- */

static bool takes_value(const struct ts_option *o)
{
    return o->kind != TS_OPTION_FLAG && o->kind != TS_OPTION_COUNT;
}

static void *field(void *target, size_t offset)
{
    return (char *)target + offset;
}

static int apply(struct parse *p, const struct ts_option *o, char *value)
{
    void *target = field(p->target, base_of(p->cli, o)), *at = field(target, o->offset);
    bool any = o->low == 0 && o->high == 0;
    int64_t low = any ? 1 : o->low, high = any ? INT64_MAX : o->high, number;
    switch (o->kind) {
    case TS_OPTION_FLAG:
        *(bool *)at = true;
        return 0;
    case TS_OPTION_COUNT:
        *(int *)at += 1;
        return 0;
    case TS_OPTION_TEXT:
        *(const char **)at = value;
        return 0;
    case TS_OPTION_LIST: {
        struct ts_cli_list *list = at;
        TS_GROW(list->items, list->count, list->capacity);
        list->items[list->count++] = value;
        return 0;
    }
    case TS_OPTION_INT:
        if (ts_whole_parse(value, low, high < INT32_MAX ? high : INT32_MAX, &number, p->err) < 0)
            return -1;
        *(int *)at = (int)number;
        return 0;
    case TS_OPTION_SEED: {
        char *end;
        errno = 0;
        unsigned long long seed = strtoull(value, &end, strncmp(value, "0x", 2) ? 10 : 16);
        if (value[0] < '0' || value[0] > '9' || *end || errno)
            return ts_err_set(p->err, TS_EXIT_USAGE,
                              "expected a whole number from 0 to 2^64-1, got \"%s\"", value);
        *(uint64_t *)at = seed;
        *(bool *)field(target, o->also) = true;
        return 0;
    }
    case TS_OPTION_DURATION:
        if (ts_duration_parse(value, &number, p->err) < 0)
            return -1;
        if (number < low || number > high)
            return ts_err_set(p->err, TS_EXIT_USAGE, "expected a time above zero, got \"%s\"",
                              value);
        *(int64_t *)at = number;
        return 0;
    case TS_OPTION_CALL:
        return o->call(target, value, p->err);
    }
    return 0;
}

static const struct ts_option *by_name(const struct ts_cli *cli, const char *name, size_t length)
{
    const struct ts_option *o;
    for (size_t i = 0; (o = option_at(cli, i)); i++)
        if (!strncmp(o->name, name, length) && !o->name[length])
            return o;
    return length == strlen(help_option.name) && !strncmp(name, help_option.name, length)
               ? &help_option
               : NULL;
}

static const struct ts_option *by_letter(const struct ts_cli *cli, char letter)
{
    const struct ts_option *o;
    for (size_t i = 0; (o = option_at(cli, i)); i++)
        if (o->letter == letter)
            return o;
    return letter == help_option.letter ? &help_option : NULL;
}

static int unknown_name(struct parse *p, const char *name, size_t length)
{
    size_t count = count_options(p->cli) + 1;
    const char **known = ts_alloc(count, sizeof(*known));
    char **dashed = ts_alloc(count, sizeof(*dashed));
    for (size_t i = 0; i < count; i++) {
        const struct ts_option *o = i ? option_at(p->cli, i - 1) : &help_option;
        known[i] = dashed[i] = ts_printf("--%s", o->name);
    }
    char *word = ts_printf("--%.*s", (int)length, name);
    struct ts_text text = {0};
    ts_text_printf(&text, "unknown option %s", word);
    ts_nearest_add(word, known, count, &text);
    ts_err_set(p->err, TS_EXIT_USAGE, "%s", text.text);
    for (size_t i = 0; i < count; i++)
        free(dashed[i]);
    free(dashed);
    free(known);
    free(word);
    ts_text_free(&text);
    return -1;
}

/* Applies option o, spelt `spelt`; value is what was attached to it or NULL. */
static int take(struct parse *p, const struct ts_option *o, const char *spelt, char *value)
{
    if (o == &help_option) {
        p->help = true;
        return 0;
    }
    if (takes_value(o) && !value) {
        if (p->at + 1 >= p->argc)
            return ts_err_set(p->err, TS_EXIT_USAGE, "option %s needs a value: %s", spelt,
                              o->value);
        value = p->argv[++p->at];
    }
    if (apply(p, o, value) < 0)
        return ts_err_prepend(p->err, "%s", spelt);
    return 0;
}

static int take_long(struct parse *p, char *word)
{
    char *name = word + 2, *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const struct ts_option *o = by_name(p->cli, name, length);
    if (!o)
        return unknown_name(p, name, length);
    char *spelt = ts_printf("--%s", o->name);
    int status;
    if (equals && !takes_value(o))
        status = ts_err_set(p->err, TS_EXIT_USAGE, "option %s takes no value, got \"%s\"", spelt,
                            equals + 1);
    else
        status = take(p, o, spelt, equals ? equals + 1 : NULL);
    free(spelt);
    return status;
}

static int take_letters(struct parse *p, char *word)
{
    for (char *c = word + 1; *c; c++) {
        const struct ts_option *o = by_letter(p->cli, *c);
        if (!o && (c > word + 1 || c[1]) && *c > ' ' && *c < 0x7F)
            return ts_err_set(p->err, TS_EXIT_USAGE, "unknown option -%c in \"%s\"", *c, word);
        if (!o)
            return ts_err_set(p->err, TS_EXIT_USAGE, "unknown option %s", word);
        const char spelt[3] = {'-', *c, '\0'};
        bool value = takes_value(o);
        if (take(p, o, spelt, value && c[1] ? c + 1 : NULL) < 0)
            return -1;
        if (value)
            break;
    }
    return 0;
}

static int check_arguments(const struct parse *p, const struct ts_cli_args *args)
{
    const struct ts_cli *cli = p->cli;
    if (args->count < cli->min_args) {
        if (cli->min_args > 1)
            return ts_err_set(p->err, TS_EXIT_USAGE, "expected %zu times %s, got %zu",
                              cli->min_args, cli->arg_name, args->count);
        return ts_err_set(p->err, TS_EXIT_USAGE, "expected %s %s",
                          cli->max_args == 1 ? "one" : "at least one", cli->arg_name);
    }
    if (args->count > cli->max_args)
        return ts_err_set(p->err, TS_EXIT_USAGE, "unexpected argument \"%s\"",
                          args->items[cli->max_args]);
    return 0;
}

static int walk(struct parse *p, struct ts_cli_args *args)
{
    bool only_arguments = false;
    size_t split = SIZE_MAX;
    for (p->at = 1; p->at < p->argc && !p->help; p->at++) {
        char *word = p->argv[p->at];
        int status = 0;
        if (only_arguments || word[0] != '-' || !word[1]) {
            args->items[args->count++] = word; /* never overtakes p->at */
        } else if (!strcmp(word, "--")) {
            only_arguments = true;
            split = args->count;
        } else if (word[1] == '-') {
            status = take_long(p, word);
        } else {
            status = take_letters(p, word);
        }
        if (status < 0)
            return -1;
    }
    args->split = split < args->count ? split : args->count;
    return p->help ? 0 : check_arguments(p, args);
}

int ts_cli_parse(const struct ts_cli *cli, int argc, char **argv, void *target,
                 struct ts_cli_args *args, struct ts_err *err)
{
    struct parse p = {.cli = cli, .argc = argc, .argv = argv, .target = target, .err = err};
    *args = (struct ts_cli_args){.items = argv + 1};
    if (walk(&p, args) < 0) {
        ts_err_prepend(err, "%s", cli->command);
        return -1;
    }
    if (!p.help)
        return 0;
    struct ts_text text = {0};
    ts_cli_help(cli, &text);
    fputs(text.text, stdout);
    ts_text_free(&text);
    return 1;
}

void ts_cli_list_free(struct ts_cli_list *list)
{
    if (!list)
        return;
    free(list->items);
    *list = (struct ts_cli_list){0};
}

int ts_cli_list_add_pair(struct ts_cli_list *list, const char *word, const char *expected,
                         struct ts_err *err)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word)
        return ts_err_set(err, TS_EXIT_USAGE, "expected %s, got \"%s\"", expected, word);
    TS_GROW(list->items, list->count, list->capacity);
    list->items[list->count++] = (char *)(uintptr_t)word;
    return 0;
}

static void help_row(struct ts_text *out, const struct ts_option *o)
{
    size_t begin = out->length;
    if (o->letter)
        ts_text_printf(out, "  -%c, --%s", o->letter, o->name);
    else
        ts_text_printf(out, "      --%s", o->name);
    if (o->value)
        ts_text_printf(out, " %s", o->value);
    size_t used = out->length - begin;
    if (used + 2 > HELP_COLUMN) {
        ts_text_puts(out, "\n");
        used = 0;
    }
    ts_text_printf(out, "%*s", (int)(HELP_COLUMN - used), "");
    ts_wrap(out, o->help, HELP_COLUMN, HELP_COLUMN, HELP_WIDTH);
    ts_text_puts(out, "\n");
}

void ts_cli_help(const struct ts_cli *cli, struct ts_text *out)
{
    ts_text_printf(out, "Usage: tilesweep %s%s%s\n\n", cli->command, cli->usage[0] ? " " : "",
                   cli->usage);
    ts_wrap(out, cli->about, 0, 0, HELP_WIDTH);
    ts_text_puts(out, "\n\nOptions:\n");
    for (size_t i = 0; i < count_options(cli); i++)
        help_row(out, option_at(cli, i));
    help_row(out, &help_option);
}

int ts_whole_parse(const char *text, int64_t low, int64_t high, int64_t *value, struct ts_err *err)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    bool digit = (text[0] >= '0' && text[0] <= '9') || (text[0] == '-' && end != text);
    if (!digit || *end || errno || number < low || number > high) {
        if (high >= INT32_MAX)
            return ts_err_set(err, TS_EXIT_USAGE,
                              "expected a whole number from %lld up, got \"%s\"", (long long)low,
                              text);
        return ts_err_set(err, TS_EXIT_USAGE,
                          "expected a whole number from %lld to %lld, got \"%s\"", (long long)low,
                          (long long)high, text);
    }
    *value = number;
    return 0;
}

static const struct {
    const char *name;
    int64_t ns;
} duration_units[] = {
    {"ns", 1},        {"us", 1000},       {"ms", 1000000},      {"s", 1000000000},
    {"", 1000000000}, {"m", 60000000000}, {"min", 60000000000}, {"h", 3600000000000},
};

/* Decimal digits and at most one point, by hand: strtod would take "inf", "0x1p3" and a locale's
 * comma. */
/* Digits with at most one point, whatever the locale; the rest of the text, or NULL without a
 * digit. */
static const char *parse_decimal(const char *c, double *number)
{
    double value = 0, place = 1;
    bool digits = false, point = false;
    for (; (*c >= '0' && *c <= '9') || (*c == '.' && !point); c++) {
        if (*c == '.') {
            point = true;
            continue;
        }
        digits = true;
        value = value * 10 + (*c - '0');
        place *= point ? 10 : 1;
    }
    *number = value / place;
    return digits ? c : NULL;
}

int ts_share_parse(const char *text, double most, double *share, struct ts_err *err)
{
    double value;
    const char *rest = parse_decimal(text, &value);
    bool percent = false;
    if (rest && *rest == ' ')
        rest++;
    if (rest && *rest == '%') {
        percent = true;
        rest++;
    }
    value = percent ? value / 100 : value;
    if (!rest || *rest || (!percent && rest[-1] == ' ') || !(value > 0) || !(value <= most))
        return ts_err_set(err, TS_EXIT_USAGE,
                          "expected a share such as 5%% or 0.05, at most %g%%, got \"%s\"",
                          100 * most, text);
    *share = value;
    return 0;
}

int ts_duration_parse(const char *text, int64_t *ns, struct ts_err *err)
{
    double value;
    const char *c = parse_decimal(text, &value);
    for (size_t i = 0; c && i < TS_COUNT(duration_units); i++) {
        if (strcmp(c, duration_units[i].name))
            continue;
        double total = value * (double)duration_units[i].ns;
        if (!(total < 9.2e18))
            return ts_err_set(err, TS_EXIT_USAGE, "the time \"%s\" is too long", text);
        *ns = (int64_t)(total + 0.5);
        return 0;
    }
    return ts_err_set(err, TS_EXIT_USAGE,
                      "expected a time such as 250ms, 90s, 10m or 1h, got \"%s\"", text);
}

void ts_wrap(struct ts_text *out, const char *text, size_t start, size_t indent, size_t width)
{
    size_t column = start;
    bool first = true; /* no space before the first word of a line */
    while (*text) {
        if (*text == '\n') {
            ts_text_puts(out, "\n");
            /* No trailing spaces on an empty line. */
            if (text[1] && text[1] != '\n')
                ts_text_printf(out, "%*s", (int)indent, "");
            column = indent;
            first = true;
            text++;
            continue;
        }
        size_t length = strcspn(text, " \n");
        if (!first && column + 1 + length > width) {
            ts_text_printf(out, "\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        if (!first) {
            ts_text_puts(out, " ");
            column++;
        }
        ts_text_add(out, text, length);
        column += length;
        first = false;
        text += length;
        while (*text == ' ')
            text++;
    }
}
