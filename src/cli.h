/* cli.h: options of a command from one const table, from which --help is generated too. Floor 0.
 *
 * Accepts `--name=value`, `--name value`, `-xVALUE`, `-x VALUE`, bundled flags (`-qv`), options
 * after arguments, and `--`, after which everything is an argument. `-` alone is an argument. `-h,
 * --help` needs no row. A later value of an option replaces an earlier one, unless its kind
 * collects them.
 *
 * Every fault is exit status 2 and names the option: `unknown option --outptu; did you mean
 * "--output"?` */
#ifndef TS_CLI_H
#define TS_CLI_H

#include "err.h"

/* What an option does with its value: the type that lies at `offset` in the target struct. */
enum ts_option_kind {
    TS_OPTION_FLAG,     /* bool: set to true; takes no value */
    TS_OPTION_COUNT,    /* int: one more; takes no value */
    TS_OPTION_TEXT,     /* const char *: borrowed from argv */
    TS_OPTION_LIST,     /* struct ts_cli_list: appended, borrowed from argv */
    TS_OPTION_INT,      /* int within low..high */
    TS_OPTION_SEED,     /* uint64_t, decimal or 0x...; `also` tells a bool to set */
    TS_OPTION_DURATION, /* int64_t in ns, within low..high ns */
    TS_OPTION_CALL,     /* handled by `call` */
};

struct ts_cli_list {
    char **items;
    size_t count, capacity;
};

struct ts_option {
    const char *name;  /* without the dashes */
    char letter;       /* 0: none */
    const char *value; /* name of the value in the help text; NULL for FLAG and COUNT */
    enum ts_option_kind kind;
    size_t offset;     /* offsetof() the target struct */
    int64_t low, high; /* INT, DURATION; both 0: anything from 1 up */
    size_t also;       /* SEED: offset of a bool "was given" */
    int (*call)(void *target, const char *value, struct ts_err *err);
    const char *help;
};

/* A table that several commands have. */
struct ts_option_table {
    const struct ts_option *options;
    size_t count;
};

/* Such a table in a command: its offsets count from `base` in the target, which is what its calls
 * get, too. */
struct ts_option_part {
    const struct ts_option_table *table;
    size_t base;
};

struct ts_cli {
    const char *command; /* "run" */
    const char *usage;   /* what follows the command: "[OPTION]... [SPEC]..." */
    const char *about;   /* paragraphs, wrapped by the printer; newlines are kept */
    const struct ts_option *options;
    size_t option_count;
    struct ts_option_part parts[2]; /* more options; table NULL: none */
    size_t min_args, max_args;      /* number of arguments admitted; SIZE_MAX: no limit */
    const char *arg_name;           /* for "expected at least one RESULTS" */
};

/* The arguments that are no options, in order; items points into argv, which is reordered. */
struct ts_cli_args {
    char **items;
    size_t count;
    size_t split; /* how many came before `--`; == count when there was none */
};

/* argv[0] is the command's name. Returns 0; 1 when --help was asked for and has been printed to
 * standard output (the command then returns 0); -1 with err. Lists in target are to be freed with
 * ts_cli_list_free in all three cases. */
int ts_cli_parse(const struct ts_cli *cli, int argc, char **argv, void *target,
                 struct ts_cli_args *args, struct ts_err *err);
void ts_cli_list_free(struct ts_cli_list *list);
/* For TS_OPTION_CALL: appends a word that is "NAME=VALUE" (expected: how it is called in the
 * message); borrowed. */
int ts_cli_list_add_pair(struct ts_cli_list *list, const char *word, const char *expected,
                         struct ts_err *err);

/* The help text of a command. */
void ts_cli_help(const struct ts_cli *cli, struct ts_text *out);

/* "250ms", "90s", "10m", "1.5h", "20us", "5ns"; a number alone is seconds. Exit status 2 when it is
 * none or does not fit 2^63 ns. */
int ts_duration_parse(const char *text, int64_t *ns, struct ts_err *err);
/* A whole number within low..high; exit status 2. */
int ts_whole_parse(const char *text, int64_t low, int64_t high, int64_t *value, struct ts_err *err);

/* "5%", "5 %" and "0.05" are the same share; above 0 and at most `most`. Exit status 2. */
int ts_share_parse(const char *text, double most, double *share, struct ts_err *err);

/* Appends text wrapped at `width` columns, every line but the first indented by `indent`; the first
 * is taken to start at column `start`. Newlines in text are kept. Ends without a newline. */
void ts_wrap(struct ts_text *out, const char *text, size_t start, size_t indent, size_t width);

#endif
