/* gray_scott.c: explicit Euler steps of Gray-Scott reaction-diffusion on a periodic grid of D x H x
 * W cells.
 *
 * The scale of an iterated result: what enters an element in the last step, plus what the steps
 * before left, carried through the step's derivatives: a difference made in step 1 is still there,
 * grown or shrunk, in step 3, also where the last step's own terms have become small.
 *
 * Several steps of a large grid, of which a sample is asked: each piece of a row is computed on a
 * box of its own, cut from the start state with a margin of RADIUS cells a step. */
#include "reference_rows.h"

#include <math.h>
#include <stdlib.h>

enum { RADIUS_MAX = 4 };

/* Up to so many cells times steps all steps are computed once, on the whole grid. */
#define WHOLE_CELL_STEPS ((int64_t)1 << 22)

/* What enters an element besides its terms: a device may flush what lies below FLT_MIN = 2^-126 to
 * zero, which is eps (2^-23) times this. */
#define UNDERFLOW 0x1p-103

/* Weights of the central second difference of order 2*radius: at distance 0, 1, ... (Fornberg 1988,
 * table 1). */
static const double weights[RADIUS_MAX + 1][RADIUS_MAX + 1] = {
    [1] = {-2.0, 1.0},
    [2] = {-5.0 / 2, 4.0 / 3, -1.0 / 12},
    [3] = {-49.0 / 18, 3.0 / 2, -3.0 / 20, 1.0 / 90},
    [4] = {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560},
};

/* One chemical before a step: the kernel's input, in one of the two types, or what a step gave. Of
 * an input scale is NULL: it is exact. */
struct field {
    const float *singles; /* or */
    const double *doubles;
    const float *scale;
};

/* Both chemicals before a step. */
struct generation {
    struct field a, b;
    double *own_values; /* what the fields point to, where it is not the kernel's */
    float *own_scales;
};

struct rates {
    double da, db, f, k, dt;
};

struct model {
    int64_t w, h, d, dim, radius, steps;
    bool box, whole; /* whole: start holds the state before the last step, else the first */
    struct rates rate;
    double centre;    /* the Laplacian's weight of the cell itself */
    double factor;    /* for a sum of so many terms */
    int64_t *columns; /* x - RADIUS_MAX .. w + RADIUS_MAX of the periodic extension */
    struct generation start;
};

/* The cells of one row that a step computes: x .. x + count of row y of plane z. */
struct piece {
    int64_t x, y, z, count;
};

enum { NEIGHBOURS_MAX = 6 * RADIUS_MAX };

/* The neighbours of the cells of one row: each one's weight, its row (index of that one's first
 * cell) and its distance along x. */
struct neighbours {
    int64_t here; /* the row itself */
    int count;
    struct neighbour {
        double weight;
        int64_t row, dx;
    } each[NEIGHBOURS_MAX];
};

/* A Laplacian: its value, the sum of its terms' magnitudes, and the neighbours' scales (not the
 * cell's own) by the magnitudes of their weights. */
struct sums {
    double value, magnitude, carried;
};

static int64_t modulo(int64_t i, int64_t n)
{
    i %= n;
    return i < 0 ? i + n : i;
}

static void add_neighbour(struct neighbours *n, double weight, int64_t row, int64_t dx)
{
    n->each[n->count++] = (struct neighbour){weight, row, dx};
}

static int64_t row_at(const struct model *m, int64_t y, int64_t z)
{
    return (modulo(z, m->d) * m->h + modulo(y, m->h)) * m->w;
}

static struct neighbours neighbours_of(const struct model *m, int64_t y, int64_t z)
{
    struct neighbours n = {.here = row_at(m, y, z)};
    for (int64_t k = 1; k <= m->radius; k++) {
        const double side = m->box ? 4.0 / 6 : weights[m->radius][k];
        add_neighbour(&n, side, n.here, -k);
        add_neighbour(&n, side, n.here, k);
        add_neighbour(&n, side, row_at(m, y - k, z), 0);
        add_neighbour(&n, side, row_at(m, y + k, z), 0);
        if (m->dim == 3) {
            add_neighbour(&n, side, row_at(m, y, z - k), 0);
            add_neighbour(&n, side, row_at(m, y, z + k), 0);
        }
    }
    for (int64_t i = 0; m->box && i < 4; i++)
        add_neighbour(&n, 1.0 / 6, row_at(m, i < 2 ? y - 1 : y + 1, z), i % 2 ? 1 : -1);
    return n;
}

