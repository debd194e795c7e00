/* test_reference.c: the CPU references against closed forms and cases worked by hand, and every
 * slice against the whole; the element types they read. */
#include "reference.h"

#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rng.h"

static void assert_near(double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("got %.17g, want %.17g within %g", got, want, within);
}

/* ---- a case and its arrays ---- */

enum { MAX_ARGS = 16 };

struct rig {
    const struct ts_reference *reference;
    struct ts_values size, problem;
    struct ts_ref_arg args[MAX_ARGS];
    void *owned[MAX_ARGS];
    struct ts_ref_case c;
};

static void rig_open(struct rig *rig, const char *name)
{
    memset(rig, 0, sizeof(*rig));
    rig->reference = ts_reference_find(name);
    assert_non_null(rig->reference);
    rig->c = (struct ts_ref_case){
        .size = &rig->size, .problem = &rig->problem, .args = rig->args, .steps = 1};
}

static void rig_close(struct rig *rig)
{
    for (size_t i = 0; i < rig->c.arg_count; i++)
        free(rig->owned[i]);
    ts_values_free(&rig->size);
    ts_values_free(&rig->problem);
}

/* A zeroed array argument of `count` elements. */
static void *rig_array(struct rig *rig, const char *name, enum ts_elem type, int64_t count)
{
    const size_t at = rig->c.arg_count++;
    assert_true(at < MAX_ARGS);
    rig->owned[at] = ts_alloc((size_t)count, ts_elem_table[type].bytes);
    rig->args[at] = (struct ts_ref_arg){name, type, rig->owned[at], count};
    return rig->owned[at];
}

static float *rig_floats(struct rig *rig, const char *name, int64_t count)
{
    return rig_array(rig, name, TS_FLOAT, count);
}

static void fill_random(float *x, int64_t count, uint64_t stream)
{
    for (int64_t i = 0; i < count; i++)
        x[i] = (float)(ts_hash3(7, stream, (uint64_t)i) >> 40) * 0x1p-24f - 0.25f;
}

/* Values and scales of elements first .. first+count of an output. */
struct result {
    double *value, *scale;
};

static struct result rig_slice(struct rig *rig, const char *output, int64_t first, int64_t count)
{
    struct result r = {ts_alloc((size_t)count, sizeof(double)),
                       ts_alloc((size_t)count, sizeof(double))};
    struct ts_err err = {0};
    void *state = NULL;
    if (rig->reference->open(&rig->c, &state, &err) != 0)
        fail_msg("%s", err.text);
    rig->reference->slice(&rig->c, state, output, first, count, r.value, r.scale);
    rig->reference->close(state);
    return r;
}

static void result_free(struct result *r)
{
    free(r->value);
    free(r->scale);
}

/* Every slice of every third length equals the same part of the whole, bit for bit. */
static void assert_slices_equal_whole(struct rig *rig, const char *output, int64_t count)
{
    struct result whole = rig_slice(rig, output, 0, count);
    for (int64_t length = 1; length < count; length += 3) {
        for (int64_t first = 0; first < count; first += length) {
            const int64_t n = length < count - first ? length : count - first;
            struct result part = rig_slice(rig, output, first, n);
            assert_memory_equal(part.value, whole.value + first, (size_t)n * sizeof(double));
            assert_memory_equal(part.scale, whole.scale + first, (size_t)n * sizeof(double));
            result_free(&part);
        }
    }
    for (int64_t i = 0; i < count; i++)
        assert_true(whole.scale[i] >= fabs(whole.value[i]) * (1 - 1e-12));
    result_free(&whole);
}

/* ---- the table ---- */

static void test_table_is_complete(void **state)
{
    (void)state;
    static const char *const names[] = {"laplacian", "laplacian3d", "gray_scott",
                                        "matmul",    "transpose",   "convolution",
                                        "separable", "reduction",   "scan"};
    assert_int_equal(ts_reference_count, TS_COUNT(names));
    for (size_t i = 0; i < TS_COUNT(names); i++) {
        const struct ts_reference *r = ts_reference_find(names[i]);
        assert_non_null(r);
        assert_string_equal(r->name, names[i]);
        assert_true(r->doc && r->doc[0]);
        assert_non_null(r->sizes[0]);
        assert_non_null(r->inputs[0]);
        assert_non_null(r->outputs[0]);
        assert_true(r->problem && r->cost && r->open && r->slice && r->close);
        r->close(NULL);
    }
    assert_null(ts_reference_find("laplacia"));
    assert_null(ts_reference_find(""));
}

static void test_missing_names_are_told(void **state)
{
    (void)state;
    struct rig rig;
    void *opened = NULL;
    rig_open(&rig, "laplacian");
    struct ts_err err = {0};
    assert_int_equal(rig.reference->open(&rig.c, &opened, &err), -1);
    assert_int_equal(err.exit_status, TS_EXIT_USAGE);
    assert_non_null(strstr(err.text, "size \"W\""));

    ts_values_add(&rig.size, "W", 3);
    ts_values_add(&rig.size, "H", 2);
    ts_err_clear(&err);
    assert_int_equal(rig.reference->open(&rig.c, &opened, &err), -1);
    assert_non_null(strstr(err.text, "argument \"src\""));

    rig_floats(&rig, "src", 5); /* one short: reading it would run past the end */
    ts_err_clear(&err);
    assert_int_equal(rig.reference->open(&rig.c, &opened, &err), -1);
    assert_non_null(strstr(err.text, "reads 6 elements, not 5"));
    rig_close(&rig);
}

static void test_wrong_axis_is_told(void **state)
{
    (void)state;
    struct rig rig;
    void *opened = NULL;
    struct ts_err err = {0};
    rig_open(&rig, "laplacian");
    ts_values_add(&rig.size, "W", 1);
    ts_values_add(&rig.size, "H", 1);
    ts_values_add(&rig.problem, "POINTS", 7);
    rig_floats(&rig, "src", 1);
    assert_int_equal(rig.reference->open(&rig.c, &opened, &err), -1);
    assert_non_null(strstr(err.text, "POINTS is 5 or 9, not 7"));
    rig_close(&rig);
}

static void test_sum_factor(void **state)
{
    (void)state;
    assert_near(ts_ref_sum_factor(0), 1, 0);
    assert_near(ts_ref_sum_factor(5), 1, 0);
    assert_near(ts_ref_sum_factor(16), 1, 0);
    assert_near(ts_ref_sum_factor(64), 2, 0);
    assert_near(ts_ref_sum_factor(289), 4.25, 0);
}

