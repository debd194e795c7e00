/* report_parts.h: what the files of the report share; nobody else includes it. Floor 3.
 *
 *   report.c          the way of a report: cases, figures, pictures, page
 *   report_case.c     rows grouped into cases; scales and numbers for people
 *   report_figures.c  the table of figures: which there are and the data of each
 *   report_heatmap.c  the heat maps
 *   report_padding.c  the figure of padding
 *   report_drift.c    the figure of the sentinel
 *   report_text.c     text for gnuplot's files
 *   report_plot.c     gnuplot: running it, checking what it drew
 *   report_page.c     index.html
 *   report_written.c  the files of the figures, and what earlier reports left
 *
 * Rows are borrowed from the results throughout; all else is owned by the struct that holds it. */
#ifndef TS_REPORT_PARTS_H
#define TS_REPORT_PARTS_H

#include "report.h"
#include "verdict.h"

/* ---- cases ---- */

/* The rows of one case of one run, in the order of the results. */
struct ts_report_case {
    const struct ts_row **rows; /* at least one */
    size_t count;
    struct ts_verdict verdict;
    bool per_element; /* its ok rows do different amounts of work a launch, so that only time per
                       * element compares them */
};

/* The cases of one benchmark of one run. */
struct ts_report_group {
    const struct ts_run *run;
    const char *benchmark;
    struct ts_report_case *cases;
    size_t count, capacity;
};

/* The groups of a run, in order of appearance; *count of them. */
struct ts_report_group *ts_report_groups(const struct ts_run *run, size_t *count);
void ts_report_groups_free(struct ts_report_group *groups, size_t count);

/* "POINTS=9, W=4096 H=4096": problem axes, then size; "only case" when it has neither. */
void ts_report_case_name(const struct ts_row *row, struct ts_text *out);
/* "local TX=32 TY=8" */
void ts_report_configuration(const struct ts_row *row, struct ts_text *out);

/* The distinct values of one name over rows: numbers ascending, then words as they come. */
struct ts_report_axis {
    const char *name;
    const struct ts_value **values;
    size_t count, capacity;
};
void ts_report_axis_add(struct ts_report_axis *axis, const struct ts_value *value);
/* Position of the value on the axis; SIZE_MAX when absent or value is NULL. */
size_t ts_report_axis_find(const struct ts_report_axis *axis, const struct ts_value *value);
void ts_report_axis_free(struct ts_report_axis *axis);

/* ---- times ---- */

/* Medians of the visits of the sweep alone, in ns, in a new array; *count of them. Only finalists
 * have later visits, taken under another load: maps and comparisons of all rows leave them out, as
 * the verdict's ranking does. All visits where the sweep has none. */
double *ts_report_swept_medians(const struct ts_row *row, size_t *count);
/* The row's interval by the sweep's visits in ns, divided by its elements of work where
 * per_element; mid NaN without a time. */
struct ts_interval ts_report_swept(const struct ts_row *row, bool per_element);
/* The same for one of the case's finalists by the visits that its verdict compares. */
struct ts_interval ts_report_compared(const struct ts_report_case *of, const struct ts_row *row,
                                      bool per_element);

/* A unit that suits values up to largest_ns. */
struct ts_report_unit {
    const char *name; /* "µs" */
    double ns;        /* one of it in ns */
    bool per_element;
};
struct ts_report_unit ts_report_unit_for(double largest_ns, bool per_element);
/* "time per launch [µs]", "time per element [ps]" */
void ts_report_unit_print(const struct ts_report_unit *unit, struct ts_text *out);
/* Three significant digits, without exponent: "64.7", "0.0123", "1234". */
void ts_report_number(double value, struct ts_text *out);

/* ---- figures ---- */

struct ts_report_kind;

/* One picture to draw, or the reason why there is none. */
struct ts_report_figure {
    const struct ts_report_kind *kind;
    const struct ts_report_group *group;
    const struct ts_report_case *of; /* NULL: of the whole benchmark */
    char *name;                      /* file name without its ending, unique in the report */
    char *caption;
    char *alt;
    char *why_not; /* a sentence; NULL when there is a picture */
    struct ts_text data, labels;
    struct ts_text png, svg; /* the pictures; no text: not drawn */
};

struct ts_report_figures {
    struct ts_report_figure *items;
    size_t count, capacity;
};

/* A kind of figure: a new one is a row of the table in report_figures.c, its planner, and a gnuplot
 * script. */
struct ts_report_kind {
    const char *name;    /* part of the files' names */
    const char *heading; /* on the page */
    const char *script;  /* in scripts/plot/ */
    const char *note;    /* whose times these are, on the page under the heading */
    void (*plan)(struct ts_report_figures *figures, const struct ts_report_kind *kind,
                 const struct ts_report_group *group);
};
extern const struct ts_report_kind ts_report_kinds[];
extern const size_t ts_report_kind_count;