/* ---- one step of a row's cells ---- */

/* A field's kind is the same for all cells of a step. Where it is a constant of the caller, as
 * below, the innermost loop asks for nothing: a sweep's time on a fast device is spent here. */
enum kind { SINGLES, DOUBLES, CARRIED };

/* Of both fields: a generation's are of one kind. */
static enum kind kind_of(const struct generation *g)
{
    return g->a.singles ? SINGLES : g->a.scale ? CARRIED : DOUBLES;
}

static TS_ALWAYS_INLINE double value_at(const struct field *u, enum kind kind, int64_t i)
{
    return kind == SINGLES ? (double)u->singles[i] : u->doubles[i];
}

static TS_ALWAYS_INLINE double scale_at(const struct field *u, enum kind kind, int64_t i)
{
    return kind == CARRIED ? (double)u->scale[i] : 0.0;
}

static TS_ALWAYS_INLINE struct sums laplacian(const struct model *m, const struct field *u,
                                              enum kind kind, const struct neighbours *n, int64_t x)
{
    const int64_t *column = m->columns + RADIUS_MAX + x;
    struct sums s = {0, 0, 0};
    for (int k = 0; k < n->count; k++) {
        const struct neighbour *by = &n->each[k];
        const int64_t i = by->row + column[by->dx];
        const double term = by->weight * value_at(u, kind, i);
        s.value += term;
        s.magnitude += fabs(term);
        if (kind == CARRIED)
            s.carried += fabs(by->weight) * scale_at(u, kind, i);
    }
    const double own = m->centre * value_at(u, kind, n->here + x);
    s.value += own;
    s.magnitude += fabs(own);
    return s;
}

/* a + dt * (da*lap(a) - a*b*b + f*(1-a)) at one cell. */
static TS_ALWAYS_INLINE void step_a(const struct model *m, enum kind kind,
                                    const struct neighbours *n, int64_t x, double *value,
                                    double *scale)
{
    const struct rates *r = &m->rate;
    const struct field *u = &m->start.a, *v = &m->start.b;
    const struct sums lap = laplacian(m, u, kind, n, x);
    const double a = value_at(u, kind, n->here + x), b = value_at(v, kind, n->here + x);
    const double abb = a * b * b;
    const double magnitude =
        fabs(a) + r->dt * (r->da * lap.magnitude + fabs(abb) + r->f * (1 + fabs(a)));
    const double by_a = fabs(1 + r->dt * (r->da * m->centre - b * b - r->f));
    *value = a + r->dt * (r->da * lap.value - abb + r->f * (1 - a));
    *scale = UNDERFLOW + magnitude * m->factor + by_a * scale_at(u, kind, n->here + x) +
             r->dt * (r->da * lap.carried + 2 * fabs(a * b) * scale_at(v, kind, n->here + x));
}

/* b + dt * (db*lap(b) + a*b*b - (f+k)*b) at one cell. */
static TS_ALWAYS_INLINE void step_b(const struct model *m, enum kind kind,
                                    const struct neighbours *n, int64_t x, double *value,
                                    double *scale)
{
    const struct rates *r = &m->rate;
    const struct field *u = &m->start.a, *v = &m->start.b;
    const struct sums lap = laplacian(m, v, kind, n, x);
    const double a = value_at(u, kind, n->here + x), b = value_at(v, kind, n->here + x);
    const double abb = a * b * b;
    const double magnitude =
        fabs(b) + r->dt * (r->db * lap.magnitude + fabs(abb) + (r->f + r->k) * fabs(b));
    const double by_b = fabs(1 + r->dt * (r->db * m->centre + 2 * a * b - r->f - r->k));
    *value = b + r->dt * (r->db * lap.value + abb - (r->f + r->k) * b);
    *scale = UNDERFLOW + magnitude * m->factor + by_b * scale_at(v, kind, n->here + x) +
             r->dt * (r->db * lap.carried + b * b * scale_at(u, kind, n->here + x));
}