/* ---- Laplacian ---- */

static float *laplacian_rig(struct rig *rig, int64_t w, int64_t h, int64_t points)
{
    rig_open(rig, "laplacian");
    ts_values_add(&rig->size, "W", w);
    ts_values_add(&rig->size, "H", h);
    ts_values_add(&rig->problem, "POINTS", points);
    return rig_floats(rig, "src", w * h);
}

/* A delta shows the stencil itself, turned round; both stencils are symmetric. Across the periodic
 * corner, so that every wrap is used. */
static void test_laplacian_of_delta(void **state)
{
    (void)state;
    static const double five[9] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
    static const double nine[9] = {1 / 6., 4 / 6., 1 / 6., 4 / 6., -20 / 6.,
                                   4 / 6., 1 / 6., 4 / 6., 1 / 6.};
    for (int points = 5; points <= 9; points += 4) {
        const double *stencil = points == 5 ? five : nine;
        struct rig rig;
        float *src = laplacian_rig(&rig, 6, 5, points);
        src[0] = 3;
        struct result r = rig_slice(&rig, "dst", 0, 30);
        for (int y = 0; y < 5; y++) {
            for (int x = 0; x < 6; x++) {
                const int dy = (y + 1) % 5, dx = (x + 1) % 6; /* 0..2 near the delta */
                const double want = dy < 3 && dx < 3 ? 3 * stencil[dy * 3 + dx] : 0;
                assert_near(r.value[y * 6 + x], want, 1e-15);
                assert_near(r.scale[y * 6 + x], fabs(want), 1e-15);
            }
        }
        result_free(&r);
        rig_close(&rig);
    }
}

/* On a constant field c the Laplacian is 0, the magnitudes are 8c (5-point) or 40c/6 (9-point), on
 * every shape: also where a cell is its own neighbour. */
static void test_laplacian_of_constant(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{1, 1}, {1, 7}, {7, 1}, {2, 2}, {5, 3}};
    for (size_t s = 0; s < TS_COUNT(shapes); s++) {
        for (int points = 5; points <= 9; points += 4) {
            struct rig rig;
            const int64_t count = shapes[s][0] * shapes[s][1];
            float *src = laplacian_rig(&rig, shapes[s][0], shapes[s][1], points);
            for (int64_t i = 0; i < count; i++)
                src[i] = 1.5f;
            struct result r = rig_slice(&rig, "dst", 0, count);
            for (int64_t i = 0; i < count; i++) {
                assert_near(r.value[i], 0, 1e-14);
                assert_near(r.scale[i], 1.5 * (points == 5 ? 8 : 40 / 6.), 1e-14);
            }
            result_free(&r);
            rig_close(&rig);
        }
    }
}

/* A plane wave is an eigenvector of both stencils: with cx = cos(2 pi p/W), cy = cos(2 pi q/H) the
 * eigenvalues are 2cx + 2cy - 4 and (8cx + 8cy + 4 cx cy - 20)/6. */
static void test_laplacian_of_wave(void **state)
{
    (void)state;
    const int w = 12, h = 10;
    const double pi = acos(-1.0), kx = 2 * pi * 2 / w, ky = 2 * pi * 3 / h;
    for (int points = 5; points <= 9; points += 4) {
        struct rig rig;
        rig_open(&rig, "laplacian");
        ts_values_add(&rig.size, "W", w);
        ts_values_add(&rig.size, "H", h);
        ts_values_add(&rig.problem, "POINTS", points);
        double *src = rig_array(&rig, "src", TS_DOUBLE, w * h);
        for (int i = 0; i < w * h; i++)
            src[i] = cos(kx * (i % w) + ky * (i / w));
        const double cx = cos(kx), cy = cos(ky);
        const double five = 2 * cx + 2 * cy - 4;
        const double nine = (8 * cx + 8 * cy + 4 * cx * cy - 20) / 6;
        struct result r = rig_slice(&rig, "dst", 0, w * h);
        for (int i = 0; i < w * h; i++)
            assert_near(r.value[i], (points == 5 ? five : nine) * src[i], 1e-13);
        result_free(&r);
        rig_close(&rig);
    }
}

/* Without the axis it is the 5-point one. */
static void test_laplacian_default_and_slices(void **state)
{
    (void)state;
    struct rig rig;
    float *src = laplacian_rig(&rig, 7, 5, 5);
    fill_random(src, 35, 1);
    struct result five = rig_slice(&rig, "dst", 0, 35);
    assert_slices_equal_whole(&rig, "dst", 35);
    ts_values_free(&rig.problem);
    memset(&rig.problem, 0, sizeof(rig.problem));
    struct result plain = rig_slice(&rig, "dst", 0, 35);
    assert_memory_equal(plain.value, five.value, 35 * sizeof(double));
    ts_values_add(&rig.problem, "POINTS", 9);
    assert_slices_equal_whole(&rig, "dst", 35);
    result_free(&five);
    result_free(&plain);
    rig_close(&rig);
}

/* ---- Laplacian in 3-D ---- */

static float *laplacian3d_rig(struct rig *rig, const int64_t whd[3], int64_t points)
{
    rig_open(rig, "laplacian3d");
    ts_values_add(&rig->size, "W", whd[0]);
    ts_values_add(&rig->size, "H", whd[1]);
    ts_values_add(&rig->size, "D", whd[2]);
    ts_values_add(&rig->problem, "POINTS", points);
    return rig_floats(rig, "src", whd[0] * whd[1] * whd[2]);
}

/* A delta in the periodic corner shows the stencil: which weight by how many coordinates differ. */
static void test_laplacian3d_of_delta(void **state)
{
    (void)state;
    static const double seven[4] = {-6, 1, 0, 0};
    static const double more[4] = {-88 / 26., 6 / 26., 3 / 26., 2 / 26.};
    static const int64_t whd[3] = {6, 5, 4};
    for (int points = 7; points <= 27; points += 20) {
        struct rig rig;
        laplacian3d_rig(&rig, whd, points)[0] = 3;
        struct result r = rig_slice(&rig, "dst", 0, 120);
        for (int i = 0; i < 120; i++) {
            const int dx = (i + 1) % 6, dy = (i / 6 + 1) % 5, dz = (i / 30 + 1) % 4;
            const int differ = (dx != 1) + (dy != 1) + (dz != 1);
            const bool near = dx < 3 && dy < 3 && dz < 3;
            const double want = near ? 3 * (points == 7 ? seven : more)[differ] : 0;
            assert_near(r.value[i], want, 1e-14);
            assert_near(r.scale[i], fabs(want) * (points == 7 ? 1 : sqrt(27.) / 4), 1e-14);
        }
        result_free(&r);
        rig_close(&rig);
    }
}

