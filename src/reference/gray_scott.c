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

/* One chemical before a step: the kernel's input (first), or what a step gave (value and scale). */
struct field {
    const struct ts_ref_arg *first;
    double *value;
    float *scale;
};

/* Both chemicals before a step. */
struct generation {
    struct field a, b;
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

/* Row y of plane z and the rows at distances 1 .. radius from it: index of each one's first cell.
 */
struct lines {
    int64_t here, north[RADIUS_MAX + 1], south[RADIUS_MAX + 1];
    int64_t front[RADIUS_MAX + 1], back[RADIUS_MAX + 1];
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

static double value_at(const struct field *u, int64_t i)
{
    return u->value ? u->value[i] : ts_ref_at(u->first, i);
}

static double scale_at(const struct field *u, int64_t i)
{
    return u->scale ? (double)u->scale[i] : 0.0;
}

static void add(struct sums *s, const struct field *u, double weight, int64_t i)
{
    const double term = weight * value_at(u, i);
    s->value += term;
    s->magnitude += fabs(term);
    s->carried += fabs(weight) * scale_at(u, i);
}

static struct lines lines_at(const struct model *m, int64_t y, int64_t z)
{
    struct lines l = {.here = (z * m->h + y) * m->w};
    for (int64_t k = 1; k <= m->radius; k++) {
        l.north[k] = (z * m->h + modulo(y - k, m->h)) * m->w;
        l.south[k] = (z * m->h + modulo(y + k, m->h)) * m->w;
        l.front[k] = (modulo(z - k, m->d) * m->h + y) * m->w;
        l.back[k] = (modulo(z + k, m->d) * m->h + y) * m->w;
    }
    return l;
}

static struct sums laplacian(const struct model *m, const struct field *u, const struct lines *l,
                             int64_t x)
{
    const int64_t *column = m->columns + RADIUS_MAX + x;
    const double *weight = weights[m->radius];
    struct sums s = {0, 0, 0};
    for (int64_t k = 1; k <= m->radius; k++) {
        const double side = m->box ? 4.0 / 6 : weight[k];
        add(&s, u, side, l->here + column[-k]);
        add(&s, u, side, l->here + column[k]);
        add(&s, u, side, l->north[k] + x);
        add(&s, u, side, l->south[k] + x);
        if (m->dim == 3) {
            add(&s, u, side, l->front[k] + x);
            add(&s, u, side, l->back[k] + x);
        }
    }
    if (m->box) {
        add(&s, u, 1.0 / 6, l->north[1] + column[-1]);
        add(&s, u, 1.0 / 6, l->north[1] + column[1]);
        add(&s, u, 1.0 / 6, l->south[1] + column[-1]);
        add(&s, u, 1.0 / 6, l->south[1] + column[1]);
    }
    const double own = m->centre * value_at(u, l->here + x);
    s.value += own;
    s.magnitude += fabs(own);
    return s;
}

/* a + dt * (da*lap(a) - a*b*b + f*(1-a)) at one cell. */
static void step_a(const struct model *m, const struct generation *g, const struct lines *l,
                   int64_t x, double *value, double *scale)
{
    const struct rates *r = &m->rate;
    const struct sums lap = laplacian(m, &g->a, l, x);
    const double a = value_at(&g->a, l->here + x);
    const double b = value_at(&g->b, l->here + x);
    const double abb = a * b * b;
    const double magnitude =
        fabs(a) + r->dt * (r->da * lap.magnitude + fabs(abb) + r->f * (1 + fabs(a)));
    const double by_a = fabs(1 + r->dt * (r->da * m->centre - b * b - r->f));
    *value = a + r->dt * (r->da * lap.value - abb + r->f * (1 - a));
    *scale = UNDERFLOW + magnitude * m->factor + by_a * scale_at(&g->a, l->here + x) +
             r->dt * (r->da * lap.carried + 2 * fabs(a * b) * scale_at(&g->b, l->here + x));
}

/* b + dt * (db*lap(b) + a*b*b - (f+k)*b) at one cell. */
static void step_b(const struct model *m, const struct generation *g, const struct lines *l,
                   int64_t x, double *value, double *scale)
{
    const struct rates *r = &m->rate;
    const struct sums lap = laplacian(m, &g->b, l, x);
    const double a = value_at(&g->a, l->here + x);
    const double b = value_at(&g->b, l->here + x);
    const double abb = a * b * b;
    const double magnitude =
        fabs(b) + r->dt * (r->db * lap.magnitude + fabs(abb) + (r->f + r->k) * fabs(b));
    const double by_b = fabs(1 + r->dt * (r->db * m->centre + 2 * a * b - r->f - r->k));
    *value = b + r->dt * (r->db * lap.value + abb - (r->f + r->k) * b);
    *scale = UNDERFLOW + magnitude * m->factor + by_b * scale_at(&g->b, l->here + x) +
             r->dt * (r->db * lap.carried + b * b * scale_at(&g->a, l->here + x));
}

/* ---- whole steps ---- */

static void field_free(struct field *u)
{
    free(u->value);
    free(u->scale);
}

static void generation_free(struct generation *g)
{
    field_free(&g->a);
    field_free(&g->b);
}

static bool generation_new(struct generation *g, int64_t count)
{
    struct field *fields[] = {&g->a, &g->b};
    bool all = true;
    for (size_t i = 0; i < TS_COUNT(fields); i++) {
        fields[i]->first = NULL;
        fields[i]->value = malloc((size_t)count * sizeof(*fields[i]->value));
        fields[i]->scale = malloc((size_t)count * sizeof(*fields[i]->scale));
        all = all && fields[i]->value && fields[i]->scale;
    }
    return all;
}

static void step_row(const struct model *m, struct generation *to, int64_t y, int64_t z)
{
    const struct lines l = lines_at(m, y, z);
    for (int64_t x = 0; x < m->w; x++) {
        const int64_t i = l.here + x;
        double scale;
        step_a(m, &m->start, &l, x, &to->a.value[i], &scale);
        to->a.scale[i] = (float)scale;
        step_b(m, &m->start, &l, x, &to->b.value[i], &scale);
        to->b.scale[i] = (float)scale;
    }
}

/* Moves m->start one step on; -1 when memory is short. */
static int advance(struct model *m)
{
    struct generation to = {0};
    if (!generation_new(&to, m->w * m->h * m->d)) {
        generation_free(&to);
        return -1;
    }
    for (int64_t z = 0; z < m->d; z++) {
        for (int64_t y = 0; y < m->h; y++)
            step_row(m, &to, y, z);
    }
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

/* count cells of a row from (x, y, z) on. */
struct piece {
    int64_t x, y, z, count;
};

/* How far what is wrong at a box's rim comes in all steps. */
static int64_t margin(const struct model *m)
{
    return m->steps * m->radius;
}

/* The start state of the piece's surroundings. The box repeats itself like a grid does, which is
 * wrong at its rim. */
static bool box_fill(struct model *box, const struct model *m, const struct piece *p)
{
    const int64_t skip = margin(m), skip_z = m->dim == 3 ? skip : 0;
    int64_t i = 0;
    if (!generation_new(&box->start, box->w * box->h * box->d))
        return false;
    for (int64_t z = 0; z < box->d; z++) {
        for (int64_t y = 0; y < box->h; y++) {
            const int64_t row =
                modulo(p->z + z - skip_z, m->d) * m->h + modulo(p->y + y - skip, m->h);
            for (int64_t x = 0; x < box->w; x++, i++) {
                const int64_t from = row * m->w + modulo(p->x + x - skip, m->w);
                box->start.a.value[i] = ts_ref_at(m->start.a.first, from);
                box->start.b.value[i] = ts_ref_at(m->start.b.first, from);
                box->start.a.scale[i] = box->start.b.scale[i] = 0;
            }
        }
    }
    return true;
}

/* The box before the last step. */
static bool box_open(struct model *box, const struct model *m, const struct piece *p)
{
    const int64_t side = 2 * margin(m) + 1;
    *box = *m;
    box->start = (struct generation){0};
    set_size(box, p->count + side - 1, side, m->dim == 3 ? side : 1);
    if (!box_fill(box, m, p))
        return false;
    for (int64_t step = 1; step < m->steps; step++) {
        if (advance(box) != 0)
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

static int64_t cost(const struct ts_ref_case *c)
{
    const int64_t dim = axis(c, "DIM", 2);
    const int64_t radius = axis(c, "RADIUS", 1);
    const int64_t step = 2 * terms(dim, radius, axis(c, "BOX", 0) == 1) + 20;
    if (is_done_whole(c))
        return step * c->steps;
    const int64_t side = 2 * c->steps * radius + 1; /* a long piece's box: so many rows a row */
    return step * c->steps * side * (dim == 3 ? side : 1);
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
    m->start.a.first = ts_ref_find_arg(c, "a_in");
    m->start.b.first = ts_ref_find_arg(c, "b_in");
    m->rate =
        (struct rates){rate(c, "da"), rate(c, "db"), rate(c, "f"), rate(c, "k"), rate(c, "dt")};
    return m;
}

static int open_case(const struct ts_ref_case *c, void **state, struct ts_err *err)
{
    *state = NULL;
    if (ts_ref_need(c, &ts_reference_gray_scott, err) != 0)
        return -1;
    struct model *m = model_new(c);
    if (check(c, m, err) != 0) {
        close_case(m);
        return -1;
    }
    m->centre = m->box ? -20.0 / 6 : (double)m->dim * weights[m->radius][0];
    for (int64_t step = 1; m->whole && step < c->steps; step++) {
        if (advance(m) != 0) {
            ts_err_set(err, TS_EXIT_SYSTEM, "no memory for a grid of %lld cells in double",
                       (long long)(m->w * m->h * m->d));
            close_case(m);
            return -1;
        }
    }
    *state = m;
    return 0;
}

/* The last step of count cells from (x, y, z) on. */
static void last_step(const struct model *m, const struct piece *p, bool is_a, double *value,
                      double *scale)
{
    const struct lines l = lines_at(m, p->y, p->z);
    for (int64_t i = 0; i < p->count; i++) {
        if (is_a)
            step_a(m, &m->start, &l, p->x + i, &value[i], &scale[i]);
        else
            step_b(m, &m->start, &l, p->x + i, &value[i], &scale[i]);
    }
}

/* All steps of them. Without memory the values are not numbers, which nothing equals. */
static void all_steps(const struct model *m, const struct piece *p, bool is_a, double *value,
                      double *scale)
{
    const int64_t skip = margin(m);
    const struct piece in_box = {skip, skip, m->dim == 3 ? skip : 0, p->count};
    struct model box;
    if (box_open(&box, m, p)) {
        last_step(&box, &in_box, is_a, value, scale);
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
        (m->whole ? last_step : all_steps)(m, &p, output[0] == 'a', value + done, scale + done);
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