/* Adds a figure; what distinguishes it goes into the file's name. The pointer is valid until the
 * next call. of may be NULL, variant too. */
struct ts_report_figure *ts_report_figure_add(struct ts_report_figures *figures,
                                              const struct ts_report_kind *kind,
                                              const struct ts_report_group *group,
                                              const struct ts_report_case *of, const char *variant);
void ts_report_figures_free(struct ts_report_figures *figures);

/* The planner of the heat maps: one per case and variant. */
void ts_report_plan_heatmaps(struct ts_report_figures *figures, const struct ts_report_kind *kind,
                             const struct ts_report_group *group);

/* The planner of the effect of padding: one per case, variant and padding parameter. */
void ts_report_plan_padding(struct ts_report_figures *figures, const struct ts_report_kind *kind,
                            const struct ts_report_group *group);

/* The planner of the sentinel's looks: one per run, shown with its first benchmark. */
void ts_report_plan_drift(struct ts_report_figures *figures, const struct ts_report_kind *kind,
                          const struct ts_report_group *group);

/* The distinct variants of a case in order of appearance; *count of names (borrowed), free() the
 * array. */
const char **ts_report_variants(const struct ts_report_case *of, size_t *count);

/* ---- gnuplot's text ---- */

/* Appends text as a field of a data or labels file: no tab, no line end; backslash and quote
 * escaped, so that nothing in it has a meaning. Newlines stay newlines of the label. text may be
 * NULL, which is what a ts_text has that nothing was added to. */
void ts_report_field(struct ts_text *out, const char *text);
/* The same with the first line alone, at most `columns` characters of it: a longer text would push
 * what is drawn out of the picture. */
void ts_report_field_cut(struct ts_text *out, const char *text, size_t columns);
/* Appends text broken into lines of at most `columns` characters, at most max_lines of them, the
 * rest cut with an ellipsis. */
void ts_report_wrap(struct ts_text *out, const char *text, size_t columns, size_t max_lines);
/* One line "key<TAB>text" of a labels file. */
void ts_report_label(struct ts_text *out, const char *key, const char *format, ...) TS_PRINTF(3, 4);
/* The label of an axis, cut to one line. */
void ts_report_axis_label(struct ts_text *out, const char *key, const char *name);
/* A title of several lines (separated by newlines), each wrapped, the device's name the last. */
void ts_report_title(struct ts_text *out, const struct ts_run *run, const char *title);
/* The three fields mid, low, high: "-" where not known. */
void ts_report_interval_fields(struct ts_text *out, const struct ts_interval *interval,
                               double unit);

/* ---- gnuplot itself ---- */

struct ts_gnuplot {
    char *version;     /* "5.4 patchlevel 4" */
    char *script_dir;  /* absolute */
    char *drawing_dir; /* absolute, of temporary files */
    bool has_png, has_svg;
};

/* Finds gnuplot, its terminals and our scripts. Exit status 4: naming the package when it is
 * missing. */
int ts_gnuplot_open(struct ts_gnuplot *gnuplot, struct ts_err *err);
void ts_gnuplot_close(struct ts_gnuplot *gnuplot);
/* Draws the png and svg of every figure without why_not from dir/data/NAME.tsv and NAME.labels.tsv
 * (dir: figures/), several processes side by side, and checks each. It writes nothing into dir.
 * Exit status 4 with what gnuplot said. */
int ts_gnuplot_draw(const struct ts_gnuplot *gnuplot, struct ts_report_figures *figures,
                    const char *dir, struct ts_err *err);

/* ---- the page ---- */

struct ts_report_run {
    const struct ts_run *run;
    struct ts_report_group *groups;
    size_t count;
};

/* The whole page; free() the text. */
char *ts_report_page(const struct ts_report_run *runs, size_t count,
                     const struct ts_report_figures *figures, const struct ts_gnuplot *gnuplot);

/* ---- the folder ---- */

/* What a figure is written as. */
enum ts_report_part { TS_REPORT_DATA, TS_REPORT_PICTURES };

/* Writes this part of all figures into figures/ (dir), each file on the list there before it is
 * written: a report that ends half way leaves nothing that the next does not know. */
int ts_report_write_figures(const struct ts_report_figures *figures, enum ts_report_part part,
                            const char *dir, struct ts_err *err);
/* After all is written: removes what earlier reports wrote into dir and this one does not show;
 * then the list is of this one alone. Nothing else is touched. */
int ts_report_clear_figures(const struct ts_report_figures *figures, const char *dir,
                            struct ts_err *err);

#endif