/* On a constant field it is 0 on every shape, also where a cell is its own neighbour. */
static void test_laplacian3d_of_constant(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 1}, {1, 7, 2}, {7, 1, 1}, {2, 2, 2}, {5, 3, 4}};
    for (size_t s = 0; s < TS_COUNT(shapes); s++) {
        for (int points = 7; points <= 27; points += 20) {
            struct rig rig;
            const int64_t count = shapes[s][0] * shapes[s][1] * shapes[s][2];
            float *src = laplacian3d_rig(&rig, shapes[s], points);
            for (int64_t i = 0; i < count; i++)
                src[i] = 1.5f;
            struct result r = rig_slice(&rig, "dst", 0, count);
            for (int64_t i = 0; i < count; i++)
                assert_near(r.value[i], 0, 1e-13);
            result_free(&r);
            rig_close(&rig);
        }
    }
}

/* A plane wave is an eigenvector of both stencils: with c the cosines along the axes, the
 * eigenvalues are 2(cx + cy + cz) - 6 and (-88 + 12(cx + cy + cz) + 12(cx cy + cy cz + cz cx) + 16
 * cx cy cz)/26. */
static void test_laplacian3d_of_wave(void **state)
{
    (void)state;
    static const int64_t whd[3] = {12, 10, 8};
    const double pi = acos(-1.0), kx = 2 * pi * 2 / 12, ky = 2 * pi * 3 / 10, kz = 2 * pi / 8;
    const double cx = cos(kx), cy = cos(ky), cz = cos(kz);
    const double faces = 2 * (cx + cy + cz), edges = 4 * (cx * cy + cy * cz + cz * cx);
    for (int points = 7; points <= 27; points += 20) {
        struct rig rig;
        float *src = laplacian3d_rig(&rig, whd, points);
        for (int i = 0; i < 960; i++)
            src[i] = (float)cos(kx * (i % 12) + ky * (i / 12 % 10) + kz * (i / 120));
        const double more = (-88 + 6 * faces + 3 * edges + 2 * 8 * cx * cy * cz) / 26;
        struct result r = rig_slice(&rig, "dst", 0, 960);
        for (int i = 0; i < 960; i++) /* src is rounded to float */
            assert_near(r.value[i], (points == 7 ? faces - 6 : more) * src[i], 1e-6);
        assert_slices_equal_whole(&rig, "dst", 960);
        result_free(&r);
        rig_close(&rig);
    }
}

/* ---- transpose ---- */

static void test_transpose(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{1, 1}, {1, 6}, {6, 1}, {5, 3}};
    for (size_t s = 0; s < TS_COUNT(shapes); s++) {
        const int64_t w = shapes[s][0], h = shapes[s][1];
        struct rig rig;
        rig_open(&rig, "transpose");
        ts_values_add(&rig.size, "W", w);
        ts_values_add(&rig.size, "H", h);
        float *src = rig_floats(&rig, "src", w * h);
        for (int64_t i = 0; i < w * h; i++)
            src[i] = (float)i;
        struct result r = rig_slice(&rig, "dst", 0, w * h);
        for (int64_t x = 0; x < w; x++) {
            for (int64_t y = 0; y < h; y++)
                assert_near(r.value[x * h + y], (double)(y * w + x), 0);
        }
        result_free(&r);
        assert_slices_equal_whole(&rig, "dst", w * h);
        rig_close(&rig);
    }
}

/* ---- convolution ---- */

struct convolution_rig {
    struct rig rig;
    float *src, *filter;
    int64_t w, h, radius, side;
};

static void convolution_open(struct convolution_rig *c, int64_t w, int64_t h, int64_t radius)
{
    rig_open(&c->rig, "convolution");
    ts_values_add(&c->rig.size, "W", w);
    ts_values_add(&c->rig.size, "H", h);
    ts_values_add(&c->rig.problem, "RADIUS", radius);
    c->w = w;
    c->h = h;
    c->radius = radius;
    c->side = 2 * radius + 1;
    c->src = rig_floats(&c->rig, "src", w * h);
    c->filter = rig_floats(&c->rig, "filter", c->side * c->side);
}

/* A delta filter shifts the image, its edge going on outwards: filter(j,i) = 1 gives
 * dst(y,x) = src(y+j-R, x+i-R). */
static void test_convolution_shift(void **state)
{
    (void)state;
    struct convolution_rig c;
    convolution_open(&c, 5, 4, 2);
    for (int64_t i = 0; i < 20; i++)
        c.src[i] = (float)(i + 1);
    for (int64_t tap = 0; tap < 25; tap++) {
        memset(c.filter, 0, 25 * sizeof(float));
        c.filter[tap] = 2;
        struct result r = rig_slice(&c.rig, "dst", 0, 20);
        for (int64_t y = 0; y < 4; y++) {
            for (int64_t x = 0; x < 5; x++) {
                int64_t sy = y + tap / 5 - 2, sx = x + tap % 5 - 2;
                sy = sy < 0 ? 0 : sy > 3 ? 3 : sy;
                sx = sx < 0 ? 0 : sx > 4 ? 4 : sx;
                assert_near(r.value[y * 5 + x], 2.0 * (double)(sy * 5 + sx + 1), 0);
                assert_near(r.scale[y * 5 + x], r.value[y * 5 + x] * ts_ref_sum_factor(25), 1e-12);
            }
        }
        result_free(&r);
    }
    rig_close(&c.rig);
}

/* A delta image shows the filter turned round: by hand for R = 1. */
static void test_convolution_of_delta(void **state)
{
    (void)state;
    struct convolution_rig c;
    convolution_open(&c, 5, 5, 1);
    for (int i = 0; i < 9; i++)
        c.filter[i] = (float)(i + 1);
    c.src[12] = 1;
    static const double want[25] = {0, 0, 0, 0, 0, 0, 9, 8, 7, 0, 0, 6, 5,
                                    4, 0, 0, 3, 2, 1, 0, 0, 0, 0, 0, 0};
    struct result r = rig_slice(&c.rig, "dst", 0, 25);
    for (int i = 0; i < 25; i++)
        assert_near(r.value[i], want[i], 0);
    result_free(&r);
    rig_close(&c.rig);
}