static TS_ALWAYS_INLINE void step_kind(const struct model *m, enum kind kind, const struct piece *p,
                                       bool is_a, double *value, double *scale)
{
    const struct neighbours n = neighbours_of(m, p->y, p->z);
    for (int64_t i = 0; i < p->count; i++) {
        if (is_a)
            step_a(m, kind, &n, p->x + i, &value[i], &scale[i]);
        else
            step_b(m, kind, &n, p->x + i, &value[i], &scale[i]);
    }
}

/* One step on from m->start: a's or b's value and scale of the piece's cells. */
static void step_piece(const struct model *m, const struct piece *p, bool is_a, double *value,
                       double *scale)
{
    switch (kind_of(&m->start)) {
    case SINGLES:
        step_kind(m, SINGLES, p, is_a, value, scale);
        break;
    case DOUBLES:
        step_kind(m, DOUBLES, p, is_a, value, scale);
        break;
    case CARRIED:
        step_kind(m, CARRIED, p, is_a, value, scale);
        break;
    }
}

/* ---- whole generations ---- */

static void generation_free(struct generation *g)
{
    free(g->own_values);
    free(g->own_scales);
}

/* Of count cells, with scales or without. calloc because it knows of overflow. */
static bool generation_new(struct generation *g, int64_t count, bool scales)
{
    g->own_values = calloc((size_t)count, 2 * sizeof(*g->own_values));
    g->own_scales = scales ? calloc((size_t)count, 2 * sizeof(*g->own_scales)) : NULL;
    if (!g->own_values || (scales && !g->own_scales))
        return false;
    g->a = (struct field){NULL, g->own_values, g->own_scales};
    g->b = (struct field){NULL, g->own_values + count, scales ? g->own_scales + count : NULL};
    return true;
}

/* Moves m->start one step on; what lies closer than `rim` to an edge is left out (0: nothing is).
 * -1 when memory is short. */
static int advance(struct model *m, int64_t rim)
{
    const int64_t rim_z = m->dim == 3 ? rim : 0, cells = m->w * m->h * m->d;
    struct generation to = {0};
    double *scale = malloc((size_t)m->w * sizeof(*scale));
    if (!scale || !generation_new(&to, cells, true)) {
        free(scale);
        generation_free(&to);
        return -1;
    }
    for (int64_t z = rim_z; z < m->d - rim_z; z++) {
        for (int64_t y = rim; y < m->h - rim; y++) {
            const struct piece row = {rim, y, z, m->w - 2 * rim};
            for (int64_t of = 0; of < 2; of++) {
                const int64_t at = of * cells + row_at(m, y, z) + rim;
                step_piece(m, &row, of == 0, to.own_values + at, scale);
                for (int64_t i = 0; i < row.count; i++)
                    to.own_scales[at + i] = (float)scale[i];
            }
        }
    }
    free(scale);
    generation_free(&m->start);
    m->start = to;
    return 0;
}

static void set_size(struct model *m, int64_t w, int64_t h, int64_t d)
{
    m->w = w;
    m->h = h;
    m->d = d;
    m->columns = ts_alloc((size_t)w + 2 * RADIUS_MAX, sizeof(*m->columns));
    for (int64_t i = 0; i < w + 2 * RADIUS_MAX; i++)
        m->columns[i] = modulo(i - RADIUS_MAX, w);
}

/* ---- a piece of a row on a box of its own ---- */

/* The start state of the piece's surroundings, so many cells of it as reach the piece in all steps.
 */
static bool box_fill(struct model *box, const struct model *m, const struct piece *p)
{
    const int64_t skip = m->steps * m->radius, skip_z = m->dim == 3 ? skip : 0;
    const enum kind kind = kind_of(&m->start);
    const int64_t cells = box->w * box->h * box->d;
    double *a, *b;
    if (!generation_new(&box->start, cells, false))
        return false;
    a = box->start.own_values;
    b = a + cells;
    for (int64_t z = 0; z < box->d; z++) {
        for (int64_t y = 0; y < box->h; y++) {
            const int64_t row = row_at(m, p->y + y - skip, p->z + z - skip_z);
            int64_t from = modulo(p->x - skip, m->w);
            for (int64_t x = 0; x < box->w; x++) {
                *a++ = value_at(&m->start.a, kind, row + from);
                *b++ = value_at(&m->start.b, kind, row + from);
                from = from + 1 < m->w ? from + 1 : 0;
            }
        }
    }
    return true;
}