/* On a constant image: the constant times the sum of the filter, whatever the size and the radius.
 */
static void test_convolution_of_constant(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 8}, {1, 9, 3}, {9, 1, 4}, {6, 5, 2}};
    for (size_t s = 0; s < TS_COUNT(shapes); s++) {
        struct convolution_rig c;
        convolution_open(&c, shapes[s][0], shapes[s][1], shapes[s][2]);
        double sum = 0, magnitude = 0;
        fill_random(c.filter, c.side * c.side, 2);
        for (int64_t i = 0; i < c.side * c.side; i++) {
            sum += (double)c.filter[i];
            magnitude += fabs((double)c.filter[i]);
        }
        for (int64_t i = 0; i < c.w * c.h; i++)
            c.src[i] = -2;
        struct result r = rig_slice(&c.rig, "dst", 0, c.w * c.h);
        for (int64_t i = 0; i < c.w * c.h; i++) {
            assert_near(r.value[i], -2 * sum, 1e-12);
            assert_near(r.scale[i], 2 * magnitude * fmax(1, (double)c.side / 4), 1e-10);
        }
        result_free(&r);
        rig_close(&c.rig);
    }
}

/* Rows longer than what is computed at a time; the middle tap alone copies the image. */
static void test_convolution_of_long_row(void **state)
{
    (void)state;
    struct convolution_rig c;
    convolution_open(&c, 2500, 2, 1);
    c.filter[4] = 1;
    for (int64_t i = 0; i < 5000; i++)
        c.src[i] = (float)i;
    struct result r = rig_slice(&c.rig, "dst", 100, 4900);
    for (int64_t i = 0; i < 4900; i++)
        assert_near(r.value[i], (double)(i + 100), 0);
    result_free(&r);
    rig_close(&c.rig);
}

static void test_convolution_slices(void **state)
{
    (void)state;
    struct convolution_rig c;
    convolution_open(&c, 7, 4, 3);
    fill_random(c.src, 28, 3);
    fill_random(c.filter, 49, 4);
    assert_slices_equal_whole(&c.rig, "dst", 28);
    rig_close(&c.rig);
}

/* ---- separable ---- */

static void separable_open(struct convolution_rig *c, int64_t w, int64_t h, int64_t radius)
{
    rig_open(&c->rig, "separable");
    ts_values_add(&c->rig.size, "W", w);
    ts_values_add(&c->rig.size, "H", h);
    ts_values_add(&c->rig.problem, "RADIUS", radius);
    c->w = w;
    c->h = h;
    c->radius = radius;
    c->side = 2 * radius + 1;
    c->src = rig_floats(&c->rig, "src", w * h);
    c->filter = rig_floats(&c->rig, "filters", 2 * c->side);
}

/* A delta image shows the product turned round, column(2-j) * row(2-i): by hand for R = 1. */
static void test_separable_of_delta(void **state)
{
    (void)state;
    struct convolution_rig c;
    separable_open(&c, 5, 5, 1);
    static const float filters[6] = {1, 2, 3, 10, 20, -40};
    memcpy(c.filter, filters, sizeof(filters));
    c.src[12] = 1;
    static const double want[25] = {0,  0, 0, 0,   0,  0,  -120, 60, 30, 0, 0, -80, 40,
                                    20, 0, 0, -40, 20, 10, 0,    0,  0,  0, 0, 0};
    struct result r = rig_slice(&c.rig, "dst", 0, 25);
    for (int i = 0; i < 25; i++) {
        assert_near(r.value[i], want[i], 0);
        assert_near(r.scale[i], fabs(want[i]), 0); /* max(1, 3/4) of it */
    }
    result_free(&r);
    rig_close(&c.rig);
}

/* The same as convolution by the product of the filters, also where the radius exceeds the image;
 * the scale is that of all (2R+1)^2 terms. */
static void test_separable_is_convolution(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 8}, {1, 9, 3}, {9, 1, 4}, {6, 5, 2}};
    for (size_t s = 0; s < TS_COUNT(shapes); s++) {
        struct convolution_rig c, whole;
        const int64_t w = shapes[s][0], h = shapes[s][1];
        separable_open(&c, w, h, shapes[s][2]);
        convolution_open(&whole, w, h, shapes[s][2]);
        fill_random(c.src, w * h, 5);
        memcpy(whole.src, c.src, (size_t)(w * h) * sizeof(float));
        for (int64_t i = 0; i < 2 * c.side; i++)
            c.filter[i] = (float)(i % 5 - 2); /* products are exact in float */
        for (int64_t i = 0; i < c.side * c.side; i++)
            whole.filter[i] = c.filter[i / c.side] * c.filter[c.side + i % c.side];
        struct result got = rig_slice(&c.rig, "dst", 0, w * h);
        struct result want = rig_slice(&whole.rig, "dst", 0, w * h);
        assert_memory_equal(got.value, want.value, (size_t)(w * h) * sizeof(double));
        assert_memory_equal(got.scale, want.scale, (size_t)(w * h) * sizeof(double));
        result_free(&got);
        result_free(&want);
        assert_slices_equal_whole(&c.rig, "dst", w * h);
        rig_close(&c.rig);
        rig_close(&whole.rig);
    }
}

/* ---- Gray-Scott ---- */

static const double gs_da = 0.082, gs_db = 0.041, gs_f = 0.035, gs_k = 0.064, gs_dt = 0.5;

struct gray_scott_rig {
    struct rig rig;
    double *a, *b;
    int64_t count;
};

static void add_scalar(struct rig *rig, const char *name, double value)
{
    *(double *)rig_array(rig, name, TS_DOUBLE, 1) = value;
}

static void gray_scott_open(struct gray_scott_rig *g, const int64_t whd[3], int64_t dim,
                            int64_t radius, int64_t box)
{
    rig_open(&g->rig, "gray_scott");
    ts_values_add(&g->rig.size, "W", whd[0]);
    ts_values_add(&g->rig.size, "H", whd[1]);
    ts_values_add(&g->rig.size, "D", whd[2]);
    ts_values_add(&g->rig.problem, "DIM", dim);
    ts_values_add(&g->rig.problem, "RADIUS", radius);
    ts_values_add(&g->rig.problem, "BOX", box);
    g->count = whd[0] * whd[1] * whd[2];
    g->a = rig_array(&g->rig, "a_in", TS_DOUBLE, g->count);
    g->b = rig_array(&g->rig, "b_in", TS_DOUBLE, g->count);
    add_scalar(&g->rig, "da", gs_da);
    add_scalar(&g->rig, "db", gs_db);
    add_scalar(&g->rig, "f", gs_f);
    add_scalar(&g->rig, "k", gs_k);
    add_scalar(&g->rig, "dt", gs_dt);
}

static void gray_scott_fill(struct gray_scott_rig *g)
{
    for (int64_t i = 0; i < g->count; i++) {
        g->a[i] = (double)(ts_hash3(7, 1, (uint64_t)i) >> 40) * 0x1p-24;
        g->b[i] = (double)(ts_hash3(7, 2, (uint64_t)i) >> 40) * 0x1p-24;
    }
}

/* DIM 2 and 3, RADIUS 1 to 4, and the isotropic 9-point stencil. */
static const struct {
    int64_t dim, radius, box;
} gs_cases[] = {{2, 1, 0}, {2, 2, 0}, {2, 3, 0}, {2, 4, 0}, {2, 1, 1},
                {3, 1, 0}, {3, 2, 0}, {3, 3, 0}, {3, 4, 0}};

/* A uniform state has no Laplacian: what is left is the reaction, step by step. */
static void test_gray_scott_of_constant(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 1}, {2, 1, 3}, {5, 4, 2}};
    for (size_t i = 0; i < TS_COUNT(gs_cases) * TS_COUNT(shapes); i++) {
        const size_t which = i / TS_COUNT(shapes);
        struct gray_scott_rig g;
        gray_scott_open(&g, shapes[i % TS_COUNT(shapes)], gs_cases[which].dim,
                        gs_cases[which].radius, gs_cases[which].box);
        double a = 0.7, b = 0.3;
        for (int64_t cell = 0; cell < g.count; cell++) {
            g.a[cell] = a;
            g.b[cell] = b;
        }
        for (g.rig.c.steps = 1; g.rig.c.steps <= 3; g.rig.c.steps++) {
            const double reaction = a * b * b;
            a += gs_dt * (-reaction + gs_f * (1 - a));
            b += gs_dt * (reaction - (gs_f + gs_k) * b);
            struct result ra = rig_slice(&g.rig, "a_out", 0, g.count);
            struct result rb = rig_slice(&g.rig, "b_out", 0, g.count);
            for (int64_t cell = 0; cell < g.count; cell++) {
                assert_near(ra.value[cell], a, 1e-14);
                assert_near(rb.value[cell], b, 1e-14);
            }
            result_free(&ra);
            result_free(&rb);
        }
        rig_close(&g.rig);
    }
}

/* With no reaction (the other chemical absent, f = k = 0) a delta shows the stencil: the central
 * differences of Fornberg 1988, table 1. */
static void test_gray_scott_of_delta(void **state)
{
    (void)state;
    static const double weight[5][5] = {
        {0, 0, 0, 0, 0},
        {-2, 1, 0, 0, 0},
        {-5 / 2., 4 / 3., -1 / 12., 0, 0},
        {-49 / 18., 3 / 2., -3 / 20., 1 / 90., 0},
        {-205 / 72., 8 / 5., -1 / 5., 8 / 315., -1 / 560.},
    };
    for (size_t i = 0; i < TS_COUNT(gs_cases); i++) {
        const int64_t whd[3] = {11, 10, 12}, dim = gs_cases[i].dim, radius = gs_cases[i].radius;
        struct gray_scott_rig g;
        gray_scott_open(&g, whd, dim, radius, gs_cases[i].box);
        *(double *)g.rig.owned[4] = *(double *)g.rig.owned[5] = 0; /* f, k */
        g.b[0] = 1;
        struct result r = rig_slice(&g.rig, "b_out", 0, g.count);
        for (int64_t cell = 0; cell < g.count; cell++) {
            int64_t at[3] = {cell % 11, cell / 11 % 10, cell / 110};
            int64_t off_axis = 0, distance = 0; /* axes on which the cell is not 0, and how far */
            for (int axis = 0; axis < 3; axis++) {
                at[axis] = at[axis] > whd[axis] / 2 ? whd[axis] - at[axis] : at[axis];
                off_axis += at[axis] != 0;
                distance += at[axis];
            }
            double lap = 0;
            if (gs_cases[i].box && at[2] == 0 && at[0] <= 1 && at[1] <= 1)
                lap = distance == 0 ? -20 / 6. : distance == 1 ? 4 / 6. : 1 / 6.;
            else if (!gs_cases[i].box && off_axis == 0)
                lap = (double)dim * weight[radius][0];
            else if (!gs_cases[i].box && off_axis == 1 && distance <= radius &&
                     (dim == 3 || at[2] == 0))
                lap = weight[radius][distance];
            assert_near(r.value[cell], (cell == 0) + gs_dt * gs_db * lap, 1e-15);
        }
        result_free(&r);
        rig_close(&g.rig);
    }
}

/* One step by hand on a 3 x 1 row, 5-point: neighbours in y are the cell itself. */
static void test_gray_scott_by_hand(void **state)
{
    (void)state;
    const int64_t whd[3] = {3, 1, 1};
    static const double a[3] = {1, 0.5, 0.25}, b[3] = {0, 0.25, 0.5};
    struct gray_scott_rig g;
    gray_scott_open(&g, whd, 2, 1, 0);
    memcpy(g.a, a, sizeof(a));
    memcpy(g.b, b, sizeof(b));
    struct result ra = rig_slice(&g.rig, "a_out", 0, 3), rb = rig_slice(&g.rig, "b_out", 0, 3);
    for (int i = 0; i < 3; i++) {
        const int west = (i + 2) % 3, east = (i + 1) % 3;
        const double abb = a[i] * b[i] * b[i];
        assert_near(ra.value[i],
                    a[i] +
                        gs_dt * (gs_da * (a[west] + a[east] - 2 * a[i]) - abb + gs_f * (1 - a[i])),
                    1e-15);
        assert_near(
            rb.value[i],
            b[i] + gs_dt * (gs_db * (b[west] + b[east] - 2 * b[i]) + abb - (gs_f + gs_k) * b[i]),
            1e-15);
    }
    result_free(&ra);
    result_free(&rb);
    rig_close(&g.rig);
}