/* The box before the last step. Each step is wrong RADIUS cells further from the box's rim, and
 * leaves them out. */
static bool box_open(struct model *box, const struct model *m, const struct piece *p)
{
    const int64_t side = 2 * m->steps * m->radius + 1;
    *box = *m;
    box->start = (struct generation){0};
    set_size(box, p->count + side - 1, side, m->dim == 3 ? side : 1);
    if (!box_fill(box, m, p))
        return false;
    for (int64_t step = 1; step < m->steps; step++) {
        if (advance(box, step * m->radius) != 0)
            return false;
    }
    return true;
}

/* ---- the reference ---- */

static int64_t axis(const struct ts_ref_case *c, const char *name, int64_t fallback)
{
    return ts_values_number(c->problem, name, fallback);
}

static int64_t terms(int64_t dim, int64_t radius, bool box)
{
    return box ? 9 : 2 * dim * radius + 1;
}

static int64_t cells_of(const struct ts_ref_case *c)
{
    return ts_values_number(c->size, "W", 1) * ts_values_number(c->size, "H", 1) *
           ts_values_number(c->size, "D", 1);
}

static bool is_done_whole(const struct ts_ref_case *c)
{
    return c->steps == 1 || cells_of(c) <= WHOLE_CELL_STEPS / c->steps;
}

/* So much that nobody waits for it: a sample is all. */
#define COST_MAX ((int64_t)1 << 40)

static int64_t cost(const struct ts_ref_case *c)
{
    const int64_t dim = axis(c, "DIM", 2);
    const int64_t radius = axis(c, "RADIUS", 1);
    int64_t step, cells = 1; /* of a or b, a cell asked for */
    if (radius < 1 || radius > RADIUS_MAX)
        return 1; /* `open` refuses it */
    step = 2 * terms(dim, radius, axis(c, "BOX", 0) == 1) + 20;
    if (is_done_whole(c))
        return step * c->steps;
    for (int64_t before = 1; before < c->steps && cells < COST_MAX; before++) {
        const int64_t side = 2 * before * radius + 1; /* a long piece's box: so many rows a row */
        cells += 2 * side * (dim == 3 ? side : 1);
    }
    return cells < COST_MAX / step ? step * cells : COST_MAX;
}

static double rate(const struct ts_ref_case *c, const char *name)
{
    return ts_ref_at(ts_ref_find_arg(c, name), 0);
}

static int check(const struct ts_ref_case *c, const struct model *m, struct ts_err *err)
{
    if (m->dim != 2 && m->dim != 3)
        return ts_err_set(err, TS_EXIT_USAGE, "reference \"gray_scott\": DIM is 2 or 3, not %lld",
                          (long long)m->dim);
    if (m->radius < 1 || m->radius > RADIUS_MAX)
        return ts_err_set(err, TS_EXIT_USAGE,
                          "reference \"gray_scott\": RADIUS is 1 to %d, not %lld", RADIUS_MAX,
                          (long long)m->radius);
    if (m->box && (m->dim != 2 || m->radius != 1))
        return ts_err_set(err, TS_EXIT_USAGE,
                          "reference \"gray_scott\": BOX 1 needs DIM 2 and RADIUS 1");
    if (ts_ref_need_count(c, "a_in", m->w * m->h * m->d, err) != 0)
        return -1;
    return ts_ref_need_count(c, "b_in", m->w * m->h * m->d, err);
}

static void close_case(void *state)
{
    struct model *m = state;
    if (!m)
        return;
    generation_free(&m->start);
    free(m->columns);
    free(m);
}

static struct model *model_new(const struct ts_ref_case *c)
{
    struct model *m = ts_alloc(1, sizeof(*m));
    set_size(m, ts_values_number(c->size, "W", 1), ts_values_number(c->size, "H", 1),
             ts_values_number(c->size, "D", 1));
    m->steps = c->steps;
    m->whole = is_done_whole(c);
    m->dim = axis(c, "DIM", 2);
    m->radius = axis(c, "RADIUS", 1);
    m->box = axis(c, "BOX", 0) == 1;
    m->factor = ts_ref_sum_factor(terms(m->dim, m->radius, m->box));
    m->rate =
        (struct rates){rate(c, "da"), rate(c, "db"), rate(c, "f"), rate(c, "k"), rate(c, "dt")};
    return m;
}