/* A grid smaller than the stencil behaves as the larger periodic one that repeats it. */
static void test_gray_scott_smaller_than_stencil(void **state)
{
    (void)state;
    const int64_t small[3] = {3, 2, 1}, large[3] = {12, 10, 9};
    for (size_t i = 0; i < TS_COUNT(gs_cases); i++) {
        struct gray_scott_rig s, l;
        gray_scott_open(&s, small, gs_cases[i].dim, gs_cases[i].radius, gs_cases[i].box);
        gray_scott_open(&l, large, gs_cases[i].dim, gs_cases[i].radius, gs_cases[i].box);
        gray_scott_fill(&s);
        for (int64_t cell = 0; cell < l.count; cell++) {
            const int64_t from = cell / 12 % 10 % 2 * 3 + cell % 12 % 3;
            l.a[cell] = s.a[from];
            l.b[cell] = s.b[from];
        }
        for (int which = 0; which < 2; which++) {
            const char *output = which ? "b_out" : "a_out";
            struct result rs = rig_slice(&s.rig, output, 0, s.count);
            struct result rl = rig_slice(&l.rig, output, 0, l.count);
            for (int64_t cell = 0; cell < l.count; cell++) {
                const int64_t from = cell / 12 % 10 % 2 * 3 + cell % 12 % 3;
                assert_near(rl.value[cell], rs.value[from], 1e-14);
                assert_near(rl.scale[cell], rs.scale[from], 1e-13);
            }
            result_free(&rs);
            result_free(&rl);
        }
        rig_close(&s.rig);
        rig_close(&l.rig);
    }
}

/* The scale of two steps counts both: more than the last step's own, about twice as much here. */
static void assert_counts_both_steps(double two, double last)
{
    if (!(two > last && two < 3 * last))
        fail_msg("scale %g after two steps, %g of the last one alone", two, last);
}

/* The choice between whole and sampled is made before a case is looked at. */
static void test_gray_scott_costs(void **state)
{
    (void)state;
    const int64_t whd[3] = {4096, 4096, 1}, steps[] = {1, 2, 8, INT64_MAX};
    const int64_t most = (int64_t)1 << 40;
    for (int64_t radius = -1; radius <= 5; radius++) {
        struct gray_scott_rig g;
        const int64_t one[3] = {1, 1, 1};
        gray_scott_open(&g, one, 3, radius, 0);
        ts_values_free(&g.rig.size);
        g.rig.size = (struct ts_values){0};
        ts_values_add(&g.rig.size, "W", whd[0]);
        ts_values_add(&g.rig.size, "H", whd[1]);
        ts_values_add(&g.rig.size, "D", whd[2]);
        int64_t before = 0;
        for (size_t i = 0; i < TS_COUNT(steps); i++) {
            g.rig.c.steps = steps[i];
            const int64_t cost = g.rig.reference->cost(&g.rig.c);
            assert_true(cost >= 1 && cost <= most && cost >= before);
            before = cost;
        }
        if (radius < 1 || radius > 4)
            assert_int_equal(before, 1);
        rig_close(&g.rig);
    }
}

/* Two steps are one step after another. */
static void test_gray_scott_steps_and_slices(void **state)
{
    (void)state;
    const int64_t whd[3] = {5, 4, 3};
    for (size_t i = 0; i < TS_COUNT(gs_cases); i++) {
        struct gray_scott_rig g;
        gray_scott_open(&g, whd, gs_cases[i].dim, gs_cases[i].radius, gs_cases[i].box);
        gray_scott_fill(&g);
        g.rig.c.steps = 2;
        struct result a2 = rig_slice(&g.rig, "a_out", 0, g.count);
        struct result b2 = rig_slice(&g.rig, "b_out", 0, g.count);
        assert_slices_equal_whole(&g.rig, "a_out", g.count);
        g.rig.c.steps = 1;
        struct result a1 = rig_slice(&g.rig, "a_out", 0, g.count);
        struct result b1 = rig_slice(&g.rig, "b_out", 0, g.count);
        memcpy(g.a, a1.value, (size_t)g.count * sizeof(double));
        memcpy(g.b, b1.value, (size_t)g.count * sizeof(double));
        struct result a = rig_slice(&g.rig, "a_out", 0, g.count);
        struct result b = rig_slice(&g.rig, "b_out", 0, g.count);
        assert_slices_equal_whole(&g.rig, "b_out", g.count);
        for (int64_t cell = 0; cell < g.count; cell++) {
            assert_near(a2.value[cell], a.value[cell], 1e-15);
            assert_near(b2.value[cell], b.value[cell], 1e-15);
            assert_counts_both_steps(a2.scale[cell], a.scale[cell]);
            assert_counts_both_steps(b2.scale[cell], b.scale[cell]);
        }
        struct result *all[] = {&a2, &b2, &a1, &b1, &a, &b};
        for (size_t r = 0; r < TS_COUNT(all); r++)
            result_free(all[r]);
        rig_close(&g.rig);
    }
}

/* Whether the inputs are floats or doubles does not matter, where they hold the same values. */
static void test_gray_scott_of_either_type(void **state)
{
    (void)state;
    const int64_t whd[3] = {9, 5, 1};
    struct gray_scott_rig g;
    gray_scott_open(&g, whd, 2, 2, 0);
    gray_scott_fill(&g);
    for (int64_t steps = 1; steps <= 2; steps++) {
        struct result got[4]; /* float in b: 1, in a: 2 */
        g.rig.c.steps = steps;
        for (int floats = 0; floats < 4; floats++) {
            const struct ts_ref_arg doubles[2] = {g.rig.args[0], g.rig.args[1]};
            float singles[2][9 * 5];
            for (int of = 0; of < 2; of++) {
                for (int64_t i = 0; i < g.count; i++)
                    singles[of][i] = (float)(of ? g.b : g.a)[i];
                if (floats & (of ? 1 : 2))
                    g.rig.args[of] =
                        (struct ts_ref_arg){doubles[of].name, TS_FLOAT, singles[of], g.count};
            }
            got[floats] = rig_slice(&g.rig, "b_out", 0, g.count);
            memcpy(g.rig.args, doubles, sizeof(doubles));
            assert_memory_equal(got[floats].value, got[0].value, (size_t)g.count * sizeof(double));
            assert_memory_equal(got[floats].scale, got[0].scale, (size_t)g.count * sizeof(double));
        }
        for (int floats = 0; floats < 4; floats++)
            result_free(&got[floats]);
    }
    rig_close(&g.rig);
}

/* A grid too large for whole steps is computed in pieces; one that repeats a small grid must give
 * the small grid's result. It is of floats, as kernels have it. */
static void test_gray_scott_in_pieces(void **state)
{
    (void)state;
    const int64_t small[3] = {25, 16, 8}, times[3] = {20, 30, 1};
    const int64_t large[3] = {small[0] * times[0], small[1] * times[1], small[2] * times[2]};
    for (size_t i = 0; i < TS_COUNT(gs_cases); i++) {
        struct gray_scott_rig s, l;
        gray_scott_open(&s, small, gs_cases[i].dim, gs_cases[i].radius, gs_cases[i].box);
        gray_scott_open(&l, large, gs_cases[i].dim, gs_cases[i].radius, gs_cases[i].box);
        gray_scott_fill(&s);
        float *a = (float *)l.a, *b = (float *)l.b;
        l.rig.args[0].type = l.rig.args[1].type = TS_FLOAT;
        for (int64_t at = 0; at < l.count; at++) {
            const int64_t x = at % large[0] % small[0], y = at / large[0] % large[1] % small[1];
            const int64_t from = (at / large[0] / large[1] * small[1] + y) * small[0] + x;
            a[at] = (float)s.a[from]; /* exact: 24 bits */
            b[at] = (float)s.b[from];
        }
        s.rig.c.steps = l.rig.c.steps = 3;
        for (int which = 0; which < 4; which++) {
            const char *name = which % 2 ? "b_out" : "a_out";
            const int64_t z = which / 2 * 3; /* y 17 repeats y 1 */
            const int64_t row = (z * large[1] + 17) * large[0];
            struct result want = rig_slice(&s.rig, name, (z * small[1] + 1) * small[0], small[0]);
            struct result got = rig_slice(&l.rig, name, row - 2, small[0] + 4);
            for (int64_t x = 0; x < small[0]; x++) {
                assert_near(got.value[x + 2], want.value[x], 0);
                assert_near(got.scale[x + 2], want.scale[x], 0);
            }
            result_free(&want);
            result_free(&got);
        }
        rig_close(&s.rig);
        rig_close(&l.rig);
    }
}

/* ---- matrix multiply ---- */

struct matmul_rig {
    struct rig rig;
    const char *output;
    float *a, *b;
    int64_t m, n, k;
};

static void matmul_open(struct matmul_rig *g, int64_t m, int64_t n, int64_t k)
{
    rig_open(&g->rig, "matmul");
    ts_values_add(&g->rig.size, "M", m);
    ts_values_add(&g->rig.size, "N", n);
    ts_values_add(&g->rig.size, "K", k);
    g->m = m;
    g->n = n;
    g->k = k;
    g->output = g->rig.reference->outputs[0];
    g->a = rig_floats(&g->rig, g->rig.reference->inputs[0], m * k);
    g->b = rig_floats(&g->rig, g->rig.reference->inputs[1], k * n);
}

/* (1 2 3; 4 5 6) (1 2; 3 4; -5 6) = (-8 28; -11 64), by hand. */
static void test_matmul_by_hand(void **state)
{
    (void)state;
    static const float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 2, 3, 4, -5, 6};
    static const double c[4] = {-8, 28, -11, 64}, scale[4] = {22, 28, 49, 64};
    struct matmul_rig g;
    matmul_open(&g, 2, 2, 3);
    memcpy(g.a, a, sizeof(a));
    memcpy(g.b, b, sizeof(b));
    struct result r = rig_slice(&g.rig, g.output, 0, 4);
    for (int i = 0; i < 4; i++) {
        assert_near(r.value[i], c[i], 0);
        assert_near(r.scale[i], scale[i], 1e-12);
    }
    result_free(&r);
    rig_close(&g.rig);
}

/* The same product with A, then B, lying transposed in memory. */
static void test_matmul_of_transposed(void **state)
{
    (void)state;
    static const float a[2][6] = {{1, 4, 2, 5, 3, 6}, {1, 2, 3, 4, 5, 6}};
    static const float b[2][6] = {{1, 2, 3, 4, -5, 6}, {1, 3, -5, 2, 4, 6}};
    static const double c[4] = {-8, 28, -11, 64}, scale[4] = {22, 28, 49, 64};
    for (int trans = 1; trans <= 2; trans++) {
        struct matmul_rig g;
        matmul_open(&g, 2, 2, 3);
        ts_values_add(&g.rig.problem, "TRANS", trans);
        memcpy(g.a, a[trans - 1], sizeof(a[0]));
        memcpy(g.b, b[trans - 1], sizeof(b[0]));
        struct result r = rig_slice(&g.rig, g.output, 0, 4);
        for (int i = 0; i < 4; i++) {
            assert_near(r.value[i], c[i], 0);
            assert_near(r.scale[i], scale[i], 1e-12);
        }
        result_free(&r);
        rig_close(&g.rig);
    }
}

static void test_matmul_refuses_other_layouts(void **state)
{
    (void)state;
    struct matmul_rig g;
    void *opened = NULL;
    matmul_open(&g, 2, 2, 3);
    ts_values_add(&g.rig.problem, "TRANS", 3);
    struct ts_err err = {0};
    assert_int_equal(g.rig.reference->open(&g.rig.c, &opened, &err), -1);
    assert_int_equal(err.exit_status, TS_EXIT_USAGE);
    assert_non_null(strstr(err.text, "TRANS is 0 to 2, not 3"));
    rig_close(&g.rig);
}

/* A matrix with one 1 in (i, l) takes row l of B into row i of C: every pair of it, on a shape with
 * no two sides equal. */
static void test_matmul_of_unit_matrices(void **state)
{
    (void)state;
    struct matmul_rig g;
    matmul_open(&g, 3, 5, 4);
    for (int64_t i = 0; i < 20; i++)
        g.b[i] = (float)(i + 1);
    for (int64_t at = 0; at < 12; at++) {
        memset(g.a, 0, 12 * sizeof(float));
        g.a[at] = 2;
        struct result r = rig_slice(&g.rig, g.output, 0, 15);
        for (int64_t i = 0; i < 15; i++) {
            const double want = i / 5 == at / 4 ? 2.0 * (double)(at % 4 * 5 + i % 5 + 1) : 0;
            assert_near(r.value[i], want, 0);
        }
        result_free(&r);
    }
    rig_close(&g.rig);
}