static int no_memory(const struct model *m, struct ts_err *err)
{
    return ts_err_set(err, TS_EXIT_SYSTEM, "no memory for a grid of %lld cells in double",
                      (long long)(m->w * m->h * m->d));
}

/* The kernel's inputs, which are floats or doubles, or a copy of them. */
static int set_start(struct model *m, const struct ts_ref_case *c, struct ts_err *err)
{
    const struct ts_ref_arg *a = ts_ref_find_arg(c, "a_in"), *b = ts_ref_find_arg(c, "b_in");
    const int64_t cells = m->w * m->h * m->d;
    if (a->type == TS_FLOAT && b->type == TS_FLOAT) {
        m->start.a.singles = a->data;
        m->start.b.singles = b->data;
    } else if (a->type == TS_DOUBLE && b->type == TS_DOUBLE) {
        m->start.a.doubles = a->data;
        m->start.b.doubles = b->data;
    } else if (generation_new(&m->start, cells, false)) {
        for (int64_t i = 0; i < cells; i++) {
            m->start.own_values[i] = ts_ref_at(a, i);
            m->start.own_values[cells + i] = ts_ref_at(b, i);
        }
    } else {
        return no_memory(m, err);
    }
    return 0;
}

static int open_case(const struct ts_ref_case *c, void **state, struct ts_err *err)
{
    *state = NULL;
    if (ts_ref_need(c, &ts_reference_gray_scott, err) != 0)
        return -1;
    struct model *m = model_new(c);
    if (check(c, m, err) != 0 || set_start(m, c, err) != 0) {
        close_case(m);
        return -1;
    }
    m->centre = m->box ? -20.0 / 6 : (double)m->dim * weights[m->radius][0];
    for (int64_t step = 1; m->whole && step < c->steps; step++) {
        if (advance(m, 0) != 0) {
            no_memory(m, err);
            close_case(m);
            return -1;
        }
    }
    *state = m;
    return 0;
}

/* All steps of a piece's cells. Without memory the values are not numbers, which nothing equals. */
static void all_steps(const struct model *m, const struct piece *p, bool is_a, double *value,
                      double *scale)
{
    const int64_t skip = m->steps * m->radius;
    const struct piece in_box = {skip, skip, m->dim == 3 ? skip : 0, p->count};
    struct model box;
    if (box_open(&box, m, p)) {
        step_piece(&box, &in_box, is_a, value, scale);
    } else {
        for (int64_t i = 0; i < p->count; i++)
            value[i] = scale[i] = NAN;
    }
    generation_free(&box.start);
    free(box.columns);
}

static void slice(const struct ts_ref_case *c, void *state, const char *output, int64_t first,
                  int64_t count, double *value, double *scale)
{
    (void)c;
    const struct model *m = state;
    for (int64_t done = 0; done < count;) {
        const int64_t row = (first + done) / m->w, x = (first + done) % m->w;
        const int64_t rest = count - done < m->w - x ? count - done : m->w - x;
        const struct piece p = {x, row % m->h, row / m->h, rest};
        (m->whole ? step_piece : all_steps)(m, &p, output[0] == 'a', value + done, scale + done);
        done += rest;
    }
}

const struct ts_reference ts_reference_gray_scott = {
    .name = "gray_scott",
    .doc = "Gray-Scott steps of a_in, b_in (D x H x W, periodic) into a_out, b_out: DIM 2 (the "
           "default) or 3, RADIUS 1 (the default) to 4, BOX 1: (1 4 1; 4 -20 4; 1 4 1)/6; rates "
           "da, db, f, k, dt",
    .sizes = (const char *const[]){"W", "H", "D", NULL},
    .problem = (const char *const[]){"DIM", "RADIUS", "BOX", NULL},
    .inputs = (const char *const[]){"a_in", "b_in", "da", "db", "f", "k", "dt", NULL},
    .outputs = (const char *const[]){"a_out", "b_out", NULL},
    .cost = cost,
    .open = open_case,
    .slice = slice,
    .close = close_case,
};