/* Constants: every element is K a b, and its scale |K a b| max(1, sqrt(K)/4). */
static void test_matmul_of_constants(void **state)
{
    (void)state;
    static const int64_t shapes[][3] = {{1, 1, 1}, {1, 7, 300}, {6, 1, 2}, {3, 4, 64}};
    for (size_t s = 0; s < TS_COUNT(shapes); s++) {
        struct matmul_rig g;
        matmul_open(&g, shapes[s][0], shapes[s][1], shapes[s][2]);
        for (int64_t i = 0; i < g.m * g.k; i++)
            g.a[i] = 0.5f;
        for (int64_t i = 0; i < g.k * g.n; i++)
            g.b[i] = -3;
        struct result r = rig_slice(&g.rig, g.output, 0, g.m * g.n);
        for (int64_t i = 0; i < g.m * g.n; i++) {
            assert_near(r.value[i], -1.5 * (double)g.k, 0);
            assert_near(r.scale[i], 1.5 * (double)g.k * ts_ref_sum_factor(g.k), 1e-9);
        }
        result_free(&r);
        rig_close(&g.rig);
    }
}

static void test_matmul_slices(void **state)
{
    (void)state;
    struct matmul_rig g;
    matmul_open(&g, 5, 7, 9);
    fill_random(g.a, 45, 5);
    fill_random(g.b, 63, 6);
    assert_slices_equal_whole(&g.rig, g.output, 35);
    rig_close(&g.rig);
}

/* ---- element types ---- */

static void test_elem_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < TS_ELEM_COUNT; i++) {
        enum ts_elem type;
        assert_true(ts_elem_by_name(ts_elem_table[i].name, &type));
        assert_int_equal(type, i);
        assert_true(ts_elem_table[i].real == (ts_elem_table[i].eps > 0));
    }
    enum ts_elem type;
    assert_false(ts_elem_by_name("half", &type));
    assert_false(ts_elem_by_name("floa", &type));
}

/* What is written can be read; whole types drop the fraction and saturate. */
static void test_elem_read_write(void **state)
{
    (void)state;
    static const struct {
        enum ts_elem type;
        double write, read;
    } cases[] = {
        {TS_FLOAT, 0.1, (double)0.1f},
        {TS_DOUBLE, 0.1, 0.1},
        {TS_INT, -3.9, -3},
        {TS_INT, 3e9, INT32_MAX},
        {TS_INT, -3e9, INT32_MIN},
        {TS_UINT, -1, 0},
        {TS_UINT, 4e9, 4e9},
        {TS_UINT, 1e12, UINT32_MAX},
        {TS_LONG, -0x1p52, -0x1p52},
        {TS_LONG, 0x1p63, 0x1p63},
        {TS_LONG, 1e30, 0x1p63},
        {TS_LONG, -1e30, -0x1p63},
        {TS_ULONG, 0x1p63, 0x1p63},
        {TS_ULONG, 0x1p64, 0x1p64},
        {TS_ULONG, 1e30, 0x1p64},
        {TS_ULONG, -5, 0},
        {TS_CHAR, 127.9, 127},
        {TS_CHAR, -200, -128},
        {TS_UCHAR, 255.5, 255},
        {TS_UCHAR, 300, 255},
        {TS_SHORT, -40000, -32768},
        {TS_USHORT, 70000, 65535},
        {TS_INT, NAN, 0},
        {TS_ULONG, NAN, 0},
    };
    for (size_t i = 0; i < TS_COUNT(cases); i++) {
        unsigned char data[3 * 8];
        memset(data, 0x5a, sizeof(data));
        const size_t bytes = ts_elem_table[cases[i].type].bytes;
        ts_elem_write(cases[i].type, data, 1, cases[i].write);
        assert_near(ts_elem_read(cases[i].type, data, 1), cases[i].read, 0);
        for (size_t b = 0; b < bytes; b++) { /* the neighbours are untouched */
            assert_int_equal(data[b], 0x5a);
            assert_int_equal(data[2 * bytes + b], 0x5a);
        }
    }
}

/* References read any type of input. */
static void test_reference_reads_any_type(void **state)
{
    (void)state;
    for (int type = 0; type < TS_ELEM_COUNT; type++) {
        struct rig rig;
        rig_open(&rig, "transpose");
        ts_values_add(&rig.size, "W", 3);
        ts_values_add(&rig.size, "H", 2);
        void *src = rig_array(&rig, "src", (enum ts_elem)type, 6);
        for (size_t i = 0; i < 6; i++)
            ts_elem_write((enum ts_elem)type, src, i, (double)(i * 20));
        struct result r = rig_slice(&rig, "dst", 0, 6);
        static const double want[6] = {0, 60, 20, 80, 40, 100};
        assert_memory_equal(r.value, want, sizeof(want));
        result_free(&r);
        rig_close(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_is_complete),
        cmocka_unit_test(test_missing_names_are_told),
        cmocka_unit_test(test_wrong_axis_is_told),
        cmocka_unit_test(test_sum_factor),
        cmocka_unit_test(test_laplacian_of_delta),
        cmocka_unit_test(test_laplacian_of_constant),
        cmocka_unit_test(test_laplacian_of_wave),
        cmocka_unit_test(test_laplacian_default_and_slices),
        cmocka_unit_test(test_laplacian3d_of_delta),
        cmocka_unit_test(test_laplacian3d_of_constant),
        cmocka_unit_test(test_laplacian3d_of_wave),
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_convolution_shift),
        cmocka_unit_test(test_convolution_of_delta),
        cmocka_unit_test(test_convolution_of_constant),
        cmocka_unit_test(test_convolution_of_long_row),
        cmocka_unit_test(test_convolution_slices),
        cmocka_unit_test(test_separable_of_delta),
        cmocka_unit_test(test_separable_is_convolution),
        cmocka_unit_test(test_gray_scott_of_constant),
        cmocka_unit_test(test_gray_scott_of_delta),
        cmocka_unit_test(test_gray_scott_by_hand),
        cmocka_unit_test(test_gray_scott_smaller_than_stencil),
        cmocka_unit_test(test_gray_scott_steps_and_slices),
        cmocka_unit_test(test_gray_scott_costs),
        cmocka_unit_test(test_gray_scott_of_either_type),
        cmocka_unit_test(test_gray_scott_in_pieces),
        cmocka_unit_test(test_matmul_by_hand),
        cmocka_unit_test(test_matmul_of_transposed),
        cmocka_unit_test(test_matmul_refuses_other_layouts),
        cmocka_unit_test(test_matmul_of_unit_matrices),
        cmocka_unit_test(test_matmul_of_constants),
        cmocka_unit_test(test_matmul_slices),
        cmocka_unit_test(test_elem_names),
        cmocka_unit_test(test_elem_read_write),
        cmocka_unit_test(test_reference_reads_any_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
